"""Fuzz the scan with atheris: ``python tests/fuzz/fuzz_scan.py -max_total_time=600 CORPUS``.

Options are libFuzzer's; unless given: nothing may take two seconds, or 500 MB. Inputs that fail are written to the
working directory; put them into ``tests/fuzz/seeds/``, where ``test_fuzz.py`` runs them for ever.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["dowbench"]):
    import target


def main() -> None:
    """Run until told to stop, or until something fails."""
    given = {argument.partition("=")[0] for argument in sys.argv[1:]}
    defaults = {"-timeout": "2", "-rss_limit_mb": "500", "-max_len": "20000"}
    dictionary = Path(__file__).parent / "tokens.dict"
    defaults["-dict"] = str(dictionary)
    options = [f"{name}={value}" for name, value in defaults.items() if name not in given]
    target.plan()
    atheris.Setup([*sys.argv, *options], target.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()

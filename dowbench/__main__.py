"""The entry point of the command ``dowbench``, of ``python -m dowbench`` and of the image.

Python puts the working directory on the path of ``python -m``, and that may be a stranger's repository with a
``click.py`` in it. So it is taken off before anything is imported that is not part of the interpreter's start; nothing
can be done about a ``dowbench.py`` there. An interrupt before the command is ready ends the process without a word.
"""

import os
import sys


def main() -> None:
    """Run the command line and exit."""
    if not sys.flags.safe_path and sys.path[:1] in ([""], [_here()]):
        del sys.path[0]
    import signal

    raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if raises:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from dowbench import cli

    if raises:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


def _here() -> str:
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return ""


if __name__ == "__main__":
    main()

"""The files of a pack as values, parsed, or taken from ``pack.json`` where that was generated from the same bytes.

``pack.json`` holds what a scan needs of every YAML file beside it, so that a scan parses no YAML. A file that differs
from what it was generated from is parsed.
"""

from __future__ import annotations

import json
import os
import re
from binascii import crc32
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench.errors import RuleError
from dowbench.inputs import open_regular, read_settings, shown
from dowbench.model import Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dowbench.rulepack.reading import FaultError

GENERATED = "pack.json"
EXAMPLE, TESTS = "example", "tests"
"""Keys that stand last in a rule file; a scan does not parse ``tests``."""


ENDINGS = (".yaml", ".yml")
"""Of the names of rule files."""
MOST_FOLDERS = 1000
"""Below a pack, that are looked through for rules which are not read."""
_ID = re.compile(rb"^id:", re.MULTILINE)


class RuleFile(NamedTuple):
    """A file of a pack."""

    path: str
    value: Any
    """Everything in it but ``tests``."""
    text: str
    checked: bool = False
    """Whether it is what ``pack.json`` was generated from, which only a pack without errors is."""

    def error(self, fault: FaultError) -> RuleError:
        """The error at the line that ``fault`` is about."""
        from dowbench.rulepack.document import located

        return located(fault, self.text, self.path)


class Directory:
    """The files of one pack; without ``generated``, whatever ``pack.json`` says of them."""

    def __init__(self, path: Path, *, generated: bool = True) -> None:
        self.path = path
        self.generated = _generated(path / GENERATED) if generated else {}

    def load(self, name: str, *, rule: bool = False) -> RuleFile:
        """One YAML file. Raises ``RuleError`` where it is none, or is a rule without tests."""
        path = str(self.path / name)
        try:
            data = read(path)
            text = data.decode()
        except UnicodeDecodeError as error:
            raise RuleError(f"cannot be read: {error}", path=path) from None
        known = self.generated.get(name)
        if known is not None and known["crc32"] == crc32(data):
            return RuleFile(path, known["value"], text, checked=True)
        from dowbench.rulepack import document

        head, tail = split(text) if rule else (text, "")
        if rule:
            _check_tests(head, tail, path)
        return RuleFile(path, document.read(head, path), text)

    def has(self, name: str) -> bool:
        """Whether there is something of this name, be it a file or not."""
        return os.path.lexists(self.path / name)

    def passed_over(self) -> Iterator[Note]:
        """What looks like rules and is not read: those of subfolders, and files of other endings."""
        for entry in sorted(os.scandir(self.path), key=lambda entry: entry.name):
            path = shown(entry.path)
            if entry.name.startswith("."):
                continue
            if not entry.is_dir(follow_symlinks=False):
                if not entry.name.endswith(ENDINGS) and entry.name.lower().endswith(ENDINGS):
                    yield Note(path, f"not read: the name of a rule file ends in {' or '.join(ENDINGS)}")
            elif found := next(_rules_below(entry.path), None):
                yield Note(shown(found), "not read: rules stand in the folder of the pack itself, or in another pack")

    def generate(self, rules: list[str], others: list[str]) -> str:
        """The text of ``pack.json`` for these files."""
        entries = {}
        for name in sorted((*rules, *others)):
            if self.has(name):
                file = self.load(name, rule=name in rules)
                entries[name] = {"crc32": crc32(file.text.encode()), "value": file.value}
        lines = (f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in entries.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"


def read(path: str) -> bytes:
    """The bytes of a file of a pack. Raises ``RuleError`` where it cannot be read to its end."""
    try:
        return read_settings(Path(path), path)
    except OSError as error:
        raise RuleError(f"cannot be read: {error.strerror}", path=path) from None


def _rules_below(folder: str) -> Iterator[str]:
    """The files in ``folder`` and below that begin like rules, as far as ``MOST_FOLDERS`` reach."""
    for root, folders, names in islice(os.walk(folder), MOST_FOLDERS):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(root, name)  # noqa: PTH118
            if name.lower().endswith(ENDINGS) and _begins_like_a_rule(path):
                yield path


def _begins_like_a_rule(path: str) -> bool:
    try:
        with open_regular(path) as file:
            return _ID.search(file.read(4096)) is not None
    except OSError:
        return False


def _generated(path: Path) -> dict[str, Any]:
    if not os.path.lexists(path):
        return {}
    try:
        value = json.loads(read(str(path)))
    except (ValueError, RecursionError) as error:
        raise RuleError(f"cannot be read: {error}; `dowbench rules docs` writes it", path=str(path)) from None
    if not isinstance(value, dict) or not all(
        isinstance(entry, dict) and {"crc32", "value"} <= entry.keys() for entry in value.values()
    ):
        message = "expected an object of files, each with crc32 and value; `dowbench rules docs` writes it"
        raise RuleError(message, path=str(path))
    return value


def split(text: str) -> tuple[str, str]:
    """A rule file before and from its ``tests:``."""
    at = 0 if text.startswith(f"{TESTS}:") else text.find(f"\n{TESTS}:") + 1
    return (text[:at], text[at:]) if at or text.startswith(f"{TESTS}:") else (text, "")


def _check_tests(head: str, tail: str, path: str) -> None:
    """Both kinds of tests are there, and nothing stands behind them that a scan would not see."""
    first = head.count("\n") + 1
    seen = set()
    for i, line in enumerate(tail.splitlines()):
        key = line.split(":")[0]
        if line[:1] not in ("", " ", "#", "\t"):
            if key != TESTS or TESTS in seen:
                raise RuleError(f"`{key}` must stand before `{TESTS}`", path=path, line=first + i, column=1)
            seen.add(key)
        elif line.strip() in ("flagged:", "not_flagged:"):
            seen.add(line.strip()[:-1])
    for key in (TESTS, "flagged", "not_flagged"):
        if key not in seen:
            where = TESTS if key == TESTS else f"{TESTS}.{key}"
            raise RuleError(f"{where} is missing: a rule needs tests of both kinds", path=path, line=first)

"""The files of a run directory: append-only JSON Lines that survive a crash, and small files replaced as a whole."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from dowbench.errors import DowbenchError
from dowbench_benchmark import recorded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dowbench_benchmark.recorded import Recorded

CALLS, REQUESTS, CASSETTE, EPISODES = "calls.jsonl", "requests.jsonl", "cassette.jsonl", "episodes.jsonl"
LOGS = (REQUESTS, CASSETTE, CALLS, EPISODES)
RUN, SUMMARY, STATS = "run.json", "summary.json", "stats.json"
TORN = ".torn"
"""What the name of a log ends with that holds what was cut from another."""


class StoreError(DowbenchError):
    """A run's file cannot be read or written."""


class Store:
    """Appends to the logs of one run. Thread-safe.

    ``durable``: a row that was appended is on disk (fsync). Otherwise it is with the operating system, which a killed
    process cannot take back, and reaches the disk in groups.
    """

    def __init__(self, directory: Path, *, durable: bool) -> None:
        self.directory = directory
        self.durable = durable
        self.notices: list[str] = []
        """What was found torn, and where it was put."""
        self._lock = threading.Lock()
        self._files: dict[str, int] = {}
        self._sizes: dict[str, int] = {}
        self._dirty: set[str] = set()

    def mend(self, names: Iterable[str]) -> None:
        """End the last line of each of these logs that is there. What a crash left of a row is put aside, into a file
        of the log's name with ``.torn`` behind it. Raises ``StoreError``."""
        with self._lock:
            for name in names:
                if unended(self.directory / name):
                    self._open(name)

    def append(self, name: str, data: bytes) -> None:
        """Append whole lines. All of them are in the file afterwards, or none. Raises ``StoreError``."""
        with self._lock:
            descriptor = self._open(name)
            try:
                written = os.write(descriptor, data)
                while written < len(data):
                    written += os.write(descriptor, data[written:])
                if self.durable:
                    os.fsync(descriptor)
            except OSError as error:
                with suppress(OSError):
                    os.ftruncate(descriptor, self._sizes[name])
                raise self._error(name, error) from None
            self._sizes[name] += len(data)
            if not self.durable:
                self._dirty.add(name)

    def sync(self) -> None:
        """Bring everything appended to the disk. Raises ``StoreError``."""
        with self._lock:
            for name in sorted(self._dirty):
                try:
                    os.fsync(self._files[name])
                except OSError as error:
                    raise self._error(name, error) from None
            self._dirty.clear()

    def close(self) -> None:
        """Close the files."""
        with self._lock:
            for descriptor in self._files.values():
                os.close(descriptor)
            self._files.clear()

    def _open(self, name: str) -> int:
        descriptor = self._files.get(name)
        if descriptor is None:
            path = self.directory / name
            _regular(path)
            try:
                end, tail = _tail(path)
                descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
                if _is_row(tail):
                    os.write(descriptor, b"\n")
                    end += len(tail) + 1
                    self.notices.append(f"{path}: the last line had no end; it is a whole row and has one now")
                elif tail:
                    aside = self._put_aside(path, tail)
                    os.ftruncate(descriptor, end)
                    self.notices.append(f"{path}: cut a torn last line of {len(tail)} bytes, which {aside} keeps")
            except OSError as error:
                raise self._error(name, error) from None
            self._files[name] = descriptor
            self._sizes[name] = end
        return descriptor

    def _put_aside(self, path: Path, tail: bytes) -> Path:
        """Keep what is about to be cut, on disk, behind what was cut before."""
        aside = path.with_name(path.name + TORN)
        _regular(aside)
        with aside.open("ab") as file:
            file.write(tail + b"\n")
            file.flush()
            os.fsync(file.fileno())
        return aside

    def _error(self, name: str, error: OSError) -> StoreError:
        return StoreError(
            f"cannot be written: {error.strerror}; what was recorded is safe, the same command goes on",
            path=str(self.directory / name),
        )


def rows(path: Path) -> Iterator[Recorded]:
    """The rows of a log, all objects; a torn last line is left out, a missing file has none. Raises a located error."""
    for number, text in enumerate(lines(path), 1):
        if text.strip():
            row = recorded.parse(text, path, number)
            row.object()
            yield row


def lines(path: Path) -> list[bytes]:
    """The whole lines of a log, without their ends; the last may lack its end, if it is a row all the same."""
    if not exists(path):
        return []
    *whole, tail = read_bytes(path).split(b"\n")
    return [*whole, tail] if _is_row(tail) else whole


def digests(directory: Path) -> dict[str, str]:
    """sha256 of each log that is there, by its whole lines, and of ``stats.json``. Raises ``StoreError``."""
    found = {}
    for name in (*LOGS, STATS):
        if exists(directory / name):
            found[name] = hashlib.sha256(b"".join(line + b"\n" for line in lines(directory / name))).hexdigest()
    return found


def torn(path: Path) -> int:
    """Bytes of a last line that has no end and is no row. Raises ``StoreError``."""
    tail = unended(path)
    return 0 if _is_row(tail) else len(tail)


def unended(path: Path) -> bytes:
    """What follows the last end of a line. Raises ``StoreError``."""
    _regular(path)
    try:
        return _tail(path)[1]
    except OSError as error:
        raise StoreError(f"cannot be read: {error.strerror}", path=str(path)) from None


def replace(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a file as a whole: afterwards it is the new one or, after a crash, the old one. Raises ``StoreError``.

    A pipe or a device is refused: it would be replaced by a file.
    """
    _regular(path)
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(temporary, path)  # noqa: PTH105 (atomic, as said)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise StoreError(f"cannot be written: {error.strerror}", path=str(path)) from None


def read_json(path: Path) -> Recorded:
    """A file that is one JSON object. Raises a located error."""
    value = recorded.parse(read_bytes(path), path)
    value.object()
    return value


def read_bytes(path: Path) -> bytes:
    """A regular file as a whole. Raises ``StoreError``; its cause is the system's error."""
    _regular(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise StoreError(f"cannot be read: {error.strerror}", path=str(path)) from error


def remove(path: Path) -> None:
    """Remove a file that may be missing. Raises ``StoreError``."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"cannot be removed: {error.strerror}", path=str(path)) from None


def exists(path: Path) -> bool:
    """Whether there is such a file or folder. Raises ``StoreError`` for a name that the system refuses."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StoreError(f"cannot be read: {error.strerror}", path=str(path)) from None
    return True


def _regular(path: Path) -> None:
    """Raise ``StoreError`` for a pipe, a device or a folder, which reading would wait on or never end."""
    try:
        if stat.S_ISREG(path.stat().st_mode):
            return
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot be read: {error.strerror}", path=str(path)) from None
    raise StoreError("is no regular file", path=str(path))


def _is_row(tail: bytes) -> bool:
    """Whether a last line without an end is whole: no beginning of an object is one itself."""
    try:
        recorded.parse(tail, Path(), 1).object()
    except DowbenchError:
        return False
    return True


def _tail(path: Path) -> tuple[int, bytes]:
    """(bytes up to and with the last line end, what follows)."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return 0, b""
    with file:
        position = file.seek(0, os.SEEK_END)
        tail = b""
        while position > 0:
            step = min(max(65536, len(tail)), position)
            position -= step
            file.seek(position)
            part = file.read(step)
            end = part.rfind(b"\n")
            if end >= 0:
                return position + end + 1, part[end + 1 :] + tail
            tail = part + tail
    return 0, tail

"""The files of a run directory: append-only JSON Lines that survive a crash, and small files replaced as a whole."""

from __future__ import annotations

import os
import stat
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from dowbench.errors import DowbenchError
from dowbench_benchmark import recorded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from dowbench_benchmark.recorded import Recorded

CALLS, REQUESTS, CASSETTE, EPISODES = "calls.jsonl", "requests.jsonl", "cassette.jsonl", "episodes.jsonl"
RUN, SUMMARY, STATS = "run.json", "summary.json", "stats.json"


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
        """What was found torn and cut."""
        self._lock = threading.Lock()
        self._files: dict[str, int] = {}
        self._sizes: dict[str, int] = {}
        self._dirty: set[str] = set()

    def mend(self, names: Iterable[str]) -> None:
        """Cut what a crash left of a last line, in each of these logs that is there. Raises ``StoreError``."""
        with self._lock:
            for name in names:
                if torn(self.directory / name):
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
                whole, torn = _whole_lines(path)
                descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
                if torn:
                    os.ftruncate(descriptor, whole)
                    self.notices.append(f"{path}: cut a torn last line of {torn} bytes")
            except OSError as error:
                raise self._error(name, error) from None
            self._files[name] = descriptor
            self._sizes[name] = whole
        return descriptor

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
    """The whole lines of a log, without their ends."""
    return read_bytes(path).split(b"\n")[:-1] if exists(path) else []


def torn(path: Path) -> int:
    """Bytes of an unfinished last line. Raises ``StoreError``."""
    _regular(path)
    try:
        return _whole_lines(path)[1]
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


def _whole_lines(path: Path) -> tuple[int, int]:
    """(bytes up to and with the last line end, bytes after it)."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return 0, 0
    with path.open("rb") as file:
        position = size
        tail = b""
        while position > 0:
            step = min(65536, position)
            position -= step
            file.seek(position)
            tail = file.read(step)
            end = tail.rfind(b"\n")
            if end >= 0:
                whole = position + end + 1
                return whole, size - whole
    return 0, size

"""The tools that shipping is tested with, kept in a folder outside the tree."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
MULTITOOL = "@microsoft/sarif-multitool-linux@5.7.0"
CACHE = Path(os.environ.get("DOWBENCH_SHIPPING_CACHE") or Path.home() / ".cache" / "dowbench-shipping")


class UnavailableError(Exception):
    """Something that a test needs cannot be had here; the message says why."""


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and return what it printed; the caller looks at the exit code."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        stdin=subprocess.DEVNULL,
    )


def must(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """Run a command that has to succeed for the tests to be possible, and return its standard output."""
    try:
        done = run(*command, cwd=cwd, **environment)
    except OSError as error:
        raise UnavailableError(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        raise UnavailableError(f"{' '.join(map(str, command[:3]))} …: {last[0]}")
    return done.stdout


def made(name: str, key: str) -> tuple[Path, bool]:
    """A folder of the cache, and whether it still has to be filled. Call ``finish`` when it is."""
    folder = CACHE / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    if (folder / ".complete").exists():
        return folder, False
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder, True


def finish(folder: Path) -> Path:
    """Mark a folder of the cache as filled."""
    (folder / ".complete").touch()
    return folder


def python_tools() -> Path:
    """The ``bin`` of a virtual environment with what ``requirements.txt`` names."""
    folder, empty = made("venv", REQUIREMENTS.read_text() + sys.version)
    if empty:
        must(sys.executable, "-m", "venv", folder)
        must(folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", REQUIREMENTS)
        finish(folder)
    return folder / "bin"


def multitool() -> Path:
    """Microsoft's SARIF multitool, a self-contained binary inside an npm package."""
    if sys.platform != "linux":
        raise UnavailableError("the SARIF multitool's package is for Linux")
    folder, empty = made("npm", MULTITOOL)
    if empty:
        must("npm", "install", "--silent", "--no-save", "--prefix", folder, MULTITOOL)
        finish(folder)
    return folder / "node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool"


def strace() -> tuple[str, ...]:
    """The command ``strace``, of the machine or unpacked from Debian's packages."""
    if sys.platform != "linux":
        raise UnavailableError("strace is for Linux")
    command: tuple[str, ...] = ("strace",)
    if not shutil.which("strace"):
        folder, empty = made("strace", "strace libunwind8")
        if empty:
            if run("apt-get", "download", "strace", "libunwind8", cwd=folder).returncode:
                must("apt-get", "update")
                must("apt-get", "download", "strace", "libunwind8", cwd=folder)
            for package in folder.glob("*.deb"):
                must("dpkg-deb", "--extract", package, folder)
            finish(folder)
        libraries = os.pathsep.join(map(str, folder.glob("usr/lib/*-linux-*")))
        command = ("env", f"LD_LIBRARY_PATH={libraries}", str(folder / "usr/bin/strace"))
    must(*command, "-qq", "-o", os.devnull, "true")  # a container may forbid tracing
    return command


def fresh_tree(folder: Path) -> Path:
    """The repository as a new clone would have it, changes of tracked files included, committed to a new history."""
    new = ("--others", "--exclude-standard") if os.environ.get("DOWBENCH_SHIPPING_UNTRACKED") else ()
    names = must("git", "ls-files", "-z", "--cached", "--deduplicate", *new, cwd=ROOT).split("\0")
    for name in filter(None, names):
        source, target = ROOT / name, folder / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return repository(folder)


def repository(folder: Path) -> Path:
    """Make ``folder`` a git repository with all its files in one commit."""
    git = ("git", "-c", "user.name=tests", "-c", "user.email=tests@example.org", "-C", folder)
    must(*git, "init", "--quiet", "--initial-branch", "main")
    must(*git, "add", "--force", "--all")
    must(*git, "commit", "--quiet", "--message", "all")
    return folder

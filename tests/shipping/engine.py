"""A Docker engine: the one that answers, or one started from Debian's packages, and a base image to build on."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kit import ROOT, UnavailableError, finish, made, must, run

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES = ("docker.io", "containerd", "runc", "tini", "debootstrap")
# Which of these exist depends on the release: libraries of dockerd, and a client that is a package of its own.
FURTHER_PACKAGES = ("docker-cli", "libdevmapper1.02.1", "libdevmapper1.02.1t64", "libseccomp2")
BASE_RELEASE = "trixie"
BASE_PACKAGES = "ca-certificates,python3,python3-pip,python3-venv"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
START_SECONDS = 60
MEMORY_NEEDED = 6 << 30


@dataclass(frozen=True)
class Engine:
    """A client and the engine it talks to."""

    client: str
    host: str | None
    """``None``: where the client looks by itself."""
    own: bool
    """Started here: it has no base image, and no bridge, so that a container is on the host's network or on none."""

    @property
    def environment(self) -> dict[str, str]:
        return {"DOCKER_HOST": self.host} if self.host else {}

    def __call__(self, *arguments: str | Path) -> str:
        """Run the client; the command has to succeed."""
        done = self.run(*arguments)
        assert done.returncode == 0, f"docker {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}"
        return done.stdout

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run the client, whatever comes of it. The classic builder needs no plug-in of the client."""
        builder = {"DOCKER_BUILDKIT": "0"} if self.own else {}
        return run(self.client, *arguments, **self.environment, **builder)


@contextlib.contextmanager
def running() -> Iterator[Engine]:
    """An engine for as long as the context lasts. Raises ``UnavailableError``."""
    if shutil.which("docker") and run("docker", "version").returncode == 0:
        yield Engine("docker", os.environ.get("DOCKER_HOST"), own=False)
        return
    if os.geteuid() != 0:
        raise UnavailableError("no Docker engine answers, and starting one takes root")
    if not shutil.which("apt-get"):
        raise UnavailableError("no Docker engine answers, and there is no apt-get to obtain one with")
    programs = unpacked()
    state = Path(tempfile.mkdtemp(prefix="dowbench-engine-", dir=scratch()))
    socket = f"unix://{state}/socket"
    path = os.pathsep.join([f"{programs}/usr/bin", f"{programs}/usr/sbin", f"{programs}/sbin", os.environ["PATH"]])
    libraries = os.pathsep.join(map(str, (*programs.glob("usr/lib/*-linux-*"), *programs.glob("lib/*-linux-*"))))
    with (state / "log").open("wb") as log:
        daemon = subprocess.Popen(
            [
                programs / "usr/sbin/dockerd",
                *("--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver=overlay2"),
                *(f"--data-root={state}/data", f"--exec-root={state}/exec", f"--pidfile={state}/pid", "-H", socket),
            ],
            env={**os.environ, "PATH": path, "LD_LIBRARY_PATH": libraries},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        engine = Engine(f"{programs}/usr/bin/docker", socket, own=True)
        deadline = time.monotonic() + START_SECONDS
        while engine.run("version").returncode:
            if daemon.poll() is not None or time.monotonic() > deadline:
                said = (state / "log").read_text(errors="replace").strip().splitlines()[-1:] or ["nothing"]
                raise UnavailableError(f"dockerd from Debian's packages did not start; it said: {said[0]}")
            time.sleep(0.2)
        yield engine
    finally:
        if daemon.poll() is None:
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(30)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        for line in Path("/proc/mounts").read_text().splitlines():  # it leaves one of its network namespaces
            if (mount := line.split()[1]).startswith(f"{state}/"):
                run("umount", "--lazy", mount)
        shutil.rmtree(state)


def scratch() -> Path | None:
    """Where many small files are written and removed quickly: memory, if there is plenty; else the usual place."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and shutil.disk_usage(memory).free > MEMORY_NEEDED else None


def unpacked() -> Path:
    """Debian's packages of the engine, unpacked into a folder: nothing is installed on the machine."""
    codename = re.search(r"^VERSION_CODENAME=(\S+)", Path("/etc/os-release").read_text(), re.M)
    folder, empty = made("engine", f"{codename and codename[1]} {PACKAGES} {FURTHER_PACKAGES}")
    if not empty:
        return folder
    packages = folder / "packages"
    packages.mkdir()
    if run("apt-get", "download", *PACKAGES, cwd=packages).returncode:
        must("apt-get", "update")
        must("apt-get", "download", *PACKAGES, cwd=packages)
    for package in FURTHER_PACKAGES:
        run("apt-get", "download", package, cwd=packages)
    for package in packages.glob("*.deb"):
        must("dpkg-deb", "--extract", package, folder)
    shutil.rmtree(packages)
    return finish(folder)


def base_name() -> str:
    """The image that the Dockerfile builds on."""
    found = re.search(r"^ARG BASE=(\S+)$", (ROOT / "Dockerfile").read_text(), re.M)
    assert found
    return found[1]


def base(engine: Engine) -> str:
    """Have the base image at hand, pulled or as a stand-in under its name, and return which."""
    name = base_name()
    if engine.run("image", "inspect", name).returncode == 0:
        return "already there"
    if not engine.own:
        engine("pull", name)
        return "pulled"
    archive = stand_in()
    engine("import", archive, name.partition("@")[0])
    return "a stand-in made of Debian's packages"


def stand_in() -> Path:
    """An archive of a minimal Debian with Python and pip where the Python image has them."""
    folder, empty = made("base", f"{BASE_RELEASE} {BASE_PACKAGES} {CERTIFICATES.stat().st_size}")
    archive = folder / "base.tar"
    if not empty:
        return archive
    tools = unpacked()
    with tempfile.TemporaryDirectory(prefix="dowbench-base-", dir=scratch()) as temporary:
        root = Path(temporary) / "root"
        must(
            tools / "usr/sbin/debootstrap",
            *("--variant=minbase", f"--include={BASE_PACKAGES}", BASE_RELEASE, root),
            DEBOOTSTRAP_DIR=str(tools / "usr/share/debootstrap"),
        )
        for marker in root.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
            marker.unlink()
        local = root / "usr/local/bin"
        (local / "python3").symlink_to("/usr/bin/python3")
        (local / "python").symlink_to("python3")
        # Where a network is watched, its certificate is one that only this machine knows.
        shutil.copy2(CERTIFICATES, root / CERTIFICATES.relative_to("/"))
        for waste in (*root.glob("var/cache/apt/*"), *root.glob("var/lib/apt/lists/*"), root / "usr/share/doc"):
            shutil.rmtree(waste) if waste.is_dir() else waste.unlink()
        must("tar", "--create", f"--file={archive}", "--directory", root, ".")
    finish(folder)
    return archive

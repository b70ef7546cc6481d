"""A Python environment that has benchwright's requirements and nothing else: another machine, as far as packages go."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import venv
from pathlib import Path

from benchwright.packages._container import write_own_wheel
from waiting import PATIENCE_S


class Machine:
    """One environment. Nothing of this repository is on its path."""

    def __init__(self, folder: Path) -> None:
        self.prefix = folder / "venv"
        venv.create(self.prefix, symlinks=True)
        self.site = next(self.prefix.glob("lib/python*/site-packages"))
        libraries = folder / "libraries"
        libraries.mkdir()
        for entry in Path(sysconfig.get_path("purelib")).iterdir():
            if entry.suffix != ".pth" and "benchwright" not in entry.name.lower():
                (libraries / entry.name).symlink_to(entry)
        (self.site / "libraries.pth").write_text(f"{libraries}\n")
        write_own_wheel(folder / "wheels")
        self.pip("install", "--no-compile", *(str(wheel) for wheel in (folder / "wheels").iterdir()))

    def python(self, *words: str, cwd: Path, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run its Python; `code` is the exit code to expect."""
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP"))}
        done = subprocess.run(
            [self.prefix / "bin" / "python", *words],
            cwd=cwd, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done

    def benchwright(self, *words: str, cwd: Path, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run `benchwright …` there."""
        return self.python("-m", "benchwright", *words, cwd=cwd, code=code)

    def pip(self, *words: str) -> None:
        """Run its pip, without network."""
        offline = ["--no-index"] if words[0] == "install" else []
        quiet = ["--disable-pip-version-check", "--quiet"]
        self.python("-m", "pip", words[0], *quiet, *offline, *words[1:], cwd=self.prefix)

    def files(self) -> set[str]:
        """All its files but the bytecode of benchwright itself, which every command may write."""
        return {
            path.relative_to(self.prefix).as_posix()
            for path in self.prefix.rglob("*")
            if not path.is_relative_to(self.site / "benchwright")
        }

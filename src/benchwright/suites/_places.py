"""Where the files are that a suite names: beside the suite, else in the current folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchwright.core import NotFoundError, suggest


@dataclass(frozen=True, slots=True)
class Place:
    """A file that a suite names."""

    path: str
    """Absolute; a URI as it was written."""
    note: str | None = None
    """Said when it was not found where one looks first."""


def locate(written: str, suite: Path, cwd: Path, where: str) -> Place:
    """Find a file. NotFoundError, with what was tried and near names, if it is nowhere."""
    if "://" in written:
        return Place(written)
    path = Path(written).expanduser()
    if path.is_absolute():
        if path.exists():
            return Place(str(path))
        raise NotFoundError(f"{where}: there is no file {written}{_near(path)}")
    beside, here = suite.parent / path, cwd / path
    if beside.exists():
        return Place(str(beside.resolve()))
    if here.exists():
        return Place(
            str(here.resolve()),
            f"{where}: {written} is not beside {suite.name}; the one in the current folder is taken",
        )
    tried = f"neither beside {suite.name} nor in the current folder"
    if suite.parent.resolve() == cwd.resolve():
        tried = f"not beside {suite.name}"
    raise NotFoundError(f"{where}: {written} was not found, {tried}.{_near(beside)}")


def _near(path: Path) -> str:
    names = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    return suggest(path.name, names)

"""SQLite's exceptions in plain words, with the cure."""

from __future__ import annotations

from pathlib import Path

from benchwright.store._records import StoreError
from benchwright.store._workspace import Workspace

_KINDS = (
    ("SQLITE_FULL", "full"),
    ("SQLITE_CORRUPT", "damaged"),
    ("SQLITE_NOTADB", "damaged"),
    ("SQLITE_BUSY", "locked"),
    ("SQLITE_LOCKED", "locked"),
    ("SQLITE_READONLY", "readonly"),
    ("SQLITE_IOERR", "disk"),
)
_WORDS = (("full", "full"), ("locked", "locked"), ("malformed", "damaged"))


def kind_of(error: Exception) -> str:
    """The kind of an error, by SQLite's name for it, else by its message."""
    name, text = str(getattr(error, "sqlite_errorname", "")), str(error)
    named = (kind for start, kind in _KINDS if name.startswith(start))
    return next(named, "") or next((kind for word, kind in _WORDS if word in text), "")


def not_written(place: str, error: Exception) -> StoreError:
    """The error for a record that could not be written: what is safe, and the cure."""
    kind = kind_of(error)
    if kind == "full":
        what = f"the disk is full, so a record could not be written to {place}"
        cure = "make room"
    elif kind == "locked":
        what = f"another process kept {place} locked, so a record could not be written"
        cure = "see what that process does"
    elif kind == "damaged":
        return StoreError(_damaged(place, error))
    else:
        what = f"a record could not be written to {place}: {error}"
        cure = "free disk space or repair the disk"
    return StoreError(
        f"{what}. Everything recorded before is safe",
        resume=f", what was being done will be done again; {cure}, then: benchwright resume",
        cure=cure,
    )


def not_read(error: Exception, database: Path | None = None) -> StoreError:
    """The error for a database that could not be used: the reason and the cure."""
    where = "the workspace database" if database is None else f"{database}: the workspace database"
    kind = kind_of(error)
    if kind == "damaged":
        return StoreError(_damaged("the workspace database" if database is None else str(database), error))
    causes = {
        "full": f"{where} cannot be used, because the disk is full ({error}). Free disk space and try again",
        "locked": f"{where} is locked by another process. Wait for it, or see what it does",
        "readonly": f"{where} cannot be written to ({error}). Check the rights of its folder, or choose another --workspace",
        "disk": f"{where} could not be read or written: the disk reports an error ({error}). Check the disk, then: "
        "benchwright doctor",
    }
    if kind in causes:
        return StoreError(f"{causes[kind]}.")
    network = None if database is None else Workspace(database.parent.parent).network_filesystem()
    remote = f"It is on a network file system ({network}), where SQLite is not safe. " if network else ""
    return StoreError(
        f"{where} cannot be opened ({error}). {remote}Check that its folder is there and writable, or choose another "
        "--workspace."
    )


def _damaged(where: str, error: Exception) -> str:
    return f"{where} is damaged ({error}). Recover what can be read with: benchwright doctor"

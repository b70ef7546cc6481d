"""Finds the workspace, upwards from the current folder, and names its paths."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Container
from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from benchwright.core import (
    HidesFields,
    NotFoundError,
    UsageError,
    expand_home,
    make_private,
    own_ancestors,
    refuse_foreign,
    safe_name,
)

SQLITE_URL = "sqlite:///"
"""The prefix of the URL of an SQLite file; the path follows unchanged."""

_PERSON = re.compile(r"//[^/@?]*@")
"""User and password in a URL."""
_SCHEMA = re.compile(r"[?&]workspace=([^&]+)")
_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = {
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "lustre", "beegfs", "fuse.sshfs", "fuse.s3fs",
    "fuse.gcsfuse", "fuse.rclone", "fuse.glusterfs",
}  # fmt: skip


class Workspace(HidesFields, Struct, frozen=True):
    """A folder whose `.benchwright/` contains the database and the run folders."""

    folder_name: ClassVar[str] = ".benchwright"

    hidden: ClassVar[tuple[str, ...]] = ("url",)  # it may contain a password

    root: Path
    """The folder that contains `.benchwright/`."""
    url: str | None = None
    """URL of its records; None: an SQLite database in the state folder."""

    @property
    def state(self) -> Path:
        """The state folder."""
        return self.root / Workspace.folder_name

    @property
    def store_url(self) -> str:
        """The URL for `open_store`."""
        return self.url or f"{SQLITE_URL}{self.state / 'benchwright.db'}"

    @property
    def database(self) -> Path:
        """The SQLite database, for the backend of that name."""
        return Path(self.store_url.removeprefix(SQLITE_URL))

    @property
    def runs(self) -> Path:
        """Where the folders of runs are. Each store has its own: another one's runs have the same numbers."""
        if self.url is None:
            return self.state / "runs"
        if self.url.startswith(SQLITE_URL):
            place, name = self.url, Path(self.url).stem
        else:  # whoever names it, and however
            named = _SCHEMA.search(self.url)
            name = named[1] if named else "store"
            place = f"{_PERSON.sub('//', self.url).partition('?')[0]}?{name}"
        digest = hashlib.sha256(place.encode()).hexdigest()[:8]
        return self.state / f"runs-{safe_name(name)}-{digest}"

    def run_folder(self, run_id: int, name: str) -> Path:
        """Default folder of a run's files."""
        return self.runs / f"{run_id:04d}-{name}"

    def run_folders(self, known: Container[int] = (), beyond: int = 0) -> dict[int, Path]:
        """Folders of runs by number that contain files, also those that the database does not know; without those of
        `known` numbers, and of numbers up to `beyond`."""
        try:
            found = sorted(os.listdir(self.runs))
        except OSError:
            return {}
        numbered = [(name.partition("-")[0], self.runs / name) for name in found]
        folders = [(int(number), place) for number, place in numbered if number.isdecimal()]
        return {
            number: place
            for number, place in folders
            if number > beyond and number not in known and place.is_dir() and any(place.iterdir())
        }

    def without_runs(self) -> str:
        """The message if no run is recorded: there was none yet, or the record was lost."""
        folders = self.run_folders()
        if not folders:
            return f"the workspace {self.root} has no runs yet. Start one with: benchwright run TARGET"
        lost = (
            f"the database {self.database.name} was lost"
            if self.store_url.startswith(SQLITE_URL)
            else "its records were lost"
        )
        return (
            f"no run is on record in {self.root}, but {len(folders)} run folders are in {self.runs}: {lost}. "
            "List them again with: benchwright doctor"
        )

    def network_filesystem(self) -> str | None:
        """The kind of network file system that the records are on; None: a local disk, or unknown.

        SQLite's locks and its log are not safe there: two machines may each believe that they are alone.
        """
        try:
            lines = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return None
        place = str(self.state.resolve()) + "/"
        found = ("", "")
        for line in lines:  # … mount point, options, -, kind, …; the innermost mount counts
            head, _, tail = line.partition(" - ")
            point = head.split()[4].replace("\\040", " ").rstrip("/") + "/"
            if place.startswith(point) and len(point) >= len(found[0]):
                found = (point, tail.split()[0])
        return found[1] if found[1] in _NETWORK else None

    def create(self) -> None:
        """Create the state folder, which git ignores, and the workspace if only its folder is missing."""
        if not self.root.parent.is_dir():
            raise UsageError(
                f"the workspace {self.root} cannot be made: there is no folder {self.root.parent}. Check the path, or "
                "make that folder first"
            )
        try:
            self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
            make_private(self.state)  # prompts, replies and rows are private
            ignore = self.state / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(
                f"{self.state} cannot be made or written to: {error.strerror}. Choose a folder of your own: --workspace DIR"
            ) from None


def nearest_workspace(start: Path, explicit: Path | None = None, *, to_read: bool = False) -> Workspace:
    """The explicit folder, else the nearest ancestor with records or a configuration, else `start` itself.

    The search ends at folders that everybody may write to, such as /tmp. Raises UsageError if the state folder is a file or a
    broken link, and NotFoundError if there is nothing `to_read` in the explicit folder because it does not exist.
    """
    if explicit is not None:
        found = _usable(expand_home(explicit).resolve())
        if to_read and not found.root.is_dir():
            wrong = "is not a folder" if found.root.exists() else "is not there"
            raise NotFoundError(
                f"the workspace {explicit} {wrong}. Name the folder that contains {Workspace.folder_name}/ with --workspace, or name "
                "none to take the nearest one upwards from here"
            )
        return found
    for folder in own_ancestors(start):
        # Records make a folder a workspace, or a configuration, next to which records are stored.
        for name in (Workspace.folder_name, "benchwright.toml", ".benchwright.toml"):
            if (folder / name).exists() or (name == Workspace.folder_name and (folder / name).is_symlink()):
                refuse_foreign(folder / name, "workspace", start)
                return _usable(folder)
    return Workspace(start.resolve())


def _usable(root: Path) -> Workspace:
    """The workspace in a folder. Raises UsageError if its records cannot be reached, because it would seem to have none."""
    workspace = Workspace(root)
    state = workspace.state
    if state.is_dir() or not os.path.lexists(state):
        return workspace
    if state.is_symlink():
        wrong = f"is a link to {os.readlink(state)}, which is not {'a folder' if state.exists() else 'there'}"
    else:
        wrong = "is a file"
    raise UsageError(
        f"{state} {wrong}, and the records of a workspace are in a folder of this name. Restore it, remove it, or name "
        "another workspace: --workspace DIR"
    )

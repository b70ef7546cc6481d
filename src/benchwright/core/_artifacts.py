"""The files of a run, wherever they are. Everything that a run writes or reads there goes through `Artifacts`, so that another
place for run folders is one class and one row of `ARTIFACT_KINDS`.

A name has `/` between its parts, and stays inside the place: an absolute one, or one with `..`, is refused. Failures are
`OSError`, as for files of this machine.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Protocol

from msgspec import Struct

from benchwright.core._errors import UsageError
from benchwright.core._home import expand_home
from benchwright.core._late_patterns import late_pattern
from benchwright.core._trust import replacing


class Artifacts(Protocol):
    """The files of one run. Other processes may open them too."""

    def location(self, name: str = "") -> str:
        """Where people find a file, or all of them."""
        ...

    def exists(self, name: str) -> bool:
        """Whether there is a complete file with this name."""
        ...

    def names(self, under: str = "") -> list[str]:
        """The names of the files directly under a name, sorted; those of folders end in `/`. Empty if there is no such place."""
        ...

    def modified(self, name: str = "") -> float:
        """When a file, or the place of all of them, was last changed, in seconds since 1970."""
        ...

    def read(self, name: str) -> bytes:
        """The content of a small file. Raises FileNotFoundError if there is none."""
        ...

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading at any position. Raises FileNotFoundError if there is none."""
        ...

    def write(self, name: str, content: bytes | Iterable[bytes]) -> None:
        """Write a file whole: others see the old content or the new, never a part, even after a kill."""
        ...

    def create(self, name: str) -> AbstractContextManager[BinaryIO]:
        """As `write`, for content that comes in pieces: the file appears when the block ends, unless the block fails."""
        ...

    def append(self, name: str) -> BinaryIO:
        """Open a file that grows. It is not buffered: what was written survives a kill of this process. For files that are small,
        or kept while the run lasts, because not every place can append."""
        ...

    def remove(self, *names: str) -> None:
        """Remove files, as far as there are any."""
        ...

    def prepare(self) -> Callable[[], None]:
        """Make the place, and check that it can be written to. The returned function takes it away again while it is empty."""
        ...

    def lock(self) -> AbstractContextManager[bool]:
        """Keep the place while the block or the process lasts; False if somebody else keeps it. Runs of one workspace are kept
        apart by its store; only those of several workspaces need this."""
        ...

    def local(self) -> AbstractContextManager[Path]:
        """A folder of this machine with the files, for code that needs a path. What the block writes there is kept."""
        ...

    def discard(self) -> AbstractContextManager[None]:
        """Remove all files if the block succeeds. Inside it they are out of the way already, so that a kill leaves all or none."""
        ...


_GONE = ".removed-"
"""Before the name of a folder that is being deleted."""


class LocalFolder(Struct, frozen=True):
    """Implements `Artifacts` for a folder of this machine."""

    root: Path

    @classmethod
    def at(cls, place: str) -> LocalFolder:
        """The folder with this path."""
        return cls(Path(place))

    def location(self, name: str = "") -> str:
        """The path."""
        return str(self._path(name))

    def exists(self, name: str) -> bool:
        """Whether it is a file."""
        return self._path(name).is_file()

    def names(self, under: str = "") -> list[str]:
        """What a listing of the folder shows."""
        start = f"{under.rstrip('/')}/" if under else ""
        try:
            with os.scandir(self._path(under)) as entries:
                return sorted(f"{start}{each.name}{'/' if each.is_dir() else ''}" for each in entries)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def modified(self, name: str = "") -> float:
        """The file system's time."""
        return self._path(name).stat().st_mtime

    def read(self, name: str) -> bytes:
        """Read the whole file."""
        return self._path(name).read_bytes()

    def open(self, name: str) -> BinaryIO:
        """Open it for reading."""
        return self._path(name).open("rb")

    def write(self, name: str, content: bytes | Iterable[bytes]) -> None:
        """Write under a temporary name, and rename."""
        with self.create(name) as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                file.writelines(content)

    @contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """Open a temporary name, and rename it at the end."""
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary, temporary.open("wb") as file:
            yield file

    def append(self, name: str) -> BinaryIO:
        """Open the file itself, which only its owner may read."""
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        return open(path, "ab", buffering=0, opener=_private)

    def remove(self, *names: str) -> None:
        """Unlink them."""
        for name in names:
            self._path(name).unlink(missing_ok=True)

    def prepare(self) -> Callable[[], None]:
        """Make the folder and those above it."""
        made = [each for each in (self.root, *self.root.parents) if not each.exists()]
        self.root.mkdir(parents=True, exist_ok=True)
        probe = self.root / ".writable"
        probe.touch()
        probe.unlink()

        def undo() -> None:
            with suppress(OSError):  # not empty: somebody has written there meanwhile
                for folder in made:
                    folder.rmdir()

        return undo

    @contextmanager
    def lock(self) -> Iterator[bool]:
        """Lock the folder itself, so that no file is left."""
        opened = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            free = True
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                free = False
            except OSError:
                pass  # some network file systems have no locks
            yield free
        finally:
            os.close(opened)

    @contextmanager
    def local(self) -> Iterator[Path]:
        """The folder itself."""
        yield self.root

    @contextmanager
    def discard(self) -> Iterator[None]:
        """Rename the folder, then delete it."""
        from shutil import rmtree

        gone = self.root.with_name(f"{_GONE}{self.root.name}")
        with suppress(OSError):
            os.replace(self.root, gone)
        try:
            yield
        except BaseException:
            with suppress(OSError):
                os.replace(gone, self.root)
            raise
        rmtree(gone, ignore_errors=True)
        rmtree(self.root, ignore_errors=True)

    def _path(self, name: str) -> Path:
        return self.root / checked_name(name) if name else self.root


def checked_name(name: str) -> str:
    """The name of a file in any place, without a `/` at its end. Raises ValueError if it would lead out of its place.

    >>> checked_name("score/my-model/")
    'score/my-model'
    >>> checked_name("../results.yml")
    Traceback (most recent call last):
        ...
    ValueError: '../results.yml' is not the name of a file of a run
    """
    kept = name.removesuffix("/")
    if "\0" in kept or not {"", ".", ".."}.isdisjoint(kept.split("/")):
        raise ValueError(f"{name!r} is not the name of a file of a run")
    return kept


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


ARTIFACT_KINDS: dict[str, Callable[[str], Artifacts]] = {"": LocalFolder.at}
"""By the scheme of a place, what opens the files there; a path has no scheme."""


_SCHEME = late_pattern(r"([A-Za-z][\w+.-]+):/{1,2}")
"""Before the rest of a URL; `Path` makes one stroke of two."""


def open_artifacts(place: Path | str) -> Artifacts:
    """The files of the run whose folder is `place`. Raises UsageError for a scheme that nothing here can open."""
    text = str(place)
    found = _SCHEME.match(text)
    kind = ARTIFACT_KINDS.get(found[1] if found else "")
    if kind is None:
        assert found is not None
        written = f"{found[1]}://{text[found.end() :]}"
        raise UsageError(
            f"the files of a run cannot be at {written}: they are written to a folder. Give its path"
        )
    return kind(text)


def artifacts_place(written: Path | str) -> Path:
    """The place for the files of a run that a user wrote, in full. Raises UsageError as `open_artifacts` does."""
    open_artifacts(written)
    return expand_home(written).resolve()

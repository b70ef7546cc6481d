"""Files of runs in memory: what reads and writes them by a path of its own finds nothing there."""

from __future__ import annotations

import io
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from benchwright.core._artifacts import checked_name


class MemoryPlaces:
    """All places of one test, by their path."""

    def __init__(self) -> None:
        self._places: dict[str, MemoryFiles] = {}

    def open(self, place: str) -> MemoryFiles:
        """The files at a place; the same ones for the same place."""
        return self._places.setdefault(os.path.abspath(place), MemoryFiles(place))


class _Growing(io.RawIOBase):
    def __init__(self, content: bytearray) -> None:
        self._content = content

    def write(self, data: Any) -> int:
        self._content += data
        return len(data)

    def truncate(self, size: int | None = None) -> int:
        del self._content[size or 0 :]
        return size or 0

    def tell(self) -> int:
        return len(self._content)


class MemoryFiles:
    """Implements `Artifacts`."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._files: dict[str, bytearray] = {}
        self._changed: dict[str, float] = {}
        self._held = False

    def location(self, name: str = "") -> str:
        return f"{self._place}/{checked_name(name)}" if name else self._place

    def exists(self, name: str) -> bool:
        return checked_name(name) in self._files

    def names(self, under: str = "") -> list[str]:
        start = f"{checked_name(under)}/" if under else ""
        inside = (name.removeprefix(start) for name in list(self._files) if name.startswith(start))
        return sorted({f"{start}{head}{mark}" for head, mark, _ in (name.partition("/") for name in inside)})

    def modified(self, name: str = "") -> float:
        if name and not self.exists(name):
            raise FileNotFoundError(name)
        return self._changed[name] if name else max(self._changed.values(), default=time.time())

    def read(self, name: str) -> bytes:
        try:
            return bytes(self._files[checked_name(name)])
        except KeyError:
            raise FileNotFoundError(self.location(name)) from None

    def open(self, name: str) -> BinaryIO:
        return io.BytesIO(self.read(name))

    def write(self, name: str, content: bytes | Iterable[bytes]) -> None:
        with self.create(name) as file:
            file.writelines([content] if isinstance(content, bytes) else content)

    @contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        kept = checked_name(name)
        with io.BytesIO() as file:
            yield file
            self._files[kept] = bytearray(file.getvalue())
        self._changed[kept] = time.time()

    def append(self, name: str) -> BinaryIO:
        kept = checked_name(name)
        self._changed[kept] = time.time()
        return cast("BinaryIO", _Growing(self._files.setdefault(kept, bytearray())))

    def remove(self, *names: str) -> None:
        for name in names:
            self._files.pop(checked_name(name), None)

    def prepare(self) -> Callable[[], None]:
        return lambda: None

    @contextmanager
    def lock(self) -> Iterator[bool]:
        free, self._held = not self._held, True
        try:
            yield free
        finally:
            self._held = not free

    @contextmanager
    def local(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as folder:
            for name, content in self._files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            yield Path(folder)
            written = [path for path in Path(folder).rglob("*") if path.is_file()]
            self._files = {
                path.relative_to(folder).as_posix(): bytearray(path.read_bytes()) for path in written
            }

    @contextmanager
    def discard(self) -> Iterator[None]:
        kept, self._files = self._files, {}
        try:
            yield
        except BaseException:
            self._files = kept
            raise

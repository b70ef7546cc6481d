"""The folder of a run's files: made, checked, and kept from other runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchwright.core import RunOwnedError, UsageError, open_artifacts


def make_folder(folder: Path) -> Callable[[], None]:
    """Create the folder of a run's files, and check that it can be written to. The returned function removes it while it is
    empty."""
    try:
        return open_artifacts(folder).prepare()
    except OSError as error:
        raise UsageError(
            f"cannot write to {folder}: {error.strerror}; nothing was sent. Choose another --output-dir"
        ) from None


@contextmanager
def owned_folder(folder: Path) -> Iterator[None]:
    """Create the folder of a run's files, and keep it from other runs while this one lasts. Runs of the same workspace are refused
    by its records; this lock is for those of other workspaces, whose records are elsewhere."""
    make_folder(folder)
    with open_artifacts(folder).lock() as free:
        if not free:
            raise RunOwnedError(
                f"a run of another workspace writes its files into {folder}; nothing was sent. Wait for it, or choose another "
                "--output-dir"
            )
        yield

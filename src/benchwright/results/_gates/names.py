"""Baselines by name: each name has a folder in the workspace with all its baselines and their history.
Only `bless` moves a name."""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

import orjson
from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import (
    JsonObject,
    NotFoundError,
    UsageError,
    as_json,
    clause,
    encode_json,
    make_private,
    rfc3339,
    suggest,
)
from benchwright.results._found_runs import FoundRun
from benchwright.results._gates.baselines import read_baseline, replace_file, write_baseline
from benchwright.store import Workspace

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9._-]{0,99}")
_TAKEN = ("last", "latest")
_HISTORY = "history.jsonl"


class Blessed(Struct, frozen=True):
    """One assignment of a name."""

    name: str
    source: str
    """The run or file that got the name."""
    benchmark: str
    model: str
    blessed_at: str
    """UTC, RFC 3339."""
    sha256: str
    """Checksum of the baseline."""
    file: str
    """The baseline, in the folder of its name."""
    count: int
    """Samples or requests in it."""
    kind: str = ""
    """The kind of run; empty for what earlier versions blessed."""

    def to_json(self) -> JsonObject:
        """All fields."""
        found: JsonObject = as_json(self)
        return found


def check_name(name: str) -> str:
    """Return a valid name. Raises UsageError for others."""
    if _NAME.fullmatch(name) is None or name in _TAKEN:
        raise UsageError(
            f"a baseline cannot be called {name!r}; names begin with a letter and contain letters, digits, '.', '_' and '-', "
            "and are not 'last'. Choose one with --as NAME"
        )
    return name


class Baselines:
    """The baselines of a workspace."""

    def __init__(self, place: Workspace) -> None:
        self._place = place
        self._folder = place.state / "baselines"

    def give(self, name: str, baseline: FoundRun) -> Blessed:
        """Give a name to a baseline. Earlier baselines with the name are kept."""
        check_name(name)
        self._place.create()
        folder = self._folder / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        make_private(folder)
        # A name of its own, so that no other `bless` writes or removes it; the history names it once it is whole.
        file, count, checksum = write_baseline(folder / f"{time.time_ns()}-{token_hex(4)}.jsonl", baseline)
        run = baseline.run
        with _locked(folder):
            history = _read(folder)
            last = history[-1] if history else None
            if last is not None and last.sha256 == checksum and (folder / last.file).is_file():
                file.unlink()  # the same baseline needs no second copy
                return last
            moved = Blessed(
                name,
                baseline.title,
                run.name,
                run.model,
                rfc3339(time.time()),
                checksum,
                file.name,
                count,
                run.kind,
            )
            lines = [encode_json(move.to_json()) + b"\n" for move in (*history, moved)]
            replace_file(folder / _HISTORY, b"".join(lines))
        return moved

    def histories(self) -> dict[str, list[Blessed]]:
        """All names, each with its assignments, oldest first; the last one counts."""
        folder = self._folder
        if not folder.is_dir():
            return {}
        found = {each.name: _read(each) for each in sorted(folder.iterdir()) if each.is_dir()}
        return {name: moves for name, moves in found.items() if moves}

    def named(self, name: str) -> FoundRun | None:
        """The baseline with a name; None if there is no such name."""
        if _NAME.fullmatch(name) is None:
            return None
        folder = self._folder / name
        moves = _read(folder)
        if not moves:
            return None
        file = folder / moves[-1].file
        if not file.is_file():
            raise NotFoundError(
                f"the baseline {name} is {file}, which is not there any more. Bless another run: benchwright bless RUN --as {name}"
            )
        found = read_baseline(file)
        when = moves[-1].blessed_at.partition("T")[0]
        title = f"{name} ({moves[-1].source}, blessed {when})"
        return replace(found, title=title, run=replace(found.run, folder=folder))

    def unknown(self, name: str) -> NotFoundError:
        """The error for an unknown baseline."""
        known = list(self.histories())
        there = (
            f"Blessed names: {', '.join(known)}"
            if known
            else "To make a first one from a run that you have looked at: benchwright bless RUN --as NAME for this workspace, or "
            f"benchwright export RUN --baseline {name if name.endswith('.jsonl') else 'baseline.jsonl'} for a file to commit"
        )
        return NotFoundError(
            f"no baseline {name!r}: neither a name, a run, nor a file.{suggest(name, known)} {there}"
        )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other processes from moving the name meanwhile. The lock ends with the process, however that ends."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _read(folder: Path) -> list[Blessed]:
    try:
        content = (folder / _HISTORY).read_bytes()
        # Earlier versions appended lines: one without its end is of a process that was killed.
        lines = content[: content.rfind(b"\n") + 1].splitlines()
    except OSError:
        return []
    try:
        return [Blessed(**orjson.loads(line)) for line in lines]
    except (ValueError, TypeError) as error:
        raise UsageError(
            f"{folder / _HISTORY} is damaged: {clause(error)}. Bless a run again after deleting it"
        ) from error

"""`doctor`: is the workspace's record sound, and if not, what can be had back?"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from benchwright.core import RunKind
from benchwright.reports import run_of_folder, steps_of_folder
from benchwright.store import Recovered, Store, Workspace, open_store, recover_store, store_problems


@dataclass(frozen=True, slots=True)
class Adopted:
    """A run that was listed again."""

    run_id: int
    """Its number, which is that of its folder."""
    name: str
    """Its benchmark."""
    folder: Path
    """Where its files are."""
    kind: str
    """What was run."""
    status: str
    """As far as its files tell."""
    samples: int
    """Samples that could be read."""
    problem: str | None = None
    """Why not more could be read."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found, and done."""

    workspace: Path
    """Which one."""
    problems: tuple[str, ...] = ()
    """What is wrong with the database; nothing: it is sound, or there is none."""
    recovered: Recovered | None = None
    """What came of a damaged database."""
    adopted: tuple[Adopted, ...] = field(default=())
    """Runs listed again."""
    orphans: tuple[Path, ...] = ()
    """Folders of runs that are not on record, where nothing was to be changed."""
    exists: bool = True
    """Whether there is a workspace at all."""

    @property
    def sound(self) -> bool:
        """Whether nothing was found."""
        return not (self.problems or self.adopted or self.orphans)


def diagnose(workspace: Workspace, *, repair: bool = True) -> Diagnosis:
    """Look at the database and the run folders; with `repair`, recover and list what can be read.

    A damaged database is kept under another name. Folders are only read.
    """
    found = store_problems(workspace)
    problems = found or []
    recovered = recover_store(workspace) if problems and repair else None
    if found is None and not workspace.run_folders():
        return Diagnosis(workspace.root, exists=False)
    if not repair and (problems or found is None):
        folders = tuple(workspace.run_folders().values())
        return Diagnosis(workspace.root, tuple(problems), orphans=folders)
    with open_store(workspace, read_only=not repair) as store:
        orphans = workspace.run_folders({run.id for run in store.runs()})
        if not repair:
            return Diagnosis(workspace.root, orphans=tuple(orphans.values()))
        adopted = tuple(_adopted(store, number, folder) for number, folder in orphans.items())
    return Diagnosis(workspace.root, tuple(problems), recovered, adopted)


def _adopted(store: Store, number: int, folder: Path) -> Adopted:
    run = run_of_folder(number, folder)
    problem = None
    if run.kind == RunKind.WORKFLOW:
        store.adopt_run(run, ())
        problem = "a workflow's folder holds what it printed; its input, steps, metrics and output are lost"
        return Adopted(number, run.name, folder, run.kind, run.status, 0, problem)
    try:
        samples = store.adopt_run(run, steps_of_folder(folder))
    except Exception as error:  # a damaged samples.parquet: what the other files tell is still worth having
        problem = f"samples.parquet cannot be read: {error}"
        samples = store.adopt_run(run, ())
    return Adopted(number, run.name, folder, run.kind, run.status, samples, problem)

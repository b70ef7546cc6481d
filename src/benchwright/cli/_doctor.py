"""`benchwright doctor`."""

from __future__ import annotations

from argparse import Namespace

from benchwright.cli._flags import add_workspace, named_workspace
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser
from benchwright.core import as_json


def configure(parser: Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="report only; change nothing")
    add_workspace(parser)
    parser.example("benchwright doctor", "benchwright doctor --dry-run")


def execute(arguments: Namespace, output: Output) -> int:
    """Check and repair; JSON: `{"workspace", "exists", "sound", "problems", "recovered", "adopted", "orphans", "mended"}`."""
    from benchwright.results import RUN_KINDS
    from benchwright.runs import diagnose

    found = diagnose(named_workspace(arguments), repair=not arguments.dry_run)
    code = 1 if (arguments.dry_run and not found.sound) or not found.whole else 0
    if output.as_json:
        output.json({**as_json(found), "sound": found.sound})
        return code
    for problem in found.problems:
        output.line(f"the database is damaged: {problem}")
    if found.recovered is not None:
        runs, steps = found.recovered.rows.get("runs", 0), found.recovered.rows.get("steps", 0)
        output.line(
            f"recovered {runs:,} runs and {steps:,} records; the damaged file is {found.recovered.kept}"
        )
        if found.recovered.lost:
            output.line(f"{found.recovered.lost} places in it could not be read")
    for run in found.adopted:
        kind = RUN_KINDS[run.kind]
        held = f"{run.samples:,} {kind.unit}" if kind.file is not None else "workflow"
        output.line(f"listed again: run {run.run_id} {run.name}, {run.status}, {held}")
        if run.problem:
            output.line(f"  {run.problem}")
    for mended in found.mended:
        if mended.restored:
            output.line(
                f"restored: {mended.restored:,} lost records of run {mended.run_id} {mended.name}, from its folder"
            )
        if mended.lost:
            output.line(f"run {mended.run_id} {mended.name} is not complete: {mended.problem}")
    for folder in found.orphans:
        output.line(f"not on record: {folder}")
    if not found.exists:
        output.line(
            f"there is no workspace in {found.workspace}. The first run makes one; name another with --workspace DIR"
        )
    elif found.sound:
        output.line(
            f"{found.workspace}: the database is sound, every run folder is on record, and no run has lost records"
        )
    elif arguments.dry_run:
        output.line("nothing was changed. Repair with: benchwright doctor")
    return code

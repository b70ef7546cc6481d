"""`benchwright doctor`."""

from __future__ import annotations

from argparse import Namespace

from benchwright.cli._flags import add_workspace, named_workspace
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser


def configure(parser: Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="report only; change nothing")
    add_workspace(parser)
    parser.example("benchwright doctor", "benchwright doctor --dry-run")


def execute(arguments: Namespace, output: Output) -> int:
    """Check and repair; JSON: `{"workspace", "exists", "sound", "problems", "recovered", "adopted", "orphans", "mended"}`."""
    from dataclasses import asdict

    from benchwright.core import RunKind
    from benchwright.sdk import diagnose

    found = diagnose(named_workspace(arguments), repair=not arguments.dry_run)
    code = 1 if (arguments.dry_run and not found.sound) or not found.whole else 0
    if output.as_json:
        output.json({**_texts(asdict(found)), "sound": found.sound})
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
        held = {RunKind.WORKFLOW: "workflow", RunKind.LOAD: f"load test, {run.samples:,} requests"}.get(
            RunKind(run.kind), f"{run.samples:,} samples"
        )
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


def _texts(value: object) -> dict[str, object]:
    """The report with paths as texts."""
    from pathlib import Path

    def text(value: object) -> object:
        if isinstance(value, dict):
            return {key: text(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [text(each) for each in value]
        return str(value) if isinstance(value, Path) else value

    found = text(value)
    assert isinstance(found, dict)
    return found

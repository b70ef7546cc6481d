"""`benchwright labels RUN`."""

from __future__ import annotations

from argparse import Namespace

from benchwright.cli._flags import add_workspace, existing_store
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser


def configure(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", help='number, "last", benchmark name, or folder (see: list)')
    parser.add_argument(
        "--export",
        metavar="FILE",
        help="write all samples with their labels as a sheet to fill in (.csv, .xlsx or .jsonl)",
    )
    parser.add_argument("--import", dest="read", metavar="FILE", help="record the labels in such a sheet")
    parser.add_argument(
        "--who",
        metavar="NAME",
        help="with --import: who gave labels of lines without a name (default: your user name)",
    )
    add_workspace(parser)
    parser.example(
        "benchwright labels last --export labels.xlsx",
        "benchwright labels last --import labels.xlsx",
        "benchwright rescore last --labels",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """List, write or read the labels of a run; JSON: `{"run_id", "labels", "text"}`, `{"file", "lines"}`, or `{"file", "added", "changed",
    "removed", "unchanged"}`."""
    from benchwright.core import NotFoundError, RunKind, UsageError, kind_title
    from benchwright.runs import export_labels, import_labels, run_labels
    from benchwright.store import Label, named_run, open_store

    if arguments.export is not None and arguments.read is not None:
        raise UsageError("--export writes a sheet and --import reads one; give one of them")
    if arguments.who is not None and arguments.read is None:
        raise UsageError("--who names the person who gave the labels of a sheet: add --import FILE")
    with existing_store(arguments) as store:
        if store is None:
            raise NotFoundError(
                f"no run {arguments.run!r}: there are no runs here yet. See: benchwright list"
            )
        run = named_run(store, arguments.run)
        if run.kind == RunKind.LOAD or (
            run.kind == RunKind.WORKFLOW and not store.count_steps(run.id, "score")
        ):
            raise UsageError(
                f"run {run.id} is {kind_title(run.kind)} without samples; samples of benchmarks and rows of workflows have labels"
            )
        if arguments.export is not None:
            path, lines = export_labels(store, run, arguments.export)
            if output.as_json:
                output.json({"file": str(path), "lines": lines})
            else:
                output.line(f"wrote {lines:,} lines of run {run.id} to {path}")
            if run.incomplete:
                output.note(run.incomplete)
            return 3 if run.incomplete else 0
        if arguments.read is None:
            output.view(run_labels(store, run))
            if run.incomplete:
                output.note(run.incomplete)
            return 0
        with open_store(store.workspace) as writable:
            file, counts = import_labels(writable, run, arguments.read, arguments.who or Label.user_name())
    if output.as_json:
        output.json(
            {"file": file, **{name: counts[name] for name in ("added", "changed", "removed", "unchanged")}}
        )
    else:
        from benchwright.results import plural

        output.line(
            f"read {file}: {plural(counts['added'], 'label')} added, {counts['changed']:,} changed, "
            f"{counts['removed']:,} removed, {counts['unchanged']:,} as before"
        )
    return 0

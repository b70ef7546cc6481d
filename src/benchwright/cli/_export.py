"""`benchwright export RUN`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.cli._commands import EXPORT_FORMATS, either
from benchwright.cli._flags import add_accept_cached, add_workspace, existing_store
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser, value_of
from benchwright.config import Setting
from benchwright.core import expand_home

if TYPE_CHECKING:
    from benchwright.reports import Export
    from benchwright.store import RunRecord

_FORMAT = Setting(
    "format",
    "text",
    f"{either(EXPORT_FORMATS)} (default: by the extension of FILE, else jsonl)",
    choices=tuple(EXPORT_FORMATS),
)


def configure(parser: Parser) -> None:
    parser.add_argument(
        "runs", metavar="RUN", nargs="+",
        help='number, "last", benchmark name, folder (see: list), or suite; two to eight runs are compared',
    )  # fmt: skip
    parser.add_argument("--format", type=value_of(_FORMAT), metavar="FORMAT", help=_FORMAT.meaning)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the file to write, or - for standard output (default: NAME-RUN.FORMAT)",
    )
    parser.add_argument(
        "--raw",
        action="store_true",
        help="leave CSV cells unchanged, even if a spreadsheet would read them as formulas",
    )
    parser.add_argument(
        "--baseline",
        metavar="PATH",
        help="write a portable baseline for gates instead: a folder, or a file if the name has an extension",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="with --baseline: also export a run that is partial or not comparable; of several runs: compare them even if data, prompts or scorers differ",
    )
    add_accept_cached(parser, "with --baseline: ")
    add_workspace(parser)
    parser.example(
        "benchwright export last",
        "benchwright export 12 --format csv -o - | head",
        "benchwright export suite.toml -o suite.xlsx",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Write the samples of a run, the requests of a load test, the steps and rows of a workflow, the figures of a suite, or a comparison; JSON:
    `{"file", "format", "samples" | "requests" | "steps" | "figures" | "runs"}`."""
    from benchwright.core import NotFoundError, UsageError
    from benchwright.reports import EXPORTS
    from benchwright.results import kind_of, suite_table
    from benchwright.runs import recorded_suite
    from benchwright.store import named_run

    name = arguments.runs[0]
    if arguments.baseline is not None:
        return _export_baseline(arguments, output)
    if arguments.output == "-" and output.as_json:
        raise UsageError(
            "--json and -o - both use standard output; leave one of them out, or name a file: -o FILE"
        )
    for flag in ("force", "accept_cached"):
        if getattr(arguments, flag) and not (flag == "force" and len(arguments.runs) > 1):
            raise UsageError(
                f"--{flag.replace('_', '-')} is for baselines: add --baseline PATH, or leave it out"
            )
    if len(arguments.runs) > 1:
        files = [word for word in arguments.runs if Path(word).suffix and not Path(word).exists()]
        if files and arguments.output is None:  # a file, not another run
            runs = " ".join(word for word in arguments.runs if word not in files) or "RUN"
            raise UsageError(
                f"{files[0]} is no run; name the file with -o: benchwright export {runs} -o {files[0]}"
            )
        return _export_comparison(arguments, output)
    with existing_store(arguments) as store:
        if store is None:
            raise NotFoundError(f"no run {name!r}: there are no runs here yet. See: benchwright list")
        if (suite := recorded_suite(store, name)) is not None:
            return _write(
                arguments, output, suite, EXPORTS["figures"](suite_table(store, suite)), f"suite {suite}"
            )
        run = named_run(store, name)
        kind = kind_of(run)
        part = EXPORTS[kind.unit](*kind.contents(store, run))
        code = _write(arguments, output, f"{run.name}-{run.id}", part, f"run {run.id}")
    return code or _complete(run, output)


def _write(arguments: Namespace, output: Output, name: str, part: Export, title: str) -> int:
    """Write one thing to the file, or to standard output."""
    from benchwright.core import DamagedRecordError, UsageError, clause

    kind = arguments.format or _kind_of(arguments.output)
    if kind == "parquet" and not part.parquet:
        formats = [name for name in EXPORT_FORMATS if name != kind]
        raise UsageError(
            f"{part.noun} are written as {either(formats)}, not as {kind}; name another file with -o FILE"
        )
    if arguments.output == "-":
        if kind not in part.texts:
            raise UsageError(
                f"{kind} cannot be written to standard output; name a file: -o {part.noun}.{kind}"
            )
        output.stream(part.lines(kind, arguments.raw))
        return 0
    path = expand_home(arguments.output or f"{name}.{kind}")
    told: dict[str, Any] = {"file": str(path), "format": kind}
    written = [(part, path)]
    if part.beside is not None and kind in part.texts:
        beside = path.with_name(f"{path.stem}-{part.beside.noun}{path.suffix}")
        written.append((part.beside, beside))
        told[f"{part.beside.noun}_file"] = str(beside)
    try:
        for each, file in written:
            told[each.noun] = each.write(file, kind, arguments.raw)
    except DamagedRecordError:
        raise
    except ValueError as error:
        raise UsageError(
            f"{path} cannot be written: {clause(error)}; choose another format with -o FILE.parquet"
        ) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; choose another with -o FILE") from None
    if output.as_json:
        output.json(told)
    else:
        for each, file in written:
            output.line(f"wrote {told[each.noun]:,} {each.noun} of {title} to {file}")
    return 0


def _export_comparison(arguments: Namespace, output: Output) -> int:
    """Compare runs and write that, with every sample that changed, as `compare -o FILE --all` does."""
    from benchwright.core import UsageError
    from benchwright.reports import COMPARISON_FORMATS, write_comparison
    from benchwright.results import ComparisonOptions
    from benchwright.runs import compare_runs

    known = [*COMPARISON_FORMATS, ".xlsx"]
    path = expand_home(arguments.output or f"comparison.{arguments.format or 'xlsx'}")
    if arguments.output == "-" or path.suffix.lower() not in known:
        raise UsageError(
            f"{len(arguments.runs)} runs are exported as a comparison; name a file that ends in {', '.join(known)}: -o comparison.xlsx"
        )
    view = compare_runs(
        arguments.runs, ComparisonOptions(force=arguments.force, listed=None), workspace=arguments.workspace
    )
    try:
        write_comparison(view, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; choose another with -o FILE") from None
    if output.as_json:
        output.json({"file": str(path), "format": path.suffix[1:], "runs": [side.id for side in view.runs]})
    else:
        output.line(f"wrote the comparison of {len(view.runs)} runs to {path}")
    return 0 if view.comparable else 3


def _complete(run: RunRecord, output: Output) -> int:
    """The exit code: 3 if what was written is not all that the run had."""
    if run.incomplete:
        output.note(run.incomplete)
    return 3 if run.incomplete else 0


def _export_baseline(arguments: Namespace, output: Output) -> int:
    """Write a baseline for gates on other machines; JSON: `{"file", "format", "samples", "sha256"}`."""
    from benchwright.core import UsageError
    from benchwright.runs import export_baseline

    if len(arguments.runs) > 1:
        raise UsageError("a baseline is one run; name one")
    if arguments.output is not None or arguments.format is not None:
        raise UsageError("--baseline PATH names the file itself; leave out -o and --format")
    file, count, checksum = export_baseline(
        arguments.runs[0],
        arguments.baseline,
        force=arguments.force,
        accept_cached=arguments.accept_cached,
        workspace=arguments.workspace,
    )
    if output.as_json:
        output.json({"file": str(file), "format": "baseline", "samples": count, "sha256": checksum})
    else:
        output.line(f"wrote a baseline of {count:,} samples to {file} (sha256 {checksum[:12]})")
    return 0


def _kind_of(written: str | None) -> str:
    """The format by the file name's extension."""
    from benchwright.core import UsageError, data_format, suggest

    ending = Path(written or "").suffix.lower().removeprefix(".")
    format = data_format(f"x.{ending}")
    if not ending or (format is not None and format.name == "jsonl"):
        return "jsonl"
    if ending not in _FORMAT.choices:
        known = ", ".join(f".{name}" for name in _FORMAT.choices)
        near = suggest(ending, _FORMAT.choices)
        raise UsageError(
            f"{written}: samples are written as {known}.{near} Or name the format: --format jsonl"
        )
    return ending

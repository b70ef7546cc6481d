"""`benchwright export RUN`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.cli._commands import EXPORT_FORMATS, either
from benchwright.cli._flags import add_accept_cached, add_workspace, existing_store
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser, value_of
from benchwright.config import Setting
from benchwright.core import expand_home

if TYPE_CHECKING:
    from benchwright.perf import Requests
    from benchwright.results import RunDetails, RunSamples
    from benchwright.store import RunRecord

_FORMAT = Setting(
    "format",
    "text",
    f"{either(EXPORT_FORMATS)} (default: by the extension of FILE, else jsonl)",
    choices=tuple(EXPORT_FORMATS),
)


def configure(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", help='number, "last", benchmark name, or folder (see: list)')
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
        help="with --baseline: also export a run that is partial or not comparable",
    )
    add_accept_cached(parser, "with --baseline: ")
    add_workspace(parser)
    parser.example("benchwright export last", "benchwright export 12 --format csv -o - | head")


def execute(arguments: Namespace, output: Output) -> int:
    """Write the samples of a run; JSON: `{"file", "format", "samples"}`."""
    from benchwright.core import NotFoundError, UsageError, kind_title
    from benchwright.reports import TEXT_FORMATS, exported_lines
    from benchwright.results import kind_of
    from benchwright.store import named_run

    if arguments.baseline is not None:
        return _export_baseline(arguments, output)
    if arguments.output == "-" and output.as_json:
        raise UsageError(
            "--json and -o - both use standard output; leave one of them out, or name a file: -o FILE"
        )
    for flag in ("force", "accept_cached"):
        if getattr(arguments, flag):
            raise UsageError(
                f"--{flag.replace('_', '-')} is for baselines: add --baseline PATH, or leave it out"
            )
    with existing_store(arguments) as store:
        if store is None:
            raise NotFoundError(
                f"no run {arguments.run!r}: there are no runs here yet. See: benchwright list"
            )
        run = named_run(store, arguments.run)
        if (requests_of := kind_of(run).requests) is not None:
            code = _export_requests(arguments, output, run.id, run.name, requests_of(store, run.id))
            return code or _complete(run, output)
        samples_of = kind_of(run).samples
        if samples_of is None:
            raise UsageError(
                f"run {run.id} is {kind_title(run.kind)} and has no samples. See: benchwright show {run.id}"
            )
        details, samples = samples_of(store, run)
        kind = arguments.format or _kind_of(arguments.output)
        if arguments.output == "-":
            if kind not in TEXT_FORMATS:
                raise UsageError(
                    f"{kind} cannot be written to standard output; name a file: -o samples.{kind}"
                )
            output.stream(exported_lines(details, samples, kind, raw=arguments.raw))
            return _complete(run, output)
        path = expand_home(arguments.output or f"{run.name}-{run.id}.{kind}")
        count = _write(details, samples, path, kind, raw=arguments.raw)
    if output.as_json:
        output.json({"file": str(path), "format": kind, "samples": count})
    else:
        output.line(f"wrote {count:,} samples of run {run.id} to {path}")
    return _complete(run, output)


def _complete(run: RunRecord, output: Output) -> int:
    """The exit code: 3 if what was written is not all that the run had."""
    if not run.lost:
        return 0
    output.note(f"run {run.id} is not complete: {run.error}")
    return 3


def _export_baseline(arguments: Namespace, output: Output) -> int:
    """Write a baseline for gates on other machines; JSON: `{"file", "format", "samples", "sha256"}`."""
    from benchwright.core import UsageError
    from benchwright.runs import export_baseline

    if arguments.output is not None or arguments.format is not None:
        raise UsageError("--baseline PATH names the file itself; leave out -o and --format")
    file, count, checksum = export_baseline(
        arguments.run,
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


def _export_requests(arguments: Namespace, output: Output, run: int, name: str, requests: Requests) -> int:
    """The requests of a load test; JSON: `{"file", "format", "requests"}`."""
    from benchwright.core import UsageError
    from benchwright.reports import export_requests, request_lines

    kind = arguments.format or _kind_of(arguments.output)
    if arguments.output == "-":
        output.stream(request_lines(requests, kind, raw=arguments.raw))
        return 0
    path = expand_home(arguments.output or f"{name}-{run}.{kind}")
    try:
        count = export_requests(requests, path, kind, raw=arguments.raw)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; choose another with -o FILE") from None
    if output.as_json:
        output.json({"file": str(path), "format": kind, "requests": count})
    else:
        output.line(f"wrote {count:,} requests of run {run} to {path}")
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


def _write(details: RunDetails, samples: RunSamples, path: Path, kind: str, *, raw: bool) -> int:
    from benchwright.core import UsageError, clause
    from benchwright.reports import export_samples

    try:
        return export_samples(details, samples, path, kind, raw=raw)
    except ValueError as error:
        raise UsageError(
            f"{path} cannot be written: {clause(error)}; choose another format with -o FILE.parquet"
        ) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; choose another with -o FILE") from None

"""`benchwright compare A B …`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.cli._flags import add_workspace, existing_store, named_workspace
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser, value_of
from benchwright.cli._web import add_web, open_page
from benchwright.config import Setting

if TYPE_CHECKING:
    from benchwright.results import ManyRuns

_TOLERANCE = Setting(
    "tolerance", "number", "treat scores as equal if they differ by at most X (default: 0)", least=0
)
_LIMIT = Setting("limit", "int", "list at most N changed samples (default: 20)", least=1)


def configure(parser: Parser) -> None:
    parser.add_argument(
        "a", metavar="A", help="the run to compare with: number, name, folder, last, or a baseline"
    )
    parser.add_argument("b", metavar="B", help="the other run")
    parser.add_argument("more", metavar="C", nargs="*", default=[], help="further runs, at most eight in all")
    parser.add_argument("--metric", metavar="NAME", help="only this metric")
    parser.add_argument(
        "--tolerance", type=value_of(_TOLERANCE), default=0.0, metavar="X", help=_TOLERANCE.meaning
    )
    parser.add_argument("--times", action="store_true", help="include differences in latency")
    parser.add_argument("--fail-on-diff", action="store_true", help="exit with 1 if the runs differ")
    parser.add_argument(
        "--fail-on",
        choices=("diff", "regression"),
        help="exit with 1 if the runs differ (diff), or only if B is significantly worse (regression)",
    )
    parser.add_argument(
        "--force", action="store_true", help="compare even if data, prompts or scorers differ"
    )
    parser.add_argument(
        "--lower-is-better", action="append", default=[], metavar="NAME",
        help="a metric for which lower is better; may be repeated (names like wer, error_rate and latency_s are known)",
    )  # fmt: skip
    parser.add_argument("--limit", type=value_of(_LIMIT), default=20, metavar="N", help=_LIMIT.meaning)
    parser.add_argument("--all", action="store_true", help="list every changed sample")
    parser.add_argument("--by", metavar="COLUMN", help="also compare by the values of a column of the data")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="also write the comparison: .html, .md, .tex, .csv or .xlsx"
    )
    add_web(parser, "the comparison")
    add_workspace(parser)
    parser.example(
        "benchwright compare 3 4",
        "benchwright compare main last",
        "benchwright compare 3 4 5 --by topic",
        "benchwright compare 3 last --fail-on regression",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Print both runs side by side; exit with 1 for a difference that --fail-on names, 3 if a run is not comparable."""
    if arguments.web:
        return _open([arguments.a, arguments.b, *arguments.more], arguments, output)
    file = None if arguments.output is None else _file(arguments.output)
    from benchwright.results import ComparisonOptions
    from benchwright.runs import compare_runs

    comparison = compare_runs(
        [arguments.a, arguments.b, *arguments.more],
        ComparisonOptions(
            arguments.metric,
            arguments.tolerance,
            arguments.times,
            arguments.force,
            None if arguments.all else arguments.limit,
            arguments.lower_is_better,
        ),
        by=arguments.by,
        workspace=arguments.workspace,
    )
    if file is not None:
        _write(comparison, file, output)
    fails = "diff" if arguments.fail_on_diff else arguments.fail_on
    failed = (
        comparison.differs if fails == "diff" else comparison.regressed if fails == "regression" else False
    )
    code = 1 if failed else 0 if comparison.comparable else 3
    if output.as_json:
        output.json({**comparison.to_json(), "exit_code": code})
    else:
        output.show(comparison)
    return code


def _file(written: str) -> Path:
    """The file to write. Raises UsageError for an extension that no writer has."""
    from benchwright.core import UsageError, expand_home
    from benchwright.reports import COMPARISON_FORMATS

    path, known = expand_home(written), [*COMPARISON_FORMATS, ".xlsx"]
    if path.suffix.lower() not in known:
        raise UsageError(
            f"{written}: comparisons are written as {', '.join(known)}; name a file that ends so"
        )
    return path


def _write(comparison: ManyRuns, path: Path, output: Output) -> None:
    from benchwright.core import UsageError
    from benchwright.reports import write_comparison

    try:
        write_comparison(comparison, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; choose another with -o FILE") from None
    output.note(f"wrote {path}")


def _open(names: list[str], arguments: Namespace, output: Output) -> int:
    """Open the page that compares runs."""
    from urllib.parse import quote

    from benchwright.core import NotFoundError
    from benchwright.store import named_run

    with existing_store(arguments) as store:
        if store is None:
            raise NotFoundError(f"no run {names[0]!r}: there are no runs here yet. See: benchwright list")
        found = [named_run(store, name).id for name in names]
    named = {"by": arguments.by, "metric": arguments.metric, "force": "true" if arguments.force else None}
    asked = "".join(f"&{key}={quote(value, safe='')}" for key, value in named.items() if value is not None)
    page = f"/compare?runs={','.join(map(str, found))}{asked}"
    told = open_page(named_workspace(arguments), page, output)
    if output.as_json:
        output.json(told)
    return 0

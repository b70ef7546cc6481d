"""`benchwright show RUN [SAMPLE]`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchwright.cli._flags import add_workspace, existing_store, named_workspace
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser, value_of
from benchwright.cli._web import add_web, open_page, page_of
from benchwright.config import Setting
from benchwright.core import Outcome, RunKind

if TYPE_CHECKING:
    from benchwright.store import RunRecord, SampleFilter, SampleOrder, Store

_LIMIT = Setting("limit", "int", "list at most N samples or steps (default: 20)", least=1)

_FIGURES = ("latency_s", "prompt_tokens", "completion_tokens")
"""As `SampleOrder.figures`, which `--help` does not load."""

_AFTER = Setting("after", "int", "list what follows N: `next` of the JSON of the list before", least=0)


def configure(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", help='number, "last", benchmark name, or folder (see: list)')
    parser.add_argument(
        "sample", metavar="SAMPLE", nargs="?",
        help="row number from 0 (12/1 is its second repeat), or the key of a workflow's step",
    )  # fmt: skip
    parser.add_argument("--failed", action="store_true", help="list samples without a score")
    parser.add_argument("--wrong", action="store_true", help="list samples with a wrong answer")
    parser.add_argument(
        "--unparsed", action="store_true", help="list samples whose reply has no readable answer"
    )
    parser.add_argument(
        "--outcome", choices=[outcome.value for outcome in Outcome], metavar="NAME",
        help="list samples with this outcome: " + ", ".join(Outcome),
    )  # fmt: skip
    parser.add_argument(
        "--where", action="append", type=_condition, metavar="METRIC<VALUE",
        help="list samples by a metric: 'f1<0.5', 'f1>0.2', or both; 'f1' lists all that have a value; or by a column of "
        "the data or a judge's grade: 'topic=maths', 'judge_grade=I'",
    )  # fmt: skip
    parser.add_argument(
        "--sort", metavar="METRIC",
        help=f"list samples by a metric, lowest first; also {', '.join(_FIGURES)}",
    )  # fmt: skip
    parser.add_argument("--descending", action="store_true", help="with --sort: highest first")
    parser.add_argument("--text", metavar="TEXT", help="list samples with TEXT in prompt, reply or target")
    parser.add_argument(
        "--changed-from", metavar="RUN",
        help="list samples whose outcome or scores differ from those of another run",
    )  # fmt: skip
    parser.add_argument(
        "--steps",
        "--samples",
        dest="steps",
        action="store_true",
        help="list samples, or the steps of a workflow",
    )
    parser.add_argument("--failed-only", action="store_true", help="list only what failed or was interrupted")
    parser.add_argument("--events", action="store_true", help="list all events, oldest first")
    parser.add_argument(
        "--by", metavar="COLUMN", help="the headline metric by the values of a column of the data"
    )
    parser.add_argument("--limit", type=value_of(_LIMIT), default=20, metavar="N", help=_LIMIT.meaning)
    parser.add_argument("--after", type=value_of(_AFTER), metavar="N", help=_AFTER.meaning)
    add_web(parser, "the run")
    add_workspace(parser)
    parser.example(
        "benchwright show last", "benchwright show last --wrong", "benchwright show last --where 'f1<0.5'"
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Show a run, its failed or wrong samples, its steps or events, or one sample or step."""
    from urllib.parse import quote

    from msgspec.structs import replace

    from benchwright.core import NotFoundError
    from benchwright.results import EventList, Slices, StoreSamples, kind_of
    from benchwright.runs import recorded_suite
    from benchwright.store import named_run

    with existing_store(arguments) as store:
        if store is None:
            raise NotFoundError(
                f"no run {arguments.run!r}: there are no runs here yet. See: benchwright list"
            )
        if arguments.web and (suite := recorded_suite(store, arguments.run)) is not None:
            told = open_page(named_workspace(arguments), f"/suites/{quote(suite, safe='')}", output)
            if output.as_json:
                output.json(told)
            return 0
        run = named_run(store, arguments.run)
        if arguments.web:
            _open(store, run, arguments, output)
            return 0
        views = kind_of(run)
        if arguments.by is not None:
            output.view(Slices.of(store, run, arguments.by))
        elif arguments.events:
            output.view(EventList.recorded(store, run))
        elif arguments.sample is not None:
            output.view(views.part(store, run, arguments.sample))
        elif (where := _filter(arguments)) is not None:
            if arguments.changed_from is not None:
                other = named_run(store, arguments.changed_from)
                where = replace(where, places=StoreSamples(store, run.id).changed_from(other.id))
            order = _order(arguments.sort, arguments.descending)
            output.view(views.parts(store, run, where, arguments.after, arguments.limit, order))
        else:
            output.view(views.details(store, run))
            return 0
        if run.incomplete:
            output.note(run.incomplete)
    return 0


def _open(store: Store, run: RunRecord, arguments: Namespace, output: Output) -> None:
    """Open the page of a run, or of one of its samples."""
    from benchwright.core import UsageError
    from benchwright.results import SampleList, kind_of

    address = page_of(run)
    if arguments.sample is not None:
        index, _, repeat = arguments.sample.partition("/")
        if run.kind == RunKind.WORKFLOW:  # by the name of the row
            found = kind_of(run).part(store, run, arguments.sample)
            if isinstance(found, SampleList):
                index, repeat = str(found.samples[0].sample.sample_id), "0"
        if run.kind == RunKind.LOAD or not index.isdigit() or not (repeat or "0").isdigit():
            raise UsageError(
                "--web opens a run, a sample by its row, or a row of a workflow by its name: benchwright show 7 12 --web"
            )
        address = f"/runs/{run.id}/samples/{index}/{repeat or 0}"
    told = open_page(named_workspace(arguments), address, output)
    if output.as_json:
        output.json(told)


def _filter(arguments: Namespace) -> SampleFilter | None:
    """Which samples or steps flags list; None: no list."""
    from benchwright.core import Outcome, UsageError
    from benchwright.store import SampleFilter

    failed, outcome = arguments.failed or arguments.failed_only, arguments.outcome
    listed = failed or arguments.steps or arguments.wrong or arguments.unparsed or outcome
    others = arguments.where or arguments.text or arguments.changed_from or arguments.sort
    if not (listed or others or arguments.after is not None):
        return None
    if arguments.unparsed and outcome not in (None, Outcome.UNPARSED):
        raise UsageError(
            f"--unparsed is --outcome unparsed, which is not --outcome {outcome}; give one of them"
        )
    return SampleFilter(
        Outcome.UNPARSED.value if arguments.unparsed else outcome,
        "wrong" if arguments.wrong else None,
        False if failed else None,
        text=arguments.text or None,
        **_within(arguments.where or ()),
    )


def _order(name: str | None, descending: bool) -> SampleOrder:
    """The order that `--sort` names."""
    from benchwright.store import SampleOrder

    by = name if name is None or name in SampleOrder.figures else f"metric:{name}"
    return SampleOrder(by, descending)


def _condition(text: str) -> tuple[str, str, float | str | None]:
    """`f1<0.5` as metric, sign and value; a bare name has neither. `topic=maths` is a column and a text.

    >>> _condition("f1<0.5"), _condition("f1"), _condition("judge_grade=I")
    (('f1', '<', 0.5), ('f1', '', None), ('judge_grade', '=', 'I'))
    """
    from argparse import ArgumentTypeError

    name, equal, word = text.partition("=")
    if equal and not any(sign in name for sign in "<>"):
        return name.strip(), equal, word.strip()
    for sign in "<>":
        name, found, value = text.partition(sign)
        if found:
            try:
                return name.strip(), sign, float(value)
            except ValueError:
                raise ArgumentTypeError(
                    f"{text!r}: {value!r} is not a number; expected f1<0.5 or f1>0.5"
                ) from None
    return text.strip(), "", None


def _within(conditions: Sequence[tuple[str, str, float | str | None]]) -> dict[str, Any]:
    """The metric of all conditions with its bounds, and the column with its value."""
    from benchwright.core import UsageError

    names, columns = (
        list(dict.fromkeys(name for name, sign, _ in conditions if (sign == "=") is equal))
        for equal in (False, True)
    )
    if len(names) > 1:
        raise UsageError(f"--where takes one metric, not {' and '.join(names)}")
    texts = [value for _, sign, value in conditions if sign == "="]
    if len(texts) > 1:
        raise UsageError(f"--where takes one value of a column, not {len(texts)}: {', '.join(columns)}")
    bounds: dict[str, Any] = {"metric": names[0]} if names else {}
    if columns:
        bounds |= {"column": columns[0], "value": texts[0]}
    for _, sign, value in conditions:
        if sign in ("<", ">"):
            bounds["below" if sign == "<" else "above"] = value
    return bounds

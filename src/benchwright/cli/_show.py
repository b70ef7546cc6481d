"""`benchwright show RUN [SAMPLE]`."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, NamedTuple

from benchwright.cli._output import Output
from benchwright.cli._parser import Parser, value_of
from benchwright.cli._run_flags import add_workspace
from benchwright.cli._workspace import existing_store
from benchwright.config import Setting
from benchwright.core import OUTCOMES

if TYPE_CHECKING:
    from benchwright.store import RunRecord, SampleFilter, Store

_LIMIT = Setting("limit", "int", "in a list of samples or steps: at most N (default: 20)", least=1)


def configure(parser: Parser) -> None:
    """Arguments of `show`."""
    parser.add_argument("run", metavar="RUN", help='number, "last", benchmark name, or folder (see: list)')
    parser.add_argument(
        "sample", metavar="SAMPLE", nargs="?",
        help="row number from 0; 12/1 is its second repeat; of a workflow a step's key",
    )  # fmt: skip
    parser.add_argument("--failed", action="store_true", help="list samples without a score")
    parser.add_argument("--wrong", action="store_true", help="list samples that were judged wrong")
    parser.add_argument(
        "--unparsed", action="store_true", help="list samples out of whose reply no answer was read"
    )
    parser.add_argument(
        "--outcome", choices=[outcome.value for outcome in OUTCOMES], metavar="NAME",
        help="list samples that ended so: " + ", ".join(OUTCOMES),
    )  # fmt: skip
    parser.add_argument(
        "--steps", "--samples", dest="steps", action="store_true", help="list samples, or a workflow's steps"
    )
    parser.add_argument(
        "--failed-only", action="store_true", help="only those that failed, or were interrupted"
    )
    parser.add_argument("--events", action="store_true", help="everything that happened, oldest first")
    parser.add_argument("--limit", type=value_of(_LIMIT), default=20, metavar="N", help=_LIMIT.meaning)
    add_workspace(parser)
    parser.example("benchwright show last", "benchwright show last --wrong", "benchwright show last 12")


def execute(arguments: Namespace, output: Output) -> int:
    """A run, its failed or wrong samples, its steps or events, or one sample or step."""
    from benchwright.core import NotFoundError

    with existing_store(arguments) as store:
        if store is None:
            raise NotFoundError(
                f"no run {arguments.run!r}: there are no runs here yet. See: benchwright list"
            )
        run = store.find_run(arguments.run)
        if arguments.events:
            _show_events(store, run, output)
        elif run.kind == "workflow":
            from benchwright.cli._show_workflow import show_workflow

            show_workflow(store, run, arguments, output)
        elif arguments.sample is not None:
            _show_sample(store, run, arguments.sample, output)
        elif (wanted := _listed(arguments)) is not None:
            _show_samples(store, run, wanted, arguments.limit, output)
        else:
            _show_run(store, run, output)
    return 0


class Listed(NamedTuple):
    """A list of samples that a flag asks for."""

    where: SampleFilter
    """Which samples."""
    none: str = "no samples"
    """What to say where there are none."""
    reasons: bool = False
    """Whether to show why each failed, in place of its question and reply."""


def _listed(arguments: Namespace) -> Listed | None:
    """What the flags ask for; None: no list. Flags may be combined, except that failed samples have no verdict."""
    from benchwright.core import Outcome, UsageError
    from benchwright.store import SampleFilter

    failed = arguments.failed or arguments.failed_only
    outcome = arguments.outcome
    if arguments.unparsed:
        if outcome not in (None, Outcome.UNPARSED):
            raise UsageError(
                f"--unparsed is --outcome unparsed, which is not --outcome {outcome}; give one of them"
            )
        outcome = Outcome.UNPARSED.value
    where = SampleFilter(outcome, "wrong" if arguments.wrong else None, False if failed else None)
    if where == SampleFilter():
        return Listed(where) if arguments.steps else None
    nothing = {
        SampleFilter(verdict="wrong"): "no sample was judged wrong",
        SampleFilter(Outcome.UNPARSED.value): "an answer was read out of every reply",
        SampleFilter(scored=False): "every sample has a score",
    }
    return Listed(where, nothing.get(where, "no sample is like that"), reasons=failed)


def _show_events(store: Store, run: RunRecord, output: Output) -> None:
    from benchwright.reports import event_json, event_table, step_views

    events = store.events(run.id)
    if not output.as_json:
        output.show(event_table(events))
        return
    keys = {view.step.id: view.step.key for view in step_views(store, run.id)}
    output.json({"run_id": run.id, "events": [event_json(event, keys) for event in events]})


def _show_samples(store: Store, run: RunRecord, wanted: Listed, limit: int, output: Output) -> None:
    from benchwright.reports import failed_samples, filtered_views, listed_samples, sample_json

    if output.as_json:
        views = filtered_views(store, run.id, wanted.where, limit)
        output.json({"run_id": run.id, "samples": [sample_json(view) for view in views]})
        return
    views = filtered_views(store, run.id, wanted.where, limit + 1)  # one more tells that there are more
    if wanted.reasons:
        output.show(failed_samples(views, limit))
    else:
        output.show(listed_samples(views, limit, wanted.none))


def _show_run(store: Store, run: RunRecord, output: Output) -> None:
    from benchwright.reports import results_json, run_overview

    events = store.events(run.id)
    if output.as_json:
        output.json(results_json(run, events))
    else:
        output.show(run_overview(run, events))


def _show_sample(store: Store, run: RunRecord, wanted: str, output: Output) -> None:
    from benchwright.reports import find_samples, judge_views, sample_in_full, sample_json

    views = find_samples(store, run.id, wanted)
    judges = judge_views(store, run.id, views[0].sample_id)
    if output.as_json:
        output.json({"run_id": run.id, "samples": [sample_json(view, judges) for view in views]})
        return
    for view in views:
        output.show(sample_in_full(view, [judge for judge in judges if judge.repeat == view.repeat]))

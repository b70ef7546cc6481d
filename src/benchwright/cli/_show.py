"""`benchwright show RUN [SAMPLE]`."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from benchwright.cli._output import Output
from benchwright.cli._parser import Parser, value_of
from benchwright.cli._run_flags import add_workspace
from benchwright.cli._workspace import existing_store
from benchwright.config import Setting

if TYPE_CHECKING:
    from benchwright.store import RunRecord, Store

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
        elif arguments.failed or arguments.failed_only:
            _show_failed(store, run, arguments.limit, output)
        elif arguments.wrong:
            _show_wrong(store, run, arguments.limit, output)
        elif arguments.unparsed:
            _show_unparsed(store, run, arguments.limit, output)
        elif arguments.steps:
            _show_samples(store, run, arguments.limit, output)
        else:
            _show_run(store, run, output)
    return 0


def _show_events(store: Store, run: RunRecord, output: Output) -> None:
    from benchwright.reports import event_json, event_table, step_views

    events = store.events(run.id)
    if not output.as_json:
        output.show(event_table(events))
        return
    keys = {view.step.id: view.step.key for view in step_views(store, run.id)}
    output.json({"run_id": run.id, "events": [event_json(event, keys) for event in events]})


def _show_samples(store: Store, run: RunRecord, limit: int, output: Output) -> None:
    from itertools import islice

    from benchwright.reports import listed_samples, sample_json, sample_views

    views = sample_views(store, run.id)
    if output.as_json:
        output.json({"run_id": run.id, "samples": [sample_json(view) for view in islice(views, limit)]})
    else:
        output.show(listed_samples(views, limit))


def _show_run(store: Store, run: RunRecord, output: Output) -> None:
    from benchwright.reports import results_json, run_overview

    events = store.events(run.id)
    if output.as_json:
        output.json(results_json(run, events))
    else:
        output.show(run_overview(run, events))


def _show_failed(store: Store, run: RunRecord, limit: int, output: Output) -> None:
    from itertools import islice

    from benchwright.reports import failed_samples, sample_json, sample_views

    views = sample_views(store, run.id)
    if output.as_json:
        failed = islice((view for view in views if view.scores is None), limit)
        output.json({"run_id": run.id, "samples": [sample_json(view) for view in failed]})
    else:
        output.show(failed_samples(views, limit))


def _show_wrong(store: Store, run: RunRecord, limit: int, output: Output) -> None:
    from itertools import islice

    from benchwright.reports import is_wrong, sample_json, sample_views, wrong_samples

    views = sample_views(store, run.id)
    if output.as_json:
        wrong = islice(filter(is_wrong, views), limit)
        output.json({"run_id": run.id, "samples": [sample_json(view) for view in wrong]})
    else:
        output.show(wrong_samples(views, limit))


def _show_unparsed(store: Store, run: RunRecord, limit: int, output: Output) -> None:
    from itertools import islice

    from benchwright.reports import is_unparsed, sample_json, sample_views, unparsed_samples

    views = sample_views(store, run.id)
    if output.as_json:
        unparsed = islice(filter(is_unparsed, views), limit)
        output.json({"run_id": run.id, "samples": [sample_json(view) for view in unparsed]})
    else:
        output.show(unparsed_samples(views, limit))


def _show_sample(store: Store, run: RunRecord, wanted: str, output: Output) -> None:
    from benchwright.reports import find_samples, judge_views, sample_in_full, sample_json

    views = find_samples(store, run.id, wanted)
    judges = judge_views(store, run.id, views[0].sample_id)
    if output.as_json:
        output.json({"run_id": run.id, "samples": [sample_json(view, judges) for view in views]})
        return
    for view in views:
        output.show(sample_in_full(view, [judge for judge in judges if judge.repeat == view.repeat]))

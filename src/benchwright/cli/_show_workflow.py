"""`benchwright show` of a workflow run."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from benchwright.cli._output import Output

if TYPE_CHECKING:
    from benchwright.store import RunRecord, Store


def show_workflow(store: Store, run: RunRecord, arguments: Namespace, output: Output) -> None:
    """The run at a glance, its steps, or one step."""
    from benchwright.core import UsageError

    for flag in ("wrong", "unparsed"):
        if getattr(arguments, flag):
            raise UsageError(
                f"--{flag}: run {run.id} is a workflow, whose steps are not judged; see --steps or --failed-only"
            )
    if arguments.sample is not None:
        _show_step(store, run, arguments.sample, output)
    elif arguments.steps or arguments.failed or arguments.failed_only:
        _show_steps(store, run, arguments, output)
    else:
        _show_overview(store, run, output)


def _show_overview(store: Store, run: RunRecord, output: Output) -> None:
    from benchwright.reports import all_points, step_views, workflow_json, workflow_overview
    from benchwright.workflows import STREAM_FILES

    captured: dict[str, tuple[str, str]] = {}
    for name, file in STREAM_FILES.items():
        path = run.folder / file
        if path.is_file():
            captured[name] = str(path), path.read_bytes().decode("utf-8", "replace")
    events, steps = store.events(run.id), step_views(store, run.id)
    if output.as_json:
        texts = {name: text for name, (_, text) in captured.items()}
        points = all_points(store, run.id)
        output.json(workflow_json(run, events, steps=steps, points=points, captured=texts))
        return
    totals = store.metric_totals(run.id)
    output.show(workflow_overview(run, events, steps=steps, totals=totals, captured=dict(captured.values())))


def _show_steps(store: Store, run: RunRecord, arguments: Namespace, output: Output) -> None:
    from benchwright.reports import step_json, step_table, step_views

    views = step_views(store, run.id)
    if arguments.failed or arguments.failed_only:
        views = [view for view in views if view.not_well]
    if output.as_json:
        output.json({"run_id": run.id, "samples": [step_json(view) for view in views[: arguments.limit]]})
    else:
        output.show(step_table(views, arguments.limit))


def _show_step(store: Store, run: RunRecord, key: str, output: Output) -> None:
    from benchwright.reports import event_json, find_step, step_in_full, step_json, step_views

    view = find_step(step_views(store, run.id), key)
    events = [event for event in store.events(run.id) if event.step_id == view.step.id]
    if output.as_json:
        told = {**step_json(view), "events": [event_json(event, {view.step.id: key}) for event in events]}
        output.json({"run_id": run.id, "samples": [told]})
    else:
        output.show(step_in_full(view, events))

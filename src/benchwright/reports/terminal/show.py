"""`show`: one run at a glance, and one sample in full."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from benchwright.core import JsonValue, encode_json, exact_json, known_outcome, printable
from benchwright.reports.terminal.result import result_table, result_view
from benchwright.reports.terminal.workflows import workflow_overview
from benchwright.reports.views.samples import JudgeView, SampleView
from benchwright.reports.views.settings import command_of
from benchwright.reports.views.text import duration, local_time
from benchwright.store import Event, RunRecord

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

_WORDS_WIDTH = 120
"""Characters of a question or reply in a list; `show RUN SAMPLE` has them whole."""
_ERROR_WIDTH = 200


def run_overview(run: RunRecord, events: Sequence[Event]) -> Group:
    """Result, what was run, and what happened; a rich renderable."""
    from rich.console import Group
    from rich.text import Text

    if run.kind == "workflow":
        return workflow_overview(run, events)
    view = result_view(run)
    parts: list[RenderableType] = []
    if view is None:
        headline = Text.assemble(
            (run.name, "bold"), " on ", (printable(run.model), "bold"), f": {run.status}"
        )
        parts += [Text(), headline, Text("no result yet", "yellow")]
        if run.error:
            parts.append(Text(printable(run.error), "red"))
    else:
        parts.append(result_table(view))
    parts += [Text(), _grid(_facts(run))]
    if events:
        rows = [(local_time(e.created_at), f"{e.kind}: {printable(e.message)}") for e in events]
        parts += [Text(), _grid(rows)]
    return Group(*parts)


def failed_samples(samples: Iterable[SampleView], limit: int) -> Group:
    """Samples without a score, one line each; a rich renderable. Reads no further than `limit`."""
    from rich.console import Group
    from rich.text import Text

    rows: list[tuple[str, str]] = []
    for view in samples:
        if view.scores is None:
            if len(rows) == limit:
                rows.append(("…", f"only the first {limit} are shown"))
                break
            error = printable((view.error or "").replace("\n", " "))
            cut = error if len(error) <= _ERROR_WIDTH else error[:_ERROR_WIDTH] + "…"
            rows.append((f"{view.sample_id}/{view.repeat}", f"{view.outcome}: {cut}"))
    if not rows:
        return Group(Text("every sample has a score"))
    return Group(_grid(rows))


def listed_samples(samples: Iterable[SampleView], limit: int, none: str = "no samples") -> Group:
    """Samples with what was asked, replied and expected; a rich renderable. `none` is shown where there are none."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("sample", justify="right", no_wrap=True)
    for heading in ("asked", "replied", "expected"):
        table.add_column(heading, overflow="fold")
    for view in samples:
        if table.row_count == limit:
            return Group(table, Text(f"only the first {limit} are shown; more with --limit"))
        words = (_short_words(view.prompt), _short_words(view.response), _short_words(view.target))
        table.add_row(f"{view.sample_id}/{view.repeat}", *map(Text, words))
    return Group(table) if table.row_count else Group(Text(none))


def _short_words(text: str | None) -> str:
    words = printable(" ".join((text or "").split()))
    return words if len(words) <= _WORDS_WIDTH else words[: _WORDS_WIDTH - 1] + "…"


def sample_in_full(view: SampleView, judges: Sequence[JudgeView]) -> Group:
    """Everything recorded of one sample; a rich renderable."""
    from rich.console import Group
    from rich.rule import Rule
    from rich.text import Text

    parts: list[RenderableType] = [Text()]

    def section(heading: str, text: str | None, style: str = "") -> None:
        if text:
            parts.extend([Rule(heading, align="left", style="dim"), Text(printable(text), style)])

    title = f"sample {view.sample_id}, repeat {view.repeat}: {view.outcome}"
    parts.append(Text(title, f"bold {known_outcome(view.outcome).style}"))
    section("system", view.system)
    messages = orjson.loads(view.messages) if view.messages else []
    section("media", "\n".join(_media(messages[-1].get("content"))) if messages else None)
    section("prompt", view.prompt)
    # A system message and a prompt are shown already; only a longer conversation adds anything.
    if len(messages) > 1 + (view.system is not None):
        section("messages", "\n".join(_message(message) for message in messages))
    section("reasoning", view.reasoning, "dim")
    section("reply", view.response)
    section("target", view.target)
    section("choices", _choices(view))
    section("scores", None if view.scores is None else _json_lines(view.scores))
    section("error", view.error, "red")
    for judge in judges:
        reply = judge.reply
        text = reply.text if reply.failure is None else f"failed: {reply.failure.message}"
        section(f"judge, question {judge.number + 1}", text or f"({reply.status})")
    section("call", _call(view))
    section("row", None if view.metadata is None else _json_lines(orjson.loads(view.metadata)))
    return Group(*parts)


def _facts(run: RunRecord) -> list[tuple[str, str]]:
    dataset, endpoint, fewshot = (_table(run.manifest.get(key)) for key in ("dataset", "endpoint", "fewshot"))
    facts = [("target", run.target), ("command", command_of(run))]
    source = run.settings.get("rescored_from")
    if source is not None:
        facts.append(("rescored", f"the replies are those of run {source}"))
    if dataset:
        facts.append(
            ("data", f"{dataset.get('name')}, {dataset.get('rows')} rows, {dataset.get('fingerprint')}")
        )
    if endpoint:
        facts.append(("endpoint", str(endpoint.get("fingerprint"))))
    if fewshot:
        overlap = ", overlapping with the evaluated rows" if fewshot.get("overlapping") else ""
        fewest, count = fewshot.get("shown_min"), fewshot.get("count")
        shown = (
            f", {fewshot.get('shown_mean')} shown on average, at least {fewest}"
            if fewest not in (None, count)
            else ""
        )
        facts.append(("few-shot", f"{count} examples from {fewshot.get('source')}{shown}{overlap}"))
    took = None if run.finished_at is None else run.finished_at - run.created_at
    facts.append(("started", f"{local_time(run.created_at)}, took {duration(took)}"))
    return [(label, printable(text)) for label, text in facts]


def _call(view: SampleView) -> str | None:
    if view.latency_s is None:
        return None
    parts = [f"{view.latency_s:.3f} s"]
    if view.ttft_s is not None:
        parts.append(f"first token after {view.ttft_s:.3f} s")
    if view.prompt_tokens is not None:
        parts.append(f"{view.prompt_tokens} prompt and {view.completion_tokens} completion tokens")
    if view.attempts is not None and view.attempts != 1:
        parts.append(f"{view.attempts} attempts")
    if view.finish_reason is not None:
        parts.append(f"finish reason {view.finish_reason}")
    return ", ".join(parts)


def _choices(view: SampleView) -> str | None:
    if view.choices is None:
        return None
    logprobs = view.choices_logprobs or [None] * len(view.choices)
    greedy = view.choices_is_greedy or [False] * len(view.choices)
    lines = []
    for choice, logprob, is_greedy in zip(view.choices, logprobs, greedy, strict=False):
        shown = "–" if logprob is None else f"{logprob:.4f}"
        lines.append(f"{shown:>12}  {choice!r}{' (greedy)' if is_greedy else ''}")
    return "\n".join(lines)


def _media(content: Any) -> list[str]:
    """One line for each image, video or sound of a message: what was shown, by its hash or address."""
    if not isinstance(content, list):
        return []
    lines = []
    for part in content:
        kind = part.get("type", "") if isinstance(part, dict) else ""
        held = part.get(kind) if kind and kind != "text" else None
        if isinstance(held, dict):
            what = kind.removesuffix("_url").removeprefix("input_")
            lines.append(f"{what}: {held.get('url') or held.get('data')}")
    return lines


def _message(message: dict[str, Any]) -> str:
    content = message.get("content")
    return f"[{message.get('role')}] {content if isinstance(content, str) else encode_json(content).decode()}"


def _json_lines(value: JsonValue) -> str:
    return exact_json(value, indent=True).decode()


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _grid(rows: Iterable[tuple[str, str]]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in rows:
        grid.add_row(Text(label), Text(text))
    return grid

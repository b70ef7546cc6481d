"""Shows samples of a run on the terminal: listed, or in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from benchwright.core import JsonValue, encode_json, exact_json, known_outcome, printable
from benchwright.reports.terminal.result import Sections, grid
from benchwright.results import CallsView, SampleDetails, SampleList, SampleView

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

_WORDS_WIDTH = 120
"""Characters of a prompt or reply in a list; `show RUN SAMPLE` has them whole."""
_ERROR_WIDTH = 200


def sample_list(view: SampleList) -> Group:
    """The samples in the form that was requested: in full, with reasons, or with prompts and replies."""
    from rich.console import Group
    from rich.text import Text

    if view.in_full:
        return Group(*map(sample_in_full, view.samples))
    if not view.samples:
        return Group(Text(view.empty))
    return _reasons(view) if view.reasons else _table(view)


def sample_in_full(details: SampleDetails) -> Group:
    """Everything recorded of one sample."""
    view = details.sample
    title = f"sample {view.sample_id}, repeat {view.repeat}: {view.outcome}"
    sections = Sections(title, f"bold {known_outcome(view.outcome).style}")
    sections.add("system", view.system)
    messages = orjson.loads(view.messages) if view.messages else []
    sections.add("media", "\n".join(_media(messages[-1].get("content"))) if messages else None)
    sections.add("prompt", view.prompt)
    # System message and prompt are already shown; only a longer conversation adds anything.
    if len(messages) > 1 + (view.system is not None):
        sections.add("messages", "\n".join(_message(message) for message in messages))
    sections.add("reasoning", view.reasoning, "dim")
    sections.add("reply", view.response)
    if details.calls is not None:
        sections.add_view("calls", _calls(details.calls))
        sections.add("first difference", details.calls.difference, "red")
    else:
        sections.add("target", view.target)
    sections.add("choices", _choices(view))
    sections.add("scores", None if view.scores is None else _json_lines(view.scores))
    sections.add("error", view.error, "red")
    for judge in details.judges:
        reply = judge.reply
        text = reply.text if reply.failure is None else f"failed: {reply.failure.message}"
        sections.add(f"judge, question {judge.number + 1}", text or f"({reply.status})")
    sections.add("call", _call(view))
    sections.add("row", None if view.metadata is None else _json_lines(orjson.loads(view.metadata)))
    return sections.group()


def _reasons(view: SampleList) -> Group:
    """Why each sample has no score, one line each."""
    from rich.console import Group

    rows = []
    for details in view.samples:
        sample = details.sample
        error = printable((sample.error or "").replace("\n", " "))
        cut = error if len(error) <= _ERROR_WIDTH else error[:_ERROR_WIDTH] + "…"
        rows.append((_number(sample), f"{sample.outcome}: {cut}"))
    if view.next is not None:
        rows.append(("…", f"only the first {len(view.samples)} are shown"))
    return Group(grid(rows))


def _table(view: SampleList) -> Group:
    from rich import box
    from rich.console import Group
    from rich.text import Text

    from benchwright.reports.terminal.tables import WholeTable

    table = WholeTable(box=box.SIMPLE_HEAD)
    table.add_column("sample", justify="right", no_wrap=True)
    for heading in ("prompt", "reply", "target"):
        table.add_column(heading, overflow="fold")
    for details in view.samples:
        sample = details.sample
        words = (sample.prompt, sample.response, sample.target)
        table.add_row(_number(sample), *(Text(_short_words(text)) for text in words))
    if view.next is not None:
        return Group(table, Text(f"only the first {len(view.samples)} are shown; more with --limit"))
    return Group(table)


def _number(sample: SampleView) -> str:
    return f"{sample.sample_id}/{sample.repeat}"


def _short_words(text: str | None) -> str:
    words = printable(" ".join((text or "").split()))
    return words if len(words) <= _WORDS_WIDTH else words[: _WORDS_WIDTH - 1] + "…"


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


def _calls(view: CallsView) -> Table:
    """Calls and expected calls, side by side."""
    from rich import box
    from rich.text import Text

    from benchwright.reports.terminal.tables import WholeTable

    table = WholeTable(box=box.SIMPLE_HEAD)
    turns = any(turn for turn, _, _ in view.rows)
    for heading in (*(("turn",) if turns else ()), "called", "expected"):
        table.add_column(heading, overflow="fold")
    for row in view.rows or (("", "", ""),):
        cells = (row[0], row[1] or "–", row[2] or "–")
        table.add_row(*(Text(printable(cell)) for cell in (cells if turns else cells[1:])))
    return table


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
    """One line for each image, video or sound of a message, with its hash or address."""
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
    said = [] if content is None else [content if isinstance(content, str) else encode_json(content).decode()]
    called = [
        call["function"] for call in message.get("tool_calls") or () if isinstance(call.get("function"), dict)
    ]
    said += [f"{function.get('name')}({function.get('arguments')})" for function in called]
    text = "\n".join(said) if said else "null"
    return f"[{message.get('role')}] {text}"


def _json_lines(value: JsonValue) -> str:
    return exact_json(value, indent=True).decode()

"""Shows samples of a run on the terminal: listed, or in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from benchwright.core import JsonValue, Outcome, encode_json, exact_json, printable
from benchwright.reports.blocks import Block, Heading, Sections, Table, labelled, line
from benchwright.results import CallsView, SampleDetails, SampleList, SampleView

_WORDS_WIDTH = 120
"""Characters of a prompt or reply in a list; `show RUN SAMPLE` has them whole."""
_ERROR_WIDTH = 200


def sample_list_blocks(view: SampleList) -> Iterator[Block]:
    """The samples in the form that was requested: in full, with reasons, or with prompts and replies."""
    if view.in_full:
        for details in view.samples:
            yield from _in_full(details)
    elif not view.samples:
        yield line(view.empty)
    else:
        yield from _reasons(view) if view.reasons else _table(view)


def _in_full(details: SampleDetails) -> list[Block]:
    """Everything recorded of one sample."""
    view = details.sample
    title = f"sample {view.sample_id}, repeat {view.repeat}: {view.outcome}"
    if details.name is not None:
        title = f"row {printable(details.name)} ({title.partition(':')[0]}): {view.outcome}"
    sections = Sections(title, f"bold {Outcome(view.outcome).style}")
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
        sections.add_block("calls", _calls(details.calls))
        sections.add("first difference", details.calls.difference, "red")
    else:
        sections.add("target", view.target)
    sections.add("choices", _choices(view))
    sections.add("scores", None if view.scores is None else _json_lines(view.scores))
    sections.add("error", view.error, "red")
    for number, reply in details.judges.items():
        text = reply.text if reply.failure is None else f"failed: {reply.failure.message}"
        sections.add(f"judge, question {number + 1}", text or f"({reply.status})")
    sections.add("call", _call(view))
    sections.add("row", None if view.metadata is None else _json_lines(orjson.loads(view.metadata)))
    return sections.blocks


def _reasons(view: SampleList) -> Iterator[Block]:
    """Why each sample has no score, one line each."""
    rows = []
    for details in view.samples:
        sample = details.sample
        error = printable((sample.error or "").replace("\n", " "))
        cut = error if len(error) <= _ERROR_WIDTH else error[:_ERROR_WIDTH] + "…"
        rows.append((printable(details.title), f"{sample.outcome}: {cut}"))
    if view.next is not None:
        rows.append(("…", f"only the first {len(view.samples)} are shown"))
    yield labelled(rows)


def _table(view: SampleList) -> Iterator[Block]:
    graded = any(details.sample.grade is not None for details in view.samples)
    headings = (
        Heading("sample", right=True, whole=True),
        *(Heading(name, right=True, whole=True) for name in view.shown),
        *((Heading("grade", whole=True),) if graded else ()),
        *map(Heading, ("prompt", "reply", "target", *(("judge's reason",) if graded else ()))),
    )
    yield Table(headings, tuple(_row(details, view.shown, graded) for details in view.samples))
    if view.next is not None:
        yield line(f"only the first {len(view.samples)} are shown; more with --limit")
    if view.note:
        yield line(view.note)


def _row(details: SampleDetails, shown: Sequence[str], graded: bool) -> tuple[str, ...]:
    sample = details.sample
    texts = (sample.prompt, sample.response, sample.target, *((details.reason,) if graded else ()))
    return (
        printable(details.title),
        *(_score((sample.scores or {}).get(name)) for name in shown),
        *((sample.grade or "–",) if graded else ()),
        *map(_short_words, texts),
    )


def _score(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else "–"


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
    turns = any(turn for turn, _, _ in view.rows)
    cells = [
        (turn, called or "–", expected or "–") for turn, called, expected in view.rows or (("", "", ""),)
    ]
    rows = (tuple(map(printable, row if turns else row[1:])) for row in cells)
    return Table(tuple(map(Heading, (*(("turn",) if turns else ()), "called", "expected"))), tuple(rows))


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

"""Shows requests of a load test on the terminal: a table, or one in full."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.core import printable
from benchwright.perf import METRICS, RequestRecord
from benchwright.reports.blocks import Block, Heading, Sections, Table, line
from benchwright.results import RequestList, short

_SHORT_LIST = 8
"""The most events of a stream that are shown for one request; `--json` has all."""
_REPLY_WIDTH = 40


def request_list_blocks(view: RequestList) -> list[Block]:
    """A table, or one request in full."""
    if not view.requests:
        return [line("No requests match.")]
    if view.in_full:
        return _in_full(view.requests[0], view)
    figures = ("request", "stage", "row", "sent, s", "late, ms", "ttft, ms", "end, ms", "tokens")
    scored = any(record.score_outcome is not None for record in view.requests)
    texts = ("outcome", *(("reply", "score") if scored else ()))
    headings = (*(Heading(text, right=True, whole=True) for text in figures), *map(Heading, texts))
    rows = (
        (*_request_cells(record), *((_reply_text(record), _short_score(record)) if scored else ()))
        for record in view.requests
    )
    return [Table(headings, tuple(rows), padding="tight")]


def _request_cells(record: RequestRecord) -> list[str]:
    outcome = record.outcome.value
    if record.phase != "measured":
        outcome += f" ({record.phase})"
    if record.error:
        outcome += f": {printable(record.error)}"
    return [
        str(record.number),
        str(record.stage),
        str(record.row),
        "–" if record.sent is None else f"{record.sent:,.3f}",
        _ms(record.planned, record.sent),
        _ms(record.sent, record.first_token),
        _ms(record.sent, record.ended),
        "–" if record.output_tokens is None else f"{record.output_tokens:,}",
        outcome,
    ]


def _reply_text(record: RequestRecord) -> str:
    reply = RequestList.reply_of(record)
    words = "–" if reply is None else printable(" ".join(reply.text.split()))
    return words if len(words) <= _REPLY_WIDTH else words[: _REPLY_WIDTH - 1] + "…"


def _ms(start: float | None, end: float | None) -> str:
    return "–" if start is None or end is None else short((end - start) * 1000, METRICS["ttft"])


def _in_full(record: RequestRecord, view: RequestList) -> list[Block]:
    title = f"request {record.number}, stage {record.stage}: {record.outcome}"
    if record.phase != "measured":
        title += f" ({record.phase})"
    sections = Sections(title, "bold green" if record.ok else "bold red")
    sections.add("prompt", _prompt(record, view))
    sections.add("sent", _sending(record))
    reply = RequestList.reply_of(record)
    if reply is not None:
        sections.add("reasoning", reply.reasoning, "dim")
        sections.add("reply", reply.text or ("(empty)" if not reply.tool_calls else None))
        sections.add("calls", None if not reply.tool_calls else "\n".join(map(str, reply.tool_calls)))
    elif record.ok:
        sections.add("reply", "not kept; load tests keep replies with --score")
    sections.add("error", record.error, "red")
    sections.add("score", _score(record))
    sections.add("tokens", ", ".join(_tokens(record)))
    sections.add("times", ", ".join(_times(record)))
    if record.arrivals:
        shown = ", ".join(short(1000 * at, METRICS["ttft"]) for at in record.arrivals[:_SHORT_LIST])
        rest = f", … ({len(record.arrivals):,} in all)" if len(record.arrivals) > _SHORT_LIST else ""
        sections.add("events with content, ms after sending", f"{shown}{rest}")
    return sections.blocks


def _sending(record: RequestRecord) -> str:
    parts = ["not sent" if record.sent is None else f"{record.sent:,.3f} s after the start of the test"]
    if record.planned is not None and record.sent is not None:
        parts.append(f"{_ms(record.planned, record.sent)} ms after its planned time")
    if record.conversation is not None:
        parts.append(f"conversation {record.conversation}, turn {record.turn}")
    parts += [f"{what} {at}" for what, at in (("process", record.worker), ("server", record.url)) if at]
    if record.attempts != 1:
        parts.append(f"{record.attempts} attempts")
    return ", ".join(parts)


def _prompt(record: RequestRecord, view: RequestList) -> str:
    """Where the prompt comes from, because it is not recorded."""
    text = f"not recorded by load tests; it was made from row {record.row} of {printable(view.data)}, counted from 0"
    return text if view.row_command is None else f"{text}. To see it:\n{printable(view.row_command)}"


def _score(record: RequestRecord) -> str | None:
    """The scores of the reply, or why it has none."""
    if record.scores:
        return ", ".join(f"{printable(name)} {value:g}" for name, value in record.scores.items())
    if record.score_outcome is None:
        return None
    return record.score_outcome + (f": {printable(record.score_error)}" if record.score_error else "")


def _short_score(record: RequestRecord) -> str:
    """The first score, or why there is none."""
    first, more, _ = (_score(record) or "–").partition(", ")
    return f"{first}, …" if more and record.scores else first


def _tokens(record: RequestRecord) -> Iterator[str]:
    if record.input_tokens is not None:
        cached = f" ({record.cached_tokens:,} cached)" if record.cached_tokens else ""
        yield f"{record.input_tokens:,} of the prompt{cached}"
    if record.output_tokens is not None:
        source = {"usage": "", None: ""}.get(record.token_source, f" ({record.token_source})")
        yield f"{record.output_tokens:,} of the reply{source}"
    if record.reasoning_tokens:
        yield f"{record.reasoning_tokens:,} of them reasoning"
    if record.requested_tokens is not None:
        yield f"max_tokens {record.requested_tokens:,}"
    if record.finish_reason is not None:
        yield f"finish reason {printable(record.finish_reason)}"


def _times(record: RequestRecord) -> Iterator[str]:
    """Times after sending, in their order."""
    for what, at in (
        ("first byte", record.first_byte),
        ("first token", record.first_token),
        ("last content", record.last_content),
        ("end", record.ended),
    ):
        if record.sent is not None and at is not None:
            yield f"{what} after {_ms(record.sent, at)} ms"

"""Writes the files of the published program from the record of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from benchwright.benchmarks import RecordedSample
from benchwright.bfcl._categories import CATEGORIES
from benchwright.bfcl._score_files import FAILED, JsonLines, ScoreFiles, result_file
from benchwright.core import Artifacts, CallFolder, ModelReply, Outcome, Row, SampleRecord, encode_json


def write_result_files(version: str, run: Artifacts, model: str, samples: Iterable[RecordedSample]) -> None:
    """Write `result/<model>` and `score/<model>` of a run. Without any score, only results are written.

    A failed sample is listed as such in the results, and is neither right nor wrong in the scores.
    """
    files = ScoreFiles(version, model)
    results: dict[str, JsonLines] = {}
    for row, repeat, record, reply in samples:
        if row is None or row.get("category") not in CATEGORIES:
            continue  # an unreadable row has no category
        category = CATEGORIES[row["category"]]
        result = _result(row, record, reply)
        lines = results.get(category.name)
        if lines is None:
            lines = results[category.name] = JsonLines()
        lines.add(_result_line(row, repeat, record, reply, result))
        if record.scores is None:
            files.add_failed(category, record.group)
        elif "category" in record.scores:  # not if nothing is to be scored
            files.add(row, result, record.tool_calls, record.scores, repeat)
    for name, lines in results.items():
        lines.write(run, f"{CallFolder.RESULTS}/{model}/{result_file(CATEGORIES[name], version, 'result')}")
    if files.board.tallies or files.failed:
        files.write(run, f"{CallFolder.SCORES}/{model}/")


def _result_line(
    row: Row, repeat: int, record: SampleRecord, reply: ModelReply | None, result: Any
) -> dict[str, Any]:
    usage = record.usage
    if usage is None and reply is not None and reply.usage is not None:
        usage = (reply.usage.prompt, reply.usage.completion)
    sent, written, *_ = usage or (None, None)
    counts: list[Any] = [sent, written, None if reply is None else reply.latency_s]
    if record.reply_counts is not None:  # those of each reply of each turn, nested as the results are
        counts = [[[each[which] for each in turn] for turn in record.reply_counts] for which in range(3)]  # type: ignore[union-attr,index]  # as they were recorded
    line = {"id": row["id"], "result": result}
    line |= zip(("input_token_count", "output_token_count", "latency"), counts, strict=True)
    if reply is not None and reply.reasoning:
        line["reasoning_content"] = reply.reasoning
    return {**line, "repeat": repeat} if repeat else line


def _result(row: Row, record: SampleRecord, reply: ModelReply | None) -> Any:
    """The model's reply in the form of the published program: native calls, a text, or those of each turn."""
    if reply is None or reply.failure is not None or record.outcome is Outcome.REQUEST_FAILED:
        return f"{FAILED} {record.error or record.outcome.value}"
    if record.conversation is not None:
        return _turns(row, record)
    return _called(reply.tool_calls, reply.text)


def _turns(row: Row, record: SampleRecord) -> list[list[Any]]:
    """The replies of each turn. Messages of the row do not count, even if their role is assistant."""
    given = [message for turn in row.get("question") or () for message in turn]
    replies = iter(
        message
        for message in record.conversation or ()
        if isinstance(message, dict) and message.get("role") == "assistant" and message not in given
    )
    found: list[list[Any]] = []
    for steps in record.tool_calls or ():
        found.append([])
        for calls in steps if isinstance(steps, list) else ():
            message = next(replies, {"tool_calls": calls})
            found[-1].append(_called(message.get("tool_calls"), message.get("content")))
    return found


def _called(tool_calls: Any, text: Any) -> Any:
    """Calls as `[{name: arguments as JSON}]`; the text if there are none. Items that are not calls stay unchanged."""
    if not isinstance(tool_calls, list):
        return text or ""
    return [_call(item) for item in tool_calls]


def _call(item: Any) -> Any:
    function = item.get("function", item) if isinstance(item, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        return item
    arguments = function.get("arguments")
    return {
        function["name"]: arguments if isinstance(arguments, str) else encode_json(arguments).decode(),
    }

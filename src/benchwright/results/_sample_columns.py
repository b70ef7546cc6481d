"""The columns of a sample, declared once, and how each is read from the recorded steps of many samples.

Steps are read column by column, because a run may have a million samples and their file has columns too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson
from msgspec import Struct

from benchwright.core import JsonObject, ModelReply, Outcome, SampleRecord, encode_json
from benchwright.store import SampleSteps, verdict_of

RequestTexts: TypeAlias = tuple[Sequence[str | None], Sequence[str | None], Sequence[bytes | None]]
"""Prompts, system messages, and messages as JSON, each with a value per body."""

_BETWEEN = "\0"
"""Separates values that are read or written as one list."""
_SEPARATOR = b',"\\u0000",'
"""`_BETWEEN` as an element of a list."""
_MARK = "\0here"
"""Replaces the prompt while a frame is made. If the body contains it elsewhere, there is no frame."""


def request_texts(bodies: Sequence[bytes | None]) -> RequestTexts:
    """The texts of each body; None if there is none. `bodies` must not be empty.

    The bodies of a run mostly differ only in the last message, and reading only that takes at most half the time.
    """
    return texts_in_one_frame(bodies) or texts_one_by_one(bodies)


def text_of(value: Any) -> str | None:
    """A text unchanged, other values as JSON."""
    if value is None or isinstance(value, str):
        return value
    return encode_json(value).decode()


def texts_one_by_one(bodies: Sequence[bytes | None]) -> RequestTexts:
    prompts, systems, messages = zip(*map(_texts_in, bodies), strict=True)
    return prompts, systems, messages


def _texts_in(body: bytes | None) -> tuple[str | None, str | None, bytes | None]:
    if body is None:
        return None, None, None
    record: dict[str, Any] = orjson.loads(body)
    messages = record.get("messages")
    if not messages:
        return text_of(record.get("prompt")), None, None
    system = text_of(messages[0].get("content")) if messages[0].get("role") == "system" else None
    return _words(messages[-1].get("content")), system, encode_json(messages)


def _words(content: Any) -> str | None:
    """The text of a message, or of the text parts of its content."""
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        return "\n".join(
            str(part["text"]) for part in content if part.get("type") == "text" and "text" in part
        )
    return text_of(content)


def texts_in_one_frame(bodies: Sequence[bytes | None]) -> RequestTexts | None:
    """The same for bodies that differ only in the text of the last message; None if they differ elsewhere."""
    frame = _frame_of(bodies[0])
    if frame is None:
        return None
    head, tail, begin, end = frame
    alike = [body for body in bodies if body is not None and body.startswith(head) and body.endswith(tail)]
    if len(alike) != len(bodies):
        return None
    first, last = len(head), -len(tail)
    prompts = load_strings([body[first:last] for body in alike])
    if prompts is None:
        return None
    _, system, _ = _texts_in(bodies[0])
    return prompts, [system] * len(bodies), [body[begin:end] for body in alike]


def _frame_of(body: bytes | None) -> tuple[bytes, bytes, int, int] | None:
    """What precedes and follows the text of the last message in a body, where the messages begin, and where they end, counted from the
    body's end."""
    if body is None:
        return None
    record: dict[str, Any] = orjson.loads(body)
    *others, last = record.get("messages") or [{}]
    content = last.get("content")
    if not isinstance(content, str) or last.get("role") == "system":
        return None
    messages = [*others, {**last, "content": _MARK}]
    marked, inner = orjson.dumps({**record, "messages": messages}), orjson.dumps(messages)
    head, mark, tail = marked.partition(orjson.dumps(_MARK))
    if mark in tail or head + orjson.dumps(content) + tail != body:
        return None
    begin = marked.index(inner)  # it occurs only once, because it contains the mark
    return head, tail, begin, begin + len(inner) - len(marked)


def dump_each(objects: Sequence[dict[str, Any] | None]) -> list[bytes | None]:
    """The JSON text of each object, encoded in one call; None stays None."""
    if not objects:
        return []
    spaced: list[Any] = [_BETWEEN] * (2 * len(objects) - 1)
    spaced[::2] = objects
    try:
        texts: list[bytes | None] = list(orjson.dumps(spaced)[1:-1].split(_SEPARATOR))
    except TypeError:  # an object is nested so deeply that it can only be written alone
        texts = []
    if len(texts) != len(objects):  # or an object contains the separator
        texts = list(map(encode_json, objects))
    return [None if text == b"null" else text for text in texts] if b"null" in texts else texts


def load_strings(encoded: Sequence[bytes]) -> list[str] | None:
    """The strings, if each of `encoded` is exactly what `orjson` writes for one; None if any is something else.

    They are read as one list with a separator string between any two. So an unclosed quote ends at the next separator,
    after which the list is not JSON; and anything but one value changes the number of values.
    """
    joined = b"[%b]" % _SEPARATOR.join(encoded)
    try:
        values: list[Any] = orjson.loads(joined)
    except orjson.JSONDecodeError:
        return None
    if len(values) != 2 * len(encoded) - 1 or set(map(type, values)) != {str}:
        return None
    return values[::2] if orjson.dumps(values) == joined else None


BLOCK_ROWS = 100
"""Samples per block. More would save little, and with Python's default settings their values live long enough for the
garbage collector to search them again and again."""
BLOCK_BYTES = 200_000
"""Approximate bytes of recorded text per block."""


ColumnType: TypeAlias = Literal["text", "json", "integer", "number", "texts", "numbers", "truths"]
"""The type of a column; `json` is a text, and the plural ones are lists."""


class SampleColumn(Struct, frozen=True):
    """One column of `samples.parquet`, which is one field of `SampleView`."""

    name: str
    """The name of the field."""
    type: ColumnType
    """The type of its values."""
    read: Literal["record", "reply"] | Callable[[DecodedSteps], Sequence[Any]]
    """Reads its values from recorded steps; or the object whose field of that name has them."""
    long: bool = False
    """Whether its smallest and largest values are useless for searching."""
    repetitive: bool = False
    """Whether many samples share a value, so that a dictionary saves space. For unique texts it only costs time."""
    ranked: bool = False
    """Whether only runs that rank choices have it."""
    exported: bool = False
    """Whether predictions and exported tables use this name. Other columns are renamed there."""
    predicted: bool = False
    """Whether predictions of `run_eval` use this name."""
    compared: Literal["", "by", "shown"] = ""
    """Whether comparing runs needs it: samples are matched by it, or shown with it if they changed."""

    def values(self, steps: DecodedSteps) -> Sequence[Any]:
        """Its value for every sample."""
        if self.read == "record":
            return steps.records.column(self.name)
        return steps.replies.column(self.name) if self.read == "reply" else self.read(steps)


class SampleView(NamedTuple):
    """One sample and repeat. A tuple, because a run may have a million of these."""

    sample_id: int
    """0-based row number."""
    repeat: int
    """0-based repeat."""
    prompt: str | None
    """The prompt, without the system message; without a call, the prompt that would have been sent."""
    system: str | None
    """System message, for chat."""
    messages: bytes | None
    """Chat messages as sent, or the whole conversation if there were several turns; JSON."""
    response: str | None
    """The text that was scored; null if there was none."""
    reasoning: str | None
    """The model's reasoning."""
    target: str | None
    """Expected answer; JSON if it is not a text."""
    calls: bytes | None
    """Calls read from the reply, if functions were offered; JSON. The expected calls are the target."""
    outcome: str
    """How the sample ended."""
    error: str | None
    """Why there is no score."""
    group: str | None
    """The part of the evaluation in which a failure of the sample counts, if it is not all of it."""
    scores: dict[str, Any] | None
    """The scorer's result."""
    verdict: Literal["right", "wrong"] | None
    """`right` or `wrong`, if the scores tell."""
    grade: str | None
    """The judge's grade, if a judge graded the sample."""
    prompt_tokens: int | None
    """Prompt tokens, over all calls of the sample."""
    completion_tokens: int | None
    """Completion tokens, over all calls of the sample."""
    latency_s: float | None
    """Last call: seconds from sending to the last byte."""
    ttft_s: float | None
    """Last call: seconds to the first token, for streams."""
    attempts: int | None
    """Last call: requests sent for it."""
    started_at: float | None
    """Last call: wall clock of the first attempt, seconds since the epoch."""
    finish_reason: str | None
    """Last call: reason from the server."""
    metadata: bytes | None
    """The row; JSON."""
    choices: list[str] | None
    """Ranked continuations, if the benchmark ranks."""
    choices_logprobs: list[float | None] | None
    """Their log-likelihoods."""
    choices_is_greedy: list[bool] | None
    """Whether each is what the model would have written."""

    def to_json(self) -> JsonObject:
        """The columns of `samples.parquet`, with `messages` and `metadata` as JSON values."""
        record: dict[str, Any] = self._asdict()
        for name in (name for name, column in COLUMNS.items() if column.type == "json"):
            if isinstance(value := record[name], bytes):
                record[name] = orjson.loads(value)
        return record


class DecodedSteps:
    """The decoded steps of some samples; there must be at least one."""

    def __init__(self, samples: Sequence[SampleSteps]) -> None:
        self.numbers, self.repeats, self.rows, scores, bodies, outputs = zip(*samples, strict=True)
        self.bodies: Sequence[bytes | None] = bodies
        self.records = records = SampleRecord.columns(scores)
        self.replies = replies = ModelReply.columns(
            [b"{}" if output is None else output for output in outputs]
        )
        self.outputs = outputs
        self.outcomes, self.choices = records.column("outcome"), records.column("choices")
        prompts, self.systems, messages = request_texts(bodies)
        if records.holds("choices"):
            prompts = tuple(map(_without_choice, prompts, messages, self.choices))
        self.prompts = records.or_else("prompt", prompts)
        if records.holds("conversation"):
            messages = tuple(map(_conversation, records.column("conversation"), messages))
        self.messages = messages
        responses = records.or_else("response", replies.column("text"))
        if not all(responses):
            responses = list(map(_response, responses, self.outcomes))
        self.responses = responses
        self.usages = [
            sample or reply or (None, None)
            for sample, reply in zip(records.column("usage"), replies.column("usage"), strict=True)
        ]

    def attempts(self) -> Sequence[int | None]:
        """Requests of each sample's last call; None without a call."""
        sent = self.replies.column("attempts", 1)
        return [None if output is None else count for output, count in zip(self.outputs, sent, strict=True)]

    def targets(self) -> Sequence[str | None]:
        """Targets as texts."""
        found = self.records.column("target")
        return [target if target.__class__ is str else text_of(target) for target in found]

    def calls(self) -> Sequence[bytes | None]:
        """Calls as JSON."""
        found = self.records.column("tool_calls")
        if not self.records.holds("tool_calls"):
            return found
        return [None if calls is None else encode_json(calls) for calls in found]


COLUMNS: dict[str, SampleColumn] = {
    column.name: column
    for column in (
        SampleColumn("sample_id", "integer", read=lambda steps: steps.numbers, compared="by"),
        SampleColumn("repeat", "integer", read=lambda steps: steps.repeats, compared="by"),
        SampleColumn("prompt", "text", read=lambda steps: steps.prompts, long=True, predicted=True),
        SampleColumn("system", "text", read=lambda steps: steps.systems, repetitive=True),
        SampleColumn("messages", "json", read=lambda steps: steps.messages, long=True),
        SampleColumn("response", "text", read=lambda steps: steps.responses, long=True, predicted=True),
        SampleColumn("reasoning", "text", read="reply", long=True, exported=True),
        SampleColumn("target", "text", read=DecodedSteps.targets, predicted=True, compared="shown"),
        SampleColumn("calls", "json", read=DecodedSteps.calls, long=True),
        SampleColumn(
            "outcome",
            "text",
            read=lambda steps: steps.outcomes,
            repetitive=True,
            predicted=True,
            compared="shown",
        ),
        SampleColumn("error", "text", read="record", repetitive=True, predicted=True, compared="shown"),
        SampleColumn("group", "text", read="record", repetitive=True, compared="by"),
        SampleColumn("scores", "json", read="record", long=True, predicted=True, compared="shown"),
        SampleColumn(
            "verdict",
            "text",
            read=lambda steps: list(map(verdict_of, steps.records.column("scores"))),
            repetitive=True,
        ),
        SampleColumn(
            "grade",
            "text",
            read=lambda steps: [
                grade_of(scores) if scores is not None and "judge_grade" in scores else None
                for scores in steps.records.column("scores")
            ],
            repetitive=True,
        ),
        SampleColumn(
            "prompt_tokens", "integer", read=lambda s: [usage[0] for usage in s.usages], exported=True
        ),
        SampleColumn(
            "completion_tokens", "integer", read=lambda s: [usage[1] for usage in s.usages], exported=True
        ),
        SampleColumn("latency_s", "number", read="reply", exported=True),
        SampleColumn("ttft_s", "number", read="reply", exported=True),
        SampleColumn("attempts", "integer", read=DecodedSteps.attempts),
        SampleColumn("started_at", "number", read="reply"),
        SampleColumn("finish_reason", "text", read="reply", repetitive=True, exported=True),
        SampleColumn("metadata", "json", read=lambda steps: steps.rows, long=True, compared="by"),
        SampleColumn("choices", "texts", read=lambda steps: steps.choices, ranked=True),
        SampleColumn("choices_logprobs", "numbers", read="record", ranked=True),
        SampleColumn("choices_is_greedy", "truths", read="record", ranked=True),
    )
}
"""Every field of `SampleView`, in order."""


def grade_of(scores: dict[str, Any] | None) -> str | None:
    """The judge's grade among scores."""
    grade = None if scores is None else scores.get("judge_grade")
    return None if grade is None else str(grade)


def in_blocks(
    samples: Iterable[SampleSteps], most_rows: int = BLOCK_ROWS, most_bytes: int = BLOCK_BYTES
) -> Iterator[tuple[list[SampleSteps], int]]:
    """Samples in blocks, each with its size in bytes of recorded text. A block exceeds the limit by at most its last
    sample."""
    most_rows, most_bytes = min(most_rows, BLOCK_ROWS), min(most_bytes, BLOCK_BYTES)
    block: list[SampleSteps] = []
    size = 0
    for sample in samples:
        block.append(sample)
        _, _, row, score, body, output = sample
        size += len(score) + len(row or b"") + len(body or b"") + len(output or b"")
        if size >= most_bytes or len(block) >= most_rows:
            yield block, size
            block, size = [], 0
    if block:
        yield block, size


def sample_columns(samples: Sequence[SampleSteps]) -> dict[str, Sequence[Any]]:
    """The fields of `SampleView` by name, each with a value per sample; there must be at least one sample."""
    return columns_of(DecodedSteps(samples))


def columns_of(steps: DecodedSteps, names: Collection[str] = COLUMNS.keys()) -> dict[str, Sequence[Any]]:
    """The same for samples that are already decoded."""
    return {name: COLUMNS[name].values(steps) for name in names}


def _without_choice(prompt: str | None, messages: bytes | None, choices: list[str] | None) -> str | None:
    """The prompt without the first choice, which was sent as its continuation."""
    if prompt and choices and messages is None and prompt.endswith(choices[0]):
        return prompt[: len(prompt) - len(choices[0])]
    return prompt


def _conversation(conversation: Any, messages: bytes | None) -> bytes | None:
    """All turns, if there were several."""
    return messages if conversation is None else encode_json(conversation)


def _response(response: str | None, outcome: str) -> str | None:
    return response if response or Outcome(outcome).has_reply else None

"""The record of a sample: all that is kept of one row and repeat, and its stored form.

A sample is stored in the row of its score. A sample with one call has the call in the same row; the calls of
other samples have rows of their own, before it. The texts leave out what has its usual value, so that a plain sample
stays small. Records and calls are named tuples: as frozen as a frozen dataclass, and four times as quick to make.

What JSON cannot hold is stored as the nearest that it can: NaN and the infinities as null, halves of surrogate pairs as
question marks, integers beyond 64 bits as text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import orjson

from benchwright.core._json import JsonValue, encode_json
from benchwright.core._record_columns import RecordColumns
from benchwright.core._statuses import Outcome, known_outcome


class StepRow(NamedTuple):
    """One stored row: a call, or a score with the call that it is the score of."""

    key: str
    """`call/000000012/0000`, `judge/000000012/0000/001`, `score/000000012/0000`, …"""
    input_hash: bytes
    """Covers all that can change the output."""
    input: bytes | None
    """What was hashed."""
    output: bytes
    """The result as JSON."""
    reusable: bool
    """Whether another run may take this output for the same hash. In the row of a score this is about the call."""
    started_at: float
    """Wall clock."""
    finished_at: float
    """Wall clock."""
    call_hash: bytes | None = None
    """The `input_hash` of a call in the row of its score."""
    call_input: bytes | None = None
    """Its `input`."""
    call_output: bytes | None = None
    """Its `output`."""


StepValues: TypeAlias = tuple[
    str, bytes, bytes | None, bytes, bool, float, float, bytes | None, bytes | None, bytes | None
]
"""The values of a `StepRow`. Whoever records a hundred thousand makes them without the names."""


class CallRecord(NamedTuple):
    """One call to a model or a judge. The fields are the first of a `StepRow`."""

    key: str
    """Its step key. Empty for the sample's own call, which shares the row and the times of its score."""
    input_hash: bytes
    """Stands for endpoint, request and number of the request."""
    input: bytes | None
    """The request body, as JSON."""
    output: bytes
    """The reply, as JSON of `reply_to_json`."""
    reusable: bool
    """Whether another run may take the reply."""
    started_at: float
    """Wall clock."""
    finished_at: float
    """Wall clock."""


class SampleRecord(NamedTuple):
    """One row and repeat after it was asked and scored."""

    sample_id: int
    """0-based row number."""
    repeat: int
    """0-based repeat."""
    row: bytes | None
    """The row as JSON, before a scorer could change it. None for a row that could not be read."""
    outcome: Outcome
    """How the sample ended."""
    target: Any = None
    """The expected answer."""
    scores: dict[str, Any] | None = None
    """The scorer's numbers, if it gave any."""
    error: str | None = None
    """Why it gave none."""
    prompt: str | None = None
    """The prompt, where no call holds it."""
    response: str | None = None
    """The scored text, where it is not the text of the last reply."""
    cut: bool = False
    """Whether the reply reached `max_tokens`."""
    failure: str | None = None
    """The `FailureKind` of the request that failed."""
    usage: Sequence[int | None] | None = None
    """Prompt and completion tokens of all calls, where the last reply does not hold them."""
    choices: list[JsonValue] | None = None
    """Ranked continuations."""
    choices_logprobs: list[JsonValue] | None = None
    """Their log-likelihoods."""
    choices_is_greedy: list[JsonValue] | None = None
    """Whether each is what the model would have written."""
    conversation: list[JsonValue] | None = None
    """All messages of a conversation."""
    redacted: bool = False
    """Whether a secret was removed from the reply before it was stored."""
    started_at: float = 0.0
    """Wall clock."""
    finished_at: float = 0.0
    """Wall clock."""
    calls: tuple[CallRecord, ...] = ()
    """Calls that are stored together with the sample: its own first, if it shares the row of the score."""


_KEYS = {
    "outcome": "o",
    "target": "t",
    "scores": "s",
    "error": "e",
    "prompt": "p",
    "response": "r",
    "cut": "cut",
    "failure": "k",
    "usage": "u",
    "choices": "_choices",
    "choices_logprobs": "_choices_logprobs",
    "choices_is_greedy": "_choices_is_greedy",
    "conversation": "conversation",
    "redacted": "redacted",
}
"""The fields in the text of a score, with their names there."""
_NAMES = {key: name for name, key in _KEYS.items()}
_NOTHING = tuple(SampleRecord._field_defaults.values())[2:-3]
"""What a plain sample has after its scores and before its times."""
OWN_WORDS = (_KEYS["outcome"], "s")
"""Where the texts of scores and replies have outcome and status, which are words of ours and never hold a secret."""
_EMPTY_HASH = hashlib.blake2b(digest_size=16)
_REDACTED_MARK = b'{"redacted":true,'


def encode_sample(record: SampleRecord) -> tuple[StepValues, ...]:
    """The rows to store: calls with keys of their own, then the score."""
    sample_id, repeat, row = record[:3]
    started, finished, calls = record[-3:]
    key = "score/%09d/%04d" % (sample_id, repeat)  # noqa: UP031  # `score_key` without the call, and quicker than an f-string
    digest = b"" if row is None else row_hash(row)
    output = encode_score(record)
    if not calls:
        return ((key, digest, row, output, False, started, finished, None, None, None),)
    own, call_hash, body, reply, reusable, _, _ = calls[0]
    if own:
        score: StepValues = (key, digest, row, output, False, started, finished, None, None, None)
        return (*[(*call, None, None, None) for call in calls], score)
    score = (key, digest, row, output, reusable, started, finished, call_hash, body, reply)
    return (score,) if len(calls) == 1 else (*[(*call, None, None, None) for call in calls[1:]], score)


def decode_sample(rows: Sequence[StepValues]) -> SampleRecord:
    """The reverse of `encode_sample`."""
    key, _, row, output, reusable, started, finished, call_hash, body, reply = rows[-1]
    calls = tuple(CallRecord(*call[:7]) for call in rows[:-1])
    if call_hash is not None and reply is not None:
        calls = (CallRecord("", call_hash, body, reply, reusable, started, finished), *calls)
    return decode_score(output)._replace(
        sample_id=int(key[6:15]), repeat=int(key[16:20]), row=row, started_at=started, finished_at=finished, calls=calls
    )  # fmt: skip


def encode_score(record: SampleRecord) -> bytes:
    """The text of a score: every field that `_KEYS` names."""
    outcome, target, scores = record[3:6]
    stored: dict[str, Any] = {"o": outcome._value_, "t": target}  # quicker than `value`
    if scores is not None:
        stored["s"] = scores
    rest = record[6:17]
    if rest == _NOTHING:  # most samples end here
        return encode_json(stored)
    error, prompt, response, cut, failure, usage, choices, logprobs, greedy, conversation, redacted = rest
    if error is not None:
        stored["e"] = error
    if prompt is not None:
        stored["p"] = prompt
    if response is not None:
        stored["r"] = response
    if cut:
        stored["cut"] = True
    if failure is not None:
        stored["k"] = failure
    if usage is not None:
        stored["u"] = usage
    if choices is not None:
        stored["_choices"] = choices
    if logprobs is not None:
        stored["_choices_logprobs"] = logprobs
    if greedy is not None:
        stored["_choices_is_greedy"] = greedy
    if conversation is not None:
        stored["conversation"] = conversation
    text = encode_json(stored)
    return marked_as_redacted(text) if redacted else text


def decode_score(text: bytes) -> SampleRecord:
    """The reverse of `encode_score`; what the text does not hold is left empty."""
    fields = score_fields(text)
    fields["outcome"] = known_outcome(fields["outcome"])
    return SampleRecord(0, 0, None, **fields)


def score_fields(text: bytes) -> dict[str, Any]:
    """The fields that the text of a score holds, by name, and as they stand there."""
    stored: dict[str, Any] = orjson.loads(text)
    return {_NAMES[key]: value for key, value in stored.items() if key in _NAMES}


def score_columns(texts: Sequence[bytes]) -> RecordColumns:
    """Fields of `SampleRecord` out of many texts of scores."""
    return RecordColumns(texts, _KEYS)


def row_hash(row: bytes) -> bytes:
    """16 bytes that stand for a row's content, given as JSON: the identity of a row, whatever its number is."""
    digest = _EMPTY_HASH.copy()  # a quarter quicker than a new one
    digest.update(row)
    return digest.digest()


def marked_as_redacted(text: bytes) -> bytes:
    """The text of a reply, or of a score, that was stored without a secret which the reply held."""
    return text if is_redacted(text) else _REDACTED_MARK + text[1:]


def is_redacted(text: bytes) -> bool:
    """Whether a reply is not stored as it came, so that another score of it might differ.

    >>> is_redacted(marked_as_redacted(b'{"t":"[redacted]"}'))
    True
    """
    return text.startswith(_REDACTED_MARK)

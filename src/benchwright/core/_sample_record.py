"""The record of a sample: what is kept of one row and repeat, its stored form and the keys of its steps, and columns over many records.

A sample is stored in the row of its score. If the sample has one call, the same row contains the call; otherwise each
call has a separate row before it. The stored texts leave out default values, so that a plain sample stays small.
Records and calls are msgspec structs: as immutable as a named tuple, and four times as fast to make.

Step keys are zero-padded, so that text order is sample order and a batch of samples is a key range.

Values that JSON cannot represent are stored as the nearest equivalent: NaN and infinities as null, lone surrogates as
question marks, integers beyond 64 bits as text.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Mapping, Sequence
from math import isfinite
from operator import itemgetter
from typing import Any, TypeAlias

import orjson
from msgspec import Struct
from msgspec.structs import replace

from benchwright.core._errors import DamagedRecordError
from benchwright.core._json import JsonValue, encode_json, load_each
from benchwright.core._statuses import Outcome
from benchwright.core._texts import clause


class RecordColumns:
    """The fields of many records as columns. Decoding them one record at a time would take several times as long, and a
    run may have a million."""

    __slots__ = ("_held", "_keys", "_records")

    def __init__(self, texts: Sequence[bytes], keys: Mapping[str, str], required: str | None = None) -> None:
        self._keys = keys
        try:
            self._records: list[dict[str, Any]] = load_each(texts)
            if required is not None:
                deque(
                    map(itemgetter(keys[required]), self._records), maxlen=0
                )  # raises if one does not have it
        except (ValueError, TypeError, KeyError) as error:
            raise _damaged(error) from None
        self._held: set[str] = set().union(*self._records)

    def __len__(self) -> int:
        return len(self._records)

    def holds(self, name: str) -> bool:
        """Whether any record has the field."""
        return self._keys[name] in self._held

    def column(self, name: str, default: Any = None) -> list[Any]:
        """Return the field of every record, with the default for records without it."""
        key = self._keys[name]
        if key not in self._held:
            return [default] * len(self._records)
        try:
            return list(
                map(itemgetter(key), self._records)
            )  # takes half the time; usually all records have the same fields
        except KeyError:
            return [record.get(key, default) for record in self._records]

    def given(self, name: str) -> list[Any]:
        """Return the field of the records that have it."""
        key = self._keys[name]
        return [record[key] for record in self._records if key in record] if key in self._held else []

    def or_else(self, name: str, otherwise: Sequence[Any]) -> Sequence[Any]:
        """Return the field of every record, with the value from `otherwise` for records without it."""
        key = self._keys[name]
        if key not in self._held:
            return otherwise
        return [record.get(key, other) for record, other in zip(self._records, otherwise, strict=True)]


StepValues: TypeAlias = tuple[
    str, bytes, bytes | None, bytes, bool, float, float, bytes | None, bytes | None, bytes | None
]
"""One stored row: a call, or a score together with its call. The first seven values are the fields of a `CallRecord`. In
the row of a score, `reusable` refers to the call, whose `input_hash`, `input` and `output` are the last three values.
It is a plain tuple because a run makes a hundred thousand of them."""


class CallRecord(Struct, frozen=True):
    """One call to a model or a judge."""

    key: str
    """The step key, such as `call/000000012/0000` or `judge/000000012/0000/001`. Empty for a sample's only call, which
    shares the row and the times of the score."""
    input_hash: bytes
    """Hash of everything that can change the reply: endpoint, request and number of the request."""
    input: bytes | None
    """The request body, as JSON."""
    output: bytes
    """The reply, as encoded by `ModelReply.to_json`."""
    reusable: bool
    """Whether another run may reuse the reply."""
    started_at: float
    """Wall clock."""
    finished_at: float
    """Wall clock."""

    def to_step(self, own_key: str = "") -> StepValues:
        """The call as a separate row. `own_key` is the key for a sample's only call, whose record has none."""
        return (
            self.key or own_key, self.input_hash, self.input, self.output, self.reusable, self.started_at, self.finished_at,
            None, None, None,
        )  # fmt: skip


class SampleRecord(Struct, frozen=True):
    """One row and repeat, after its requests and its score."""

    sample_id: int
    """0-based row number."""
    repeat: int
    """0-based repeat."""
    row: bytes | None
    """The row as JSON, taken before a scorer could change it. None for a row that could not be read."""
    outcome: Outcome
    """How the sample ended."""
    target: Any = None
    """The expected answer."""
    scores: dict[str, Any] | None = None
    """The scorer's numbers, if it returned any."""
    error: str | None = None
    """Why the scorer returned none."""
    prompt: str | None = None
    """The prompt, if no call contains it."""
    response: str | None = None
    """The scored text, if it differs from the text of the last reply."""
    cut: bool = False
    """Whether the reply reached `max_tokens`."""
    failure: str | None = None
    """The `FailureKind` of the request that failed."""
    usage: Sequence[int | None] | None = None
    """Prompt and completion tokens of all calls, if the last reply does not contain them."""
    choices: list[JsonValue] | None = None
    """The continuations that were ranked."""
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
    """Calls that are stored together with the sample; the one that shares the row of the score comes first."""
    tool_calls: list[JsonValue] | None = None
    """Tool calls read from the reply, each as `{name: {parameter: value}}`. With several turns: nested by turn and reply."""
    reply_counts: list[JsonValue] | None = None
    """With several turns: prompt tokens, completion tokens and seconds, nested by turn and reply."""
    group: str | None = None
    """The part of the evaluation that the row belongs to; failures are counted there too."""
    constants: dict[str, float] | None = None
    """Of a failed sample: the scores that depend on its row alone."""
    copied: str | None = None
    """Whether events of the reply's stream came more than once, as in `ModelReply`."""
    name: str | None = None
    """The name that a workflow gave the row."""

    def to_steps(self) -> tuple[StepValues, ...]:
        """The rows to store: calls with separate keys, then the score."""
        row, calls = self.row, self.calls
        key = "score/%09d/%04d" % (self.sample_id, self.repeat)  # noqa: UP031  # `step_key` without the call, and quicker than an f-string
        if row is None:
            digest = b""
        else:  # `row_hash` without the call
            hashed = _EMPTY_HASH.copy()
            hashed.update(row)
            digest = hashed.digest()
        output = self.score_text()
        started, finished = self.started_at, self.finished_at
        if not calls:
            return ((key, digest, row, output, False, started, finished, None, None, None),)
        own = calls[0]
        if own.key:
            score: StepValues = (key, digest, row, output, False, started, finished, None, None, None)
            return (*map(CallRecord.to_step, calls), score)
        score = (
            key,
            digest,
            row,
            output,
            own.reusable,
            started,
            finished,
            own.input_hash,
            own.input,
            own.output,
        )
        return (score,) if len(calls) == 1 else (*map(CallRecord.to_step, calls[1:]), score)

    def score_text(self) -> bytes:
        """The text of its score: every field that `_KEYS` names."""
        stored: dict[str, Any] = {"o": self.outcome._value_, "t": self.target}  # faster than `value`
        if self.scores is not None:
            stored["s"] = self.scores
        if self.error is not None:
            stored["e"] = self.error
        if self.prompt is not None:
            stored["p"] = self.prompt
        if self.response is not None:
            stored["r"] = self.response
        if self.copied is not None:
            stored["d"] = self.copied
        if self.cut:
            stored["cut"] = True
        if self.failure is not None:
            stored["k"] = self.failure
        if self.usage is not None:
            stored["u"] = self.usage
        if self.choices is not None:
            stored["_choices"] = self.choices
        if self.choices_logprobs is not None:
            stored["_choices_logprobs"] = self.choices_logprobs
        if self.choices_is_greedy is not None:
            stored["_choices_is_greedy"] = self.choices_is_greedy
        if self.conversation is not None:
            stored["conversation"] = self.conversation
        if self.tool_calls is not None:
            stored["tools"] = self.tool_calls
        if self.reply_counts is not None:
            stored["counts"] = self.reply_counts
        if self.group is not None:
            stored["g"] = self.group
        if self.constants is not None:
            stored["c"] = self.constants
        if self.name is not None:
            stored["n"] = self.name
        text = encode_json(stored)
        return marked_as_redacted(text) if self.redacted else text

    @classmethod
    def from_score(cls, text: bytes) -> SampleRecord:
        """Decode what `score_text` encoded; fields that the text does not contain stay empty."""
        fields = cls.score_fields(text)
        fields["outcome"] = Outcome(fields["outcome"])
        return cls(0, 0, None, **fields)

    @staticmethod
    def score_fields(text: bytes) -> dict[str, Any]:
        """The fields in the text of a score by name, without converting their values."""
        try:
            stored: dict[str, Any] = orjson.loads(text)
            fields = {_NAMES[key]: value for key, value in stored.items() if key in _NAMES}
            fields["outcome"]
        except (ValueError, AttributeError, KeyError) as error:
            raise _damaged(error) from None
        return fields

    @staticmethod
    def graded(scores: Mapping[str, Any] | None, field: str = "judge_grade") -> tuple[str, float] | None:
        """A judge's grade among scores, and its worth: the score that scorers record with it, which may be the metric `judge`; without one, a
        grade that is a number is worth itself. None if there is no grade, or nothing tells.

        >>> SampleRecord.graded({"judge": 0.0, "judge_grade": "I"}), SampleRecord.graded({"judge_grade": 4})
        (('I', 0.0), ('4', 4.0))
        >>> SampleRecord.graded({"judge_score": 1.0}), SampleRecord.graded({"judge_grade": "C"})
        (None, None)
        """
        grade = (scores or {}).get(field)
        if scores is None or grade is None:
            return None
        worth = scores.get(field.replace("grade", "score"))
        if worth is None and field == "judge_grade":
            worth = scores.get("judge")
        if not isinstance(worth, bool | int | float):
            try:
                worth = float(grade)
            except (TypeError, ValueError):
                return None
        return (str(grade), float(worth)) if isfinite(worth) else None

    @staticmethod
    def key(field: str) -> str:
        """The key of a field in the text of a score, for those who read it alone."""
        return _KEYS[field]

    @staticmethod
    def columns(texts: Sequence[bytes]) -> RecordColumns:
        """The fields of many texts of scores as columns."""
        return RecordColumns(texts, _KEYS, "outcome")

    @staticmethod
    def moved_key(key: str, index: int) -> str:
        """The key of the same call of another row.

        >>> SampleRecord.moved_key("call/000000012/0000/c1", 7)
        'call/000000007/0000/c1'
        """
        return f"{key[:5]}{index:09d}{key[14:]}"


def _damaged(error: Exception) -> DamagedRecordError:
    """The error for a sample whose record is not what was written."""
    told = clause(error) if isinstance(error, ValueError) else "it has no outcome"
    return DamagedRecordError(
        f"the record of a sample cannot be read ({told}), so the run is not used. "
        "Score its replies again with benchwright rescore, or run it again"
    )


MAX_TOKENS_FIELD = "max_tokens"
"""The column with a row's longest reply; a planned length replaces it."""

UNANSWERED = "(no answer)"
"""The group of failed samples whose rows have no answer, or of which no answer can be found now; then with the part of the
evaluation after it, as in `(no answer) exec_simple`. Metrics leave such rows out, failed or not."""


def is_unanswered(group: str | None) -> bool:
    """Whether a failed sample of this group has a row without an answer.

    >>> is_unanswered(UNANSWERED), is_unanswered(f"{UNANSWERED} exec_simple"), is_unanswered("exec_simple")
    (True, True, False)
    """
    return group is not None and group.startswith(UNANSWERED)


_KEYS = {
    "outcome": "o",
    "target": "t",
    "scores": "s",
    "error": "e",
    "prompt": "p",
    "response": "r",
    "copied": "d",
    "cut": "cut",
    "failure": "k",
    "usage": "u",
    "choices": "_choices",
    "choices_logprobs": "_choices_logprobs",
    "choices_is_greedy": "_choices_is_greedy",
    "conversation": "conversation",
    "tool_calls": "tools",
    "reply_counts": "counts",
    "group": "g",
    "constants": "c",
    "name": "n",
    "redacted": "redacted",
}
"""The fields in the text of a score and their names there."""
_NAMES = {key: name for name, key in _KEYS.items()}
OWN_WORDS = (_KEYS["outcome"], "s")
"""The keys of outcome and status in the texts of scores and replies. Their values are our words and never a secret."""
_EMPTY_HASH = hashlib.blake2b(digest_size=16)
_REDACTED_MARK = b'{"redacted":true,'


def decode_sample(rows: Sequence[StepValues]) -> SampleRecord:
    """Decode a sample that `to_steps` encoded."""
    key, _, row, output, reusable, started, finished, call_hash, body, reply = rows[-1]
    calls = tuple(CallRecord(*call[:7]) for call in rows[:-1])
    if call_hash is not None and reply is not None:
        calls = (CallRecord("", call_hash, body, reply, reusable, started, finished), *calls)
    return replace(
        SampleRecord.from_score(output),
        sample_id=int(key[6:15]), repeat=int(key[16:20]), row=row, started_at=started, finished_at=finished, calls=calls
    )  # fmt: skip


def row_hash(row: bytes) -> bytes:
    """Hash a row, given as JSON, to 16 bytes: the identity of its content, independent of its number."""
    digest = _EMPTY_HASH.copy()  # a quarter faster than a new one
    digest.update(row)
    return digest.digest()


def marked_as_redacted(text: bytes) -> bytes:
    """Mark the text of a reply or a score as stored without a secret that the reply contained."""
    return text if is_redacted(text) else _REDACTED_MARK + text[1:]


def is_redacted(text: bytes) -> bool:
    """Whether a secret was removed from a stored reply, so that scoring it again might give another result.

    >>> is_redacted(marked_as_redacted(b'{"t":"[redacted]"}'))
    True
    """
    return text.startswith(_REDACTED_MARK)


def step_key(kind: str, index: int, repeat: int, part: str = "") -> str:
    """Key of a `call`, a `judge`'s call or the `score` of a sample; `part` distinguishes choices (`c…`), turns (`t…`), requests of a scorer (`m…`) and those to
    judges. The call that shares the row of a score has no part.

    >>> step_key("score", 12, 0), step_key("call", 12, 0, "c1")
    ('score/000000012/0000', 'call/000000012/0000/c1')
    """
    return f"{kind}/{index:09d}/{repeat:04d}/{part}" if part else f"{kind}/{index:09d}/{repeat:04d}"


def sample_of(key: str) -> str:
    """Row and repeat in a key, the same for all steps of a sample.

    >>> sample_of("judge/000000012/0000/001")
    '000000012/0000'
    """
    start = key.index("/") + 1
    return key[start : start + 14]

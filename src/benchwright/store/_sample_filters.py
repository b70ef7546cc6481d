"""Filters of samples. Facets and metric values are derived only from the record of a score, so an index of them may lag
behind, but never contradict the record."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import orjson
from msgspec import UNSET, Struct

from benchwright.core import JsonValue, SampleRecord, UsageError, load_exact_json
from benchwright.store._labels import LABEL_KINDS
from benchwright.store._records import SampleSteps

Verdict: TypeAlias = Literal["right", "wrong"]

ANY_LABEL = "any"
"""The filter for samples with labels of every kind."""
_SMALLEST = -6
"""Values closer to zero than half of 2 to this power are in one bucket."""
_PLACES_PER_ROW = 10_000
"""Repeats have four digits in keys."""


class Facet(NamedTuple):
    """The values of one sample that filters compare."""

    outcome: str
    """How it ended."""
    verdict: str
    """`right`, `wrong`, or empty."""
    scored: bool
    """Whether it has scores."""
    error: bool
    """Whether an error is recorded."""

    def to_text(self) -> str:
        """The form in an index.

        >>> Facet("scored", "wrong", True, False).to_text()
        'scored/wrong/s'
        """
        return f"{self.outcome}/{self.verdict}/{'s' * self.scored}{'e' * self.error}"

    @classmethod
    def from_text(cls, text: str) -> Facet:
        """Read the form in an index."""
        outcome, verdict, marks = text.split("/")
        return cls(outcome, verdict, "s" in marks, "e" in marks)


class SampleFilter(Struct, frozen=True):
    """Selects the samples of a page. None lets every sample pass."""

    outcome: str | None = None
    """Only samples with this outcome."""
    verdict: Verdict | Literal["neither"] | None = None
    """Only samples with this verdict; `neither`: with scores that do not tell."""
    scored: bool | None = None
    """Only samples with, or without, scores."""
    error: bool | None = None
    """Only samples with, or without, an error."""
    metric: str | None = None
    """Only samples with a value of this metric, within `above` and `below`. True counts as 1, false as 0."""
    above: float | None = None
    """Only samples whose value is greater."""
    below: float | None = None
    """Only samples whose value is smaller."""
    text: str | None = None
    """Only samples with this text in prompt, reply or target, in any case. It is not indexed: see `page_samples`."""
    rule: str | None = None
    """Only samples whose answer was read by this rule. Not indexed either."""
    column: str | None = None
    """Only samples with `value` in this column of their row, or with this text among their scores, such as a judge's grade. Not
    indexed either."""
    value: str | None = None
    """The value as text, as in slices; one of them if the row has a list."""
    labelled: str | None = None
    """Only samples whose row has a label of this kind, or `any`."""
    places: Sequence[int] | None = None
    """Only samples at these places, as `place_of` counts them, in ascending order. Not indexed."""

    def __post_init__(self) -> None:
        if (self.column is None) != (self.value is None):
            raise UsageError("a filter by a column of the data needs the column and its value")
        if self.metric is None and (self.above is not None or self.below is not None):
            raise UsageError("a filter by value needs the name of a metric")
        if self.labelled not in (None, ANY_LABEL, *LABEL_KINDS):
            raise UsageError(
                f"labelled is {self.labelled!r}; expected {ANY_LABEL} or a kind of label: {', '.join(LABEL_KINDS)}"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The open interval for metric values."""
        return (
            -math.inf if self.above is None else self.above,
            math.inf if self.below is None else self.below,
        )

    @property
    def looks(self) -> bool:
        """Whether samples must be looked at one by one."""
        return bool(self.text) or self.rule is not None or self.column is not None

    def has_place(self, place: int) -> bool:
        """Whether a sample may be there."""
        if self.places is None:
            return True
        at = bisect_left(self.places, place)
        return at < len(self.places) and self.places[at] == place

    @staticmethod
    def is_of_judge(column: str) -> bool:
        """Whether a text among scores is a judge's grade, which no column of the data replaces."""
        return column == "judge_grade" or column.startswith("grade_of_")

    @staticmethod
    def text_scores(scores: dict[str, Any] | None) -> dict[str, str]:
        """The texts among scores, which are columns too where the data have none of that name. A judge's grade is also `grade`.

        >>> SampleFilter.text_scores({"judge_score": 1.0, "judge_grade": "C"})
        {'judge_grade': 'C', 'grade': 'C'}
        """
        found = {name: value for name, value in (scores or {}).items() if isinstance(value, str)}
        if "judge_grade" in found:
            found.setdefault("grade", found["judge_grade"])
        return found

    def passes_by_content(self, sample: SampleSteps) -> bool:
        """Whether a sample passes what is not indexed."""
        if self.rule is not None and not _by_rule(sample.score, self.rule):
            return False
        if self.column is not None:
            scores = _scores_in(sample.score)
            if not _has_value(sample.score_input, self.column, self.value or "", scores):
                return False
        return not self.text or holds_text(sample, self.text)

    def passes(self, facet: Facet) -> bool:
        """Whether samples with that facet pass, judged by the facet alone."""
        return (
            self.outcome in (None, facet.outcome)
            and self.verdict in (None, facet.verdict or ("neither" if facet.scored else ""))
            and self.scored in (None, facet.scored)
            and self.error in (None, facet.error)
        )

    def passes_by_fields(
        self, outcome: str, scores: dict[str, Any] | None, error: str | None, row: str | bytes | None
    ) -> bool:
        """Whether a sample passes all but labels and the search for a text, given the fields of its record."""
        if not self.passes(Facet(outcome, verdict_of(scores) or "", scores is not None, error is not None)):
            return False
        if self.metric is not None:
            value, (low, high) = (scores or {}).get(self.metric), self.bounds
            if not isinstance(value, bool | int | float) or not low < value < high:
                return False
        if self.rule is not None and _rule_of(scores) != self.rule:
            return False
        return self.column is None or _has_value(row, self.column, self.value or "", scores)


_DECIDE = ("correct", "acc", "judge_pass")
"""Scores that decide, whatever else a scorer returns: the first that is there."""
_OF_JUDGE = ("judge_score", "judge")
"""What a judge's grade is worth."""


def verdict_of(scores: dict[str, Any] | None) -> Verdict | None:
    """Whether a sample is right or wrong; None if it is neither, or has no scores. This is the one rule: filters, counts, lists and
    colours follow it.

    `correct`, else `acc`, else `judge_pass` decides. Else the first of the scores that can: one that is true or false, or a judge's
    grade in words, of which the best is worth 1 and the worst 0. A grade that is a number is on a scale: only a pass mark tells
    which are right, and that is `judge_pass`.

    >>> verdict_of({"f1": 0.5, "exact": False}), verdict_of({"acc": 1.0}), verdict_of({"f1": 0.5})
    ('wrong', 'right', None)
    >>> verdict_of({"judge_score": 0.0, "judge_grade": "I", "short": True}), verdict_of({"judge_score": 1.0, "judge_grade": "5"})
    ('wrong', None)
    """
    if not scores:
        return None
    for name in _DECIDE:
        if name in scores:
            value = scores[name]
            # Truth values are most of them, and decided without a call.
            return "right" if value is True else "wrong" if value is False else _said(value)
    for name, value in scores.items():
        if name in _OF_JUDGE and (grade := scores.get("judge_grade")) is not None:
            return _said(value) if _is_in_words(str(grade)) else None
        if isinstance(value, bool) and name != "judges_agree":  # which tells of the judges, not of the reply
            return "right" if value else "wrong"
    return None


def _said(value: Any) -> Verdict | None:
    if not isinstance(value, bool | int | float) or value not in (0, 1):
        return None
    return "right" if value else "wrong"


def _is_in_words(grade: str) -> bool:
    """Whether a grade is no number; judges in a tie give several: `C/I`."""
    for part in grade.split("/"):
        try:
            float(part)
        except ValueError:
            continue
        return False
    return True


def facet_of(record: bytes) -> str:
    """The facet of a recorded score. A damaged record that is not JSON has a special facet."""
    try:
        return _facet(SampleRecord.score_fields(record))
    except _NO_SCORE:
        return _DAMAGED


def facet_and_values(record: bytes) -> tuple[str, dict[str, float]]:
    """The facet of a recorded score, and its numbers by metric."""
    try:
        fields = SampleRecord.score_fields(record)
        scores = (fields.get("scores") or {}).items()
        values = {name: float(value) for name, value in scores if isinstance(value, bool | int | float)}
        return _facet(fields), values
    except _NO_SCORE:
        return _DAMAGED, {}


def _facet(fields: dict[str, Any]) -> str:
    return facet_text(fields["outcome"], fields.get("scores"), "error" in fields)


def facet_text(outcome: object, scores: dict[str, Any] | None, error: bool) -> str:
    """The facet of a score with this outcome, these scores, and an error or none, in its form in an index."""
    return _facet_text(str(outcome), verdict_of(scores) or "", scores is not None, error)


@lru_cache  # there are a few dozen, unless records are damaged
def _facet_text(outcome: str, verdict: str, scored: bool, error: bool) -> str:
    return Facet(outcome, verdict, scored, error).to_text()


_DAMAGED = Facet("", "", False, False).to_text()
_NO_SCORE = (ValueError, KeyError, AttributeError, TypeError, OverflowError)


def bucket_of(value: float) -> int:
    """The bucket of a metric value. Greater values have the same bucket or a greater one. There are four buckets per doubling
    and one around zero, so that a page by metric reads few ranges and skips few values.

    >>> [bucket_of(value) for value in (0.0, 0.5, 0.6, 0.75, 1.0, -1.0)]
    [0, 25, 25, 27, 29, -29]
    """
    mantissa, exponent = math.frexp(abs(value))
    if exponent < _SMALLEST or not value:
        return 0
    bucket = (exponent - _SMALLEST) * 4 + int((mantissa - 0.5) * 8) + 1
    return bucket if value > 0 else -bucket


def _by_rule(record: bytes, rule: str) -> bool:
    if not any(
        form in record for form in (rule.encode(errors="replace"), b"\\")
    ):  # an escaped rule has a backslash
        return False
    try:
        return _rule_of(SampleRecord.score_fields(record).get("scores")) == rule
    except _NO_SCORE:
        return False


def _rule_of(scores: dict[str, Any] | None) -> str | None:
    """The rule by which the answer was read; None if the scorer tells none."""
    found = (scores or {}).get("rule")
    return found if isinstance(found, str) else None


def _scores_in(record: bytes) -> dict[str, Any] | None:
    try:
        return SampleRecord.score_fields(record).get("scores")
    except _NO_SCORE:
        return None


def _has_value(
    row: bytes | str | None, column: str, value: str, scores: dict[str, Any] | None = None
) -> bool:
    """Whether a row, given as JSON, has a value in a column, as slices have it; or its scores have it as text.

    >>> row = b'{"topic":"maths","n":[1,2],"of":{"level":3}}'
    >>> _has_value(row, "topic", "maths"), _has_value(row, "n", "2"), _has_value(row, "of.level", "3"), _has_value(row, "n", "3")
    (True, True, True, False)
    >>> _has_value(row, "grade", "I", {"judge": 0.0, "judge_grade": "I"})
    True
    """
    own = SampleFilter.text_scores(scores)
    if column in own and SampleFilter.is_of_judge(column):
        return own[column] == value
    try:
        found = UNSET if row is None else value_in(load_exact_json(row), column)
    except (ValueError, RecursionError):  # damaged
        return False
    return own.get(column) == value if found is UNSET else value in labels_of(found)


def value_in(row: JsonValue, column: str) -> Any:
    """The value of a column in a row; a dotted name reaches into tables. UNSET: the row has none."""
    value: Any = row
    for part in (column,) if isinstance(row, dict) and column in row else column.split("."):
        value = value.get(part, UNSET) if isinstance(value, dict) else UNSET
    return value


def labels_of(value: Any) -> Collection[str]:
    """A value of a column as text, or each value of a list once; nothing for one that is missing."""
    if type(value) is str:
        return (value,)
    values = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(str(each) for each in values if isinstance(each, str | int | float)))


class SampleOrder(Struct, frozen=True):
    """The order of a page of samples. One by a figure leaves out samples that do not have it."""

    figures: ClassVar[tuple[str, ...]] = ("latency_s", "prompt_tokens", "completion_tokens")
    """Figures of a sample's replies by which samples can be sorted."""
    by: str | None = None
    """One of `figures`, `metric:NAME`, or None: by row and repeat."""
    descending: bool = False
    """Whether the greatest come first."""

    def __post_init__(self) -> None:
        named = self.by is None or self.by in self.figures or self.by.startswith("metric:")
        if not named or self.by == "metric:":
            raise UsageError(
                f"samples cannot be sorted by {self.by!r}; sort by {', '.join(self.figures)} or metric:NAME"
            )

    @property
    def indexed_as(self) -> str | None:
        """The name in the index of values: no metric is called like a figure of a reply there."""
        if self.by is None or self.by in self.figures:
            return None if self.by is None else f"{_OF_REPLY}{self.by}"
        return self.by.removeprefix("metric:")


_OF_REPLY = "\x01"


def is_of_reply(name: str) -> bool:
    """Whether a name in the index is that of a reply's figure."""
    return name.startswith(_OF_REPLY)


def reply_values(record: bytes, reply: bytes | None) -> dict[str, float]:
    """The figures of a sample's replies by their names in the index; `reply` is the record of its last one, if that is known."""
    try:
        told = orjson.loads(reply or b"{}")
        usage = SampleRecord.score_fields(record).get("usage") or told.get("u") or (None, None)
        given = zip(SampleOrder.figures, (told.get("l"), usage[0], usage[1]), strict=True)
        return {f"{_OF_REPLY}{name}": float(value) for name, value in given if isinstance(value, int | float)}
    except (*_NO_SCORE, IndexError):
        return {}


def holds_text(sample: SampleSteps, text: str) -> bool:
    """Whether prompt, reply or target contain a text, in any case."""
    needle_text = text.casefold()
    if text.isascii() and orjson.dumps(text)[1:-1] == text.encode():
        # Searched in the JSON first, which decides nearly all samples without decoding them.
        needle = text.lower().encode()
        if not any(
            part is not None and needle in part.lower()
            for part in (sample.score, sample.call_input, sample.call_output)
        ):
            return False
    return any(needle_text in found.casefold() for found in _texts(sample))


def _texts(sample: SampleSteps) -> Iterator[str]:
    try:
        fields = SampleRecord.score_fields(sample.score)
        body = orjson.loads(sample.call_input or b"{}")
        reply = orjson.loads(sample.call_output or b"{}")
        for value in (fields.get("target"), fields.get("prompt"), fields.get("response"), reply.get("t")):
            yield from _strings(value)
        yield from _strings(fields.get("conversation"))
        yield from _strings(body.get("prompt"))
        for message in body.get("messages") or ():
            yield from _strings(message.get("content"))
    except (orjson.JSONDecodeError, AttributeError, TypeError):  # damaged
        return


def found_text(
    text: str, key: str, output: bytes, request: bytes | None, reply: bytes | None
) -> tuple[str, str, str] | None:
    """The first text of a step that contains another, in any case: in its record, the body of its call, or the reply. Returns the key of the step,
    what the text is (prompt, reply, reasoning, target or judge), and all of it; None if there is none."""
    if text.isascii() and orjson.dumps(text)[1:-1] == text.encode():
        needle = text.lower().encode()  # as in `holds_text`
        if not any(part is not None and needle in part.lower() for part in (output, request, reply)):
            return None
    wanted = text.casefold()
    for field, content in _fields(key, output, request, reply):
        if wanted in content.casefold():
            return key, field, content
    return None


def _fields(key: str, output: bytes, request: bytes | None, reply: bytes | None) -> Iterator[tuple[str, str]]:
    try:
        said = orjson.loads(reply or b"{}")
        if key.startswith("judge/"):
            yield from (("judge", each) for each in _strings(said.get("t")))
            return
        if key.startswith("score/"):
            fields = SampleRecord.score_fields(output)
            for field, name in (
                ("reply", "response"),
                ("target", "target"),
                ("prompt", "prompt"),
                ("prompt", "conversation"),
            ):
                yield from ((field, each) for each in _strings(fields.get(name)))
        yield from (("reply", each) for each in _strings(said.get("t")))
        yield from (("reasoning", each) for each in _strings(said.get("r")))
        body = orjson.loads(request or b"{}")
        yield from (("prompt", each) for each in _strings(body.get("prompt")))
        for message in body.get("messages") or ():
            yield from (("prompt", each) for each in _strings(message.get("content")))
    except (orjson.JSONDecodeError, AttributeError, TypeError):  # damaged
        return


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def place_of(sample: int, repeat: int) -> int:
    """A sample's place in the order of samples, as pages count them."""
    return sample * _PLACES_PER_ROW + repeat


def sample_at(place: int) -> tuple[int, int]:
    """The reverse of `place_of`: row and repeat."""
    return divmod(place, _PLACES_PER_ROW)

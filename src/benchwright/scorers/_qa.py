"""`qa_answers`, the scorer of free answers: how a response is compared with one accepted answer, then all metrics in
one pass.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from msgspec.structs import replace

from benchwright.core import JsonObject, MetricSummary, Row, UsageError, encode_json
from benchwright.scorers._judge_config import JudgeConfig
from benchwright.scorers._numbers import in_asked_scale, matches, plain_number, target_mark, target_number
from benchwright.scorers._overlap import bleu, rouge
from benchwright.scorers._quantity.asked import read_asked
from benchwright.scorers._scorer import AnswerScores, Scorer, ScorerInput, Scores
from benchwright.scorers._text import contains, f1_token, is_whole, regex_match


def accepted_answers(answer: object) -> list[str]:
    """The accepted texts: the answer, or each item of a list; blank texts and None do not count.

    >>> accepted_answers([877, " ", "eight hundred"]), accepted_answers(None), accepted_answers(0)
    (['877', 'eight hundred'], [], ['0'])
    """
    items = answer if isinstance(answer, list | tuple | set) else [answer]
    texts: list[str] = []
    for item in items:
        if item is None:
            continue
        if isinstance(item, bool):
            texts += ["true", "True"] if item else ["false", "False"]
        elif isinstance(item, list | dict):
            texts.append(encode_json(item).decode())
        else:
            texts.append(str(item))
    return [text for text in texts if text and not text.isspace()]


@lru_cache(maxsize=16)  # each metric compares the same texts
def normalised(text: str) -> str:
    """Normalise to NFKC, strip outer white space and collapse inner; case stays."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.split())


def holds(response: str, expected: str) -> bool:
    """Whether `response` contains `expected` as whole words, and a number as a whole number.

    >>> holds("It is 15, or 5 %", "5"), holds("It is 15", "5"), holds("首都是北京。", "北京")
    (True, False, True)
    """
    at = response.find(expected) if expected else -1
    while at >= 0:
        if is_whole(response, at, at + len(expected)):
            return True
        at = response.find(expected, at + 1)
    return False


def holds_answer(response: str, answer: object) -> bool | None:
    """Whether the response contains an accepted answer as whole words or a whole number; case counts.

    None if there is no answer.

    >>> holds_answer("It is Paris.", ["Lyon", "Paris"]), holds_answer("It is 15.", 5), holds_answer("x", None)
    (True, False, None)
    """
    answers = accepted_answers(answer)
    return any(holds(normalised(response), normalised(one)) for one in answers) if answers else None


def qa_answers(
    metrics: Sequence[str] = (),
    *,
    pattern: str | None = None,
    tolerance: float = 0.0,
    judge: JsonObject | None = None,
) -> Scorer:
    """A scorer of free answers: the target is one accepted answer, or a list of them of which the best counts.

    It always gives `normalised_exact` (the headline: equal after NFKC, with white space trimmed and collapsed; case counts),
    `exact` (equal without any change), `contains` (like the scorer of that name: anywhere in the response, ignoring
    case), `contains_word` (as whole words or a whole number: 5 is not in 15), `numeric` (the number that the response
    states, or its last one, equals the answer's; only for answers that contain a number) and `f1` (of `f1_token`). All but
    `exact` compare normalised texts, so that an answer that is `normalised_exact` is right by each of them. `numeric`
    comes with `matched`, the number that was read, and `rule`, how it was found. A row without an answer gets no scores.

    Args:
        metrics: the ones to report, the headline first; also `regex`, `rouge_l`, `bleu` (of order 4) and `judge`.
        pattern: regular expression of `regex`; None: the answer is one.
        tolerance: how far numbers may be apart in `numeric`, as a share of the expected one.
        judge: settings of the judge for `judge`, as `JudgeConfig` takes them; None: those of the benchmark.

    Raises:
        UsageError: an unknown metric, an invalid pattern, or a tolerance below 0.
        ConfigError: settings that do not describe a judge.

    >>> qa_answers()(ScorerInput("The answer is 5", 5, {}))["numeric"]
    True
    """
    names = qa_metric_names(metrics)
    _check_pattern(pattern)
    near = _share(tolerance)
    settings = JudgeConfig.of(judge) if judge else None

    def by_regex(response: str, answer: str) -> bool:
        return bool(regex_match(ScorerInput(response, answer if pattern is None else pattern, {}))["correct"])

    measures = {
        name: measure
        for name in names
        if (measure := by_regex if name == "regex" else _MEASURES[name]) is not None
    }

    def score(sample: ScorerInput) -> Scores:
        answers = accepted_answers(sample.target)
        if not answers:
            return {}
        response = sample.response or ""
        scores: Scores = {}
        read: str | None = None
        for name in names:
            if name == "numeric":
                numeric = _numeric(response, sample.target, near, sample.metadata)
                read = numeric.extracted
                scores.update(numeric)
            elif name == "judge":
                scores.update(_judged(sample, answers, settings))
            else:
                measure = measures[name]
                scores[name] = max(measure(response, answer) for answer in answers)
        if names[0] != "numeric" or "numeric" not in scores:
            return scores
        # Only if the number is the headline, replies are compared by it, and a reply without one is unparsed.
        scores["parsed"] = read is not None
        return AnswerScores(scores, read)

    score.__name__ = score.__qualname__ = "qa_answers"
    score.__doc__ = f"Free answers: {', '.join(names)}."
    return score


def _exact(response: str, answer: str) -> bool:
    return response == answer


def _normalised_exact(response: str, answer: str) -> bool:
    return response == answer or normalised(response) == normalised(answer)


def _contains(response: str, answer: str) -> bool:
    return bool(contains(ScorerInput(normalised(response), normalised(answer), {}))["correct"])


def _contains_word(response: str, answer: str) -> bool:
    return holds(normalised(response).lower(), normalised(answer).lower())


def _f1(response: str, answer: str) -> float:
    return _number(f1_token(ScorerInput(normalised(response), normalised(answer), {}))["f1"])


def _rouge_l(response: str, answer: str) -> float:
    return _number(rouge(ScorerInput(normalised(response), normalised(answer), {}))["rouge_l"])


def _bleu(response: str, answer: str) -> float:
    return _number(bleu(ScorerInput(normalised(response), normalised(answer), {}))["bleu_4"])


_SHOWN_CHARS = 60
_MEASURES: dict[str, Callable[[str, str], bool | float] | None] = {
    "normalised_exact": _normalised_exact,
    "exact": _exact,
    "contains": _contains,
    "contains_word": _contains_word,
    "numeric": None,
    "f1": _f1,
    "regex": None,
    "rouge_l": _rouge_l,
    "bleu": _bleu,
    "judge": None,
}
"""The function that compares a response with one accepted answer, by metric; None: computed separately."""

QA_METRICS = tuple(_MEASURES)
"""All metrics that can be requested."""

STANDARD = QA_METRICS[: QA_METRICS.index("regex")]
"""Always reported; the first is the headline unless you request another."""


_STRICT = {
    "normalised_exact": ("equals it", "equal it"),
    "exact": ("equals it exactly", "equal it exactly"),
    "contains": ("contains it as written", "contain it as written"),
    "contains_word": ("contains it as written", "contain it as written"),
}
"""Headlines that depend on how a reply is worded, with what one reply does that counts, and several."""
_LENIENT = {
    "numeric": "state the expected number",
    "contains_word": "contain the expected answer",
    "normalised_exact": "equal the expected answer apart from white space",
}
"""Metrics that count replies in other words too, and what these replies do; the one to prefer first."""
_FAR = 0.1
"""The share of the replies by which a headline may be below another metric without a note."""


def qa_remarks(metrics: Mapping[str, MetricSummary], headline: str) -> list[str]:
    """A sentence for the notes of a run whose headline is far below another metric of the same replies: it then shows how
    they are worded rather than how many are right."""
    main = metrics.get(headline)
    if main is None or headline not in _STRICT:
        return []
    right = round(main.value * main.count)
    found = {
        name: round(metrics[name].value * main.count)
        for name in _LENIENT
        if name in metrics and metrics[name].count == main.count  # `numeric` may be of some rows only
    }
    far = [name for name, count in found.items() if count > right and count - right >= _FAR * main.count]
    if not far:
        return []
    best = max(far, key=lambda name: found[name])  # the first of equals
    also = next((f" (or {name})" for name in far if name != best and found[name] == found[best]), "")
    one, many = _STRICT[headline]
    few = f"none {one}" if right == 0 else f"only 1 {one}" if right == 1 else f"only {right:,} {many}"
    return [
        f"{found[best]:,} of {main.count:,} replies {_LENIENT[best]}, but {few}, so {headline} is low. For a headline that "
        f"counts them: --qa-metrics {best}{also}; for this run, without new requests: benchwright rescore RUN --qa-metrics {best}"
    ]


def _numeric(response: str, answer: object, near: Fraction, row: Row | None) -> AnswerScores:
    items = answer if isinstance(answer, list | tuple | set) else [answer]
    expected = [(number, item) for item in items if (number := target_number(item))]
    if not expected:
        return AnswerScores({}, None)
    mark = next((mark for _, item in expected if (mark := target_mark(item))), None)
    found = read_asked(response, mark, row)
    number = in_asked_scale(found.number, row)
    if number is None:
        return AnswerScores({"numeric": False, "matched": None, "rule": found.rule}, None)
    verdicts = [matches(number, value, near) for value, _ in expected]
    if True not in verdicts and None in verdicts:
        return AnswerScores({"numeric": False, "matched": None, "rule": "ambiguous"}, None)
    text = plain_number(number)
    return AnswerScores({"numeric": True in verdicts, "matched": _shown(text), "rule": found.rule}, text)


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


def _judged(sample: ScorerInput, answers: list[str], settings: JudgeConfig | None) -> Scores:
    judged = replace(sample, target=" / ".join(answers))
    if settings is not None:
        judged.config = {**sample.config, "judge": settings}
    from benchwright.scorers._judge import judge_score  # most runs ask no judge

    grade = judge_score(judged)
    return {"judge": grade["judge_score"], "judge_grade": grade["judge_grade"]}


def _check_pattern(pattern: str | None) -> None:
    if pattern is None:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd, but a pattern
            re.compile(pattern)
    except re.error as error:
        raise UsageError(f"pattern {pattern!r} is not a valid regular expression: {error}") from None


def _share(tolerance: float) -> Fraction:
    share = Decimal(str(tolerance)) if isinstance(tolerance, int | float) else Decimal("nan")
    if not share.is_finite() or share < 0:
        raise UsageError(f"tolerance is {tolerance!r}; expected a share of 0 or more, such as 0.01 for 1 %")
    return Fraction(share)


def _number(value: bool | int | float | str | None) -> float:
    return float(value or 0.0)


METRIC_ALIASES = {
    "normalized_exact": "normalised_exact",
    "normalised": "normalised_exact",
    "normalized": "normalised_exact",
    "raw": "exact",
    "f1_token": "f1",
    "rougel": "rouge_l",
    "number": "numeric",
}
"""Other names of metrics."""


def qa_metric_names(metrics: Sequence[str] = ()) -> tuple[str, ...]:
    """The metrics to report: the requested ones, the headline first, then the other standard ones.

    Raises:
        UsageError: a metric is not known.

    >>> qa_metric_names(["f1", "bleu"])
    ('f1', 'bleu', 'normalised_exact', 'exact', 'contains', 'contains_word', 'numeric')
    """
    requested = [metrics] if isinstance(metrics, str) else metrics
    return tuple(dict.fromkeys([*map(_known, requested), *STANDARD]))


def spelled(name: object) -> str:
    """A metric's name as the table has it.

    >>> spelled("Rouge-L"), spelled("normalized"), spelled("other")
    ('rouge_l', 'normalised_exact', 'other')
    """
    plain = str(name).strip().lower().replace("-", "_")
    return METRIC_ALIASES.get(plain, plain)


def _known(name: str) -> str:
    metric = spelled(name)
    if metric in _MEASURES:
        return metric
    from benchwright.scorers._named import metric_named  # loads every scorer

    return metric_named(name)

"""`mcq_answers`: the scorer of multiple choice, and what its notes say. The headline never guesses unless you ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from benchwright.core import MetricSummary, UsageError, suggest
from benchwright.scorers._input import Scorer, ScorerInput, Scores
from benchwright.scorers._mcq.cascade import extract_choice
from benchwright.scorers._mcq.extraction import Extraction, nothing
from benchwright.scorers._mcq.guesses import aisbench_choice, nearest_choice
from benchwright.scorers._mcq.rows import gold_letter, options_of

Fallback: TypeAlias = Literal["none", "levenshtein", "aisbench"]
"""What decides `accuracy` where no answer can be read."""


def mcq_answers(fallback: Fallback = "none") -> Scorer:
    """A scorer of multiple choice: options from the row's fields `A`, `B`, …, the right one from the target.

    It gives `accuracy` (the headline), `accuracy_strict` (only what was read), `accuracy_with_fallback`,
    `accuracy_parsed` (only where an answer was read), `extraction_rate`, `fallback_rate` (where nothing was read and
    the fallback chose), `chance` (1 / number of options) and `parsed`; and keeps `extracted`, `method`, `rule` and
    `span` of what decided `accuracy`. A row without a usable answer gets these texts only.

    Args:
        fallback: `none`: `accuracy` is strict, and `accuracy_with_fallback` says what `nearest_choice` would
            have made of it. `levenshtein`: `nearest_choice` decides in `accuracy` where nothing was read.
            `aisbench`: `accuracy` is what `aisbench_choice` gives.

    Raises:
        UsageError: no such fallback.

    >>> scores = mcq_answers()(ScorerInput("It is **B**.", "B", {"A": "2258", "B": "2263"}))
    >>> scores["accuracy"], scores["rule"], scores["span"]
    (True, 'it_is', '8:9')
    """
    if fallback not in get_args(Fallback):
        raise UsageError(
            f"unknown fallback {fallback!r}.{suggest(str(fallback), get_args(Fallback))} "
            f"Known: {', '.join(get_args(Fallback))}"
        )
    compat = fallback == "aisbench"
    guesses = fallback == "levenshtein"

    def score(sample: ScorerInput) -> Scores:
        options = options_of(sample.metadata or {})
        response = sample.response
        gold = gold_letter(sample.target, options)
        if response in options and gold is not None:  # a plain letter: most replies of models that obey
            right = response == gold
            rule = "aisbench_exact" if compat else "letter"
            return _scores(
                right, right, right, True, False, options, response, "exact", rule, f"0:{len(response)}"
            )
        read = extract_choice(response, options) if response else nothing("empty")
        decided = aisbench_choice(response, options) if compat else read
        if gold is None:
            return _texts(decided)
        guess = decided
        if read.letter is None and not compat:
            guess = nearest_choice(response, options)
            if guesses and guess.letter is not None:
                decided = guess
        return _scores(
            decided.letter == gold,
            read.letter == gold,
            guess.letter == gold,
            read.letter is not None,
            read.letter is None and guess.letter is not None,
            options,
            decided.letter,
            decided.method,
            decided.rule,
            decided.span,
        )

    score.__name__ = score.__qualname__ = "mcq_answers" if fallback == "none" else f"mcq_answers_{fallback}"
    score.__doc__ = f"Multiple choice, fallback: {fallback}."
    return score


def _scores(
    right: bool,
    strictly: bool,
    with_fallback: bool,
    parsed: bool,
    guessed: bool,
    options: dict[str, str],
    letter: str | None,
    method: str,
    rule: str,
    span: str | None,
) -> Scores:
    scores: Scores = {
        "accuracy": right,
        "accuracy_strict": strictly,
        "accuracy_with_fallback": with_fallback,
    }
    if parsed:
        scores["accuracy_parsed"] = strictly
    scores["extraction_rate"] = parsed
    scores["fallback_rate"] = guessed
    scores["chance"] = 1 / len(options)
    scores["parsed"] = parsed
    scores["extracted"] = letter
    scores["method"] = method
    scores["rule"] = rule
    scores["span"] = span
    return scores


def _texts(found: Extraction) -> Scores:
    return {"extracted": found.letter, "method": found.method, "rule": found.rule, "span": found.span}


_GUESSES = {
    "levenshtein": "accuracy takes the nearest option for them",
    "aisbench": "accuracy takes the letter AISBench would take, right or wrong",
}


def mcq_remarks(metrics: Mapping[str, MetricSummary], fallback: str = "none") -> list[str]:
    """Sentences about the metrics of `mcq_answers(fallback)`, for the notes of a run."""
    remarks = []
    strict, guessed = _value(metrics, "accuracy_strict"), _value(metrics, "accuracy_with_fallback")
    if strict is not None:
        if guessed is None or (guessed == strict and not _value(metrics, "fallback_rate")):
            remarks.append(f"strict {percent(strict)}, nothing decided by guess")
        else:
            points = round(100 * guessed, 1) - round(100 * strict, 1)
            effect = "decided" if points >= 0 else "lost"
            by = "AISBench's reading" if fallback == "aisbench" else "nearest-option fallback"
            how = "that reading" if fallback == "aisbench" else "guess"
            remarks.append(
                f"strict {percent(strict)}, with {by} {percent(guessed)}, {abs(points):.1f} points {effect} by {how}"
            )
    remarks += unread_remark(metrics, _GUESSES.get(fallback, "counted as not right"))
    chance = _value(metrics, "chance")
    if chance is not None:
        remarks.append(f"chance level {percent(chance)}")
    return remarks


def unread_remark(metrics: Mapping[str, MetricSummary], counted: str = "counted as not right") -> list[str]:
    """How many replies hold no readable answer, and what becomes of them; nothing where all can be read."""
    read = _value(metrics, "extraction_rate")
    if read is None or read >= 1:
        return []
    among = _value(metrics, "accuracy_parsed")
    shown = "" if among is None else f", accuracy among readable ones {percent(among)}"
    return [f"{percent(1 - read, of_all=False)} of the replies hold no readable answer: {counted}{shown}"]


def percent(share: float, *, of_all: bool = True) -> str:
    """`71.2 %`; a small share that is not zero is not shown as zero."""
    if not of_all and 0 < share < 0.0005:
        return "less than 0.1 %"
    return f"{100 * share:.1f} %"


def _value(metrics: Mapping[str, MetricSummary], name: str) -> float | None:
    metric = metrics.get(name)
    return None if metric is None else metric.value

"""The scorers of multiple choice: `mcq_answers` for one right option, `mcq_sets` for any number of them, and the notes of both.

The headline never guesses unless you choose a fallback.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from benchwright.core import Information, MetricSummary, UsageError, percent, suggest
from benchwright.scorers._choices import gold_letter, gold_letters, options_of
from benchwright.scorers._mcq.cascade import extract_choice
from benchwright.scorers._mcq.extraction import NOT_PART, WORD, Extraction, compiled, nothing
from benchwright.scorers._mcq.guesses import aisbench_choice, nearest_choice
from benchwright.scorers._mcq.texts import texts_of
from benchwright.scorers._mcq.view import ReplyText
from benchwright.scorers._scorer import Scorer, ScorerInput, Scores

Fallback: TypeAlias = Literal["none", "levenshtein", "aisbench"]
"""What decides `accuracy` if no answer can be read."""


def mcq_answers(fallback: Fallback = "none") -> Scorer:
    """A scorer of multiple choice: options from the row's fields `A`, `B`, …, the right one from the target.

    It gives `accuracy` (the headline), `accuracy_strict` (only answers that were read), `accuracy_with_fallback`,
    `accuracy_parsed` (only replies with a readable answer), `extraction_rate`, `fallback_rate` (no answer was read and
    the fallback chose), `chance` (1 / number of options) and `parsed`; and keeps `extracted`, `method`, `rule` and
    `span` of what decided `accuracy`. A row without a usable answer gets these texts only.

    Args:
        fallback: `none`: `accuracy` is strict, and `accuracy_with_fallback` shows the result with `nearest_choice`.
            `levenshtein`: `nearest_choice` decides in `accuracy` if nothing was read.
            `aisbench`: `accuracy` is the result of `aisbench_choice`.

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
        if response in options and gold is not None:  # a plain letter, as most obedient models reply
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
    remarks: list[str] = []
    strict, guessed = _value(metrics, "accuracy_strict"), _value(metrics, "accuracy_with_fallback")
    if strict is not None:
        if guessed is None or (guessed == strict and not _value(metrics, "fallback_rate")):
            remarks.append(Information(f"Strict accuracy: {percent(strict, 1)}. No answers were guessed."))
        else:
            points = round(100 * guessed, 1) - round(100 * strict, 1)
            effect = "gained" if points >= 0 else "lost"
            by = "AISBench's reading" if fallback == "aisbench" else "the nearest-option fallback"
            how = "that reading" if fallback == "aisbench" else "guessing"
            remarks.append(
                f"Strict accuracy: {percent(strict, 1)}. With {by}: {percent(guessed, 1)}, {abs(points):.1f} points {effect} by {how}."
            )
    remarks += unread_remark(metrics, _GUESSES.get(fallback, "counted as wrong"))
    chance = _value(metrics, "chance")
    if chance is not None:
        remarks.append(Information(f"Chance level: {percent(chance, 1)}."))
    return remarks


def unread_remark(metrics: Mapping[str, MetricSummary], counted: str = "counted as wrong") -> list[str]:
    """How many replies have no readable answer, and how they count; empty if all can be read."""
    read = _value(metrics, "extraction_rate")
    if read is None or read >= 1:
        return []
    among = _value(metrics, "accuracy_parsed")
    shown = "" if among is None else f", accuracy among readable ones {percent(among, 1)}"
    return [f"{_share(1 - read)} of the replies have no readable answer: {counted}{shown}"]


def _share(share: float) -> str:
    """`71.2 %`; a small share that is not zero is not shown as zero."""
    return "less than 0.1 %" if 0 < share < 0.0005 else percent(share, 1)


def _value(metrics: Mapping[str, MetricSummary], name: str) -> float | None:
    metric = metrics.get(name)
    return None if metric is None else metric.value


_LETTER = rf"(?<!{WORD})[(\[{{]?[A-Z]{NOT_PART}[)\]}}]?[.:]?"
_JOINT = (
    r"(?:\s?(?:,|;|/|\||&|\+|、|，|和|与|及|以及)\s?(?:and\s|und\s|et\s|y\s|or\s)?|\s(?:and|und|et|y)\s|\s)"
)
_LIST = rf"(?P<letters>{_LETTER}(?:{_JOINT}{_LETTER}){{0,25}}|(?<!{WORD})[A-Z]{{2,26}}(?!{WORD}))"
_CUE = (
    r"(?:answers?|choices?|options?|letters?|statements?|ANSWER|antwort(?:en)?|r[ée]ponses?|respuestas?|答案|选项|选|正确)"
    r"(?:\s(?:to\s(?:this|the)\squestion|here))?\s?"
    r"(?:\s(?:is|are|would\sbe|should\sbe|ist|sind|lautet|lauten|est|sont|es|son)|是|为|应为|有|应选)?\s?[:=]?\s?"
    r"(?:(?:the\s)?(?:correct|right|following|options?|letters?)\s?[:=]?\s?){0,3}"
)
_BOXED = r"\\(?:boxed|fbox)\s?\{\s?"
_CALLED_RIGHT = r"\s(?:are|is|sind|ist|sont|est|son|es)\s(?:all\s|both\s|the\s)?(?:correct|right|true|richtig|korrekt|correctes?|correctas?)"
_LINE = r"(?m)(?:^\s?[-*•]?\s?|[,;]\s|\sand\s)[(\[]?(?P<letter>[A-Z])[)\].:]\s"
_AFTER = r"[.]?\s*(?:[,;:\n(–—-]|$|and\s)"
_NOTHING = r"none of (?:the|these)|无正确|没有正确"


def extract_choices(text: str, options: Mapping[str, str]) -> tuple[frozenset[str] | None, str]:
    """The options that a reply names as right, and the rule that read them; None: they cannot be read.

    These are tried in order: the reply is only letters; the last statement of the answer; letters that are called right;
    a last line of letters; lines that repeat options; else the single option that `extract_choice` reads.

    >>> options = {"A": "2", "B": "3", "C": "4", "D": "5"}
    >>> [sorted(extract_choices(reply, options)[0] or "") for reply in ("AC", "c, a", "The correct answers are A and D.")]
    [['A', 'C'], ['A', 'C'], ['A', 'D']]
    >>> extract_choices("I do not know.", options)
    (None, 'not_found')
    """
    if not text or text.isspace():
        return None, "empty"
    view = ReplyText(text)
    plain = view.text.strip()
    whole = compiled(rf"(?i:(?:both\s)?{_LIST})\.?").fullmatch(plain)
    if whole is not None and (found := _letters(whole["letters"].upper(), options)):
        return found, "letters"
    rules = (
        ("boxed", rf"{_BOXED}{_LIST}"),
        ("answers", rf"(?<!{WORD})(?i:{_CUE}){_LIST}(?!\s?\?)"),
        ("called_right", rf"(?:^|[.,;:!\n]\s?|\boptions?\s|\bthat\s){_LIST}{_CALLED_RIGHT}\b"),
    )
    last: tuple[int, frozenset[str], str] | None = None
    for name, pattern in rules:
        for stated in compiled(pattern).finditer(view.text):
            found = _letters(stated["letters"], options)
            if found and (last is None or stated.start("letters") >= last[0]):
                last = stated.start("letters"), found, name
    if last is not None:
        return last[1], last[2]
    ending = compiled(rf"(?i:both\s)?{_LIST}\.?").fullmatch(plain.rpartition("\n")[2].strip())
    if ending is not None and (found := _letters(ending["letters"], options)):
        return found, "last_line"
    lines = _option_lines(view, options)
    if lines:
        return lines, "lines"
    one = extract_choice(text, options)
    return (None if one.letter is None else frozenset(one.letter)), one.rule


def mcq_sets(sample: ScorerInput) -> Scores:
    """`exact_set`, `partial`: whether a reply names exactly the right options, and how close it comes.

    `partial` is (right ones named − wrong ones named) / right ones, at least 0: naming every option earns nothing for
    the surplus. `chance` is the share of non-empty sets that are right, 1 / (2ⁿ − 1), the level of `exact_set`. A reply
    that cannot be read is not right. Options are the row's fields `A`, `B`, …; the target is a list of letters or
    texts, or letters between commas.

    >>> scores = mcq_sets(ScorerInput("A, B", "A,C", {"A": "2", "B": "3", "C": "4"}))
    >>> scores["exact_set"], scores["partial"], scores["extracted"]
    (False, 0.0, 'A,B')
    """
    options = options_of(sample.metadata or {})
    named, rule = extract_choices(sample.response or "", options)
    shown = None if named is None else ",".join(sorted(named))
    gold = gold_letters(sample.target, options)
    if gold is None:
        return {"extracted": shown, "rule": rule}
    right = frozenset(gold)
    named = named or frozenset()
    hits = len(named & right) - len(named - right)
    return {
        "exact_set": named == right,
        "partial": max(0.0, hits / len(right)),
        "extraction_rate": shown is not None,
        "chance": 1 / (2 ** len(options) - 1),
        "parsed": shown is not None,
        "extracted": shown,
        "rule": rule,
    }


def set_remarks(metrics: Mapping[str, MetricSummary]) -> list[str]:
    """Sentences about the metrics of `mcq_sets` and `mcq_ranked`, for the notes of a run."""
    remarks = unread_remark(metrics)
    chance = metrics.get("chance")
    if chance is not None:
        of = " of exact_set" if "exact_set" in metrics else ""
        remarks.append(Information(f"Chance level{of}: {percent(chance.value or 0.0, 1)}."))
    return remarks


def _letters(written: str, options: Mapping[str, str]) -> frozenset[str]:
    """The letters of a list; empty if one of them is not an option, or the list is a word."""
    found = re.findall(r"[A-Z](?![a-z])", written)
    return frozenset(found) if found and all(letter in options for letter in found) else frozenset()


def _option_lines(view: ReplyText, options: Mapping[str, str]) -> frozenset[str]:
    """Options that are repeated line by line, letter and text. If all are repeated, they are a list and not an answer."""
    texts = texts_of(options)
    found = {
        line["letter"]
        for line in compiled(_LINE).finditer(view.text)
        if line["letter"] in options
        and (end := texts.own_at(view, line.end(), line["letter"])) is not None
        and compiled(_AFTER).match(view.text, end)  # nothing is said about it
    }
    return frozenset(found) if len(found) < len(options) else frozenset()

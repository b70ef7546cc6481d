"""Multiple choice with any number of right options: from a model's words to a set of letters, and what it is worth."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from benchwright.core import MetricSummary
from benchwright.scorers._input import ScorerInput, Scores
from benchwright.scorers._mcq.cascade import extract_choice
from benchwright.scorers._mcq.letters import NOT_PART, WORD
from benchwright.scorers._mcq.rows import gold_letters, options_of
from benchwright.scorers._mcq.scorer import percent, unread_remark
from benchwright.scorers._mcq.texts import OptionTexts
from benchwright.scorers._mcq.view import View

_LETTER = rf"(?<!{WORD})[(\[{{]?[A-Z]{NOT_PART}[)\]}}]?[.:]?"
_JOINT = r"(?:\s?(?:,|;|/|&|\+|、|，|和|与|及|以及)\s?(?:and\s|und\s|et\s|y\s|or\s)?|\s(?:and|und|et|y)\s|\s)"
_LIST = rf"(?P<letters>{_LETTER}(?:{_JOINT}{_LETTER}){{0,25}}|(?<!{WORD})[A-Z]{{2,26}}(?!{WORD}))"
_CUE = (
    r"(?:answers?|choices?|options?|letters?|statements?|ANSWER|antwort(?:en)?|r[ée]ponses?|respuestas?|答案|选项|选|正确)"
    r"(?:\s(?:to\s(?:this|the)\squestion|here))?\s?"
    r"(?:\s(?:is|are|would\sbe|should\sbe|ist|sind|lautet|lauten|est|sont|es|son)|是|为|应为|有|应选)?\s?[:=]?\s?"
    r"(?:(?:the\s)?(?:correct|right|following|options?|letters?)\s?[:=]?\s?){0,3}"
)
_BOXED = r"\\(?:boxed|fbox)\s?\{\s?"
_CALLED_RIGHT = r"\s(?:are|is|sind|ist|sont|est|son|es)\s(?:all\s|both\s|the\s)?(?:correct|right|true|richtig|korrekt|correctes?|correctas?)"
_LINE = r"(?m)^\s?[-*•]?\s?[(\[]?(?P<letter>[A-Z])[)\].:]\s"
_NOTHING = r"none of (?:the|these)|无正确|没有正确"


def extract_choices(text: str, options: Mapping[str, str]) -> tuple[frozenset[str] | None, str]:
    """The options that a reply names as right, and the rule that read them; None: they cannot be read.

    In this order: the reply is nothing but letters; the last statement of the answer; letters that are called right;
    a last line of letters; lines that repeat options; else what `extract_choice` reads as the only one.

    >>> options = {"A": "2", "B": "3", "C": "4", "D": "5"}
    >>> [sorted(extract_choices(reply, options)[0] or "") for reply in ("AC", "c, a", "The correct answers are A and D.")]
    [['A', 'C'], ['A', 'C'], ['A', 'D']]
    >>> extract_choices("I do not know.", options)
    (None, 'not_found')
    """
    if not text or text.isspace():
        return None, "empty"
    view = View(text)
    plain = view.text.strip()
    whole = _compiled(rf"(?i:{_LIST})\.?").fullmatch(plain)
    if whole is not None and (found := _letters(whole["letters"].upper(), options)):
        return found, "letters"
    rules = (
        ("boxed", rf"{_BOXED}{_LIST}"),
        ("answers", rf"(?<!{WORD})(?i:{_CUE}){_LIST}(?!\s?\?)"),
        ("called_right", rf"(?:^|[.,;:!\n]\s?|\boptions?\s|\bthat\s){_LIST}{_CALLED_RIGHT}\b"),
    )
    last: tuple[int, frozenset[str], str] | None = None
    for name, pattern in rules:
        for stated in _compiled(pattern).finditer(view.text):
            found = _letters(stated["letters"], options)
            if found and (last is None or stated.start("letters") >= last[0]):
                last = stated.start("letters"), found, name
    if last is not None:
        return last[1], last[2]
    ending = _compiled(rf"{_LIST}\.?").fullmatch(plain.rpartition("\n")[2].strip())
    if ending is not None and (found := _letters(ending["letters"], options)):
        return found, "last_line"
    lines = _option_lines(view, options)
    if lines:
        return lines, "lines"
    one = extract_choice(text, options)
    return (None if one.letter is None else frozenset(one.letter)), one.rule


def mcq_sets(sample: ScorerInput) -> Scores:
    """`exact_set`, `partial`: whether a reply names exactly the right options, and how near it comes.

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
        remarks.append(f"chance level{of} {percent(chance.value or 0.0)}")
    return remarks


def _letters(written: str, options: Mapping[str, str]) -> frozenset[str]:
    """The letters of a list; nothing where one of them is no option, or the list is a word."""
    found = re.findall(r"[A-Z](?![a-z])", written)
    return frozenset(found) if found and all(letter in options for letter in found) else frozenset()


def _option_lines(view: View, options: Mapping[str, str]) -> frozenset[str]:
    """Options that are repeated line by line, letter and text; all of them are a list and no answer."""
    texts = OptionTexts(options)
    found = {
        line["letter"]
        for line in _compiled(_LINE).finditer(view.text)
        if line["letter"] in options and texts.own_at(view, line.end(), line["letter"]) is not None
    }
    return frozenset(found) if len(found) < len(options) else frozenset()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)

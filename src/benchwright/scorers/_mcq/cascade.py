"""`extract_choice`: the steps of the cascade, one after the other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from benchwright.scorers._mcq.extraction import Extraction, nothing
from benchwright.scorers._mcq.lone import letter_only, lone_letter
from benchwright.scorers._mcq.rules import RULES
from benchwright.scorers._mcq.statements import statements
from benchwright.scorers._mcq.texts import OptionTexts
from benchwright.scorers._mcq.view import View

# Models that complete text continue with a question of their own; what follows answers that one.
_NEXT_QUESTION = r"\n(?:Question|Q|问题|题目)\s?\d{0,4}\s?[:.]"


def extract_choice(text: str, options: Mapping[str, str]) -> Extraction:
    """The option that a reply names, by the rules of `CHOICE_RULES`; nothing is ever guessed.

    Reasoning, emphasis, LaTeX dress and quotes are looked through. In this order: the reply is a letter or an
    option's text; the last explicit statement; a letter that stands alone; the text of one option only, as whole
    words and numbers. `start` and `end` are places in `text`: `text[start:end]` is the letter or the text that
    decided. Only letters in `options` count. Of answers above 120,000 characters (reasoning not counted) the
    first 20,000 and the last 100,000 are read.

    >>> options = {"A": "2258", "B": "2263", "C": "2281"}
    >>> extract_choice("The correct answer is **B**", options)
    Extraction(letter='B', method='pattern', rule='answer', start=24, end=25)
    >>> extract_choice("A simple sum gives 2263", options)
    Extraction(letter='B', method='option_text', rule='one_text', start=19, end=23)
    >>> extract_choice("C or B", options)
    Extraction(letter=None, method='none', rule='ambiguous', start=None, end=None)
    """
    if not text or text.isspace():
        return nothing("empty")
    if not options:
        return nothing("no_options")
    plain = text.strip()
    if plain in options or (len(plain) == 1 and plain.upper() in options):
        at = len(text) - len(text.lstrip())
        letter = plain if plain in options else plain.upper()
        return Extraction(letter, "exact", "letter", at, at + len(plain))
    same = [letter for letter, option in options.items() if str(option).strip() == plain]
    if same:
        at = len(text) - len(text.lstrip())
        if len(same) > 1:
            return nothing("ambiguous")
        return Extraction(same[0], "option_text", "whole_text", at, at + len(plain))
    letter = plain[0]
    if letter in options and plain[1] in ").:" and plain[2:].strip() == str(options[letter]).strip():
        at = len(text) - len(text.lstrip())
        return Extraction(letter, "exact", "letter_and_text", at, at + 1)
    view = View(text)
    if view.text.isspace() or not view.text:
        return nothing("unfinished_reasoning" if view.unfinished else "not_found")
    cut = _next_question().search(view.text)
    if cut is not None:
        found = _read(view.until(cut.start()), options)
        if found.letter is not None:
            return found
    return _read(view, options, cut=_cut_article().fullmatch(plain) is not None)


def _read(view: View, options: Mapping[str, str], *, cut: bool = False) -> Extraction:
    at = None if cut else letter_only(view, options)
    if at is not None:
        return Extraction(view.text[at].upper(), "exact", "letter", *view.span(at, at + 1))
    texts = OptionTexts(options)
    stated = statements(view, options, texts)
    if stated.last is not None:
        start, end, letter, rule, by_text, _ = stated.last
        if letter is None:
            return nothing("ambiguous")
        if stated.taken_back.get(letter, -1) > start:
            return nothing("retracted")
        method = "option_text" if by_text and rule.method != "boxed" else rule.method
        return Extraction(letter, method, rule.name, *view.span(start, end))
    lone = lone_letter(view, options, texts, stated)
    if lone is not None:
        if lone.letter is None:
            return nothing("ambiguous")
        return Extraction(lone.letter, lone.rule.method, lone.rule.name, *view.span(lone.at, lone.at + 1))
    named = texts.named(view)
    if not named:
        return nothing("unfinished_reasoning" if view.unfinished else "not_found")
    letters = {letter for one in named for letter in one.letters}
    if len(letters) > 1:
        return nothing("ambiguous")
    rule = RULES["one_text"]
    return Extraction(letters.pop(), rule.method, rule.name, *view.span(named[-1].start, named[-1].end))


@cache
def _cut_article() -> re.Pattern[str]:
    """`A "`, `A (`, `A **`, `A-`: a sentence that begins with a word and was cut short."""
    return re.compile(r"[AaIi](?:\s+[(\[{<“‘«„\"'*_$`]+|['’-])")


@cache
def _next_question() -> re.Pattern[str]:
    return re.compile(_NEXT_QUESTION)

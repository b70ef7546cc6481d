"""`extract_choice`: runs the steps of the cascade, and contains the last ones, for single letters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from benchwright.scorers._conditions import TIES, depends
from benchwright.scorers._mcq.extraction import (
    NOT_INSIDE,
    NOT_PART,
    ChoiceRule,
    Extraction,
    caseless,
    compiled,
    is_word,
    joined_to,
    nothing,
)
from benchwright.scorers._mcq.judged import odd_one_out
from benchwright.scorers._mcq.ordinals import stated_ordinals
from benchwright.scorers._mcq.quick import choose_quickly
from benchwright.scorers._mcq.rules import RULES
from benchwright.scorers._mcq.sayers import abstains, reported, sentence_of
from benchwright.scorers._mcq.statements import (
    DESCRIBED,
    SINGLED,
    Stated,
    Statement,
    asserted,
    refuted,
    statements,
)
from benchwright.scorers._mcq.texts import OptionTexts, texts_of
from benchwright.scorers._mcq.view import ReplyText
from benchwright.scorers._replies import Span, breaks_off, next_question

_ONLY = (
    rf"(?:\s?\d{{1,3}}[.):]\s?)?[^\w+#&/]{{0,6}}(?P<letter>[A-Za-z]){NOT_PART}\s?(?:选项|项)?[^\w+#&/]{{0,6}}"
)
_OPENING = rf"\s?[(\[{{]?(?P<letter>[A-Za-z]){NOT_PART}"
_OPENED = r"\s?[)\]}.:;]|,\s|\s?[–—-]\s|\s?\n|\s(?:because|since|as|due|given|seems|fits|for\ssure|definitely|obviously|hands\sdown|probably|i\s(?:think|guess|believe))\b|\s\((?:confidence|certain|prob|\d)"
_NO = r"[)\]}.:,;\s–—-]{1,3}(?:wrong|incorrect|false|not|no(?!\s(?:question|doubt|contest)))\b"
_SEVERAL = rf"[)\]]?,?\s(?:and|&|or|nor|und|oder|et|ou|y|o|e)\s(?:options?\s|choices?\s)?[(\[]?([A-Z]){NOT_PART}[)\]]?\s(?:are|were|aren't|weren't|have|both|do|don't|can|cannot|can't|could|would|seem|look|fail|sind|sont|son|sono|beide|les\sdeux|ambas|ambos)(?!\w)"
"""After a letter that another one is joined to, of both of which something is said: `C and D are both wrong`."""
_TO_ANOTHER = rf"[)\]]?\s?(?:[–—-]|\.\.\.?|…|to\s|through\s)\s?[(\[]?[A-Z]{NOT_PART}"
"""After the first letter of a range: `options A–D`."""
_ASKED = r"\s?[)\]]?\s?\?"
_LINE = r"(?m:^)[ (\[]{0,2}(?P<letter>[A-Za-z])(?:[)\].:][)\].:]?(?=\s|$)|(?=\s[–—-]\s))"
_NEXT_ITEM = r"(?<=[.;,!\n])\s?[(\[]?(?P<letter>[A-Z])[)\].:]{1,2}\s"
_JUDGED = r"(?:yes|no|true|false|correct|incorrect|right|wrong)(?![\w-])"
_ANYWHERE = rf"{NOT_INSIDE}[(\[]?(?P<letter>[A-Za-z]){NOT_PART}[)\].:]{{0,2}}\s?[(\[–—-]?\s?"


def letter_only(view: ReplyText, options: Mapping[str, str]) -> int | None:
    """The place of the letter, if the whole reply is a letter."""
    if len(view.text) > 16:
        return None
    found = compiled(_ONLY).fullmatch(view.text)
    if found is None or found["letter"].upper() not in options:
        return None
    return found.start("letter")


def lone_letter(
    view: ReplyText, options: Mapping[str, str], texts: OptionTexts, stated: Stated
) -> Statement | None:
    """The letter of the first rule of this step that finds one that is not taken back."""
    for find in (_opening, _with_text, _named, _bracketed, _ordinal):
        found = find(view, options, texts, stated)
        if found is not None:
            return found
    return None


def _opening(
    view: ReplyText, options: Mapping[str, str], texts: OptionTexts, stated: Stated
) -> Statement | None:
    text = view.text
    found = compiled(_OPENING).match(text)
    if found is None:
        return None
    at, letter = found.start("letter"), found["letter"].upper()
    if letter not in options or letter in stated.taken_back or texts.covers(view, at):
        return None
    if compiled(_NO).match(text, at + 1):
        return None
    bold = view.is_marked(at, at + 1) and compiled(r"\s[A-Z]").match(text, at + 1)
    if is_word(text, at) and not bold:
        return None
    if joined_to(view, at, letter, options, texts.covers) or texts.contradict(view, at, letter):
        return Statement(at, at + 1, None, RULES["opening"])
    after = at + 1 + (text[at + 1 : at + 2] == " ")
    own = texts.own_at(view, after, letter)
    opened = compiled(_OPENED).match(text, at + 1)
    if own is None and not bold and (opened is None or (letter == "I" and opened[0][0] not in ").]}:\n")):
        return None
    if _is_list(view, letter, options, texts):
        return None
    return Statement(at, at + 1, letter, RULES["opening"])


def _is_list(view: ReplyText, letter: str, options: Mapping[str, str], texts: OptionTexts) -> bool:
    """Whether the letter opens a list of the options: the next option follows on a new line, or with its text."""
    following = chr(ord(letter) + 1)
    for found in compiled(_NEXT_ITEM).finditer(view.text):
        if found["letter"] == following in options and (
            texts.own_at(view, found.end(), following) is not None
            or caseless(_JUDGED).match(view.text, found.end())
        ):
            return True
    own: dict[str, bool] = {}
    for line in compiled(_LINE).finditer(view.text):
        other = line["letter"].upper()
        if other in options:
            has_text = texts.own_at(view, line.end() + 1, other) is not None
            own[other] = own.get(other, False) or has_text
    others = {other: has_text for other, has_text in own.items() if other != letter}
    if any(others.values()):
        return True
    return following in others and not own.get(letter)


def _with_text(
    view: ReplyText, options: Mapping[str, str], texts: OptionTexts, stated: Stated
) -> Statement | None:
    def places() -> Iterator[tuple[int, str]]:
        for found in compiled(_ANYWHERE).finditer(view.text):
            letter = found["letter"].upper()
            at = found.start("letter")
            if letter not in options or is_word(view.text, at) or texts.covers(view, at):
                continue
            own = texts.own_at(view, found.end(), letter)
            if own is not None and not reported(view, at, own):
                yield at, letter

    return _only_one(places(), stated, RULES["with_text"])


def _named(
    view: ReplyText, options: Mapping[str, str], texts: OptionTexts, stated: Stated
) -> Statement | None:
    return _by_pattern(view, options, texts, stated, RULES["named"])


def _bracketed(
    view: ReplyText, options: Mapping[str, str], texts: OptionTexts, stated: Stated
) -> Statement | None:
    if "(" not in view.text and "[" not in view.text:
        return None
    return _by_pattern(view, options, texts, stated, RULES["bracketed"])


def _ordinal(
    view: ReplyText, options: Mapping[str, str], texts: OptionTexts, stated: Stated
) -> Statement | None:
    found = [one for one in stated_ordinals(view, options) if one.value not in stated.taken_back]
    if not found:
        return None
    letters = {one.value for one in found}
    named = {letter for one in texts.named(view) for letter in one.value}
    for other in compiled(_ANYWHERE).finditer(view.text):
        at = other.start("letter")
        if other["letter"] in options and not is_word(view.text, at) and not texts.covers(view, at):
            named.add(other["letter"])
    alone = len(letters) == 1 and named - stated.taken_back.keys() <= letters
    last = found[-1]
    return Statement(last.start, last.end, last.value if alone else None, RULES["ordinal"])


def _by_pattern(
    view: ReplyText, options: Mapping[str, str], texts: OptionTexts, stated: Stated, rule: ChoiceRule
) -> Statement | None:

    def places() -> Iterator[tuple[int, str]]:
        for found in rule.found(view):
            at = found.end() + (view.text[found.end()] in "([")
            letter = view.text[at].upper()
            question = compiled(_ASKED).match(view.text, at + 1)
            a_word = is_word(view.text, at) and not (rule.name == "named" and view.text[at] == "A")
            range_ = compiled(_TO_ANOTHER).match(view.text, at + 1)
            if letter not in options or question or a_word or range_ or texts.covers(view, at):
                continue
            if asserted(view, found.start()) and not reported(view, found.start(), at + 1):
                yield at, letter
                several = caseless(_SEVERAL).match(view.text, at + 1)
                if joined_to(view, at, letter, options, texts.covers) or (
                    several and several[1].upper() in options
                ):
                    yield at, ""  # another letter is joined to it

    return _only_one(places(), stated, rule)


def _only_one(places: Iterator[tuple[int, str]], stated: Stated, rule: ChoiceRule) -> Statement | None:
    last: tuple[int, str] | None = None
    for at, letter in places:
        if letter in stated.taken_back:
            continue
        if last is not None and last[1] != letter:
            return None
        last = at, letter
    return Statement(last[0], last[0] + 1, last[1], rule) if last else None


def extract_choice(text: str, options: Mapping[str, str]) -> Extraction:
    """The option that a reply names, by the rules of `CHOICE_RULES`; it never guesses.

    Reasoning, emphasis, LaTeX markup and quotes are ignored. The steps, in order: the reply is a letter or an option's
    text; the last explicit statement; a letter by itself; the text of only one option, as whole words and numbers.
    `text[start:end]` is the letter or the text that decided. Only letters in `options` count. If the answer without
    reasoning has more than 120,000 characters, the first 20,000 and the last 100,000 are read.

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
    return choose_quickly(text, options) or read_fully(text, options)


def read_fully(text: str, options: Mapping[str, str]) -> Extraction:
    """The same without the quick path, of a reply that is no letter or text alone."""
    view = ReplyText(text)
    if view.text.isspace() or not view.text:
        return nothing("unfinished_reasoning" if view.unfinished else "not_found")
    cut = next_question(view.text)
    if cut is not None:
        found = _read(view.until(cut), options)
        if found.letter is not None:
            return found
    return _read(view, options, cut=_cut_article().fullmatch(text.strip()) is not None)


def _read(view: ReplyText, options: Mapping[str, str], *, cut: bool = False) -> Extraction:
    at = None if cut else letter_only(view, options)
    if at is not None:
        return Extraction(view.text[at].upper(), "exact", "letter", *view.span(at, at + 1))
    texts = texts_of(options)
    stated = statements(view, options, texts)
    odd = odd_one_out(view, options, texts)
    if odd is not None and (stated.last is None or stated.last[0] < odd.list_end):
        if abstains(view, odd.list_end, texts, stated=True):
            return nothing("ambiguous")
        return Extraction(odd.letter, "pattern", "marked", *view.span(odd.start, odd.end))
    if stated.last is not None and not _is_item(view, options, stated.last[0], stated.last[3]):
        start, end, letter, rule, by_text, _ = stated.last
        if letter is None or abstains(view, end, texts, stated=True):
            return nothing("ambiguous")
        if _by_case(view, options, texts, letter, start):
            return nothing("ambiguous")
        if stated.taken_back.get(letter, -1) > start:
            return _corrected(view, texts, stated, stated.taken_back[letter])
        method = "option_text" if by_text and rule.method != "boxed" else rule.method
        return Extraction(letter, method, rule.name, *view.span(start, end))
    weighed = _weighed(view, options)
    if weighed is not None:
        return weighed
    if breaks_off(view.text):
        # What was written in earlier lines is finished, and so is an answer whose reason is not.
        opening = _opening(view, options, texts, stated)
        if opening is not None and opening.letter and _is_explained(view, opening, texts):
            at = opening.start
            return Extraction(opening.letter, opening.rule.method, opening.rule.name, *view.span(at, at + 1))
        in_list = len(_items(view, options)) > 1
        view = view.until(max(0, view.text.rstrip().rfind("\n")))
        if not view.text or breaks_off(view.text) or in_list:
            return nothing("unfinished")
    lone = lone_letter(view, options, texts, stated)
    if lone is not None:
        opens = lone.rule.name == "opening"
        if lone.letter is None or abstains(view, lone.start if opens else 0, texts, stated=opens):
            return nothing("ambiguous")
        if lone.rule.name in _MENTIONS and _names_another(view, lone.letter, texts, stated):
            return nothing("ambiguous")
        if _by_case(view, options, texts, lone.letter, lone.start):
            return nothing("ambiguous")
        span = view.span(lone.start, lone.end)
        return Extraction(lone.letter, lone.rule.method, lone.rule.name, *span)
    named = [
        one
        for one in texts.named(view)
        if not stated.taken_back.keys() & set(one.value)
        and not reported(view, one.start, one.end, by_text=True)
    ]
    if not named:
        return nothing("unfinished_reasoning" if view.unfinished else "not_found")
    letters = {letter for one in named for letter in one.value}
    for kept in (_opens, _unlisted, _called_best):
        if len(letters) > 1:
            named = kept(view, options, named)
            letters = {letter for one in named for letter in one.value}
    if len(letters) != 1:
        return nothing("ambiguous")
    if abstains(view, sentence_of(view, named[-1].start), texts, stated=False):
        return nothing("ambiguous")
    rule = RULES["one_text"]
    return Extraction(letters.pop(), rule.method, rule.name, *view.span(named[-1].start, named[-1].end))


def _unlisted(
    view: ReplyText, options: Mapping[str, str], named: list[Span[tuple[str, ...]]]
) -> list[Span[tuple[str, ...]]]:
    """Without the texts of a sentence that names all options; of `all of the above` and what it sums up, the sum alone."""
    sums = [one for one in named if caseless(_ALL).fullmatch(view.lower, one.start, one.end)]
    by_sentence: dict[int, set[str]] = {}
    for one in named:
        by_sentence.setdefault(sentence_of(view, one.start), set()).update(one.value)
    return sums or [one for one in named if len(by_sentence[sentence_of(view, one.start)]) < len(options)]


def _called_best(
    view: ReplyText, options: Mapping[str, str], named: list[Span[tuple[str, ...]]]
) -> list[Span[tuple[str, ...]]]:
    """The texts that are called right where they stand; or the last one, if it alone is singled out after all others."""
    best = [one for one in named if caseless(_CALLED_BEST).match(view.lower, one.end)]
    if best or not compiled(r"(?<!\w)one(?!\w)").search(view.lower, named[-1].end if named else 0):
        return best
    last, begin = named[-1], sentence_of(view, named[-1].start)
    alone = all(one.end <= begin and not caseless(DESCRIBED).match(view.lower, one.end) for one in named[:-1])
    ends = compiled(r"[.!?\n]\s?\S").search(view.text, last.end) is None
    return [last] if alone and ends and caseless(SINGLED).match(view.lower, last.end) else []


_FRAGMENT = (
    r"[)\]]?(?:\s\([^()\n]{1,60}\))?(?:,\s(?:back\s)?(?:in|on|at|since|from|by|of|around|about|with)\s"
    r"(?![^.!\n]{0,80}(?<!\w)(?:is|are|was|were|be|has|have|had|did|does|do|can|will|would|not|or|and|came|said|which|who|but)(?!\w))[\w\s'-]{1,60})?[.!](?=\s|$)"
)
_TURNS = r"\?|(?<!\w)(?:no|nope|not|wait|actually|or|nor|but|however|rather|instead|correction|sorry|hmm+|maybe|perhaps|although|though|yet|either|neither|both|if|else|also|too|aber|nein|oder|mais|ou|pero|wrong|right|correct|answer|so|thus|therefore|hence)(?!\w)|n't"


def _opens(
    view: ReplyText, options: Mapping[str, str], named: list[Span[tuple[str, ...]]]
) -> list[Span[tuple[str, ...]]]:
    """The text that is all of the first sentence, or with no more than a date or a place, if nothing behind it chooses."""
    first = named[0]
    ends = caseless(_FRAGMENT).match(view.lower, first.end)
    if ends is None or view.lower[: first.start].strip(" \n([") not in ("", "the", "a", "an"):
        return named
    others = [one for one in named if one.value != first.value]
    if any(one.start < ends.end() or caseless(_FRAGMENT).match(view.lower, one.end) for one in others):
        return named
    turns = caseless(_TURNS).search(view.lower, ends.end())
    return named if turns else [one for one in named if one.value == first.value]


def _items(view: ReplyText, options: Mapping[str, str]) -> dict[str, int]:
    """The options that begin lines of their own, each with its place."""
    lines = compiled(_LINE).finditer(view.text)
    return {line["letter"]: line.start("letter") for line in lines if line["letter"] in options}


def _is_item(view: ReplyText, options: Mapping[str, str], at: int, rule: ChoiceRule) -> bool:
    """Whether a letter only begins a list of the options: `Let's see each option: A. …`"""
    if rule.name not in ("field", "answer_elsewhere"):
        return False
    items = _items(view, options)
    return items.get(view.text[at]) == at and items.get(chr(ord(view.text[at]) + 1), -1) > at


_ALL = r"all\s(?:of\s)?(?:the\s(?:above|options|choices)|these|them)(?:\s\w+)?"
_MENTIONS = frozenset({"named", "bracketed"})
"""Rules by which a letter decides although nothing is said of it."""


def _names_another(view: ReplyText, letter: str, texts: OptionTexts, stated: Stated) -> bool:
    """Whether the text of another option is named too: `Option C has one as well. It is ethanol.`"""
    return any(
        letter not in one.value and not stated.taken_back.keys() & set(one.value) for one in texts.named(view)
    )


def _corrected(view: ReplyText, texts: OptionTexts, stated: Stated, begin: int) -> Extraction:
    """The option whose text comes after the last one was taken back: `not A, but nitrogen`."""
    named = [
        one
        for one in texts.named(view)
        if one.start > begin
        and not stated.taken_back.keys() & set(one.value)
        and not refuted(view, one.end)
        and not reported(view, one.start, one.end, by_text=True)
    ]
    if len({letter for one in named for letter in one.value}) != 1 or abstains(
        view, begin, texts, stated=False
    ):
        return nothing("retracted")
    rule = RULES["one_text"]
    return Extraction(named[-1].value[0], rule.method, rule.name, *view.span(named[-1].start, named[-1].end))


def _by_case(view: ReplyText, options: Mapping[str, str], texts: OptionTexts, letter: str, at: int) -> bool:
    """Whether the letter at `at` is the option for one of several cases only."""
    if next(iter(view.matches(TIES)), None) is None:
        return False
    letters = [
        Span(found.start("letter"), found.start("letter") + 1, found["letter"])
        for found in compiled(_ANYWHERE).finditer(view.text)
        if found["letter"] in options
        and found["letter"] != "I"
        and not texts.covers(view, found.start("letter"))
    ]
    named = (Span(one.start, one.end, one.value[0]) for one in texts.named(view))
    return depends(view.text, sorted([*letters, *named]), letter, at)


_WEIGHED = r"(?<![^\W_])(?P<letter>[A-Z])\)?\s?[:=]\s?(?:(?P<true>true)|false|null|none|-?\d*\.?\d+\s?%?(?![\w.]))(?=\s?(?:[,;}\])]|\n|$))"

_KEYS = r"[{,]\s?([A-Z]):"


def _weighed(view: ReplyText, options: Mapping[str, str]) -> Extraction | None:
    """The answer of a reply that gives each option a value, as `{"A": 0.1, "B": 0.7}`; only one `true` chooses.

    None if it is no such reply.
    """
    if ":" not in view.text and "=" not in view.text:
        return None
    found = [one for one in compiled(_WEIGHED).finditer(view.text) if one["letter"] in options]
    if len({one["letter"] for one in found}) < 2 or any(_is_own(options, one) for one in found):
        keys = compiled(_KEYS).findall(view.text) if "{" in view.text else ()
        return nothing("ambiguous") if len(options.keys() & set(keys)) > 1 else None
    chosen = [one for one in found if one["true"]]
    if len(chosen) != 1:
        return nothing("ambiguous")
    at = chosen[0].start("letter")
    return Extraction(chosen[0]["letter"], "pattern", "marked", *view.span(at, at + 1))


def _is_own(options: Mapping[str, str], found: re.Match[str]) -> bool:
    """Whether the value is the option's own text: `A: 2258` in a list of the options."""
    return found[0].partition(":")[2].strip() == str(options[found["letter"]]).strip()


_CALLED_BEST = (
    r"[)\]]?,?\s(?:is|was|must\sbe|seems|looks)\s(?:(?:clearly|indeed|definitely|therefore|probably|likely|most)\s){0,2}(?:the\s)?"
    r"(?:correct|right|best|better\s(?:fit|choice|option|answer)|answer|only\s\w+\sthat)(?![\w-])(?!\s?\?)"
)


def _is_explained(view: ReplyText, opening: Statement, texts: OptionTexts) -> bool:
    """Whether a reason follows the letter, or the letter and its text."""
    after = opening.start + 1 + (view.text[opening.start + 1 : opening.start + 2] in ").:")
    own = texts.own_at(view, after + (view.text[after : after + 1] == " "), opening.letter or "")
    return (
        caseless(r"[)\].:,]{0,2}\s(?:because|since|due\sto|given\sthat|weil|denn|car|porque)\b").match(
            view.text, after if own is None else own
        )
        is not None
    )


@cache
def _cut_article() -> re.Pattern[str]:
    """Matches `A "`, `A (`, `A **`, `A-`: a sentence that begins with the article and was cut short."""
    return re.compile(r"[AaIi](?:\s+[(\[{<“‘«„\"'*_$`]+|['’-])")

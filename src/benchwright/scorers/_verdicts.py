"""Reads whether a text says yes or no: by an explicit statement, by a reply that is a verdict, or by its clauses.

Questions, what others say, hypothetical cases and `yes or no` say nothing. Verdicts that contradict one another are no answer,
unless one corrects the other or draws the conclusion. With the question, a reply may also judge its claim (`The passage contradicts
it.`), answer with a pronoun (`It does.`), name a class (`Sentiment: negative`) or repeat it as a statement.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from enum import IntEnum
from functools import cache
from itertools import islice
from typing import NamedTuple

from benchwright.scorers._asked import Asked, content, read_question, signed
from benchwright.scorers._mcq.view import ReplyText, without_reasoning
from benchwright.scorers._replies import breaks_off, next_question
from benchwright.scorers._restated import restates
from benchwright.scorers._stems import matches_at, places
from benchwright.scorers._verdict_words import (
    ADVERBS,
    ANAPHOR,
    AT_ONCE,
    AUX,
    BOTH,
    BY_ITSELF,
    CLASSIFIES,
    CLAUSE_BREAK,
    CONCEDES,
    CONCLUSION,
    CONDITIONAL,
    CONTRAST,
    CORRECTION,
    DISPUTES,
    EITHER,
    FLIPS_REPORT,
    GRANTS,
    HEDGES,
    HIDDEN,
    IF,
    JUDGES,
    LABELLED,
    LEAD,
    LEADS_IN,
    MARKED,
    NO,
    NOT_A_NOUN,
    NOT_STATED,
    OPENS_WEAKLY,
    OTHER_CASE,
    OTHERWISE,
    PREDICATE,
    PREDICATE_CHARS,
    PREDICATE_STEMS,
    QUOTED,
    REACH,
    READ,
    REPORTED,
    SAYS_SO,
    SENTENCE_END,
    SENTENCES,
    SKIPPED_BEFORE,
    SPEAKS_OF_ELSE,
    STATED,
    STATED_STEMS,
    SUPPORTS,
    TAKES_BACK,
    THINKS,
    TRUE_WORDS,
    UNCLEAR,
    UNKNOWN,
    YES,
)

_INITIALS = {"y": True, "n": False, "t": True, "f": False}


class _Kind(IntEnum):
    """How a verdict is given; of higher kinds one decides."""

    RESTATED = 1
    SAID = 2
    """With a pronoun: `It does.`"""
    JUDGED = 3
    FIRM = 4
    """A judgement of `the statement` itself."""
    CONCLUDED = 5
    """A word for yes or no that draws the conclusion or is a sentence."""
    OPENS = 6


class _Verdict(NamedTuple):
    at: int
    yes: bool
    kind: _Kind
    concludes: bool
    """Whether it draws the conclusion."""


class _Sentence(NamedTuple):
    at: int
    text: str
    asks: bool


def read_verdict(reply: str, question: str = "") -> bool | None:
    """True: yes; False: no; None: neither, or both.

    Args:
        reply: what was answered.
        question: what was asked, if it is known.

    >>> [read_verdict(text) for text in ("That's not true.", "Yes and no.", "No, wait, actually yes.")]
    [False, None, True]
    """
    asked = read_question(question) if question else None
    if "{" in reply and (given := _object(reply)):
        return _of_object(given, asked)
    text = ReplyText(_without_quotations(reply)).lower.strip().replace("tl;dr", "short answer")
    if text.startswith(("question:", "q:")):
        return _answer_below(text, asked)
    cut = next_question(text)
    if cut is not None and (found := _read(text[:cut].strip(), asked)) is not None:
        return found
    return _read(text, asked)


def verdict_of_word(word: str) -> bool | None:
    """The verdict of an expected answer in words; None if it is none."""
    return _whole(word.strip().lower())


def _without_quotations(reply: str) -> str:
    """A reply without what it quotes, unless that is a word or the whole reply."""
    if not any(mark in reply for mark in '"“«„'):
        return reply

    def hidden(found: re.Match[str]) -> str:
        inner = found[0][1:-1]
        if (
            len(inner.split()) < 2
            or _whole(inner.lower()) is not None
            or (found.start() < 3 and found.end() > len(reply) - 4)
        ):
            return found[0]
        ends = inner.rstrip()[-1:] in (".", "!", "?") and _compiled(r"\s+[^\Wa-z]").match(reply, found.end())
        return f"{HIDDEN}." if ends else HIDDEN

    return _compiled(QUOTED).sub(hidden, reply)


def _answer_below(text: str, asked: Asked | None) -> bool | None:
    """What a reply says that repeats the question first; None if it asks others."""
    first, _, rest = text.partition("\n")
    if next_question("\n" + rest) is not None:
        return None
    if asked and asked.words and len(set(content(first)) & set(asked.words)) < len(set(asked.words)) / 2:
        return None
    return _read(rest.strip(), asked)


def _object(reply: str) -> dict[str, object] | None:
    """The JSON object of a reply, if it has one."""
    kept, _ = without_reasoning(reply)
    text = "".join(reply[start:end] for start, end in kept)
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end - start > 20_000 or len(text) - (end - start) > 200:
        return None
    try:
        given = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) and given else None


_ANSWER_KEYS = (
    "answer",
    "final_answer",
    "verdict",
    "label",
    "result",
    "prediction",
    "decision",
    "classification",
    "conclusion",
    "response",
    "output",
    "class",
    "judgment",
    "judgement",
    "category",
    "sentiment",
)


def _of_object(given: dict[str, object], asked: Asked | None) -> bool | None:
    lower = {str(key).lower(): value for key, value in given.items()}
    for key in _ANSWER_KEYS:
        if key in lower:
            return _of_value(lower[key], asked)
    read = {}
    for key, value in lower.items():
        if isinstance(value, bool) or (isinstance(value, str) and _whole(value.strip().lower()) is not None):
            verdict = _of_value(value, asked)
            if verdict is None:
                continue
            if asked and (words := signed(key.replace("_", " "), frozenset(asked.words))):
                opposite = sum(sign < 0 for word, sign in words if word in asked.words) % 2 == 1
                opposite ^= _compiled(r"(?:^|_)not(?:_|$)").search(key) is not None
                verdict ^= opposite
            read[key] = verdict
    return next(iter(read.values())) if len(set(read.values())) == 1 else None


def _of_value(value: object, asked: Asked | None) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = " ".join(value.replace("_", " ").lower().split())
        return _read(text, asked) if text else None
    return None


def _read(text: str, asked: Asked | None) -> bool | None:
    if not text:
        return None
    if asked is not None and len(text) <= 3 and (short := _INITIALS.get(text.strip(" ().*"))) is not None:
        return short if asked.sign > 0 else None
    if asked is not None and len(text) <= 60:
        label = _label(text, asked)
        if label is not None:
            return label
    whole = _whole(text)
    if whole is not None:
        return whole if not asked or asked.sign > 0 or not _is_truth(text) else None
    stated, unsettled = _statement(text, asked)
    if unsettled:
        return None
    if stated is not None:
        if not _compiled(CORRECTION).search(text, stated[0]):
            return stated[1]
        later = [one for one in _verdicts(text, stated[0] + 1, asked) if _corrects(text, stated[0], one.at)]
        return later[-1].yes if later else stated[1]
    if asked is not None and (marked := _marked_line(text, asked)) is not None:
        return marked
    if asked is not None and _compiled(BOTH).match(text):
        return None
    sentences = _split(text)
    verdicts = _verdicts(text, 0, asked)
    if asked is not None:
        verdicts = sorted(
            [
                *(one for found in verdicts if (one := _placed(found, sentences, asked))),
                *_answers(text, sentences, asked),
            ]
        )
    if not verdicts:
        verdicts = (_sentences(sentences) if asked is None else []) or _opening(text)
    if verdicts and breaks_off(text) and _corrects(text, verdicts[-1].at, len(text)):
        return None  # taken back, and what it is then is not said any more
    if asked is not None and _compiled(EITHER).search(text) and not verdicts:
        return None
    return _decided(text, verdicts) if asked is None else _settled(text, verdicts, asked)


def _whole(text: str) -> bool | None:
    if len(text) > 40:
        return None
    start, end = 0, len(text)
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return _phrases().get(" ".join(text[start:end].split()))


def _is_truth(text: str) -> bool:
    """Whether a verdict judges what was said, and not the question: `Correct.`"""
    return (
        _compiled(r"[\W_]*(?:not\s)?(?:true|false|correct|incorrect|right|wrong|untrue)[\W_]*").fullmatch(
            text
        )
        is not None
    )


def _label(text: str, asked: Asked, *, heads: bool = False) -> bool | None:
    """What the name of a class says about a question for that class: `Not spam`; `heads`: it is a part of the reply."""
    bare = _compiled(LABELLED).sub("", text.replace("_", " ").strip(" \n.!*[](){}\"'"), count=1).strip()
    if (
        not bare
        or len(bare.split()) > 4
        or _compiled(rf"(?<!\w)(?:{AUX}|i|you|it|they|we|he|she|more)(?!\w)|n't").search(bare)
    ):
        return None
    if asked.supports or (asked.judges and asked.sign > 0):
        found = _compiled(
            rf"(?P<not>not\s)?(?:{ADVERBS})(?:(?P<yes>{SUPPORTS}|support(?:s|ed)|entail(?:s|ment|ed)?|follows?)|(?P<no>{DISPUTES}|neutral|contradict(?:s|ion|ed)?|not\senough\sinfo(?:rmation)?|unsupported))"
        ).fullmatch(bare)
        if found:
            return (found["yes"] is not None) != (found["not"] is not None)
    words = signed(bare, frozenset(asked.words))
    if not (_compiled(CLASSIFIES).match(asked.text) or any(sign < 0 for _, sign in words)):
        last = asked.words[-1] if asked.words else ""
        if heads or not any(word == last for word, _ in words):
            return None  # a heading, or the subject of the question
    if any(word in asked.words for word, _ in words) and bare not in ("yes", "no"):
        return restates(asked, f"it is {bare}", f"it is {bare}", True, True)
    return None


def _marked_line(text: str, asked: Asked) -> bool | None:
    """What the last line says if it is a class or a mark: `→ contradiction`, `✅`, or the option that means yes."""
    last = text.rsplit("\n", 1)[-1].strip()
    if len(last) > 60:
        return None
    sign = _compiled(r"^(?:[^.!?]{0,30}[:=]\s?)?(?P<mark>[✅✔☑✓❌✗✘✖])").search(last)
    if sign:
        return sign["mark"] in "✅✔☑✓"
    if asked.options:
        option = _compiled(
            rf"(?:(?:{LABELLED}|(?:the\s)?(?:correct\s|right\s|best\s)?(?:option|choice|answer)\s?(?:is|:|=)?\s?)?\(?(?P<option>[a-d0-9])\)?\.?)"
        ).fullmatch(last)
        if option:
            return dict(asked.options).get(option["option"])
    bare = last.lstrip("→-=>•* ").rstrip(". ")
    return _label(bare, asked, heads=True) if "\n" in text and bare and len(bare.split()) <= 3 else None


def _statement(text: str, asked: Asked | None) -> tuple[tuple[int, bool] | None, bool]:
    """Where a text states its answer, and what it is; and whether it states that it is both."""
    cues = [*matches_at(_compiled(STATED), text, places(text, STATED_STEMS))]
    either = cues[0] if cues else None
    if either is not None and _compiled(EITHER).match(text, either.end()):
        return None, True
    for cue in cues:
        if _compiled(NOT_STATED).search(text, max(0, cue.start() - 40), cue.start()):
            continue
        if "would be" in cue[0] and _is_remark(text, cue.start()):
            continue
        if _compiled(r"(?<!\w)(?:long|longer|full)\s$").search(text, max(0, cue.start() - 8), cue.start()):
            continue
        begin = max(text.rfind(mark, max(0, cue.start() - 200), cue.start()) for mark in ".;!?\n") + 1
        lead = text[begin : cue.end()]
        if _compiled(REPORTED).search(lead) and not _compiled(rf"(?<!\w){CONTRAST}").search(lead):
            continue
        found = _after_statement(text, cue.end())
        if found is not None and _compiled(r"(?:n't|cannot\sbe|anything\sbut)\s?$").search(cue[0]):
            found = not found
        if found is None and text.startswith("that ", cue.end()):
            anaphor = _compiled(ANAPHOR).match(text, cue.end() + 5)
            found = (
                None
                if anaphor is None
                else not any(anaphor[name] for name in ("not", "not2", "not3", "never"))
            )
        if found is None and asked is not None and (said := _compiled(SAYS_SO).match(text, cue.end())):
            found = said["yes"] is not None
        if found is None and asked is not None:
            stop = _compiled(r"[.,;!\n]|$").search(text, cue.end())
            found = _label(text[cue.end() : stop.start() if stop else None][:60], asked)
        if found is not None:
            return (cue.end(), found), False
    if asked is not None:
        for cue in reversed(
            [
                *_compiled(rf"(?:(?m:^)|(?<=[.!?]\s)){LABELLED}(?P<label>[^.,;!\n]{{1,60}})").finditer(
                    text, max(0, len(text) - 4_000)
                )
            ]
        ):
            found = _label(cue["label"], asked)
            if found is not None:
                return (cue.end(), found), False
    return None, False


def _after_statement(text: str, at: int) -> bool | None:
    """What is stated at `at`: a verdict, or `not` and a verdict."""
    found = _compiled(rf"(?P<not>not\s|nicht\s|pas\s)?(?:{_phrase_pattern()})(?!\w|-\w|'t)").match(text, at)
    if found is None:
        return None
    if _compiled(EITHER).match(text, at):
        return None
    word = found["phrase"]
    if not _compiled(NOT_A_NOUN).match(text, found.end()) and word in (
        "no",
        "right",
        "si",
        "sure",
        "wrong",
        "correct",
        "true",
        "false",
        "negative",
    ):
        following = _compiled(r"\s([^\W\d_]+)").match(text, found.end())
        if following and following[1] not in (
            "and",
            "with",
            "in",
            "given",
            "although",
            "though",
            "if",
            "unless",
            "or",
            "is",
            "for",
        ):
            return None
    return (not _phrases()[word]) if found["not"] else _phrases()[word]


def _split(text: str) -> list[_Sentence]:
    found = []
    start = 0
    for stop in _compiled(SENTENCE_END).finditer(text):
        if text[start : stop.start()].strip(" .*#-|"):
            found.append(_Sentence(start, text[start : stop.start()], stop[0] in "?？"))
        start = stop.end()
    if text[start:].strip(" .*#-|"):
        found.append(_Sentence(start, text[start:], False))
    return found


def _verdicts(text: str, begin: int, asked: Asked | None) -> list[_Verdict]:
    """The words for yes and no of a text from `begin` on, and what says that it is true or false, in order."""
    found: list[_Verdict] = []
    for word in _compiled(BY_ITSELF).finditer(text, begin):
        at = word.start("word")
        before = text[max(0, at - REACH) : at]
        if not _compiled(NOT_A_NOUN).match(text, word.end()):
            continue
        if not _compiled(LEADS_IN).search(text, max(0, at - 14), at) or _is_either(text, at):
            continue
        if _compiled(r"\s?:\s?[\d.]").match(text, word.end()) or _is_asked(text, word.end()):
            continue
        if _compiled(SKIPPED_BEFORE).search(before) or _compiled(IF).search(before):
            continue
        if before.endswith("would be ") and _is_remark(text, at):
            continue
        if _compiled(
            r"(?<!\w)(?:in\sfavou?r\sof|for|against|of|than|between|either)\s(?:an?\s|the\s)?$"
        ).search(before):
            continue
        if word["word"] in (
            "true",
            "correct",
            "right",
            "false",
            "wrong",
            "incorrect",
            "untrue",
        ) and _compiled(r"(?<!\w)(?:be|is|a|that)\s$").search(before):
            continue  # a predicate
        kind = _Kind.OPENS if not before.strip(" \n([{") else _Kind.CONCLUDED
        if asked is not None and _compiled(SPEAKS_OF_ELSE).match(text, word.end()):
            continue
        found.append(_Verdict(at, _phrases()[word["word"]], kind, False))
    for predicate in _predicates(text, begin):
        verdict = _of_predicate(text, predicate)
        if asked is not None and _compiled(GRANTS).match(text, predicate.end()):
            continue
        if verdict is not None and not _is_either(text, predicate.end() - 1):
            if asked is not None and asked.sign < 0:
                verdict = not verdict
            found.append(_Verdict(predicate.start(), verdict, _Kind.JUDGED, False))
    return sorted(found)


def _predicates(text: str, begin: int) -> Iterator[re.Match[str]]:
    """The predicates of a text: only sentences with one of their words are searched."""
    end = begin
    for at in reversed(places(text, PREDICATE_STEMS, begin, None, READ)):
        if at < end:
            continue
        start = max(end, at - PREDICATE_CHARS, *(text.rfind(mark, begin, at) + 1 for mark in ".!?;"))
        for found in _compiled(PREDICATE).finditer(text, start, at + 80):
            yield found
            end = found.end()
        end = max(end, at + 1)


def _sentences(sentences: list[_Sentence]) -> list[_Verdict]:
    """Whole sentences that are a verdict: `Absolutely.`; they count if nothing else does, because they also begin replies."""
    return [
        _Verdict(one.at, verdict, _Kind.CONCLUDED, False)
        for one in sentences
        if not one.asks and len(one.text) <= 40 and (verdict := _whole(one.text)) is not None
    ]


def _opening(text: str) -> list[_Verdict]:
    """A verdict in other words that opens the reply: `Indeed, she won it twice.`; they count if nothing else does."""
    found = _compiled(rf"{_phrase_pattern()}(?=\s?[,;–—]\s|\s?:\s[^\d.])").match(text)
    if (
        found is None
        or _compiled(SPEAKS_OF_ELSE).match(text, found.end())
        or found["phrase"]
        in (
            "right",
            "sure",
            "true",
            "exactly",
            "exact",
            "si",
            "claro",
            "genau",
        )
    ):
        return []
    if _compiled(r"(?<!\w)(?:but|however|aber|mais|pero|ma|mas|но)(?!\w)").search(text, 0, 200):
        return []
    return [_Verdict(0, _phrases()[found["phrase"]], _Kind.OPENS, False)]


def _of_predicate(text: str, found: re.Match[str]) -> bool | None:
    named = found["word"] or found["wort"] or found["mot"] or found["palabra"] or found["slovo"]
    if named is None:
        if "stimmt" not in found[0]:
            return None
        named = "richtig"
    before = text[max(0, found.start() - REACH) : found.start()]
    negated = any(found[name] for name in ("not", "cannot", "nicht", "pas", "no", "ne"))
    if _compiled(r"(?<!\w)(?:not\s(?:all|everything)|some|part|half|most)(?:\sof)?\s$").search(before):
        return None
    if _compiled(r"(?<!\w)(?:none\sof|nothing\s(?:about|in)|no\spart\sof)\s$").search(before):
        negated = not negated
    thinks = _compiled(THINKS).search(before)
    if thinks:
        negated ^= thinks["not"] is not None
    elif _compiled(UNCLEAR).search(before) or _compiled(SKIPPED_BEFORE).search(before):
        return None
    if _is_asked(text, found.end()) or _compiled(r"\s?(?:or|and)\s(?:\w+\s)?(?:not|false|true|wrong)").match(
        text, found.end()
    ):
        return None
    return (named in TRUE_WORDS) != negated


def _placed(found: _Verdict, sentences: list[_Sentence], asked: Asked) -> _Verdict | None:
    """A word for yes or no in the middle of a reply, if it draws the conclusion or speaks of what was asked."""
    if found.kind is not _Kind.CONCLUDED:
        return found
    number = max(0, bisect_right(sentences, found.at, key=_begin) - 1)
    own = sentences[number]
    before, after = own.text[: found.at - own.at], own.text[found.at - own.at :]
    before = _compiled(r"(?:contrary\sto|unlike|despite|regardless\sof)\s[^,;]{1,80},\s").sub("", before)
    if _compiled(REPORTED).search(before) and not _compiled(rf"(?<!\w){CONTRAST}").search(before):
        return None
    if _compiled(rf"(?:^|[,:;]\s|\s)(?:and\s)?{MARKED}[,:]?\s(?:[^.;!?\n]{{0,30}}\s)?$").search(before):
        return found._replace(concludes=True)
    if number and sentences[number - 1].asks and not before.strip(" *-|"):
        return found if _asks_the_same(sentences, number - 1, asked) else None
    if (
        number == 0
        or (number < 3 and own.at + len(own.text) < 100)
        or (not content(after) and number == len(sentences) - 1)
    ):
        return found
    if "|" in own.text:
        return None
    if before.strip(" *-"):
        own_voice = _compiled(
            r"(?<!\w)(?:(?:i|we)(?:'d|'ll|'m|\swould|\swill|\sam)?\s[^.,;!?\n]{0,40}|my\s[^.,;!?\n]{0,40}|(?:answer|that|it|this)(?:'s|\s(?:is|would\sbe|must\sbe|seems|has\sto\sbe))\s(?:an?\s)?(?:\w+\s)?)$"
        ).search(before)
        return found if own_voice else None
    about = {word for word, _ in signed(after, frozenset(asked.words))} & set(asked.words)
    return found if about or not content(after) else None


def _begin(sentence: _Sentence) -> int:
    return sentence.at


def _asks_the_same(sentences: list[_Sentence], number: int, asked: Asked) -> bool:
    """Whether a reply asks itself what it was asked, and not for one of several steps."""
    own, known = set(content(sentences[number].text)), set(asked.words)
    if not own:
        return len([*islice((one for one in sentences if one.asks), 2)]) == 1
    return own <= known or len(own & known) >= 0.6 * len(known)


def _answers(text: str, sentences: list[_Sentence], asked: Asked) -> Iterator[_Verdict]:
    """What the sentences of a reply say about the question in other words."""
    count = len(sentences)
    reported: bool | None = None
    for number, one in enumerate(sentences):
        if one.asks or SENTENCES <= number < count - SENTENCES:
            continue
        first, last = number == 0, number == count - 1
        if (
            (first or last)
            and count > 1
            and len(one.text) <= 40
            and (label := _label(one.text.strip(" →-=>•*"), asked, heads=True)) is not None
        ):
            yield _Verdict(one.at, label, _Kind.JUDGED, True)
            continue
        if (
            found := _in_other_words(
                one,
                asked,
                first or (sentences[number - 1].asks and _asks_the_same(sentences, number - 1, asked)),
                last and (first or not sentences[number - 1].asks),
            )
        ) is not None:
            yield found
            if found.kind is _Kind.SAID:
                continue
        open_ended = _compiled(UNKNOWN).search(one.text) is not None
        concludes = skips = False
        at = 0
        for clause in _clauses(one.text):
            start = one.text.find(clause, at)
            at = start + len(clause)
            lead = _compiled(LEAD).match(clause)
            bare = clause[lead.end() :] if lead else clause
            marked = (
                lead is not None
                and _compiled(rf"[\s*#>•\-–—|→()\[\]]*(?:{MARKED})").match(clause) is not None
            )
            turned = lead is not None and _compiled(CONTRAST).search(lead[0]) is not None
            concludes = concludes or marked or turned
            if marked or turned:
                skips = False
            if reported is not None and (
                (turned and _compiled(OTHERWISE).search(bare)) or _compiled(FLIPS_REPORT).search(bare)
            ):
                yield _Verdict(one.at + start, not reported, _Kind.JUDGED, True)
                reported = None
                continue
            if _compiled(CONCEDES).match(bare):
                continue
            if _compiled(REPORTED).search(bare):
                skips = True
                word = _compiled(
                    r"(?<!\w)(?:yes|no|true|false|oui|non|ja|nein|sí|да|нет)(?!\w)(?!\s(?!earlier|before|above|at|first|to)\w)"
                ).search(bare)
                if word is not None:
                    reported = _phrases().get(word[0])
                    if reported is not None and _compiled(
                        r"(?:nobody|no\sone|only\san?)(?!\w).*(?<!\w)(?:would|could|can)(?!\w)"
                    ).match(bare):
                        yield _Verdict(one.at + start, not reported, _Kind.JUDGED, True)
                elif _compiled(r"(?<!\w)(?:that|this|it|so)\W*$").search(bare):
                    reported = True  # what was asked
                continue
            if skips or not bare.strip() or (open_ended and not (marked or turned)):
                continue
            if (
                first
                and not start
                and len(clause) <= 30
                and (label := _label(clause.strip(), asked, heads=True)) is not None
            ):
                yield _Verdict(one.at, label, _Kind.JUDGED, True)
                break
            so = _compiled(SAYS_SO).fullmatch(bare.strip()) if marked or turned else None
            if so:
                yield _Verdict(one.at + start, so["yes"] is not None, _Kind.SAID, True)
                continue
            judged = _judged(bare, one.text, asked)
            if judged is not None:
                firm = asked.judges and _compiled(r"(?:the|this|that|your)\s\w").match(bare) is not None
                yield _Verdict(
                    one.at + start, judged, _Kind.FIRM if firm else _Kind.JUDGED, concludes or last
                )
            elif (
                restated := restates(asked, bare, one.text, concludes, concludes or last or first)
            ) is not None:
                yield _Verdict(one.at + start, restated, _Kind.RESTATED, concludes or last)


def _clauses(sentence: str) -> list[str]:
    return [one for one in _compiled(CLAUSE_BREAK).split(sentence[:1_200]) if one and one.strip(" *#-")][:24]


def _in_other_words(one: _Sentence, asked: Asked, opens: bool, last: bool) -> _Verdict | None:
    """`It does.`, `I'd say so.`, `Generally no.`, at the beginning of a sentence that opens or ends the reply."""
    if not (opens or last):
        return None
    text = one.text.lstrip(" *#>-–—|→()[]")
    lead = _compiled(rf"(?:{HEDGES}[,:…]*\s){{0,4}}").match(text)
    begin = lead.end() if lead else 0
    kind = _Kind.OPENS if opens and one.at == 0 else _Kind.SAID
    for at in {begin, 0}:
        word = _compiled(rf"{_phrase_pattern()}(?!\w|'|-\w)").match(text, at)
        if (
            word
            and _compiled(NOT_A_NOUN).match(text, word.end())
            and (opens or word.end() >= len(text.rstrip()))
        ):
            if word["phrase"] in OPENS_WEAKLY and text[word.end() : word.end() + 1] not in ("", "!"):
                continue
            if _compiled(r"\s?(?:and|or|/)\s?(?:yes|no|true|false)|\s?:\s?[\d.]").match(text, word.end()):
                return None
            if (_is_truth(word["phrase"]) and asked.sign < 0) or _compiled(SPEAKS_OF_ELSE).match(
                text, word.end()
            ):
                return None
            return _Verdict(one.at, _phrases()[word["phrase"]], kind, last)
        if at and _compiled(r"not(?=\s?(?:[.,;:!–—]|$|because|since))").match(text, at):
            return _Verdict(one.at, False, kind, last)
    if _compiled(CONDITIONAL).search(text) and not opens:
        return None
    if asked.auxiliary and _compiled(r"(?:it|he|she|they|that|there)\sused\sto(?:\sbe)?(?=\s?[,.;]|$)").match(
        text, begin
    ):
        return (
            _Verdict(one.at, False, _Kind.SAID, last) if asked.text.startswith(("is", "are", "do")) else None
        )
    said = _compiled(ANAPHOR).match(text, begin) or _ellipsis(text, begin, asked)
    if said:
        named = said.groupdict()
        negated = any(named.get(name) for name in ("not", "not2", "not3", "never"))
        aux = (
            named["aux"]
            or {"won't": "will", "can't": "can"}.get(named.get("never") or "")
            or ("is" if named.get("short") else "are")
        )
        if (
            not asked.auxiliary
            or asked.auxiliary & {aux, {"does": "do", "was": "is"}.get(aux, aux)}
            or asked.judges
        ):
            return _Verdict(one.at, negated == (asked.judges and asked.sign < 0), _Kind.SAID, last)
    said = _compiled(SAYS_SO).match(text, begin) or _compiled(SAYS_SO).match(text)
    if said and _compiled(
        r"\s?(?:[.,;:!–—(]|$)|\s(?:that|because|since|with|as|to|it|by|for|of|in|the|this|that|any)(?!\w)"
    ).match(text, said.end()):
        return _Verdict(one.at, said["yes"] is not None, _Kind.SAID, last)
    return None


def _ellipsis(text: str, begin: int, asked: Asked) -> re.Match[str] | None:
    """`Male seahorses do.`: the subject of the question with its verb."""
    found = _compiled(
        rf"(?P<subject>[^.,;:!?]{{2,60}})\s(?P<aux>{AUX})(?P<not>n't|\snot)?(?=\s?[.,;:!]|$)"
    ).match(text, begin)
    subject = content(found["subject"]) if found else ()
    if found and _compiled(r"(?<!\w)(?:only|some|most|many|few|not|no|none|almost|just)(?!\w)").search(
        found["subject"]
    ):
        return None
    return found if subject and subject == asked.words[: len(subject)] else None


def _judged(clause: str, sentence: str, asked: Asked) -> bool | None:
    """What a clause says about the claim of the question: `The passage contradicts it`."""
    found = _compiled(JUDGES).search(clause, 0, 300)
    if found is None:
        return _truth_of_subject(clause, asked) if asked.judges else None
    before = clause[: found.start()]
    if _compiled(UNCLEAR).search(before) or _compiled(CONDITIONAL).search(clause):
        return None
    if _compiled(GRANTS).match(sentence, sentence.find(clause) + found.end()):
        return None
    negated = any(found[name] for name in ("not", "not2", "not3"))
    if found["mentions"]:
        if negated and asked.supports and not _compiled(r"(?<!\w)(?:whether|if)(?!\w)").search(clause):
            return asked.sign < 0
        return None
    good = any(found[name] for name in ("supports", "holds", "backs", "backs2"))
    if not good and negated and not found["disputes"]:
        return None  # what is not contradicted need not be true
    if (found["backs"] or found["opposes"]) and not (asked.judges or asked.supports):
        return None
    if (found["supports"] or found["disputes"]) and _compiled(
        r"\s(?:to|now|next|away|answer|way|key|side|that|about|for|only|if|when|until|in\s(?:part|some|the\ssense))(?!\w)"
    ).match(clause, found.end()):
        return None
    if _compiled(
        r"(?<!\w)(?:partly|partially|half|somewhat|not\sentirely|not\sfully|not\scompletely)(?!\w)"
    ).search(found[0]):
        return None
    return (good != negated) == (asked.sign > 0)


def _truth_of_subject(clause: str, asked: Asked) -> bool | None:
    """What a clause says of what the question asks to be correct: `The attribution is mistaken`."""
    if not _compiled(
        r"(?:is|are|was|were)\s.*(?:true|correct|right|accurate|valid|acceptable|grammatical|false|wrong|incorrect|inaccurate|mistaken|justified|sound)(?:\s\w+)?$"
    ).match(asked.text):
        return None
    found = _compiled(
        rf"^(?P<subject>[^.;!?\n]{{1,120}}?)\s(?:is|are|was|were)(?P<not>\snot|n't)?\s{ADVERBS}(?:itself\s)?(?:(?P<good>{SUPPORTS}|fine(?!\w)|acceptable(?!\w)|okay(?!\w)|ok(?!\w)|grammatical)|(?P<bad>{DISPUTES}|off(?!\w)|ungrammatical))"
    ).match(clause[:300])
    if found is None or (
        not set(content(found["subject"])) & set(content(asked.text))
        and not _compiled(r"(?:the|your|this|that)\s(?:sentence|statement|claim|answer)").match(clause)
    ):
        return None
    if _compiled(CONDITIONAL).search(clause):
        return None
    return ((found["good"] is not None) != (found["not"] is not None)) == (asked.sign > 0)


def _decided(text: str, verdicts: list[_Verdict]) -> bool | None:
    """The verdict of a reply whose question is not known."""
    if not verdicts:
        return None
    if len({one.yes for one in verdicts}) == 1:
        return verdicts[0].yes
    last = verdicts[-1]
    for number, one in enumerate(verdicts[:-1]):
        following = verdicts[number + 1]
        if one.yes != following.yes and _corrects(text, one.at, following.at):
            return last.yes
    if verdicts[0].kind is _Kind.OPENS:
        first = verdicts[0].yes
        if verdicts[1].yes != first and verdicts[1].at - verdicts[0].at <= AT_ONCE:
            return None  # "Yes, it's false."
        return first if all(one.yes == first for one in verdicts if one.kind >= _Kind.CONCLUDED) else None
    begin = max(text.rfind(mark, max(0, last.at - 400), last.at) for mark in ".;!?\n") + 1
    return last.yes if _compiled(CONCLUSION).search(text, begin, last.at) else None


def _settled(text: str, verdicts: list[_Verdict], asked: Asked) -> bool | None:
    """The verdict of a reply to a known question."""
    if asked.negative or asked.sign < 0:
        words = [one for one in verdicts if one.kind >= _Kind.CONCLUDED]
        verdicts = words or verdicts  # `Yes, it is not.`
    taken_back = [found.start() for found in _compiled(TAKES_BACK).finditer(text)]
    if taken_back and verdicts:
        after = max(taken_back)
        later = [one for one in verdicts if one.at >= after]
        if later:
            verdicts = later
        else:
            return None
    strong = verdicts
    if not strong:
        return None
    if len({one.yes for one in strong}) == 1:
        return strong[0].yes
    first, last = strong[0], strong[-1]
    if first.kind is _Kind.OPENS:
        against = [one for one in strong if one.yes != first.yes and one.kind >= _Kind.FIRM]
        if against and all(one.kind is _Kind.CONCLUDED and not one.concludes for one in against):
            granted = len(against) > 1 or _compiled(
                r"[.!?\n]\s?(?:but|however|yet|still|and\s(?:yes|no))(?!\w)"
            ).search(text, against[-1].at)
            if granted:
                return first.yes  # `No. Yes, they look alike. But …`
        return None if against else first.yes
    concluding = [one for one in strong if one.concludes]
    if concluding and concluding[-1] is last and len({one.yes for one in concluding}) == 1:
        return last.yes
    if (
        concluding
        and concluding[-1] is last
        and last.kind >= max(one.kind for one in strong[:-1] if one.yes != last.yes)
    ):
        return last.yes
    return None


def _corrects(text: str, earlier: int, later: int) -> bool:
    return _compiled(CORRECTION).search(text, max(earlier, later - 400), later) is not None


def _is_remark(text: str, at: int) -> bool:
    """Whether the sentence that contains `at` is a remark about another case."""
    begin = max(text.rfind(mark, max(0, at - 400), at) for mark in ".;!?\n") + 1
    return _compiled(OTHER_CASE).search(text, begin, at) is not None


def _is_asked(text: str, end: int) -> bool:
    """Whether the sentence that goes on at `end` is a question."""
    stop = _compiled(r"[.!?\n。？]").search(text, end, end + 200)
    return stop is not None and stop[0] in "?？"


def _is_either(text: str, at: int) -> bool:
    """Whether a word is part of `yes or no`."""
    either = _compiled(EITHER).finditer(text, max(0, at - 24), at + 32)
    return any(found.start() <= at < found.end() for found in either)


@cache
def _phrases() -> dict[str, bool]:
    return {
        phrase.replace("_", " "): yes for words, yes in ((YES, True), (NO, False)) for phrase in words.split()
    }


@cache
def _phrase_pattern() -> str:
    known = sorted(map(re.escape, _phrases()), key=len, reverse=True)
    return f"(?P<phrase>{'|'.join(known)})"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)

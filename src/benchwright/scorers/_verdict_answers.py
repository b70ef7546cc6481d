"""What the sentences of a reply say about the question in other words: clause by clause, each with what was said before it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, TypeAlias

from benchwright.core import FAST_PATHS
from benchwright.scorers._asked import YesNoQuestion
from benchwright.scorers._restated import FORMS, leans, of_another, restates, shares
from benchwright.scorers._triggers import Triggers, gate_of, words_of
from benchwright.scorers._verdict_clauses import (
    Kind,
    Sentence,
    SpottedVerdict,
    asks_the_same,
    in_other_words,
    judged_claim,
    label_of,
)
from benchwright.scorers._verdict_phrases import compiled, phrases
from benchwright.scorers._verdict_words import (
    BESIDE,
    BREAK_WORDS,
    CLAUSE_BREAK,
    CONCEDES,
    CONTRAST,
    FLIPS_REPORT,
    FOUND_THAT,
    JUDGES,
    LEAD,
    MARKED,
    OTHERWISE,
    REPORTED,
    SAYS_SO,
    SENTENCES,
    UNKNOWN,
    WITHIN,
)

_Leaning: TypeAlias = tuple[bool, frozenset[str]]
"""Whether something affirms, and which words of the question it does so with."""
_REPORTED_WORD = r"(?<!\w)(?:yes|no|true|false|oui|non|ja|nein|sí|да|нет)(?!\w)(?!\s(?!earlier|before|above|at|first|to)\w)"


_UNBROKEN = frozenset(",:–—-(→…")
"""Signs without which only a word begins a new clause."""
_JUDGED = 300
"""Characters of a clause that may judge."""
_LED_BY_MARK = rf"[\s*#>•\-–—|→()\[\]]*(?:{MARKED})"


class _Clause(NamedTuple):
    at: int
    """Its place in the sentence."""
    end: int
    text: str
    bare: str
    """Without the words that lead in."""
    marked: bool
    """Whether they say that it is the conclusion."""
    turned: bool
    """Whether they say that it is otherwise than what was said before."""


class AnswerClauses:
    """Reads one reply to a known question."""

    def __init__(self, text: str, sentences: list[Sentence], asked: YesNoQuestion) -> None:
        self._text = text
        self._may = gate_of(text)
        self._sentences = sentences
        self._asked = asked
        self._reported: bool | None = None
        """What others were said to say."""
        self._deciding: list[_Leaning] = []
        self._leaning: list[tuple[int, _Leaning]] = []
        self._concludes = self._skips = False
        """Whether the sentence draws a conclusion so far, and whether its clauses report what others say."""
        self._before: list[_Leaning] = []
        """What the clauses before it in the sentence say."""

    def read(self) -> Iterator[SpottedVerdict]:
        """All verdicts, and for what contradicts one of them both yes and no, supposed."""
        count = len(self._sentences)
        for number, one in enumerate(self._sentences):
            if not one.asks and not SENTENCES <= number < count - SENTENCES:
                yield from self._of_sentence(number, one)
        for at, (affirms, about) in self._leaning:
            if any(affirms != other and words and words <= about for other, words in self._deciding):
                yield from (SpottedVerdict(at, yes, Kind.SUPPOSED, False) for yes in (True, False))

    def _search(self, pattern: str, part: str) -> re.Match[str] | None:
        """The first match in a sentence or a clause of the text."""
        return compiled(pattern).search(part) if self._may[pattern] else None

    def _of_sentence(self, number: int, one: Sentence) -> Iterator[SpottedVerdict]:
        asked, sentences = self._asked, self._sentences
        first, last = number == 0, number == len(sentences) - 1
        if (first or last) and len(sentences) > 1 and len(one.text) <= 40:
            label = label_of(one.text.strip(" →-=>•*"), asked, heads=True)
            if label is not None:
                yield SpottedVerdict(one.at, label, Kind.JUDGED, True)
                return
        follows = number > 0 and sentences[number - 1].asks
        opens = first or (follows and asks_the_same(sentences, number - 1, asked))
        found = in_other_words(one, asked, opens, last and (first or not follows), self._may)
        if found is not None:
            yield found
            if found.kind is Kind.SAID:
                return
        beside = self._search(BESIDE, one.text)
        if beside and leans(asked, one.text[beside.end() :])[1]:
            return  # `The abstract says …, whereas the table says …`
        if (
            self._may[FOUND_THAT]
            and len(compiled(FOUND_THAT).findall(one.text)) > 1
            and not self._search(REPORTED, one.text)
        ):
            return
        if (
            FAST_PATHS
            and not (first or asked.judges or shares(asked, one.text))
            and _speaks().none_in(words_of(one.text))
        ):
            return  # Nothing in it is about the question, concludes anything or tells what others say.
        open_ended = self._search(UNKNOWN, one.text) is not None
        self._concludes, self._skips, self._before = False, False, []
        for clause in _clauses(one.text, self._may[BREAK_WORDS]):
            self._concludes |= clause.marked or clause.turned or self._search(WITHIN, clause.bare) is not None
            if clause.marked or clause.turned:
                self._skips = False
            if self._is_others(clause):
                yield from self._of_others(one, clause)
                continue
            if (
                self._skips
                or not clause.bare.strip()
                or (open_ended and not (clause.marked or clause.turned))
            ):
                continue
            if first and not clause.at and (label := self._heading(one, clause)) is not None:
                rest = leans(asked, one.text[clause.end :])
                if not rest[1] or rest[0] == leans(asked, clause.text)[0]:
                    yield SpottedVerdict(one.at, label, Kind.JUDGED, True)
                return
            yield from self._own(one, clause, first or last)

    def _is_others(self, clause: _Clause) -> bool:
        """Whether a clause speaks of what others say, concedes something, or says that others are wrong."""
        return (
            self._flips(clause)
            or compiled(CONCEDES).match(clause.bare) is not None
            or self._search(REPORTED, clause.bare) is not None
        )

    def _flips(self, clause: _Clause) -> bool:
        return self._reported is not None and (
            (clause.turned and compiled(OTHERWISE).search(clause.bare) is not None)
            or compiled(FLIPS_REPORT).search(clause.bare) is not None
        )

    def _of_others(self, one: Sentence, clause: _Clause) -> Iterator[SpottedVerdict]:
        at, bare = one.at + clause.at, clause.bare
        if self._flips(clause):
            yield SpottedVerdict(at, not self._reported, Kind.JUDGED, True)
            self._reported = None
            return
        if compiled(CONCEDES).match(bare):
            if clause.at and not self._search(REPORTED, bare):
                self._leaning.append((at, leans(self._asked, bare)))
            return
        self._skips = True
        word = compiled(_REPORTED_WORD).search(bare)
        if word is None:
            if compiled(r"(?<!\w)(?:that|this|it|so)\W*$").search(bare):
                self._reported = True  # what was asked
            return
        self._reported = phrases().get(word[0])
        nobody = r"(?:nobody|no\sone|only\san?)(?!\w).*(?<!\w)(?:would|could|can)(?!\w)"
        if self._reported is not None and compiled(nobody).match(bare):
            yield SpottedVerdict(at, not self._reported, Kind.JUDGED, True)

    def _heading(self, one: Sentence, clause: _Clause) -> bool | None:
        """What the first clause of a reply says if it is the name of a class."""
        if len(clause.text) > 30 or compiled(r"\s?:\s?(?:no|not|false|0)(?!\w)").match(one.text, clause.end):
            return None
        return label_of(clause.text.strip(), self._asked, heads=True)

    def _own(self, one: Sentence, clause: _Clause, at_an_end: bool) -> Iterator[SpottedVerdict]:
        """What a clause says in the reply's own voice."""
        asked, bare, at = self._asked, clause.bare, one.at + clause.at
        so = compiled(SAYS_SO).fullmatch(bare.strip()) if clause.marked or clause.turned else None
        if so:
            yield SpottedVerdict(at, so["yes"] is not None, Kind.SAID, True)
            return
        may_judge = asked.judges or len(bare) > _JUDGED or self._may[JUDGES]
        judged = judged_claim(bare, one.text, asked) if may_judge else None
        if judged is not None:
            firm = asked.judges and compiled(r"(?:the|this|that|your)\s\w").match(bare) is not None
            yield SpottedVerdict(at, judged, Kind.FIRM if firm else Kind.JUDGED, self._concludes)
            return
        if not (self._concludes or shares(asked, bare) or any(self._may[form] for form in FORMS)):
            return
        after = self._text[one.at + clause.end :][:200]
        restated = restates(
            asked, bare, one.text, self._concludes, self._concludes or at_an_end, self._may, after
        )
        if restated is not None:
            own = leans(asked, bare)
            if clause.turned and any(
                own[0] != other and own[1] and own[1] <= words for other, words in self._before
            ):
                self._concludes = False  # `It is warm for adults, but it is not warm for children.`
            yield SpottedVerdict(at, restated, Kind.RESTATED, self._concludes)
            self._deciding.append(own)
            self._before.append(own)
        elif not compiled(r"(?<!\w)(?:whether|ob|si|se)(?!\w)").search(bare):
            self._leaning.append((at, leans(asked, bare)))
            if not of_another(asked, bare):
                self._before.append(leans(asked, bare))


@cache
def _speaks() -> Triggers:
    """The words by which a sentence without words of the question can answer it, or tell what others say."""
    return Triggers(
        (REPORTED, CONCEDES, JUDGES, MARKED, CONTRAST, WITHIN, SAYS_SO, FLIPS_REPORT, OTHERWISE, *FORMS)
    )


def _clauses(sentence: str, may_break: bool) -> Iterator[_Clause]:
    breaks = may_break or not _UNBROKEN.isdisjoint(sentence)
    parts = [sentence]
    if breaks:
        parts = [one for one in compiled(CLAUSE_BREAK).split(sentence[:1_200]) if one and one.strip(" *#-")][
            :24
        ]
    end = 0
    for text in parts:
        at = sentence.find(text, end)
        end = at + len(text)
        lead = compiled(LEAD).match(text)
        marked = lead is not None and compiled(_LED_BY_MARK).match(text) is not None
        turned = lead is not None and compiled(CONTRAST).search(lead[0]) is not None
        yield _Clause(at, end, text, text[lead.end() :] if lead else text, marked, turned)

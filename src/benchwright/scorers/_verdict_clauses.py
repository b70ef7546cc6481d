"""What the sentences and clauses of a reply say: words for yes and no, judgements, answers with a pronoun, classes and repetitions of
the question, each with its place and its kind.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from enum import IntEnum
from itertools import islice
from typing import NamedTuple

from benchwright.scorers._asked import YesNoQuestion, content, signed
from benchwright.scorers._restated import TO_SOME, names_else, restates
from benchwright.scorers._stems import places
from benchwright.scorers._triggers import Gate, gate_of
from benchwright.scorers._verdict_phrases import (
    compiled,
    is_asked,
    is_either,
    is_negated,
    is_remark,
    is_truth,
    phrased,
    phrases,
    whole_verdict,
)
from benchwright.scorers._verdict_words import (
    ADVERBS,
    ANAPHOR,
    ASKS_FOR_ANY,
    AUX,
    BY_ITSELF,
    CLASSIFIES,
    CONDITIONAL,
    CONTRAST,
    CORRECTS,
    DISPUTES,
    GRANTS,
    HEDGES,
    IF,
    INSTEAD,
    JUDGES,
    JUDGING,
    LABELLED,
    LEADS_IN,
    MARKED,
    MEANT,
    NONE,
    NOT_A_NOUN,
    OPENS_NOTHING,
    OPENS_WEAKLY,
    OTHER_CASES,
    PREDICATE,
    PREDICATE_CHARS,
    PREDICATE_STEMS,
    PREDICATE_WORDS,
    REACH,
    READ,
    REPORTED,
    SAYS_SO,
    SENTENCE_END,
    SKIPPED_BEFORE,
    SOLE,
    SPEAKS_OF_ELSE,
    SUPPORTS,
    THINKS,
    TRUE_WORDS,
    UNCLEAR,
)

_CONTRASTS = rf"(?<!\w){CONTRAST}"
_CONCLUDING = rf"(?:^|[,:;]\s|\s)(?:and\s)?{MARKED}[,:]?\s(?:[^.;!?\n]{{0,30}}\s)?$"
_HEDGED = rf"(?:{HEDGES}[,:…]*\s){{0,4}}"
_SUBJECT_AND_VERB = rf"(?P<subject>[^.,;:!?]{{2,60}})\s(?P<aux>{AUX})(?P<not>n't|\snot)?(?=\s?[.,;:!]|$)"
_SUBJECT_JUDGED = rf"^(?P<subject>[^.;!?\n]{{1,120}}?)\s(?:is|are|was|were)(?P<not>\snot|n't)?\s{ADVERBS}(?:itself\s)?(?:(?P<good>{SUPPORTS}|fine(?!\w)|acceptable(?!\w)|okay(?!\w)|ok(?!\w)|grammatical)|(?P<bad>{DISPUTES}|off(?!\w)|ungrammatical))"
_NO_LABEL = rf"(?<!\w)(?:{AUX}|cannot|never|i|you|it|they|we|he|she|more)(?!\w)|n't"
_JUDGING_LABEL = rf"(?P<not>not\s)?(?:{ADVERBS})(?:(?P<yes>{SUPPORTS}|support(?:s|ed)|entail(?:s|ment|ed)?|follows?)|(?P<no>{DISPUTES}|neutral|contradict(?:s|ion|ed)?|not\senough\sinfo(?:rmation)?|unsupported))"


class Kind(IntEnum):
    """How a verdict is given; of higher kinds one decides."""

    SUPPOSED = 0
    """Under a condition: it never decides, but opposes."""
    RESTATED = 1
    SAID = 2
    """With a pronoun: `It does.`"""
    JUDGED = 3
    FIRM = 4
    """A judgement of `the statement` itself."""
    CONCLUDED = 5
    """A word for yes or no that draws the conclusion or is a sentence."""
    OPENS = 6


class SpottedVerdict(NamedTuple):
    at: int
    yes: bool
    kind: Kind
    concludes: bool
    """Whether it draws the conclusion."""


class Sentence(NamedTuple):
    at: int
    text: str
    asks: bool


def split_sentences(text: str) -> list[Sentence]:
    found = []
    start = 0
    for stop in compiled(SENTENCE_END).finditer(text):
        if text[start : stop.start()].strip(" .*#-|"):
            found.append(Sentence(start, text[start : stop.start()], stop[0] in "?？"))
        start = stop.end()
    if text[start:].strip(" .*#-|"):
        found.append(Sentence(start, text[start:], False))
    return found


def words_of(text: str, begin: int, asked: YesNoQuestion | None) -> list[SpottedVerdict]:
    """The words for yes and no of a text from `begin` on, and what says that it is true or false, in order."""
    found: list[SpottedVerdict] = []
    may = gate_of(text)
    arrows = 0 if text.isascii() else sum(map(text.count, "→⇒"))
    for word in compiled(BY_ITSELF).finditer(text, begin) if may[BY_ITSELF] else ():
        at = word.start("word")
        before = text[max(0, at - REACH) : at]
        if not compiled(NOT_A_NOUN).match(text, word.end()):
            continue
        led = compiled(LEADS_IN).search(text, max(0, at - 14), at)
        if led is None or is_either(text, at):
            continue
        if arrows and text[led.start()] in "→⇒" and (arrows > 1 or text[word.end() :].strip(" .!\n")):
            continue  # a list or a case: `fur → yes, feathers → no`
        if compiled(r"\s?:\s?[\d.]").match(text, word.end()) or is_asked(text, word.end()):
            continue
        if compiled(SKIPPED_BEFORE).search(before):
            continue
        if before.endswith("would be ") and is_remark(text, at):
            continue
        if compiled(
            r"(?<!\w)(?:in\sfavou?r\sof|for|against|of|than|between|either)\s(?:an?\s|the\s)?$"
        ).search(before):
            continue
        if word["word"] in JUDGING and compiled(r"(?<!\w)(?:be|is|a|that)\s$").search(before):
            continue  # a predicate
        kind = Kind.OPENS if not before.strip(" \n([{") else Kind.CONCLUDED
        if compiled(IF).search(before) or compiled(OTHER_CASES).search(before):
            sole = compiled(SOLE).fullmatch(text, 0, at) and not text[word.end() :].strip(" .!\n")
            kind = Kind.CONCLUDED if sole or compiled(MEANT).search(before) else Kind.SUPPOSED
        if asked is not None and compiled(SPEAKS_OF_ELSE).match(text, word.end()):
            continue
        found.append(SpottedVerdict(at, phrases()[word["word"]], kind, False))
    for predicate in _predicates(text, begin) if may[PREDICATE_WORDS] else ():
        verdict = _of_predicate(text, predicate)
        if asked is not None and compiled(GRANTS).match(text, predicate.end()):
            continue
        if verdict is not None and not is_either(text, predicate.end() - 1):
            if asked is not None and asked.sign < 0:
                verdict = not verdict
            found.append(SpottedVerdict(predicate.start(), verdict, Kind.JUDGED, False))
    return sorted(found)


def _predicates(text: str, begin: int) -> Iterator[re.Match[str]]:
    """The predicates of a text: only sentences with one of their words are searched."""
    end = begin
    for at in reversed(places(text, PREDICATE_STEMS, begin, None, READ)):
        if at < end:
            continue
        start = max(end, at - PREDICATE_CHARS, *(text.rfind(mark, begin, at) + 1 for mark in ".!?;"))
        for found in compiled(PREDICATE).finditer(text, start, at + 80):
            yield found
            end = found.end()
        end = max(end, at + 1)


def whole_sentences(sentences: list[Sentence]) -> list[SpottedVerdict]:
    """Whole sentences that are a verdict: `Absolutely.`; they count if nothing else does, because they also begin replies."""
    return [
        SpottedVerdict(one.at, verdict, Kind.CONCLUDED, False)
        for one in sentences
        if not one.asks and len(one.text) <= 40 and (verdict := whole_verdict(one.text)) is not None
    ]


def opening(text: str) -> list[SpottedVerdict]:
    """A verdict in other words that opens the reply: `Indeed, she won it twice.`; they count if nothing else does."""
    found = phrased(r"(?=\s?[,;–—]\s|\s?:\s(?!(?:no|false)(?!\w))[^\d.])").match(text)
    if found is None or compiled(SPEAKS_OF_ELSE).match(text, found.end()) or found["phrase"] in OPENS_NOTHING:
        return []
    if compiled(r"(?<!\w)(?:but|however|aber|mais|pero|ma|mas|но)(?!\w)").search(text, 0, 200):
        return []
    return [SpottedVerdict(0, phrases()[found["phrase"]], Kind.OPENS, False)]


def _of_predicate(text: str, found: re.Match[str]) -> bool | None:
    named = found["word"] or found["wort"] or found["mot"] or found["palabra"] or found["slovo"]
    if named is None:
        if "stimmt" not in found[0]:
            return None
        named = "richtig"
    before = text[max(0, found.start() - REACH) : found.start()]
    negated = any(found[name] for name in ("not", "cannot", "nicht", "pas", "no", "ne"))
    if compiled(r"(?<!\w)(?:not\s(?:all|everything)|some|part|half|most)(?:\sof)?\s$").search(before):
        return None
    if compiled(r"(?<!\w)(?:none\sof|nothing\s(?:about|in)|no\spart\sof)\s$").search(before):
        negated = not negated
    thinks = compiled(THINKS).search(before)
    if thinks:
        negated ^= thinks["not"] is not None
    elif compiled(UNCLEAR).search(before) or compiled(SKIPPED_BEFORE).search(before):
        return None
    if is_asked(text, found.end()) or compiled(r"\s?(?:or|and)\s(?:\w+\s)?(?:not|false|true|wrong)").match(
        text, found.end()
    ):
        return None
    return (named in TRUE_WORDS) != negated


def placed(found: SpottedVerdict, sentences: list[Sentence], asked: YesNoQuestion) -> SpottedVerdict | None:
    """A word for yes or no in the middle of a reply, if it draws the conclusion or speaks of what was asked."""
    if found.kind is not Kind.CONCLUDED:
        return found
    number = max(0, bisect_right(sentences, found.at, key=_begin) - 1)
    own = sentences[number]
    before, after = own.text[: found.at - own.at], own.text[found.at - own.at :]
    label = compiled(r"[\W_]*(\w+(?:\s\w+)?):\W*").fullmatch(before)
    if label and any(sign < 0 for _, sign in signed(label[1], frozenset(asked.words))):
        return None  # `Negative: no`
    before = compiled(r"(?:contrary\sto|unlike|despite|regardless\sof)\s[^,;]{1,80},\s").sub("", before)
    if compiled(REPORTED).search(before) and not compiled(_CONTRASTS).search(before):
        return None
    if compiled(_CONCLUDING).search(before):
        return found._replace(concludes=True)
    if compiled(CORRECTS).fullmatch(before):
        return found._replace(concludes=True)
    if number and sentences[number - 1].asks and not before.strip(" *-|"):
        return found if asks_the_same(sentences, number - 1, asked) else None
    if (
        number == 0
        or (number < 3 and own.at + len(own.text) < 100)
        or (not content(after) and number == len(sentences) - 1)
    ):
        return found
    if "|" in own.text:
        return None
    if before.strip(" *-"):
        own_voice = compiled(
            r"(?<!\w)(?:(?:i|we)(?:'d|'ll|'m|\swould|\swill|\sam)?\s[^.,;!?\n]{0,40}|my\s[^.,;!?\n]{0,40}|(?:answer|that|it|this)(?:'s|\s(?:is|would\sbe|must\sbe|seems|has\sto\sbe))\s(?:an?\s)?(?:\w+\s)?)$"
        ).search(before)
        return found if own_voice else None
    about = {word for word, _ in signed(after, frozenset(asked.words))} & set(asked.words)
    return found if about or not content(after) else None


def _begin(sentence: Sentence) -> int:
    return sentence.at


def asks_the_same(sentences: list[Sentence], number: int, asked: YesNoQuestion) -> bool:
    """Whether a reply asks itself what it was asked, and not for one of several steps."""
    own, known = set(content(sentences[number].text)), set(asked.words)
    if not own:
        if number and sentences[number - 1].asks and is_either(sentences[number].text.strip(), 0):
            return asks_the_same(sentences, number - 1, asked)  # `Is it? Yes or no?`
        return len([*islice((one for one in sentences if one.asks), 2)]) == 1
    return own <= known or len(own & known) >= 0.6 * len(known)


def in_other_words(
    one: Sentence, asked: YesNoQuestion, opens: bool, last: bool, may: Gate
) -> SpottedVerdict | None:
    """`It does.`, `I'd say so.`, `Generally no.`, at the beginning of a sentence that opens or ends the reply."""
    if not (opens or last):
        return None
    text = one.text.lstrip(" *#>-–—|→()[]")
    lead = compiled(_HEDGED).match(text)
    begin = lead.end() if lead else 0
    kind = Kind.OPENS if opens and one.at == 0 else Kind.SAID
    for at in {begin, 0}:
        word = phrased(r"(?!\w|'|-\w)").match(text, at)
        if (
            word
            and compiled(NOT_A_NOUN).match(text, word.end())
            and (opens or word.end() >= len(text.rstrip()))
        ):
            if word["phrase"] in OPENS_WEAKLY and text[word.end() : word.end() + 1] not in ("", "!"):
                continue
            if compiled(r"\s?(?:and|or|/)\s?(?:yes|no|true|false)|\s?:\s?(?:[\d.]|(?:no|false)(?!\w))").match(
                text, word.end()
            ):
                return None
            if (is_truth(word["phrase"]) and asked.sign < 0) or compiled(SPEAKS_OF_ELSE).match(
                text, word.end()
            ):
                return None
            return SpottedVerdict(one.at, phrases()[word["phrase"]], kind, last)
        if at and compiled(r"not(?=\s?(?:[.,;:!–—]|$|because|since))").match(text, at):
            return SpottedVerdict(one.at, False, kind, last)
    if opens and compiled(NONE).match(text, begin):
        for_any = compiled(ASKS_FOR_ANY).match(asked.text) and not asked.negative and asked.sign > 0
        return SpottedVerdict(one.at, False, kind, last) if for_any else None
    if not opens and may[CONDITIONAL] and compiled(CONDITIONAL).search(text):
        return None
    if asked.auxiliary and compiled(r"(?:it|he|she|they|that|there)\sused\sto(?:\sbe)?(?=\s?[,.;]|$)").match(
        text, begin
    ):
        return (
            SpottedVerdict(one.at, False, Kind.SAID, last)
            if asked.text.startswith(("is", "are", "do"))
            else None
        )
    said = compiled(ANAPHOR).match(text, begin) or _ellipsis(text, begin, asked)
    if said:
        named = said.groupdict()
        negated = is_negated(said)
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
            return SpottedVerdict(one.at, negated == (asked.judges and asked.sign < 0), Kind.SAID, last)
    if _is_instead(text, begin, asked):
        return SpottedVerdict(one.at, False, Kind.SAID, last)
    said = None
    if may[SAYS_SO]:
        said = compiled(SAYS_SO).match(text, begin) or compiled(SAYS_SO).match(text)
    if said and any(sign < 0 for _, sign in signed(text[said.end() :], frozenset(asked.words))):
        return None  # `Nothing suggests that it is cold.`
    if said and compiled(
        r"\s?(?:[.,;:!–—(]|$)|\s(?:that|because|since|with|as|to|it|by|for|of|in|the|this|that|any)(?!\w)"
    ).match(text, said.end()):
        return SpottedVerdict(one.at, said["yes"] is not None, Kind.SAID, last)
    return None


def _ellipsis(text: str, begin: int, asked: YesNoQuestion) -> re.Match[str] | None:
    """`Male seahorses do.`: the subject of the question with its verb."""
    found = compiled(_SUBJECT_AND_VERB).match(text, begin)
    subject = content(found["subject"]) if found else ()
    if found and compiled(r"(?<!\w)(?:only|some|most|many|few|not|no|none|almost|just)(?!\w)").search(
        found["subject"]
    ):
        return None
    return found if subject and subject == asked.words[: len(subject)] else None


def _is_instead(text: str, begin: int, asked: YesNoQuestion) -> bool:
    """Whether a sentence says what it is instead of what was asked: `They're mammals, not fish.`"""
    found = compiled(INSTEAD).match(text, begin)
    if found is None or asked.negative or asked.sign < 0 or "is" not in asked.auxiliary:
        return False
    if compiled(r"(?<!\w)(?:his|her|their|its|my|your|our)\s|'s(?!\w)").search(asked.text):
        return False  # the pronoun may mean the owner
    rest = asked.text.rstrip(" ?.!").removesuffix(found["denied"].strip())
    before = rest.split()
    if len(rest) == len(asked.text.rstrip(" ?.!")) or not rest.endswith(" ") or len(before) < 2:
        return False
    if compiled(r"(?:of|in|on|to|for|by|with|from|at|as|than|or|and|about|a|an|the|very|not)").fullmatch(
        before[-1]
    ):
        return False  # only a part of what was asked
    subject = content(found["subject"])
    if not subject:
        return (
            compiled(r"(?:it|they|he|she|this|that|these|those|we|you|i)").fullmatch(found["subject"])
            is not None
        )
    return subject == asked.words[: len(subject)]


def judged_claim(clause: str, sentence: str, asked: YesNoQuestion) -> bool | None:
    """What a clause says about the claim of the question: `The passage contradicts it`."""
    if compiled(TO_SOME).search(sentence):
        return None
    found = compiled(JUDGES).search(clause, 0, 300)
    if found is None:
        return _truth_of_subject(clause, asked) if asked.judges else None
    if not found["holds"] and names_else(asked, clause, found.end()):
        return None
    before = clause[: found.start()]
    if compiled(r"(?<!\w)(?:parts?|some|half|most|sections?|bits)\sof\s$").search(before):
        return None
    if compiled(UNCLEAR).search(before) or compiled(CONDITIONAL).search(clause):
        return None
    if compiled(GRANTS).match(sentence, sentence.find(clause) + found.end()):
        return None
    negated = is_negated(found)
    if found["mentions"]:
        if negated and asked.supports and not compiled(r"(?<!\w)(?:whether|if)(?!\w)").search(clause):
            return asked.sign < 0
        return None
    good = any(found[name] for name in ("supports", "holds", "backs", "backs2"))
    if not good and negated and not found["disputes"]:
        return None  # what is not contradicted need not be true
    if good and negated and compiled(r"(?<!\w)(?:contradict|refut)").search(asked.text):
        return None  # nor is what is not supported contradicted
    if (found["backs"] or found["opposes"]) and not (asked.judges or asked.supports):
        return None
    if (found["supports"] or found["disputes"]) and compiled(
        r"\s(?:to|now|next|away|answer|way|key|side|that|about|for|only|if|when|until|in\s(?:part|some|the\ssense))(?!\w)"
    ).match(clause, found.end()):
        return None
    if compiled(
        r"(?<!\w)(?:partly|partially|half|somewhat|not\sentirely|not\sfully|not\scompletely)(?!\w)"
    ).search(found[0]):
        return None
    return (good != negated) == (asked.sign > 0)


def _truth_of_subject(clause: str, asked: YesNoQuestion) -> bool | None:
    """What a clause says of what the question asks to be correct: `The attribution is mistaken`."""
    if not compiled(
        r"(?:is|are|was|were)\s.*(?:true|correct|right|accurate|valid|acceptable|grammatical|false|wrong|incorrect|inaccurate|mistaken|justified|sound)(?:\s\w+)?$"
    ).match(asked.text):
        return None
    found = compiled(_SUBJECT_JUDGED).match(clause[:300])
    if found is None or " that " in found["subject"]:
        return None
    if not set(content(found["subject"])) & set(content(asked.text)) and not compiled(
        r"(?:the|your|this|that)\s(?:sentence|statement|claim|answer)"
    ).match(clause):
        return None
    if compiled(CONDITIONAL).search(clause):
        return None
    return ((found["good"] is not None) != (found["not"] is not None)) == (asked.sign > 0)


def label_of(text: str, asked: YesNoQuestion, *, heads: bool = False) -> bool | None:
    """What the name of a class says about a question for that class: `Not spam`; `heads`: it is a part of the reply."""
    bare = compiled(LABELLED).sub("", text.replace("_", " ").strip(" \n.!*[](){}\"'"), count=1).strip()
    if (
        not bare
        or len(bare.split()) > 4
        or compiled(r"(?:yes|no)[,;:]").match(bare)
        or compiled(_NO_LABEL).search(bare)
    ):
        return None
    if asked.supports or (asked.judges and asked.sign > 0):
        found = compiled(_JUDGING_LABEL).fullmatch(bare)
        if found:
            return (found["yes"] is not None) != (found["not"] is not None)
    words = signed(bare, frozenset(asked.words))
    if not (compiled(CLASSIFIES).match(asked.text) or any(sign < 0 for _, sign in words)):
        last = asked.words[-1] if asked.words else ""
        if heads or not any(word == last for word, _ in words):
            return None  # a heading, or the subject of the question
    if any(word in asked.words for word, _ in words) and bare not in ("yes", "no"):
        clause = f"it is {bare}"
        return restates(asked, clause, clause, True, True, Gate(clause))
    return None

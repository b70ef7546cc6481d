"""Reads whether a text says yes or no: by an explicit statement, by a reply that is a verdict, or by its clauses.

Questions, what others say, hypothetical cases and `yes or no` say nothing. Verdicts that contradict one another are no answer,
unless one corrects the other or draws the conclusion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from benchwright.scorers._mcq.view import ReplyText
from benchwright.scorers._replies import (
    ANSWER_ELSEWHERE,
    ANSWER_ELSEWHERE_STEMS,
    ANSWER_QUALIFIED,
    breaks_off,
    next_question,
)
from benchwright.scorers._restated import restates
from benchwright.scorers._stems import matches_at, places

_YES = (
    "yes yeah yep yup true correct right absolutely definitely certainly indeed sure affirmative exactly agreed obviously"
    " ja jawohl richtig stimmt korrekt wahr natürlich genau oui vrai exact bien_sûr sí si verdadero verdadera cierto correcto"
    " correcta claro vero vera sim verdade tak да верно правда конечно правильно 是 是的 对 對 对的 正确 正確 真 はい 正しい 예 네"
    " of_course yes_indeed i_agree i_think_so i_believe_so it_is it_does they_do they_are that's_right that's_correct not_false not_wrong not_incorrect i_guess_so i_suppose_so naturally por_supuesto claro_que_sí claro_que_si"
    " bien_sûr_que_oui it_can that_is_so no_problem no_doubt without_a_doubt without_doubt most_certainly sì certo certamente"
    " effectivement en_effet efectivamente effettivamente è_vero es_verdad c'est_vrai é_verdade действительно"
    " evet igen ano áno no_question_about_it no_doubt_about_it doch correto assolutamente_sì"
)
_NO = (
    "no nope nah false incorrect wrong never negative untrue disagree nein falsch unwahr inkorrekt non faux fausse falso falsa"
    " incorrecto incorrecta não nie нет неверно неправда ложь неправильно 否 不是 不 不对 不對 错 錯 错误 假 不正确 いいえ 違います 아니요"
    " 아니오 not_at_all not_really not_quite definitely_not certainly_not of_course_not absolutely_not probably_not surely_not"
    " not_true not_correct not_right i_disagree i_don't_think_so i_do_not_think_so i_don't_believe_so it_isn't it_is_not"
    " it_does_not it_doesn't they_don't no_way nicht_wahr stimmt_nicht pas_du_tout claro_que_no natürlich_nicht bien_sûr_que_non i'm_afraid_not i_think_not i_guess_not in_no_way by_no_means"
    " it_cannot it_can't on_the_contrary yeah,_no assolutamente_no absolutamente_no most_likely_not likely_not almost_certainly_not generally_not usually_not typically_not clearly_not"
    " non_è_vero no_es_verdad c'est_faux não_é_verdade"
    " apparently_not obviously_not not_anymore hayır nem nej nee"
    " wahrscheinlich_nicht sicher_nicht auf_keinen_fall probablement_pas certainement_pas probablemente_no probabilmente_no"
)
_CLAUSES = (
    "ja jawohl nein oui non sí sì sim não tak nie да нет evet hayır igen nem nej nee はい いいえ 是的 不是 不对 不 对 否 是 예 네 아니요 no_problem no_doubt"
    " no_question_about_it no_doubt_about_it yeah,_no doch without_a_doubt without_doubt of_course of_course_not"
    " probably_not most_likely_not likely_not almost_certainly_not definitely_not certainly_not absolutely_not surely_not generally_not"
    " usually_not typically_not clearly_not apparently_not obviously_not not_really not_quite not_at_all"
    " wahrscheinlich_nicht sicher_nicht natürlich_nicht auf_keinen_fall pas_du_tout probablement_pas certainement_pas probablemente_no"
    " claro_que_no claro_que_sí por_supuesto probabilmente_no bien_sûr"
)
"""Words and phrases, next to `_Y` and `_N`, that are a verdict at the beginning of a clause."""
_Y = r"(?:yes|yeah|yep|yup|true|correct|right)"
_N = r"(?:no|nope|nah|false|incorrect|wrong|untrue)"
_EITHER = (
    rf"(?<!\w)(?:{_Y}\s?(?:and|or|nor|/|\||vs\.?)\s?{_N}|{_N}\s?(?:and|or|nor|/|\||vs\.?)\s?{_Y})(?!\w)"
    r"|ja\s(?:oder|und)\snein|oui\s(?:ou|et)\snon|sí\s(?:o|y)\sno|да\s(?:или|и)\sнет|是或否|是否|是不是"
)
_STATED = (
    r"(?:(?<!\w)(?:answer|verdict|conclusion|response|label|judg(?:e)?ment|decision|prediction"
    rf"|{ANSWER_ELSEWHERE}){ANSWER_QUALIFIED}\s?"
    r"(?:(?:is|would\sbe|must\sbe|should\sbe|ist|lautet|wäre|est|es|è|é)\b\s?:?|[:=—–]|-(?=\s))|\\boxed\s?\{|</?answer>|答案\s?(?:是|为|:)?\s?:?"
    r"|(?m:^)a:)\s?[\s(\[{]{0,3}(?:(?:definitely|clearly|simply|therefore|thus|a|an|most\slikely|probably)\s){0,2}"
)
_STATED_STEMS = [
    "answer",
    "verdict",
    "conclusion",
    "response",
    "label",
    "judg",
    "decision",
    "prediction",
    *ANSWER_ELSEWHERE_STEMS,
    "\\boxed",
    "<answer>",
    "</answer>",
    "答案",
    "a:",
]
"""The words that `_STATED` begins with."""
_NOT_STATED = r"(?:(?<!\w)(?:if|whether)|(?:n't|(?<!\w)not|doubt)\s(?:think|believe|say|claim|know|sure)?(?:\sthat)?)\s(?:the\s|my\s)?$"
_SKIPPED_BEFORE = (
    r"(?<!\w)(?:some|many|others?|people|someone|most|critics|opponents|they|he|she|everyone|students?|first\sglance)(?!\w)(?:(?!\bbut\b|\bhowever\b|\byet\b)[^.;!?\n]){0,40}"
    r"(?:say|says|said|think|thinks|thought|believe|believes|claim|claims|argue|argues|answer)(?:\sthat)?\s(?:it\sis\s|it's\s)?$"
    r"|(?<!\w)(?:i|we)\s(?:\w+\s)?(?:thought|assumed|believed|expected)\s(?:that\s)?(?:it\s(?:was|is)\s)?$"
    r"|(?:n't|(?<!\w)not|never)\s(?:think|believe|say|claim|mean)(?:\s[^.,;!?\n]{0,30})?\s$|(?<!\w)used\sto\s(?:think|say|believe)\s$|(?<!\w)(?<!inclined\s)(?<!have\s)(?<!going\s)(?<!like\s)(?<!safe\s)(?<!fair\s)(?<!is\s)to\s(?:say|answer|reply|respond)(?:\swith)?(?:\sa)?\s$"
    r"|(?:n't|(?<!\w)(?:not|never|wrong|incorrect|mistaken?|error|misleading|unfair|tempt(?:ed|ing)))\s(?:[^.,;!?\n]{0,30}\s)?(?:to\s)?(?:say|answer|reply|respond)(?:\swith)?(?:\sa)?\s$|(?<!\w)(?:not|never)\s(?:a\s)?$|n't\s(?:say|mean|a)?\s?$"
)
_UNCLEAR = (
    r"(?:n't|cannot|(?<!\w)not|unable\sto)\s(?:confirm|verify|establish|conclude|be\ssure)(?!\w)[^.,;!?\n]{0,40}$|(?<!\w)(?:if|whether|evidence|proof|way|unclear|unsure|depends|could|might|may|would|unless|when|hard|ask|say|says|said|saying|show|shows"
    r"|prove|know|tell|determine|guarantee|suggests?|reason|mean|means|implies|ob|wenn|si|если)(?!\w)(?:(?!\bbut\b)[^.,;!?\n]){0,40}$"
)
_IF = r"(?<!\w)(?:if(?!\s(?:i|we)\s(?:had|have)\sto)|unless|wenn|falls|si|если)(?!\w)[^.!?\n]{0,60}$"
_THINKS = r"(?<!\w)(?:i|we)\s(?:\w+\s)?(?:(?P<not>do\snot|don't|would\snot|wouldn't|didn't|cannot|can't|doubt)\s)?(?:think|believe|would\ssay|say|feel|agree|find|conclude)(?:\sthat)?\s$"
_SUBJECT = (
    r"(?:it|that|this|which|everything|all\sof\s(?:it|this|that)|(?:the|this|that|your|its|his|her)\s(?:\w+(?:'s)?\s)?(?:statement|claim|assertion|sentence|proposition|hypothesis|premise|assumption"
    r"|conclusion|answer|question|fact|quote|equation|suggestion|idea|theory))"
)
_ADVERBS = r"(?:(?:indeed|actually|really|entirely|completely|quite|clearly|definitely|certainly|therefore|thus|also|in\sfact|simply|just|always|necessarily|strictly|fully|exactly|absolutely|factually|itself|mostly|largely|generally|technically|obviously|most|almost|likely|probably)\s){0,3}"
_PREDICATE = (
    rf"(?<!\w)(?:{_SUBJECT}(?:\s(?:is|was|seems|appears|would\sbe|must\sbe|remains|can(?P<cannot>'t|not|\snot)\sbe)|'s)|(?P<bare>{_SUBJECT})(?=\s(?:isn't|wasn't)))"
    rf"(?P<not>\snot|\snever|\shardly|\sisn't|\swasn't|n't)?\s{_ADVERBS}(?P<word>true|correct|right|accurate|valid|false|incorrect|wrong|untrue|inaccurate|a\smyth|mistaken|the\scase)(?!\w)"
    r"(?!\s(?:to|now|next|away|answer|way|key|side|that|about|for|in\s(?:part|some)|only|if|when|until|in\sthe\ssense)\b)"
    r"|(?<!\w)(?:das|es|dies|die\s(?:aussage|behauptung))\s(?:ist|stimmt)(?P<nicht>\snicht)?(?:\s(?:also|wirklich|tatsächlich|völlig))?"
    r"(?:\s(?P<wort>wahr|richtig|korrekt|falsch|unwahr))?(?=[\s.,;!]|$)"
    r"|(?<!\w)(?:c'est|cela\sest|ce\sn'est(?P<pas>\spas)|(?:l'affirmation|la\sphrase)\sest)\s(?P<mot>vrai|faux|fausse|vraie|correct|exact|incorrect)(?!\w)"
    r"|(?<!\w)(?P<no>no\s)?es\s(?P<palabra>verdadero|verdadera|cierto|correcto|falso|falsa|incorrecto)(?!\w)"
    r"|(?<!\w)это\s(?P<ne>не\s)?(?P<slovo>верно|правда|так|неверно|неправда|ложь)(?!\w)"
)
_PREDICATE_STEMS = [
    "true",
    "correct",
    "right",
    "accurate",
    "valid",
    "false",
    "wrong",
    "untrue",
    "myth",
    "mistaken",
    "case",
    "stimmt",
    "wahr",
    "richtig",
    "korrekt",
    "falsch",
    "vrai",
    "faux",
    "fausse",
    "exact",
    "verdader",
    "cierto",
    "fals",
    "правда",
    "верно",
    "так",
    "ложь",
]
"""The words that `_PREDICATE` ends with."""
_PREDICATE_CHARS = 160
"""Characters from the beginning of a predicate to such a word."""
_TRUE_WORDS = (
    "true", "correct", "right", "accurate", "valid", "the case", "wahr", "richtig", "korrekt", "vrai", "vraie", "exact", "verdadero",
    "verdadera", "cierto", "correcto", "верно", "правда", "так",
)  # fmt: skip
_BY_ITSELF = rf"(?<![\w'-])(?P<word>{'|'.join(sorted(_CLAUSES.split(), key=len, reverse=True)).replace('_', ' ')}|{_Y}|{_N})(?!\w|'|-\w)"
_LEADS_IN = (
    r"(?:^|[.,;:!?\n(\[{>–—…]|(?<!\w)(?:so|technically|strictly|basically|essentially|effectively|ultimately|also|daher|somit|donc|entonces|quindi|portanto|então|dus|итак|значит|thus|then|hence|say|mean|but|and|a|is|well|actually|therefore|probably|likely|certainly|surely|absolutely|definitely|rather|clear|be"
    r"|thought|think|believe|meant|answer|respond|says|towards?))\s?$"
)
_NOT_A_NOUN = r"\s?(?:[.,;:!()\[\]}>–—…]|\n|$)|\s(?:it|that|this|they|he|she|there|the|i|we|you|because|since|as|but|from|(?:in|for)\s(?:some|certain|other|most|many)|(?:on|in|to)\sthis)(?!\w)|\s[–—-]"
_CORRECTION = (
    r"(?<!\w)(?:wait|hold\son|actually|hmm+|sorry|correction|on\ssecond\sthought|scratch\sthat|let\sme\sre\w*|i\smean|oops|my\smistake|moment|nein,|pardon"
    r"|rather|on\sreflection|in\sfact|however)(?!\w)"
)
_CONCLUSION = r"(?<!\w)(?:so|therefore|thus|hence|in\sshort|overall|in\sconclusion|conclusion|finally|but|also|daher|donc|mais|pero|итак|но|in\ssum|to\ssum\sup)(?!\w)[^.;!?\n]{0,60}$"
_OTHER_CASE = r"(?<!\w)(?:note|n\.?b\.?|if|in(?!\s(?:fact|short|conclusion|summary|general|this\scase)\b)|otherwise|elsewhere|were)(?!\w)"
"""In a sentence that says what the answer would be: it is about another case."""
_REACH = 60
_READ = 200
"""Places of each word of predicates that are read, from the end."""
_AT_ONCE = 6


class _Verdict(NamedTuple):
    at: int
    yes: bool
    opens: bool
    """Whether it is the first word of the reply."""
    by_itself: bool
    """Whether it is a word by itself, such as `yes`."""


def read_verdict(reply: str, question: str = "") -> bool | None:
    """True: yes; False: no; None: neither, or both.

    Args:
        reply: what was answered.
        question: what was asked, if it is known: a reply without any verdict may repeat it as a statement.

    >>> [read_verdict(text) for text in ("That's not true.", "Yes and no.", "No, wait, actually yes.")]
    [False, None, True]
    """
    text = ReplyText(reply).lower.strip()
    cut = next_question(text)
    if cut is not None and (found := _read(text[:cut].strip(), question)) is not None:
        return found
    return _read(text, question)


def _read(text: str, question: str) -> bool | None:
    if not text:
        return None
    whole = _whole(text)
    if whole is not None:
        return whole
    stated = next(
        (
            (cue.end(), found)
            for cue in matches_at(_compiled(_STATED), text, places(text, _STATED_STEMS))
            if (found := _after_statement(text, cue.end())) is not None
            and not _compiled(_NOT_STATED).search(text, max(0, cue.start() - 40), cue.start())
            and not ("would be" in cue[0] and _is_remark(text, cue.start()))
        ),
        None,
    )
    either = next(matches_at(_compiled(_STATED), text, places(text, _STATED_STEMS, most=1)), None)
    if either is not None and _compiled(_EITHER).match(text, either.end()):
        return None
    if stated is not None:
        if not _compiled(_CORRECTION).search(text, stated[0]):
            return stated[1]
        later = [one for one in _verdicts(text, stated[0] + 1) if _corrects(text, stated[0], one.at)]
        return later[-1].yes if later else stated[1]
    verdicts = _verdicts(text, 0) or _sentences(text) or _opening(text)
    if not verdicts and question and not breaks_off(text) and not _compiled(_EITHER).search(text):
        return restates(question, text)
    if verdicts and breaks_off(text) and _corrects(text, verdicts[-1].at, len(text)):
        return None  # taken back, and what it is then is not said any more
    return _decided(text, verdicts)


def verdict_of_word(word: str) -> bool | None:
    """The verdict of an expected answer in words; None if it is none."""
    return _whole(word.strip().lower())


def _whole(text: str) -> bool | None:
    if len(text) > 40:
        return None
    start, end = 0, len(text)
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return _phrases().get(" ".join(text[start:end].split()))


def _after_statement(text: str, at: int) -> bool | None:
    """What is stated at `at`: a verdict, or `not` and a verdict."""
    found = _compiled(rf"(?P<not>not\s|nicht\s|pas\s)?(?:{_phrase_pattern()})(?!\w|-\w|'t)").match(text, at)
    if found is None:
        return None
    if _compiled(_EITHER).match(text, at):
        return None
    word = found["phrase"]
    if not _compiled(_NOT_A_NOUN).match(text, found.end()) and word in (
        "no",
        "right",
        "si",
        "sure",
        "wrong",
        "correct",
        "true",
        "false",
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


def _verdicts(text: str, begin: int) -> list[_Verdict]:
    """The verdicts of a text from `begin` on, in order."""
    found: list[_Verdict] = []
    for word in _compiled(_BY_ITSELF).finditer(text, begin):
        at = word.start("word")
        before = text[max(0, at - _REACH) : at]
        if not _compiled(_NOT_A_NOUN).match(text, word.end()):
            continue
        if not _compiled(_LEADS_IN).search(text, max(0, at - 14), at) or _is_either(text, at):
            continue
        if _compiled(r"\s?:\s?[\d.]").match(text, word.end()) or _is_asked(text, word.end()):
            continue
        if _compiled(_SKIPPED_BEFORE).search(before) or _compiled(_IF).search(before):
            continue
        if before.endswith("would be ") and _is_remark(text, at):
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
        found.append(_Verdict(at, _phrases()[word["word"]], not before.strip(" \n([{"), True))
    for predicate in _predicates(text, begin):
        verdict = _of_predicate(text, predicate)
        if verdict is not None and not _is_either(text, predicate.end() - 1):
            found.append(_Verdict(predicate.start(), verdict, False, False))
    return sorted(found)


def _predicates(text: str, begin: int) -> Iterator[re.Match[str]]:
    """The predicates of a text: only sentences with one of their words are searched."""
    end = begin
    for at in reversed(places(text, _PREDICATE_STEMS, begin, None, _READ)):
        if at < end:
            continue
        start = max(end, at - _PREDICATE_CHARS, *(text.rfind(mark, begin, at) + 1 for mark in ".!?;"))
        for found in _compiled(_PREDICATE).finditer(text, start, at + 80):
            yield found
            end = found.end()
        end = max(end, at + 1)


def _sentences(text: str) -> list[_Verdict]:
    """Whole sentences that are a verdict: `Absolutely.`; they count if nothing else does, because they also begin replies."""
    found = []
    start = 0
    for stop in _compiled(r"[.!?\n;]|$").finditer(text):
        end = stop.start()
        if stop[0] not in ("?", ";") and start < end <= start + 40:
            verdict = _whole(text[start:end])
            if verdict is not None:
                found.append(_Verdict(start, verdict, False, True))
        start = stop.end()
    return found


def _opening(text: str) -> list[_Verdict]:
    """A verdict in other words that opens the reply: `Indeed, she won it twice.`; they count if nothing else does."""
    found = _compiled(rf"{_phrase_pattern()}(?=\s?[,;–—]\s|\s?:\s[^\d.])").match(text)
    if found is None or found["phrase"] in (
        "right",
        "sure",
        "true",
        "exactly",
        "exact",
        "si",
        "claro",
        "genau",
    ):
        return []
    if _compiled(r"(?<!\w)(?:but|however|aber|mais|pero|ma|mas|но)(?!\w)").search(text, 0, 200):
        return []
    return [_Verdict(0, _phrases()[found["phrase"]], True, True)]


def _of_predicate(text: str, found: re.Match[str]) -> bool | None:
    named = found["word"] or found["wort"] or found["mot"] or found["palabra"] or found["slovo"]
    if named is None:
        if "stimmt" not in found[0]:
            return None
        named = "richtig"
    before = text[max(0, found.start() - _REACH) : found.start()]
    negated = any(found[name] for name in ("not", "cannot", "nicht", "pas", "no", "ne"))
    if _compiled(r"(?<!\w)(?:not\s(?:all|everything)|some|part|half|most)(?:\sof)?\s$").search(before):
        return None
    if _compiled(r"(?<!\w)(?:none\sof|nothing\s(?:about|in)|no\spart\sof)\s$").search(before):
        negated = not negated
    thinks = _compiled(_THINKS).search(before)
    if thinks:
        negated ^= thinks["not"] is not None
    elif _compiled(_UNCLEAR).search(before) or _compiled(_SKIPPED_BEFORE).search(before):
        return None
    if _is_asked(text, found.end()) or _compiled(r"\s?(?:or|and)\s(?:\w+\s)?(?:not|false|true|wrong)").match(
        text, found.end()
    ):
        return None
    return (named in _TRUE_WORDS) != negated


def _decided(text: str, verdicts: list[_Verdict]) -> bool | None:
    if not verdicts:
        return None
    if len({one.yes for one in verdicts}) == 1:
        return verdicts[0].yes
    last = verdicts[-1]
    for one, following in pairwise(verdicts):
        if one.yes != following.yes and _corrects(text, one.at, following.at):
            return last.yes
    if verdicts[0].opens:
        first = verdicts[0].yes
        if verdicts[1].yes != first and verdicts[1].at - verdicts[0].at <= _AT_ONCE:
            return None  # "Yes, it's false."
        return first if all(one.yes == first for one in verdicts if one.by_itself) else None
    begin = max(text.rfind(mark, max(0, last.at - 400), last.at) for mark in ".;!?\n") + 1
    return last.yes if _compiled(_CONCLUSION).search(text, begin, last.at) else None


def _corrects(text: str, earlier: int, later: int) -> bool:
    return _compiled(_CORRECTION).search(text, max(earlier, later - 400), later) is not None


def _is_remark(text: str, at: int) -> bool:
    """Whether the sentence that contains `at` is a remark about another case."""
    begin = max(text.rfind(mark, max(0, at - 400), at) for mark in ".;!?\n") + 1
    return _compiled(_OTHER_CASE).search(text, begin, at) is not None


def _is_asked(text: str, end: int) -> bool:
    """Whether the sentence that goes on at `end` is a question."""
    stop = _compiled(r"[.!?\n。？]").search(text, end, end + 200)
    return stop is not None and stop[0] in "?？"


def _is_either(text: str, at: int) -> bool:
    """Whether a word is part of `yes or no`."""
    either = _compiled(_EITHER).finditer(text, max(0, at - 24), at + 32)
    return any(found.start() <= at < found.end() for found in either)


@cache
def _phrases() -> dict[str, bool]:
    return {
        phrase.replace("_", " "): yes
        for words, yes in ((_YES, True), (_NO, False))
        for phrase in words.split()
    }


@cache
def _phrase_pattern() -> str:
    known = sorted(map(re.escape, _phrases()), key=len, reverse=True)
    return f"(?P<phrase>{'|'.join(known)})"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)

"""Reads yes or no from a clause that repeats the question as a statement: `Toronto is not the capital of Canada.`

A clause counts if it speaks of what was asked: its words are the question's, or its subject is a pronoun. With a negation, or with
the opposite of a word, it says no. Without one it says yes, but only if its words come in the order of the question, because `Mars
is larger than Earth` does not say that Earth is larger than Mars, and if it says nothing else in the place of what it leaves out.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from benchwright.scorers._asked import (
    NEGATIVE,
    YesNoQuestion,
    can_qualify,
    content,
    leaves_open,
    signed,
    stem,
)
from benchwright.scorers._replies import listed
from benchwright.scorers._triggers import Gate

_EMPHATIC = r"(?<!\w)(?:indeed|after\sall|(?:do|does|did)\s(?:in\sfact\s|actually\s)?[a-z]+)(?!\w)"
_PRONOUN = r"(?:(?:and|but|so|then|that|also|yet)\s)?(?:it|(?:treat|call|consider|make)s?\s(?:it|them|this)|leaning|he|she|they|this|that|these|those|you|there|we|i|one|nobody|none|nothing|no\sone|both|neither|(?:the\s|its\s|this\s)?(?:overall\s|general\s)?(?:sentiment|tone|mood|attitude|opinion|impression|message|email|e-mail|review|text|comment|post|tweet)|the\s(?:two|former|latter|author|user|reviewer|answer))(?!\w)"
_PRONOUN_ELSEWHERE = r"(?:(?:und|et|y|e|и|also|donc|así\sque|quindi|portanto)\s)?(?:es|er|sie|das|man|il|elle|elles|ils|cela|ce|on|esto|eso|ella|usted|questo|isso|ele|ela|это|он|она|они)(?!\w)"
_NEAR_PRONOUN = r"(?<!\w)(?:i|you|it|they|he|she|we)(?:\s(?:would|do|does|did|can|could|will|should|is|are|was|were|has|have)(?:n't|\snot)|\scannot|'d\snot|'re\snot|'s\snot)(?!\w)"
_NOT_AT_HAND = (
    r"(?<!\w)(?:i|we)(?:\s(?:can't|cannot|can\snot|don't|do\snot|couldn't|could\snot)|'m\s(?:not\sable|unable)\sto|\sam\s(?:not\sable|unable)\sto)\s(?:actually\s|currently\s)?(?:see|find|open|access|view|read|have|receive)(?:\saccess\sto)?\s(?:any|the|an?|your|that|this)\s(?:\w+\s)?"
    r"(?:photos?|images?|pictures?|files?|attachments?|documents?|figures?|links?|videos?|audio|recordings?|screenshots?|attached\s\w+)(?!\w)"
)
"""The reply has not got what was asked about."""
_IMPOSSIBLE = r"(?:\S+\s){1,6}?(?:is|are|was|were|would\sbe|remains)\s(?:(?:thus|therefore|simply|mathematically|physically|logically)\s)?(?:im|not\s|in)(?:possible|feasible)\W*"
_ELLIPTICAL = (
    r"(?:it|he|she|they|you|we|i|one|this|that|there)(?:\s(?P<verb>is|are|was|were|do|does|did|can|could|will|would|has|have|had|should|must)|(?P<short>'s|'re)(?=\snot))"
    r"(?P<not>n't|'t|\snot|not)?(?:\s(?:indeed|so|either|at\sall|any\smore|anymore))?\W*"
)
_TURNS = (
    r"(?<!\w)(?:unless|deny|denies|doubt|doubtful|false|wrong|myth|misconception|opposite|contrary|rather|instead|if|whether|might|may|could|should|seems?|appears?|looks?|like"
    r"|far\sfrom|anything\sbut|possibly|perhaps|depends?|only|just|necessarily|some|sometimes|few|rarely|seldom|almost|nearly|partly|partially|often|most|many|anymore|yet"
    r"|first|originally|initially|claims?|claimed|believe[ds]?|think|thinks|thought|say|says|said|argue[sd]?|suggest(?:s|ed)?|assume[sd]?|told|asks?|asked|said\sto|one\sof|among|would|supposed|suppose|imagine|expect"
    r"|wenn|falls|ob|vielleicht|manchmal|nur|fast|teilweise|si|peut-être|parfois|seulement|presque|quizás|tal\svez|solo|sólo|casi|forse|quasi|talvez|quase|если|может|возможно|почти)(?!\w)"
)
"""Words that turn, weaken or narrow what a clause says; they may occur if the question has them."""
_WEAK_IN_NO = r"(?:seems?|appears?|looks?|like|would|could|should|might|may|exactly|entirely|completely|anymore|yet|all|every|always|any|rather|instead|first|originally|just|many|most|some|often|one\sof|among)"
"""Of these, what does not weaken a negation: `does not appear to`."""
_WEAK_IN_OPPOSITE = (
    r"(?:seems?|appears?|looks?|like|entirely|completely|all|every|always|rather|instead|just)"
)
"""Of these, what does not weaken an opposite: `appears to be different`."""
_NO_NEGATION = r"(?<!\w)(?:no\s(?:doubt|problem|matter|wonder|question|less|fewer\sthan|sooner|exception|surprise|secret)|not\s(?:only|just|merely|simply|to\smention|surprisingly|until)|nothing\s(?:but|less\sthan)|can't\s(?:help|deny|be\sdenied)|(?:can|could)\s?not\s(?:be\sdenied|deny)|without\s(?:a\s)?(?:doubt|exception|question|problem))(?!\w)"
_NOISE = r"(?<!\w)(?:after\sall|from\stime\sto\stime|at\stimes|in\s(?:any|this|that|your)\scase|in\sgeneral|at\sall|as\swell|all\sin\sall|by\sfar|of\scourse|on\sthe\swhole|most\slikely|very\slikely|probably|almost\scertainly)(?!\w)"
_THAT = (
    r"(?:(?:it|that|there)(?:'s|\s(?:is|was|seems|appears|would\sbe|(?P<not2>wouldn't\sbe|would\snot\sbe|can't\sbe|cannot\sbe|isn't|wasn't)))|i\sfind\sit)(?P<not>n't|\snot|\snever)?\s(?:(?:very|quite|highly|simply|clearly|certainly|just|completely|absolutely|also|therefore|thus|indeed|in\sfact|actually)\s){0,2}"
    r"(?:(?P<yes>true|correct|right|accurate|the\scase|a\sfact|clear|obvious|likely|certain|possible|well[\s-]known|safe\sto\ssay|fair\sto\ssay)|(?P<no>false|untrue|incorrect|wrong|inaccurate|impossible|unlikely|improbable|implausible|doubtful|(?:an?\s)?(?:\w+\s){0,2}(?:myth|misconception|mistake|error)"
    r"|no\s(?:\w+\s)?(?:evidence|proof|indication|sign|truth|basis|support|hint|way)(?:\s(?:whatsoever|at\sall|to\s(?:suggest|show|support)|suggesting|showing))?|little\sevidence))\s(?:that|for|to|of|in\sthe\s(?:idea|claim)\sthat)\s(?:(?:say|claim|state|assert|conclude|argue)(?:\sthat(?!\W*$))?\s)?"
)
"""What judges the rest of its clause: `It is unlikely that …`."""
_NOTHING_SAYS = r"(?:there(?:'s|\sis)\s)?nothing\s(?:in|about)\s[^.,;]{1,40}?\s(?:suggests?|suggesting|indicates?|says|shows|implies|states|to\ssuggest)\sthat\s"
_NONE_HERE = r"no\s(?:\w+\s)?\w+(?:\s(?:found|detected|here|present|seen|in\ssight|visible|reported|needed|required))?\W*$"
"""A clause that denies what its noun names: `No errors found`."""
_NOT_NEEDED = r"(?:(?:there(?:'s|\sis)|it\sis)\s)?no\s(?P<what>(?:[\w-]+\s){1,3}?)(?:(?:is|are)\s)?(?:needed|required|necessary)(?=\s?[.,;:!–—]|\s?$|\s(?:for|to|in|on|if|when|with|at|except|unless|but)(?!\w))"
_NEED = (
    r"(?<!\w)(?:need(?:s|ed)?|requir(?:es?|ed)|necessary|must|have\sto|has\sto|mandatory|compulsory)(?!\w)"
)
_OPEN_IF_NEGATED = r"clear|obvious|certain|well[\s-]known|safe\sto\ssay|fair\sto\ssay|impossible|unlikely|improbable|implausible|doubtful"
"""Of these, what leaves the rest open if it is negated: `It is not impossible that …`."""
_PAST = r"(?<!\w)(?:was|were|had|did|used\sto|until|formerly|once|previously)(?!\w)"
_PRESENT = r"(?:is|are|am|do|does|can|has|have|will|should|may|must)(?!\w)"
_NOT_ALL = (
    r"\s(all|every|always|everyone|everything|entirely|completely|exactly|fully|quite|necessarily)(?!\w)"
)
_CONTRAST = r",\s(?:and\s)?(?:not|rather\sthan)\s(?:an?\s|the\s)?([^.,;:(]+)"
_MAY = r"(?:can|could|may|should|(?:is|are|am)\s(?:it|i|we)\s(?:possible|allowed|permitted|legal|ok|okay|safe|fine|acceptable|alright|all\sright))(?!\w)"
_ALLOWED = (
    r"(?:(?:it|that|this)(?:'s|\sis)|you(?:'re|\sare))(?P<not>n't|\snot|\sno\slonger)?\s(?:(?:also|quite|definitely|certainly|perfectly|generally|usually|therefore|absolutely|totally|completely|strictly|entirely)\s)?"
    r"(?:(?P<yes>allowed|possible|permitted|entitled|free\sto|welcome\sto|fine|ok|okay|safe|acceptable|legal|advisable|recommended|a\sgood\sidea)|(?P<no>forbidden|prohibited|banned|impossible|illegal|unsafe|dangerous|a\sbad\sidea|not\sallowed|inadvisable))(?!\w)"
)
_ADVISED = r"(?:is|are)(?P<not>\snot|n't)?\s(?:\w+ly\s)?(?:recommended|advisable|advised|essential|important|necessary|a\sgood\sidea|(?P<no>discouraged|inadvisable|dangerous|unsafe|a\sbad\sidea))\W*$"
_ALLOWED_ELSEWHERE = r"(?:(?:ce\sn'|c')est|das\sist|es\sist|es|è|é|это|isso\sé|eso\ses|no\ses|non\sè|não\sé|das\sgeht|ça|это)\s(?P<not>pas\s|nicht\s|leider\snicht\s|не\s)?(?:\w+\s)?(?P<word>possible|möglich|erlaubt|permis|autorisé|posible|permitido|possibile|permesso|possível|возможно|verboten|interdit|prohibido|vietato|proibido|unmöglich|impossible|imposible|impossibile|impossível)(?!\w)"
_MAY_ELSEWHERE = r"(?:peut-on|est-ce\squ'on\speut|kann\s(?:man|ich)|darf\s(?:man|ich)|se\spuede|puedo|si\spuò|posso|pode-se|можно)(?!\w)"
"""What answers a question for what may be or is possible."""
_CONDITION = r"(?<!\w)(?:if|unless|whether|suppos(?:e|ing)|assum(?:e|ing)|others|wenn|falls|ob|sofern|si|cuando|se|если)(?!\w)"
_COUNTED = r"(?<!\w)(?:\d(?:[\d.,]*\d)?|first|second|third|fourth|fifth|last|next)(?!\w)"
_IMPERSONAL = r"(?:is|was)\sit\s\w+\sto\s|(?:is|are|was|were)\sthere\s"
_ANYONE = (
    r"(?:is|are|was|were)\sthere\s|\w+\s(?:any|anyone|anybody|anything|someone|somebody|something)(?!\w)"
)
"""Questions that name no subject."""
_FULL_VERB = (
    r"(?:(?<!\w)(?:is|are|was|were|am|be|been|do|does|did|can|could|will|would|has|have|had|should|must|may|cannot|means?|counts?|holds?|remains?|belongs?"
    r"|ist|sind|war|hat|kann|wird|est|sont|était|peut|es|son|fue|puede|è|sono|può|é|são|foi|pode)(?!\w)|n't|'re\s)"
)
_VERB = rf"(?:{_FULL_VERB}|'s\s)"
_BEING = r"(?:(?<!\w)(?:is|are|was|were|am|be|been|being|remains?|counts?|seems?|sounds?|reads?|looks?|considered|called|classed|classified|deemed|belongs?|found|find|finds|see|sees|contains?|has|have|had|means?|mak(?:es?|ing)|treat|call|consider|classify|rate|label|deem|leaning|exists?|cannot|can|does|do|did)(?!\w)|n't|'s\s|'re\s|'m\s)"
_NO_NOUN = (
    r"\w+ly|\w+wards?|under|over|during|without|within|between|against|before|after|through|throughout|across|because|since|while|though|although|unless|until"
    r"|anywhere|everywhere|anymore|enough|per|due|regardless|despite|below|above|instead|rather|together|sentiment|tone|mood|attitude|opinion"
    r"|review|message|e?mail|newsletter|comment|post|tweet|text|feedback"
)
"""What may follow a predicate and is no other noun."""
TO_SOME = r"(?<!\w)(?:to|for|among|in|by|with)\s(?:some|several|certain|a\sfew|many)(?!\w)"
_THIRD = r"(?<!\w)neither(?!\w)|[.,;:–—]\s+(?:but\s|and\s|rather,?\s|instead,?\s)?(?:it|they|he|she|that|this|these)(?:'s|'re|\s(?:is|are|was|were))\s(?P<what>[^.,;:!?\n]{1,60})|,\sbut\s(?P<but>[^.,;:!?\n]{1,60})"
"""What may name a third value after a negated opposite: `not composite; it is a unit`."""
FORMS = (_ALLOWED, _NOTHING_SAYS, _THAT, _ALLOWED_ELSEWHERE)
"""What may answer a question with none of its words."""
MEANS_ELSE = (*FORMS, _TURNS, _CONDITION, TO_SOME, _NO_NEGATION, _NOISE, _NOT_AT_HAND)
"""By which a clause with the words of the question may mean something else."""
_FILLERS = frozenset(
    stem(word)
    for word in listed(
        "always two both all every strongly really simply suitable considered treat call consider classify"
        " label rate count regard thing way kind sort indeed regarded classified classed number well known"
        " certain exact fully entirely completely totally perfectly simply clear officially sense overall"
        " category class type example nowadays context part itself data evidence study research result finding"
    )
)
_ENOUGH = 0.6
_HALF = 0.4
"""The share of a clause's words that are the question's: of one that affirms or denies it, and of one that repeats it all."""
_NOT_ONLY = r"(?<!\w)not\s(?:only|just|merely|simply)\s(?!.*(?<!\w)(?:but|also)(?!\w))"
_VERB_OR_NEGATION = rf"{_FULL_VERB}|{NEGATIVE}"


def restates(
    asked: YesNoQuestion,
    clause: str,
    sentence: str,
    marked: bool,
    concludes: bool,
    may: Gate,
    after: str = "",
) -> bool | None:
    """True if a clause of the reply, in lower case, affirms the question, False if it denies it, None if it does neither.

    Args:
        asked: the question.
        clause: a part of the sentence.
        sentence: the sentence that contains it.
        marked: whether it is said to be the conclusion, so that conditions before it are fulfilled.
        concludes: whether it is said to be the conclusion, or opens or ends the reply.
        may: which patterns may be in the reply.
        after: what follows the clause.
    """
    emphatic = may[_EMPHATIC] and _compiled(_EMPHATIC).search(clause) is not None
    clause = (_compiled(_NOISE).sub("", clause) if may[_NOISE] else clause).strip()
    for pattern, form in _FORMS:
        found = form(asked, clause, sentence, concludes) if may[pattern] else None
        if found is not None:
            return found.yes
    if marked and (short := _compiled(_ELLIPTICAL).fullmatch(clause)):
        return _in_short(asked, short)
    if _compiled(r"(?:is|are|was|were)\sthere\s").match(asked.text):
        has = _compiled(r"(?<!\w)(?:does|do|did)\s(?:indeed\s|in\sfact\s)?have\s").search(clause)
        clause = f"there is {clause[has.end() :]}" if has else clause  # `the rule does have a basis`
    if _leaves_open(asked, clause, sentence, marked, may):
        return None
    clause = _compiled(_NO_NEGATION).sub("", clause) if may[_NO_NEGATION] else clause
    one = _statement_of(asked, clause, concludes, emphatic, may)
    if not one.shared:
        return None
    named = ", " in sentence and _compiled(
        r",\s(?:and\s)?not\s(?:in\s|on\s|at\s)?(\d[\d.,]*\d|\d)(?!\w)"
    ).search(sentence)
    if named and re.search(rf"(?<!\d){re.escape(named[1])}(?!\d)", asked.text) and not asked.negative:
        return False  # `in 1991, not in 2001`
    if _counts_else(asked, one.clause) or (not one.pronoun and of_another(asked, one.clause)):
        return None
    if _of_the_other(asked, one):
        return (
            None if one.negations or one.opposite or one.turns or asked.negative or not concludes else False
        )
    turned = _turned_round(asked, one)
    if turned is not None:
        return turned.yes
    if "is" in asked.auxiliary and not _compiled(_BEING).search(one.clause):
        return None
    if one.negations or one.opposite:
        return _denies(asked, one, after)
    if one.turns or one.past:
        return None
    as_asked = asked.claim_negative if asked.judges else asked.negative
    contrast = _compiled(_CONTRAST).search(sentence)
    if contrast and (one.pronoun or asked.words[0] in one.shared):
        away = content(contrast[1])
        return _said(asked, as_asked) if away and set(away) <= set(asked.words[1:]) else None
    return _said(asked, not as_asked) if _covers(asked, one) else None


def _in_short(asked: YesNoQuestion, short: re.Match[str]) -> bool | None:
    """What a pronoun and the question's own verb say: `so they don't`."""
    verb = short["verb"] or {"'s": "is", "'re": "are"}[short["short"]]
    if asked.negative or asked.judges or asked.sign < 0 or verb not in asked.auxiliary:
        return None
    return short["not"] is None


class _Found(NamedTuple):
    """What a form says of the question."""

    yes: bool | None
    """None: nothing, and no other form is tried."""


def _impossible(asked: YesNoQuestion, clause: str, sentence: str, concludes: bool) -> _Found | None:
    """`The tiling is impossible.`"""
    can = _compiled(r"(?:can|could|is\sit\spossible)(?!\w)").match(asked.text)
    if not can or not concludes or asked.negative or not _compiled(_IMPOSSIBLE).fullmatch(clause):
        return None
    about = {word for word, _ in signed(clause, frozenset(asked.words))} & set(asked.words)
    return _Found(False) if about and not _compiled(_CONDITION).search(sentence) else None


def _permission(asked: YesNoQuestion, clause: str, sentence: str, concludes: bool) -> _Found | None:
    """`It is allowed.`"""
    allowed = _compiled(_ALLOWED).match(clause) if _compiled(_MAY).match(asked.text) else None
    if allowed and names_else(asked, clause, allowed.end()):
        return _Found(None)  # `It is not legal advice.`
    if not allowed or asked.negative or asked.sign < 0 or not concludes:
        return None
    depends = _compiled(r"(?<!\w)(?:if|unless|only|but|when|or\snot)(?!\w)").search(sentence)
    return _Found(None if depends else (allowed["not"] is None) == (allowed["no"] is None))


def _nothing_says(asked: YesNoQuestion, clause: str, sentence: str, concludes: bool) -> _Found | None:
    """`Nothing in the text suggests that …`"""
    nothing = _compiled(_NOTHING_SAYS).match(clause)
    if nothing is None:
        return None
    proposed = _proposes(asked, clause[nothing.end() :], False, True)
    return _Found(None if proposed is None else not proposed)


def _that_clause(asked: YesNoQuestion, clause: str, sentence: str, concludes: bool) -> _Found | None:
    """`It is unlikely that …`"""
    judging = _compiled(_THAT).match(clause)
    if judging is None:
        return None
    if not asked.english or _compiled(r"(?:it|that|there|this)\s(?:is|was)\s(?:\w+\s){0,2}$").search(
        asked.text
    ):
        return _Found(None)
    inner = _compiled(
        r"(?:is|was|isn't|wasn't)\sit\s(?:\w+\s)?(?:likely|possible|probable|certain)\s(?:that|for|to)\s"
    ).match(asked.text)
    negated = judging["not"] is not None or judging["not2"] is not None
    if inner is None and _compiled(_OPEN_IF_NEGATED if negated else r"possible").fullmatch(
        judging["yes"] or judging["no"]
    ):
        return _Found(None)
    upheld = (judging["yes"] is not None) != negated
    proposed = _proposes(asked, clause[judging.end() :], inner is not None, not upheld)
    return _Found(None if proposed is None else proposed == upheld)


def _not_needed(asked: YesNoQuestion, clause: str, sentence: str, concludes: bool) -> _Found | None:
    """`No visa needed.`"""
    found = _compiled(_NOT_NEEDED).match(clause)
    if found is None or not asked.english:
        return None
    what, known = content(found["what"]), {word[:5] for word in asked.words}
    if _compiled(r"(?<!\w)(?:without|not|no)(?!\w)|n't").search(asked.text):
        return _Found(None)  # `Can I enter without a visa?`
    if _compiled(r"(?<!\w)(?:but|except|though|although|however|only)(?!\w)").search(sentence):
        return _Found(None)
    if _compiled(_CONDITION).search(sentence) or not _compiled(_NEED).search(asked.text):
        return None
    return _Found(False) if what and all(word[:5] in known for word in what) else None


def _advice(asked: YesNoQuestion, clause: str, sentence: str, concludes: bool) -> _Found | None:
    """`A helmet is recommended.`"""
    advised = _compiled(_ADVISED).search(clause) if asked.text.startswith("should") else None
    if advised and concludes and not asked.negative and set(content(clause)) & set(asked.words):
        return _Found(advised["not"] is None and advised["no"] is None)
    return None


def _permission_elsewhere(asked: YesNoQuestion, clause: str, sentence: str, concludes: bool) -> _Found | None:
    """`Das ist nicht erlaubt.`"""
    found = (
        _compiled(_ALLOWED_ELSEWHERE).match(clause) if _compiled(_MAY_ELSEWHERE).match(asked.text) else None
    )
    if not found or not concludes:
        return None
    refused = found["not"] is not None or found[0].startswith(("ce n", "no ", "non ", "não "))
    forbidden = _compiled(r"verboten|interdit|prohib|vietat|proibid|unmöglich|imp").match(found["word"])
    return _Found(refused == (forbidden is not None))


_FORMS = (
    (_IMPOSSIBLE, _impossible),
    (_ALLOWED, _permission),
    (_NOTHING_SAYS, _nothing_says),
    (_THAT, _that_clause),
    (_NOT_NEEDED, _not_needed),
    (_ADVISED, _advice),
    (_ALLOWED_ELSEWHERE, _permission_elsewhere),
)
"""What a clause may answer with, each with its pattern, in the order in which they count."""


def _leaves_open(asked: YesNoQuestion, clause: str, sentence: str, marked: bool, may: Gate) -> bool:
    """Whether a clause says nothing for certain, or nothing of the question: it has a condition, or speaks of a part."""
    if not asked.words or (not asked.english and len(set(asked.words)) < 2):
        return True
    if may[_NOT_AT_HAND] and _compiled(_NOT_AT_HAND).search(clause):
        return True
    if may[_CONDITION] and _compiled(_CONDITION).search(clause if marked else sentence):
        return True
    some = may[TO_SOME] and _compiled(TO_SOME).search(sentence)
    if (some and some[0] not in asked.text) or _qualifies(asked, clause):
        return True
    if " or " in clause and _compiled(r"\sor\s(?:\S+\s){0,3}(?:\w+n't|not)(?!\w)").search(clause):
        return True  # `it is or it is not`
    only = "not" in clause and _compiled(_NOT_ONLY).search(clause)
    # What else it is decides how that is meant.
    return bool(only) and sentence.rstrip(" .!*").endswith(clause.rstrip(" .!*"))


class _Statement(NamedTuple):
    """A clause that may repeat the question."""

    clause: str
    words: list[tuple[str, int]]
    """Its words with their signs."""
    said: list[str]
    shared: list[str]
    """Those that are the question's."""
    turns: set[str]
    """Words that turn, weaken or narrow it, if the question has them not."""
    pronoun: bool
    """Whether its subject is a pronoun."""
    negations: list[re.Match[str]]
    opposite: bool
    """Whether it contains the opposite of a word of the question."""
    past: bool
    """Whether it speaks of the past, and the question does not."""
    concludes: bool
    emphatic: bool


def _statement_of(
    asked: YesNoQuestion, clause: str, concludes: bool, emphatic: bool, may: Gate
) -> _Statement:
    known = frozenset(asked.words)
    words = signed(clause, known)
    said = [word for word, _ in words]
    turns = {word[0] for word in _compiled(_TURNS).finditer(clause)} if may[_TURNS] else set[str]()
    if turns:
        turns -= set(re.findall(r"[^\W_]+", asked.text))
    negations = [*_compiled(NEGATIVE).finditer(clause)] if may[NEGATIVE] else []
    if (
        not asked.english
        and len(negations) == 2
        and negations[0][0].startswith("n")
        and "pas" in negations[1][0]
    ):
        del negations[0]  # `ne … pas`
    then = _compiled(_PAST).search(clause) if may[_PAST] else None
    return _Statement(
        clause,
        words,
        said,
        [word for word in said if word in known],
        {word for word in turns if not any(one in known for one, _ in signed(word, known))},
        _is_pronoun(asked, clause)
        or (may[_NEAR_PRONOUN] and _compiled(_NEAR_PRONOUN).search(clause) is not None),
        negations,
        sum(sign < 0 for _, sign in words) % 2 == 1,
        then is not None and _compiled(_PRESENT).match(asked.text) is not None and then[0] not in asked.text,
        concludes,
        emphatic,
    )


def _counts_else(asked: YesNoQuestion, clause: str) -> bool:
    """Whether a clause names another year, or another one of several."""
    counted = f"{asked.text} {' '.join(asked.claim)}"
    return _compiled(_COUNTED).search(counted) is not None and not set(
        _compiled(_COUNTED).findall(clause)
    ) <= set(_compiled(_COUNTED).findall(counted))


def _of_the_other(asked: YesNoQuestion, one: _Statement) -> bool:
    """Whether a clause says only of the second of two what was asked of the first: `It is faster in water.`"""
    first, than, second = asked.text.partition(" than ")
    others = set(content(second)) - set(content(first))
    if not than or "than" in one.clause or not others & set(one.shared):
        return False
    if not set(content(first)) & set(one.shared):
        return False  # `That is why ice floats.`
    return bool(set(content(first)) & set(asked.words) - set(one.shared))


def _turned_round(asked: YesNoQuestion, one: _Statement) -> _Found | None:
    """What a clause says whose subject is another word of the question: `Trees are younger than sharks.`"""
    first = asked.words[0]
    if first not in one.shared[1:] or one.shared[0] == first:
        return None
    all_shared = len(set(one.shared)) == len(set(asked.words))
    negative = _compiled(NEGATIVE).search(one.clause) is not None
    compares = "than" in one.clause
    if (
        "than" in asked.text
        and compares
        and sum(sign < 0 for _, sign in one.words) == 1
        and all_shared
        and not one.turns
        and not negative
    ):
        return _Found(not asked.negative)
    if one.pronoun or _compiled(_IMPERSONAL).match(asked.text) or (all_shared and not compares and negative):
        return None
    return _Found(None)  # something is said of another one


def _denies(asked: YesNoQuestion, one: _Statement, after: str) -> bool | None:
    """What a clause with a negation or an opposite says."""
    clause, known = one.clause, frozenset(asked.words)
    negation = one.negations[0].end() if one.negations else None
    weak = _WEAK_IN_OPPOSITE if negation is None else _WEAK_IN_NO
    if any(not re.fullmatch(weak, word) for word in one.turns) or len(one.negations) > 1:
        return None
    if negation is None:
        if one.past:
            return None
        denied, near = tuple(one.said), known
    else:
        whole = _compiled(_NOT_ALL).match(clause, negation)
        if whole and whole[1] not in asked.text:
            return None  # `not all birds fly`
        denied = content(clause[negation:])
        near = frozenset(word for word, _ in signed(clause[negation:], known)[:2]) & known
    about = (
        one.pronoun
        or _compiled(_NONE_HERE).match(clause) is not None
        or len(set(one.shared)) >= min(2, len(known))
        or (one.concludes and asked.words[0] in one.shared)
    )
    direct = bool(near) or len(one.shared) >= _ENOUGH * len(one.said)
    if not (about and direct and denied):
        return None
    if negation is not None and (leaves_open(one.words) or _compares_else(asked, clause, negation)):
        return None
    holds = bool(one.negations) == one.opposite
    if holds and _names_a_third(after, known):
        return None
    if one.opposite and not _covers(asked, one):
        return None
    as_asked = asked.claim_negative if asked.judges else asked.negative
    return _said(asked, holds != as_asked)


def shares(asked: YesNoQuestion, clause: str) -> bool:
    """Whether a clause has a word of the question, or the opposite of one: without any it only repeats it by a form of its own."""
    known = frozenset(asked.words)
    return any(word in known for word, _ in signed(clause, known))


def leans(asked: YesNoQuestion, clause: str) -> tuple[bool, frozenset[str]]:
    """Whether a clause affirms or denies, and which words of the question's predicate it says that of, whatever its subject."""
    known = frozenset(asked.words)
    words = [
        (word, sign) for word, sign in signed(_compiled(_NO_NEGATION).sub("", clause), known) if word in known
    ]
    negations = len(_compiled(NEGATIVE).findall(clause))
    if negations and leaves_open(words):
        return False, frozenset()
    negated = negations + sum(sign < 0 for _, sign in words)
    about = frozenset(word for word, _ in words)
    if len(known) > 1 and not _compiled(_IMPERSONAL).match(asked.text):
        about -= {asked.words[0]}
    return negated % 2 == 0, about


def _proposes(asked: YesNoQuestion, clause: str, repeated: bool, denied: bool) -> bool | None:
    """Whether a clause that something is said about, or that is denied, is what was asked, or its negation."""
    known = frozenset(asked.words)
    words = signed(clause, known)
    said = [word for word, _ in words]
    shared = [word for word in said if word in known]
    pronoun = _is_pronoun(asked, clause)
    if not shared and not (pronoun and not said and _compiled(r"(?:so|this|that|it)\W*$").match(clause)):
        if not _compiled(
            r"(?:this|that|it)\s(?:is|was)\s(?:true|so|correct|the\scase|possible)(?=\W|$)"
        ).match(clause):
            return None
    elif (len(shared) < _ENOUGH * len(said) and len(set(shared)) < _ENOUGH * len(known)) or (
        asked.words[0] in shared[1:] and shared[0] != asked.words[0] and not repeated
    ):
        return None
    negations = len([*_compiled(NEGATIVE).finditer(clause)])
    if (negations or denied) and leaves_open(words):
        return None
    negated = negations + sum(sign < 0 for _, sign in words)
    return (negated % 2 == 1) == (asked.claim_negative if asked.judges else asked.negative)


def _compares_else(asked: YesNoQuestion, clause: str, begin: int) -> bool:
    """Whether a negated comparison is another than the one asked for: `not less than 5`."""
    compared, than, _ = clause[begin:].partition(" than ")
    known = frozenset(asked.words)
    return bool(than and " than " in asked.text) and any(
        word not in known and word not in _FILLERS for word, _ in signed(compared, known)
    )


def _names_a_third(after: str, known: frozenset[str]) -> bool:
    """Whether what follows a clause names a value that is neither of two opposites."""
    for found in _compiled(_THIRD).finditer(after):
        named = found["what"] or found["but"]
        if named is None or not any(word in known for word, _ in signed(named, known)):
            return True
    return False


def _qualifies(asked: YesNoQuestion, clause: str) -> bool:
    """Whether a word of the question, or its opposite, stands before another noun, which is what the clause speaks of."""
    known = frozenset(asked.words)
    return any(
        can_qualify(stem(word[0]))
        and content(word[0])
        and signed(word[0], known)[0][0] in known
        and names_else(asked, clause, word.end())
        for word in _compiled(r"[^\W\d_]+(?=\s\w)").finditer(clause)
    )


def names_else(asked: YesNoQuestion, clause: str, end: int) -> bool:
    """Whether a noun that the question does not name comes next: `legal advice`."""
    known = frozenset(asked.words)
    noun = _compiled(r"\s([^\W\d_]+)").match(clause, end)
    words = signed(noun[1], known) if noun and not _compiled(_NO_NOUN).fullmatch(noun[1]) else []
    return any(word not in known and word not in _FILLERS for word, _ in words)


def _is_pronoun(asked: YesNoQuestion, clause: str) -> bool:
    """Whether the subject of a clause is a pronoun."""
    return _compiled(_PRONOUN if asked.english else _PRONOUN_ELSEWHERE).match(clause) is not None


def of_another(asked: YesNoQuestion, clause: str) -> bool:
    """Whether a clause is about something that the question does not name: `The museum shop is not open`."""
    if _compiled(_ANYONE).match(asked.text):
        return False
    known = frozenset(asked.words)
    verb = _compiled(_VERB_OR_NEGATION).search(clause)  # `'s` may say whose it is
    words = signed(
        _compiled(r"(?<!\w)\w+ly(?!\w)").sub("", clause[: verb.start()] if verb else clause), known
    )
    if verb is None:
        places = [place for place, (word, _) in enumerate(words) if word in known]
        words = words[: places[1] if len(places) > 1 else 0]
    return any(word not in known and word not in _FILLERS and not word.isdigit() for word, _ in words)


def _said(asked: YesNoQuestion, affirmed: bool) -> bool:
    return affirmed if asked.sign > 0 or not asked.judges else not affirmed


def _covers(asked: YesNoQuestion, one: _Statement) -> bool:
    """Whether a clause says all that was asked, or leaves out only what needs no repeating."""
    shared, pronoun = one.shared, one.pronoun
    at = {word: place for place, word in reversed([*enumerate(asked.words)])}
    places = [at[word] for word in shared]
    if not pronoun and places != sorted(places) and _compiled(_IMPERSONAL).match(asked.text) is None:
        return False
    if (
        not pronoun
        and not _compiled(_VERB).search(one.clause)
        and not (set(shared) and asked.auxiliary & {"do", "does", "did"})
    ):
        return False
    missing = set(asked.words) - set(shared) - (set(asked.words[: places[0]]) if pronoun else set())
    extra = [word for word in one.said if word not in at and word not in _FILLERS and not word.isdigit()]
    if not missing:
        return len(shared) >= _HALF * (len(shared) + len(extra))
    most = len(missing) <= (1 - _ENOUGH) * len(asked.words) and len(shared) >= _ENOUGH * len(one.said)
    if one.emphatic and most:
        return True
    subject = pronoun or asked.words[0] in shared or len(set(shared)) > 1
    return subject and not extra and (one.concludes or one.emphatic) and (len(set(shared)) > 1 or pronoun)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)

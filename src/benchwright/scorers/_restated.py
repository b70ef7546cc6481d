"""Reads yes or no from a sentence that repeats the question as a statement: `Toronto is not the capital of Canada.`

A sentence counts if most of its words are the question's. With a negation it says no. Without one it says yes, but only if its
words come in the order of the question, because `Mars is larger than Earth` does not say that Earth is larger than Mars.
Only English questions that begin with a verb are read, and none that are negative themselves.
"""

from __future__ import annotations

import re
from functools import cache

_AUXILIARY = (
    r"(?:is|are|was|were|am|do|does|did|can|could|will|would|has|have|had|should|shall|may|might|must)"
)
_ASKS = rf"(?:(?:so|and|but|then|{_AUXILIARY}\sit\s(?:true|possible|likely|the\scase)(?:\s(?:that|for|to))?)\s)?{_AUXILIARY}\s"
_EMPHATIC = r"(?<!\w)(?:indeed|(?:do|does|did)\s(?:in\sfact\s|actually\s)?[a-z]+)(?!\w)"
_PRONOUN = r"(?:it|he|she|they|this|that|you|there|we|nobody|none|no\sone)(?!\w)"
_NEGATIVE = r"(?:n't|(?<!\w)(?:not|never|cannot|no\slonger|nor|neither|unlikely|impossible|improbable|implausible|hardly|nobody|nothing|none|no))(?!\w)"
_TURNS = r"(?<!\w)(?:without|unless|lacks?|fails?|deny|denies|doubt|doubtful|false|wrong|myth|misconception|opposite|contrary|rather|instead|but|although|though|whereas|while|if|whether|might|may|could|should|seems?|appears?|looks?|like|possibly|perhaps|depends?|only|just|necessarily|some|sometimes|few|rarely|seldom|almost|nearly|partly|partially|likely|probably|often|most|many|usually|generally|typically|all|every|always|everyone|anymore|yet|exactly|entirely|completely|first|originally|initially|claims?|believe[ds]?|think|thought|say|said|said\sto|one\sof|among)(?!\w)"
"""Words that turn, weaken or narrow what a sentence says; they may occur if the question has them."""
_SENTENCE = r"[^.!?\n;]+(?:\.(?=\w)[^.!?\n;]*)*[.!?\n;]?"
_LEADS = r"[\s*#>-]*(?:(?:so|therefore|thus|hence|in\sconclusion|conclusion|overall|in\sshort|in\sfact|actually|as\ssuch|consequently|unfortunately|i\sconclude\sthat|verdict|answer|and)(?!\w)[,:]?\s{0,2}){0,2}"
_CONCLUDES = r"(?:,\s|^|(?<=[.:;]\s))(?:and\s)?(?:so|therefore|thus|hence|which\smeans(?:\sthat)?|this\smeans(?:\sthat)?|meaning(?:\sthat)?)(?!\w),?\s"
_ENDS_CLAUSE = r",\s|\s[–—-]\s|:\s|\s\(|(?<!\w)(?:because|since|due\sto|given\sthat)(?!\w)"
_CONTRAST = r",\s(?:and\s)?(?:not|rather\sthan)\s(?:an?\s|the\s)?([^.,;:(]+)"
_MAY = rf"(?:can|could|may|{_AUXILIARY}\sit\s(?:possible|allowed|permitted|legal|ok|okay))(?!\w)"
_ALLOWED = r"(?:it|that|this)(?:'s|\sis)(?P<not>n't|\snot)?\s(?:(?:also|quite|definitely|certainly|perfectly)\s)?(?:allowed|possible|permitted)(?!\w)"
"""What answers a question for what may be or is possible."""
_HEDGE = r"(?<!\w)(?:most\slikely|very\slikely|probably|almost\scertainly)\s"
_CONDITION = r"(?<!\w)(?:if|unless|whether|suppos(?:e|ing)|assum(?:e|ing)|others)(?!\w)"
_COUNTED = r"(?<!\w)(?:\d(?:[\d.,]*\d)?|first|second|third|fourth|fifth|last|next)(?!\w)"
_IT_IS = r"(?:is|was)\sit\s\w+\sto\s"
_WORD = r"[^\W_]+"
_STOP_WORDS = """
a an the of in on at to for from by with as and or that this these those it its he she they them his her their there one ones you your we
our i my is are was were am be been being do does did can could will would has have had should shall may might must not no never
any anyone anything nobody nothing none ever still also indeed really actually very so therefore thus hence conclusion than then which who
what when cannot isn aren wasn weren don doesn didn couldn won wouldn hasn haven hadn shouldn mustn t s n ll ve re d up out if into about
"""
_ENOUGH = 0.6
_HALF = 0.4
"""The share of a sentence's words that are the question's: of one that affirms or denies it, and of one that repeats it all."""


def restates(question: str, reply: str) -> bool | None:
    """True if a sentence of the reply, in lower case, affirms the question, False if one denies it; None if none does, or both.

    >>> restates("Is Toronto the capital of Canada?", "toronto is not the capital of canada. ottawa is.")
    False
    >>> restates("Is Earth larger than Mars?", "mars is larger than earth.") is None
    True
    """
    asked = _asked(question)
    if asked is None:
        return None
    known = _content(asked)
    if not known or _compiled(_NEGATIVE).search(asked):
        return None
    found = {verdict for clause in _clauses(reply) if (verdict := _verdict(asked, known, clause)) is not None}
    return found.pop() if len(found) == 1 else None


def _asked(question: str) -> str | None:
    """The last sentence of the question, if it asks for yes or no."""
    text = _plain(question.strip().lower())
    last = [one for one in _compiled(_SENTENCE).findall(text) if one.strip()]
    if not last:
        return None
    asked = last[-1].strip().rstrip("?").strip()
    return asked if _compiled(_ASKS).match(asked) else None


def _plain(text: str) -> str:
    """Without what is in brackets, and numbers such as `No. 9` without the word."""
    return _compiled(r"\s?\([^()\n]{0,80}\)|(?<!\w)no\.\s?(?=\d)|\*").sub("", text.replace("’", "'"))


def _clauses(reply: str) -> list[str]:
    """The first sentence, the last one, and what is concluded."""
    text = _plain(reply)
    sentences = [one.strip() for one in _compiled(_SENTENCE).findall(text[-4_000:]) if one.strip(" .!;\n#-")]
    sentences = [one for one in sentences if not one.endswith("?")]
    if not sentences:
        return []
    found = [sentences[0], sentences[-1]] if len(text) <= 4_000 else [sentences[-1]]
    for one in sentences:
        concluded = _compiled(_CONCLUDES).search(one)
        if concluded:
            found.append(one[concluded.end() :])
    return found


def _verdict(asked: str, known: list[str], sentence: str) -> bool | None:
    lead = _compiled(_LEADS).match(sentence)
    sentence = _compiled(_HEDGE).sub("", sentence[lead.end() :] if lead else sentence)
    allowed = _compiled(_ALLOWED).match(sentence) if _compiled(_MAY).match(asked) else None
    if allowed:
        depends = _compiled(r"(?<!\w)(?:if|unless|only|but|when|or)(?!\w)").search(sentence)
        return None if depends else allowed["not"] is None
    if _compiled(_CONDITION).search(sentence):
        return None
    clauses = (one.strip() for one in _compiled(_ENDS_CLAUSE).split(sentence))
    clause = next((one for one in clauses if set(_content(one)) & set(known)), "")
    said = _content(clause)
    shared = [word for word in said if word in known]
    if not shared or not {word[0] for word in _compiled(_TURNS).finditer(clause)} <= set(
        re.findall(_WORD, asked)
    ):
        return None
    if _compiled(_COUNTED).search(asked) and not set(_compiled(_COUNTED).findall(clause)) <= set(
        _compiled(_COUNTED).findall(asked)
    ):
        return None  # another year, or another one of several
    pronoun = _compiled(_PRONOUN).match(clause) is not None
    if (
        known[0] in shared[1:]
        and shared[0] != known[0]
        and not pronoun
        and not _compiled(_IT_IS).match(asked)
    ):
        return None  # something is said of another one
    negations = [*_compiled(_NEGATIVE).finditer(clause)]
    if negations:
        denied = _content(clause[negations[0].end() :])
        about = pronoun or len(set(shared)) >= min(2, len(set(known)))
        direct = bool(set(denied[:2]) & set(known)) or len(shared) >= _ENOUGH * len(said)
        return False if len(negations) == 1 and about and direct else None
    contrast = _compiled(_CONTRAST).search(sentence)
    if contrast and known[0] in shared:
        denied = _content(contrast[1])
        return False if denied and set(denied) <= set(known[1:]) else None
    places = [known.index(word) for word in shared]
    ordered = places == sorted(places) or _compiled(_IT_IS).match(asked) is not None
    missing = set(known) - set(shared) - (set(known[: places[0]]) if pronoun else set())
    most = len(missing) <= (1 - _ENOUGH) * len(known)
    emphatic = _compiled(_EMPHATIC).search(clause) is not None
    concludes = _compiled(r"(?<!\w)(?:therefore|thus|hence)(?!\w)").search(clause)
    if concludes and len(shared) == len(said) and missing == set(known[max(places) + 1 :]):
        emphatic = True  # only what is said of it at its end is left out
    near = len(shared) >= (_ENOUGH if missing else _HALF) * len(said)
    return True if ordered and near and (not missing or (emphatic and most)) else None


def _content(text: str) -> list[str]:
    """The words that carry meaning, without endings, in order."""
    return [_stem(word) for word in re.findall(_WORD, text) if word not in _stop_words()]


def _stem(word: str) -> str:
    for ending in ("ies", "ing", "ed", "es", "s", "e", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(_STOP_WORDS.split())


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)

"""Replies that are an object of JSON with several numbers: the one whose key says what the question asks for."""

from __future__ import annotations

import json

from benchwright.scorers._quantity.patterns import caseless, compiled
from benchwright.scorers._quantity.units import unit_of

_OBJECT = r"\s*(?:```(?:json)?\s*)?(?P<object>\{.*\})\s*(?:```)?\s*"
_ANSWERS = r"(?:answer|result|solution|antwort|ergebnis|réponse|résultat|respuesta|resultado|risposta|risultato|resposta|ответ)$"
"""Ends a key that needs no question."""
_BESIDE = r"(?:confidence|certainty|probability|score|steps?|id|index|question|tokens|time|year)$"
"""Ends a key whose number is no answer."""
_TOTAL = (
    r"(?<![^\W_])(?:(?:grand|in)\s)?(?:totals?|sum|altogether|together|combined|overall|in[\s_]all)(?![^\W_])"
)
_HEAD = r"(?<!\w)how\s(?:many|much)\s([^\W\d_]+)"
_NO_WORDS = frozenset(
    ("number", "num", "count", "amount", "of", "in", "the", "a", "to", "for", "and", "usd", "eur", "gbp")
)
_LONG = 2_000


def members_of(text: str) -> dict[str, str] | None:
    """The numbers of a reply that is an object of JSON, by key, if there are several; only the answer if one is called so.

    >>> members_of('{"ann": 3, "bob": 4}'), members_of('{"ann": 3, "final_answer": 4}')
    ({'ann': '3', 'bob': '4'}, {'final_answer': '4'})
    """
    if "{" not in text[:12] or len(text) > _LONG:
        return None
    found = compiled(rf"(?s:{_OBJECT})").fullmatch(text)
    try:
        given = json.loads(found["object"], parse_int=str, parse_float=str) if found else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict):
        return None
    leaves = _leaves(given)
    answers = [(key, one) for key, one in leaves if caseless(_ANSWERS).search(key.lower())]
    numbers = {
        key: one
        for key, one in answers or leaves
        if compiled(r"[$€£]?-?\d[\d,.]*").fullmatch(one) and not caseless(_BESIDE).search(key.lower())
    }
    several = len(set(numbers.values())) > 1
    return numbers if several or (numbers and len(answers) < len(leaves)) else None


def _leaves(given: dict[str, object]) -> list[tuple[str, str]]:
    """The texts and numbers of an object and those within it."""
    found = []
    for key, one in given.items():
        if isinstance(one, str):
            found.append((key, one))
        elif isinstance(one, dict):
            found += [(f"{key}_{inner}", leaf) for inner, leaf in one.items() if isinstance(leaf, str)]
    return found


def asked_member(members: dict[str, str], asked: str) -> str | None:
    """The number whose key has only words of what is asked, and all of those that other keys have.

    >>> asked_member({"cow_legs": "36", "hen_legs": "28", "total_legs": "64"}, "how many legs do they have in total")
    '64'
    """
    if len(set(members.values())) == 1:
        return next(iter(members.values()))
    words, head = _stems(asked), caseless(_HEAD).search(asked)
    called = {key: _stems(compiled(r"(?<=[a-z])(?=[A-Z])").sub(" ", key).lower()) for key in members}
    rivals = [said & words for said in called.values()]
    if "total" in words:
        rivals = [one for one in rivals if "total" in one or (head and one == _stems(head[1]))]
    best = {
        members[key]
        for key, said in called.items()
        if said
        and said <= words
        and ("total" in said) >= ("total" in words)
        and all(said >= one for one in rivals)
    }
    return best.pop() if len(best) == 1 else None


def _stems(text: str) -> frozenset[str]:
    """Its words without endings, numbers and units; all words for a total are one."""
    words = caseless(r"[^\W\d_]+").findall(caseless(_TOTAL).sub(" total ", text))
    return frozenset(
        word if word == "total" else word.removesuffix("s")[:5]
        for word in words
        if word not in _NO_WORDS and unit_of(word) is None
    )

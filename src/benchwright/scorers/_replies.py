"""What all readers of replies share: words for an answer, where a reply goes on with a question of its own, and whether it
breaks off.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Generic, NamedTuple, TypeVar

_Value = TypeVar("_Value", covariant=True)


class Span(NamedTuple, Generic[_Value]):
    """A place in a text, and what is said there."""

    start: int
    end: int
    value: _Value
    """What makes two of them the same."""


ANSWER_ELSEWHERE = (
    r"antwort|r[ée]ponse|respuesta|risposta|resposta|antwoord|odpowied[źz]|odpověď|svar(?:et)?|vastaus|cevap|jawaban|válasz|răspuns(?:ul)?"
    r"|ответ|відповідь|απάντηση"
)
"""The word for an answer in languages other than English, as a regular expression."""
IS_ELSEWHERE = r"(?:ist|lautet|wäre|est|serait|es|sería|è|é|is|luidt|är|er|to|je|on|este|είναι)"
"""The word for `is` in these languages."""
SO_ELSEWHERE = r"(?:also|daher|somit|donc|entonces|pues|pertanto|quindi|dunque|portanto|então|dus|więc|alltså|altså|derfor|tedy|siis|deci)"
"""A word for `so` that may come between `is` and the answer."""
ANSWER_ELSEWHERE_STEMS = (
    "antwort", "réponse", "reponse", "respuesta", "risposta", "resposta", "antwoord", "odpowied", "odpověď", "svar", "vastaus", "cevap",
    "jawaban", "válasz", "răspuns", "ответ", "відповідь", "απάντηση",
)  # fmt: skip
"""What these words begin with."""
ANSWER_STEMS = ("answer", "lösung", "endergebnis", "答案", "答え", "답", *ANSWER_ELSEWHERE_STEMS)
RESULT_STEMS = (
    "result", "solution", "ergebnis", "résultat", "solución", "risultato", "результат", "итог", "wynik", "final", "结果", "conclusion",
    "fazit", "resultado", "вывод",
)  # fmt: skip
"""What words for an answer, and for a result, begin with in all languages."""
ANSWER_QUALIFIED = (
    r"(?:\s(?:here|then|therefore|thus|hence|is\stherefore|finale?|correcte?|correcta|corrett[ao]|corret[ao]|richtig|also|daher|somit|donc|entonces"
    r"|quindi|portanto|então|dus|więc))?"
)
"""What may follow a word for an answer: `la risposta quindi è`."""

_NEXT_QUESTION = r"\n[ *#]{0,4}(?:(?:Question|Q|Frage|Pregunta|Вопрос|问题|题目)\s?\d{0,4}\s?[:.](?!\s?\$?[\d.,]{1,20}(?:\n|$))|(?:User|Human)\s?:)"
_WITH_OPTIONS = r"\n[^\n]{4,300}\?\s?\n\s?\(?A[.):]\s"
"""A question without a label, above its options."""
_MAY_ASK = r"\n[\s*#>_$']*(?:question|q|frage|pregunta|user|human)"
_UNPLAIN = r"[^ !#-;=-Z\]^_a-z|}\n\u00b0-\u00ba\u00bc-\u012f\u0132-\u017e\u0400-\u045f\u2013\u2014\u2019\u2026\u20ac\u2192\u2248]"
_ASKS = r"\W*q(?:uestion)?\W"
_GOES_ON = """
qui que donne de du des par pour avec dans un une yields ergibt von mit für auf zu den dem ein eine por con para una che di per con что на и
    so because and but or the a an of to is are was that which since therefore thus hence as for with in on at by from if when while
    although though its their this these not only also need needs require requires has have had gives equals means makes be been would
    could can will must should were we they than into between und oder aber weil der die das ist et ou mais le la les est y pero el los
    es
"""
"""Words that no sentence ends with."""


def listed(words: str) -> tuple[str, ...]:
    """Words and phrases that stand in one text, `_` for the blanks of a phrase.

    >>> listed("yes of_course")
    ('yes', 'of course')
    """
    return tuple(word.replace("_", " ") for word in words.split())


def next_question(text: str) -> int | None:
    """Where a model that completes text goes on to write the next question; what follows answers that question."""
    if "\n" not in text:
        return None
    found = _compiled(_NEXT_QUESTION).search(text)
    if found is None and "?" in text:
        found = _compiled(_WITH_OPTIONS).search(text)
    return found.start() if found else None


def is_plain(text: str) -> bool:
    r"""Whether all of a text is read, and as it stands but for emphasis: no reasoning, quotation, markup or next question.

    >>> is_plain("It is **so**.\nYes."), is_plain('"It is so."'), is_plain("Yes.\n\nQuestion: is it?")
    (True, False, False)
    """
    return (
        _unplain().search(text) is None
        and _compiled(_ASKS).match(text) is None
        and ("\n" not in text or ("?" not in text and _compiled(_MAY_ASK).search(text) is None))
    )


def breaks_off(text: str) -> bool:
    """Whether a text of several words ends in the middle of a sentence.

    >>> breaks_off("Next we add the pencils, which"), breaks_off("She has 12 pencils")
    (True, False)
    """
    if len(text) <= 16 or text.count(" ", -200) < 4:
        return False
    words = text[-40:].split()
    return bool(words) and (
        words[-1][-1] in ",:(–—=+×*/÷−-≈"
        or (words[-1].lower() if len(words[-1]) > 2 else words[-1]) in _goes_on()
    )


@cache
def _goes_on() -> frozenset[str]:
    return frozenset(_GOES_ON.split())


@cache
def _unplain() -> re.Pattern[str]:
    return re.compile(_UNPLAIN)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)

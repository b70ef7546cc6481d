"""Numbers that are no answers by what stands beside them: denied ones, references, how sure somebody is, digits of rounding."""

from __future__ import annotations

from benchwright.scorers._quantity.expressions import Expression, is_year
from benchwright.scorers._quantity.patterns import caseless
from benchwright.scorers._triggers import Gate

_NOT = (
    r"(?:(?<!\w)(?:not|never|nicht|pas|rather\sthan|instead\sof|statt|anstatt|а\sне|не|unlike|none\sof|y\sno|sino\sno|kein|não|non)|n't)\s"
    r"(?:(?:exactly|equal(?:\sto)?|just|be|to|the|is|de|es|return|output|print|give|make|yield|evaluate)\s){0,3}[$€£]?$"
)
_DENIES = r"['\")\]]{0,3}\s(?:does\snot|doesn't)\s(?:return|output|print|give|equal|make|yield)\s['\"$€£]?\d"
"""After a number of which another is denied: `12 does not give 13`."""
_NOT_ENOUGH = r"(?:\s[^\W\d_]+){0,3}(?:\snot|n't)\s(?:be\s)?enough(?!\w)"
_NOT_WORDS = ("no", "n't", "ne", "nicht", "pas ", "than ", "instead", "statt", "не ", "unlike", "kein", "não")
"""Parts of the words of `_NOT`, of which there must be one."""
_REFERENCE = (
    r"(?<!\w)(?:steps?|digits?|ziffer|chiffre|dígito|цифр[аы]|questions?|problem|exercise|equations?|eq\.?|pages?|sections?|chapter|figure|fig\.?|table|part|case|method|lines?"
    r"|example|note|footnote|item|q|rule|theorem|op\.|opus|klausel|clause|cláusula|clausola|artikel|artículo|articolo|artigo|annex|appendix|schritt|frage|aufgabe|gleichung|seite|étape|paso|pregunta|página|passo|шаг|вопрос|задача)\s?[#(]?$"
)
_SURE = r"\s?(?:sure|certain|confident|confidence|certainty|likely|sicher|sûr|seguro|уверен)"
_SURE_BEFORE = (
    r"(?:confidence|certainty|sicherheit|confiance|confianza)(?:\slevel|\sscore)?\s?(?:is|of|:|=)?\s?$"
)
_CHECKED = r"(?<!\w)(?:checked|verified|counted|tried|recalculated|in|took|after|nach|geprüft|vérifié|comprobado|проверил\w*)(?!\w)[^.\d\n]{0,12}$"
_EFFORT = r"\s(?:times|steps|attempts|ways|schritte\w*|mal|fois|étapes|veces|pasos|раза?|шаг\w*)(?!\w)"
_ROUNDED_TO = r"(?<!\w)(?:to|auf|à|a|con|with|avec|mit|до|для|com|para|af|op|nearest|nächste\w*|保留)\s(?:the\s(?:nearest\s)?)?[$€£]?$"
_DIGITS = (
    r"\s?(?:decimals?|d\.p\.|dp\b|significant|sig\.?\s?fig|digits?|places|(?:nach)?komma|nachkommastell|dezimal|(?:gültige\s)?stellen|décimales?|chiffres"
    r"|decimales|cifras|знак|casas|decimali|位小数|小数)"
)
_NEAREST = r"(?<!\w)(?:nearest|closest)\s[$€£]?$"
_GUESS = r"(?<!\w)(?:(?:could|might|may|can)\s(?:also\s)?be|maybe|perhaps|possibly|vielleicht|peut-être|quizás|может\sбыть)\s(?:it's\s)?[$€£]?$"
COMPARED = (
    r"\s(?:[^\W\d_]+\s){0,2}(?:(?:more|less|fewer|higher|lower|older|younger|larger|smaller|longer|shorter|greater|bigger)\sthan"
    r"|mehr\sals|weniger\sals|de\splus\sque|de\smoins\sque|más\sque|menos\sque|больше,?\sчем|меньше,?\sчем)"
)
_SPREAD = ("give or take ", "plus or minus ", "plus/minus ", "margin of error of ")
"""Before the error of a number."""
_PER = (" per ", " pro ", " je ")
_THAN = r"\d\s(?:[^\W\d_]+\s){1,3}than\s(?:the\s)?$"
_THAN_ONE = r"(?<!\w)(?:(?:greater|smaller|larger|bigger|higher|lower|less|more|fewer|older|longer|shorter|slower|faster|above|below)\s)(?:than\s)?(?:the|its|his|her|their)\s(?:[^\W\d_]+\s){1,3}of\s[$€£]?$"
"""Before a number that something is compared with: `greater than the mean of 5`."""
_WOULD_BE = r"(?:\s[^\W\d_]+)?\swould\s(?:be\s(?:double|wrong|too|incorrect|over|counting|a\smistake|an?\s(?:over|under)\w+)|mean\s|count\s|ignore\s|double)"
"""After a number that would be wrong."""
_CLOCK = r"\s?(?:[ap]\.?m(?:\.|(?!\w))|o'clock|uhr(?!\w))"
"""After the time of a day."""
_LABEL = r"\s?[.)]\s+\S"

_YEAR = r"(?<!\w)(?:in|since|by|until|before|after|hasta|jusqu'en|bis|tot|até|fino\sal|as\sof|of|from|year|im|jahr|seit|stand|en|depuis|desde|año|em|nel|в|с|на)\s\(?$"
_PART = r"(?:%|percent|(?<!\w)(?:half|(?:third|quarter|fourth|fifth|sixth|eighth|tenth)s?))\sof\s$"
"""Before a number that is no year: `15 % of 2000`."""
_YEARS = r"[12]\d{3}(?:\s(?:and|to|und|bis|et|à|y|a)\s|\s?[-–—]\s?)[12]\d{3}"
_NAMED = (
    r"(?<!\w)(?:python|java|version|v|windows|apollo|route|room|bus|flight|gate|platform|model|type|class|level|grade|iphone|android|ios|http|utf"
    r"|article|formula|channel|track|highway|no\.|nr\.)\s$"
)
_EXAMPLE = r"(?<!\w)(?:for\s(?:instance|example)|e\.g\.|zum\sbeispiel|z\.\s?b\.|par\sexemple|por\sejemplo|ad\sesempio|per\sesempio|por\sexemplo|bijvoorbeeld)[^.!?\n]*$"
"""Before a number, in its sentence: it is an example."""
_ORDINAL = r"(?:st|nd|rd|th|º|ª|ème|er|-й|-я|-го)(?!\w)"


class Asides:
    """The numbers of a text that are no answers."""

    def __init__(self, text: str, lower: str, may: Gate) -> None:
        self._text = text
        self._lower = lower
        self._may = may
        self._denies = " not " in lower or "n't " in lower

    def contain(self, one: Expression) -> bool:
        """Whether an expression is no answer: denied, a label, a reference, how sure somebody is."""
        text, may, start, end = self._text, self._may, one.start, one.end
        begin = max(0, start - 40)
        before = self._lower[begin:start]
        if (
            may[_NOT]
            and any(word in before for word in _NOT_WORDS)
            and caseless(_NOT).search(text, begin, start)
        ):
            return True
        if may[_REFERENCE] and caseless(_REFERENCE).search(text, max(0, start - 14), start):
            return True
        if text.startswith("24/7", start):
            return True
        if before.endswith(_SPREAD):
            return True
        if may[_WOULD_BE] and caseless(_WOULD_BE).match(text, end):
            return True
        if " of " in before and caseless(_THAN_ONE).search(text, begin, start):
            return True
        if before.endswith(_PER) or ("than " in before and caseless(_THAN).search(text, begin, start)):
            return True
        follows = text[end : end + 1]
        in_words = follows not in ".,;:)"  # words may follow, after a blank or not
        if in_words and caseless(_CLOCK).match(text, end):
            return True
        if (in_words and may[COMPARED] and caseless(COMPARED).match(text, end)) or (
            follows == "?" and is_guess(text, one)
        ):
            return True
        percent = one.number is not None and one.number.percent
        if percent and (
            caseless(_SURE).match(text, end) or caseless(_SURE_BEFORE).search(text, begin, start)
        ):
            return True
        if (
            in_words
            and may[_DIGITS]
            and caseless(_DIGITS).match(text, end)
            and caseless(_ROUNDED_TO).search(text, begin, start)
        ):
            return True
        if self._denies and (caseless(_DENIES).match(text, end) or caseless(_NOT_ENOUGH).match(text, end)):
            return True
        if "est " in before and caseless(_NEAREST).search(text, begin, start):
            return True
        if (
            in_words
            and may[_EFFORT]
            and caseless(_EFFORT).match(text, end)
            and caseless(_CHECKED).search(text, begin, start)
        ):
            return True
        if text[start - 1 : start] == "[" and follows == "]" and end - start <= 3:
            return bool(text[begin:start].strip(" \n["))  # the number of a source
        if end - start > 2 or not caseless(r"(?:^|\n)[ *#(]{0,6}$").search(text, max(0, start - 7), start):
            return False
        return (start < 7 or "\n" in text[start - 7 : start]) and bool(caseless(_LABEL).match(text, end))


def is_guess(text: str, one: Expression) -> bool:
    """Whether an expression is called possible: `it could be 5`."""
    return caseless(_GUESS).search(text, max(0, one.start - 24), one.start) is not None


def is_weak(text: str, one: Expression) -> bool:
    """Whether an expression is the year in which something was so, an ordinal or part of a name: an answer only if there is no
    other.
    """
    return (
        is_dated(text, one)
        or (one.number is None and caseless(_YEARS).fullmatch(text, one.start, one.end) is not None)
        or caseless(_ORDINAL).match(text, one.end) is not None
        or caseless(_NAMED).search(text, max(0, one.start - 12), one.start) is not None
        or is_example(text, one.start)
    )


def is_example(text: str, at: int) -> bool:
    """Whether what stands at a place is an example: `in Denver, for instance, it is 95`."""
    return caseless(_EXAMPLE).search(text, max(0, at - 80), at) is not None


def is_dated(text: str, one: Expression) -> bool:
    """Whether an expression is the year in which something was so."""
    return (
        is_year(text[one.start : one.end])
        and caseless(_YEAR).search(text, max(0, one.start - 16), one.start) is not None
        and caseless(_PART).search(text, max(0, one.start - 16), one.start) is None
    )


def is_reference(text: str, end: int) -> bool:
    """Whether the words before `end` name a place such as `Step`."""
    return caseless(_REFERENCE).search(text, max(0, end - 14), end) is not None

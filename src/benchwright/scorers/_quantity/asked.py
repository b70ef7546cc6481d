"""What the question tells about the number of a reply: the unit that it asks for, and of whom."""

from __future__ import annotations

from benchwright.core import Row
from benchwright.scorers._quantity.numerals import Mark
from benchwright.scorers._quantity.patterns import caseless, compiled
from benchwright.scorers._quantity.reader import read_number
from benchwright.scorers._quantity.results import ReadNumber

_LONG = 4_000
"""Characters of a reply whose sentences are compared with the question."""
_DIMENSIONS = tuple(
    {name: unit for unit, names in units.items() for name in names.split()}
    for units in (
        {
            "km": "km kilometre kilometres kilometer kilometers",
            "m": "m metre metres meter meters",
            "cm": "cm centimetre centimetres centimeter centimeters",
            "mi": "mi mile miles",
            "ft": "ft foot feet",
            "yd": "yd yard yards",
            "in": "inch inches",
        },
        {
            "kg": "kg kilogram kilograms kilo kilos",
            "g": "g gram grams gramm",
            "lb": "lb lbs pound pounds",
            "oz": "oz ounce ounces",
        },
        {"km/h": "km/h kph", "mph": "mph", "m/s": "m/s"},
        {
            "l": "l litre litres liter liters",
            "gal": "gal gallon gallons",
            "pt": "pint pints",
            "cup": "cup cups",
        },
        {"c": "°c celsius", "f": "°f fahrenheit", "k": "kelvin kelvins"},
        {
            "s": "s sec second seconds",
            "min": "min minute minutes",
            "h": "h hour hours",
            "d": "day days",
            "w": "week weeks",
            "y": "year years",
        },
    )
)
_UNIT = r"(?P<unit>°\s?[cf]|km/h|m/s|[^\W\d_]+)(?!\w)"
_ASKED_UNIT = rf"(?<!\w)(?:how\smany|in(?:\s(?:degrees|whole|full))?)\s{_UNIT}"
_COUNTED = rf"\d\s?(?:degrees\s)?{_UNIT}"
_MEASURED = rf"(?<![\w.,])[-$€£]?(?P<number>\d[\d.,]*(?<![.,]))[*\s~]{{0,3}}(?:\\?\\text\s?\{{\s?|\\[,;]\s?|degrees\s){{0,2}}{_UNIT}?"
_SAYS_AGAIN = r"\s*(?:(?:that|this|it)(?:'s|\s(?:is|equals|would\sbe|comes\sto|works\sout\s(?:to|at)|corresponds\sto))|in\sother\swords|equivalently|or|roughly|about|converted|in\s[^\W\d_]+,)(?!\w)"
"""Begins a sentence that gives what was said in other terms."""
_NAMED = r"(?:^|[,;]\s|(?<!\w)(?i:and|while|but|so|then|therefore|thus|hence|that)[,:]?\s)(?P<name>[A-Z][^\W\d_]+)\s(?:is|has|gets|earns|pays|owns|weighs|needs|receives|scored|scores|got|had|was|walks|walked|ran|runs|saved|saves|sold|sells|bought|makes|made|gave|ate)\s(?:now\s|exactly\s|only\s|about\s)?(?P<number>[$€£]?\d[\d,.]*(?<![,.]))"
"""A clause that tells a number of somebody."""


_COMPARES = r"(?<!\w)(?:and|or|than|more|fewer|less|\w{3,8}er(?=\s(?:is|was|are|does|did))|together|altogether|total|both|difference|sum|average|combined|left|remain\w*|after|before|times|share|each|percent\w*)(?!\w)"
"""In a question that asks for more than what is told of one person."""


def read_asked(text: str, mark: Mark | None, row: Row | None) -> ReadNumber:
    """The number that a reply to the question of a row gives, as `read_number` reads it with what the question asks for.

    >>> row = {"question": "Ann is twice as old as Bob. How old is Ann?"}
    >>> read_asked("So Bob is 12 and Ann is 24.", None, row).number.value
    Fraction(24, 1)
    """
    question = (row or {}).get("question")
    if not isinstance(question, str) or len(text) > _LONG:
        return read_number(text, mark)
    asked, said = _asked_part(question), text.rstrip()
    if (unit := _asked_unit(asked.lower())) is not None:
        found = read_number(said[: _without_conversions(said, unit)], mark)
        return ReadNumber(None, "units") if _in_other_unit(said, found, unit) else found
    found = read_number(text, mark)
    if found.rule == "several" and (number := _of_asked(said, asked)) is not None:
        return read_number(number, mark)._replace(rule="concluded")
    return found


def _asked_part(question: str) -> str:
    """The last sentence of a question that asks."""
    end = question.rfind("?")
    if end < 0:
        return ""
    start = max(question.rfind(mark, 0, end) for mark in (". ", "? ", "! ", "; ", "\n"))
    return question[start + 1 : end].strip()


def _asked_unit(asked: str) -> str | None:
    """The one unit that a question in small letters asks for."""
    known = {
        unit
        for found in caseless(_ASKED_UNIT).finditer(asked)
        for names in _DIMENSIONS
        if (unit := names.get(found["unit"].replace(" ", "")))
    }
    return known.pop() if len(known) == 1 else None


def _without_conversions(text: str, unit: str) -> int:
    """Where a reply ends without its last sentence, if that says in other units what was said in those of the question."""
    start = _last_sentence(text)
    last = text[start:].lower()
    names = next(names for names in _DIMENSIONS if unit in names.values())
    given = [names.get(one["unit"].replace(" ", "")) for one in caseless(_COUNTED).finditer(last)]
    if not start or "=" in last or not given or unit in given or None in given:
        return len(text)
    if not caseless(_SAYS_AGAIN).match(last):
        return len(text)
    before = [
        names.get(one["unit"].replace(" ", "")) for one in caseless(_COUNTED).finditer(text[:start].lower())
    ]
    before = [one for one in before if one]  # of the same kind
    return start if before and before[-1] == unit else len(text)


def _in_other_unit(text: str, found: ReadNumber, unit: str) -> bool:
    """Whether a reply gives the number that was read in another unit of the same kind only: `3 hours` where minutes are asked."""
    if found.number is None:
        return False
    names = next(names for names in _DIMENSIONS if unit in names.values())
    given = {
        names.get(one["unit"].replace(" ", ""), unit) if one["unit"] else unit
        for one in caseless(_MEASURED).finditer(text.lower())
        if (value := read_number(one["number"]).number) is not None and value.value == found.number.value
    }
    return bool(given) and unit not in given


def _of_asked(text: str, asked: str) -> str | None:
    """The number that the last sentence tells of the one person that the question asks about, if it tells one of others too."""
    last = text[_last_sentence(text) :].replace("*", "")
    if (
        caseless(_COMPARES).search(asked.lower())
        or len(compiled(r"(?<!^)(?<!\w)[A-Z][^\W\d_]+").findall(asked)) > 1
    ):
        return None
    told = [*compiled(_NAMED).finditer(last)]
    names = [one["name"] for one in told]
    if len(told) < 2 or len(set(names)) < len(told) or len(compiled(r"\d[\d,.]*").findall(last)) != len(told):
        return None
    about = [one for one in told if compiled(rf"(?<!\w){one['name']}(?!\w)").search(asked)]
    return about[0]["number"] if len(about) == 1 else None


def _last_sentence(text: str) -> int:
    return max((stop.end() for stop in compiled(r"[.!?]\s+(?=\S)|\n").finditer(text)), default=0)

"""The demo model's small knowledge: facts, a dictionary, and instructions about a piece of text (copy,
reverse, change case, count, spell, translate word by word). It is just enough for examples.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

CAPITALS = {
    "france": "Paris", "germany": "Berlin", "italy": "Rome", "spain": "Madrid", "portugal": "Lisbon",
    "austria": "Vienna", "switzerland": "Bern", "poland": "Warsaw", "greece": "Athens", "sweden": "Stockholm",
    "norway": "Oslo", "denmark": "Copenhagen", "finland": "Helsinki", "ireland": "Dublin", "belgium": "Brussels",
    "hungary": "Budapest", "the netherlands": "Amsterdam", "netherlands": "Amsterdam", "england": "London",
    "united kingdom": "London", "russia": "Moscow", "ukraine": "Kyiv", "turkey": "Ankara", "egypt": "Cairo",
    "kenya": "Nairobi", "japan": "Tokyo", "china": "Beijing", "india": "New Delhi", "south korea": "Seoul",
    "thailand": "Bangkok", "indonesia": "Jakarta", "australia": "Canberra", "new zealand": "Wellington",
    "canada": "Ottawa", "united states": "Washington, D.C.", "mexico": "Mexico City", "brazil": "Brasília",
    "argentina": "Buenos Aires", "chile": "Santiago", "peru": "Lima", "cuba": "Havana",
}  # fmt: skip
"""Countries, in lower case, and their capitals."""

_COUNTRY = re.compile(rf"(?i)\b({'|'.join(sorted(CAPITALS, key=len, reverse=True))})\b")
_CAPITAL_NAME = re.compile(
    rf"(?i)\b({'|'.join(sorted(set(CAPITALS.values()), key=len, reverse=True))})(?!\w)"
)
_COUNTRIES = {capital.lower(): country.title() for country, capital in reversed(CAPITALS.items())}
_SOME_CAPITALS = ("Paris", "London", "Rome", "Tokyo", "Cairo", "Lima", "Oslo", "Ottawa")
_SOME_COUNTRIES = ("France", "Japan", "Egypt", "Peru", "Norway", "Canada", "India", "Chile")

_FACTS: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
    (("days", "week"), ("7", "5", "6", "8")),
    (("months", "year"), ("12", "10", "11", "13")),
    (("hours", "day"), ("24", "12", "20", "60")),
    (("minutes", "hour"), ("60", "24", "100", "30")),
    (("days", "leap year"), ("366", "365", "364", "367")),
    (("continents",), ("7", "5", "6", "8")),
    (("sides", "triangle"), ("3", "4", "5", "2")),
    (("sides", "hexagon"), ("6", "5", "8", "7")),
    (("legs", "spider"), ("8", "6", "4", "10")),
    (("planets", "solar system"), ("8", "9", "7", "10")),
    (("largest planet",), ("Jupiter", "Saturn", "Earth", "Mars")),
    (("red planet",), ("Mars", "Venus", "Jupiter", "Mercury")),
    (("closest", "sun"), ("Mercury", "Venus", "Earth", "Mars")),
    (("largest ocean",), ("Pacific Ocean", "Atlantic Ocean", "Indian Ocean", "Arctic Ocean")),
    (("highest mountain",), ("Mount Everest", "K2", "Mont Blanc", "Kilimanjaro")),
    (("tallest mountain",), ("Mount Everest", "K2", "Mont Blanc", "Kilimanjaro")),
    (("chemical symbol", "gold"), ("Au", "Ag", "Go", "Gd")),
    (("chemical symbol", "silver"), ("Ag", "Au", "Si", "Sv")),
    (("chemical symbol", "iron"), ("Fe", "Ir", "In", "Fr")),
    (("chemical symbol", "oxygen"), ("O", "Ox", "H", "Os")),
    (("formula", "water"), ("H2O", "CO2", "HO2", "O2")),
    (("symbol", "water"), ("H2O", "CO2", "HO2", "O2")),
    (("wrote", "hamlet"), ("William Shakespeare", "Charles Dickens", "Jane Austen", "Mark Twain")),
    (("wrote", "romeo and juliet"), ("William Shakespeare", "Charles Dickens", "Jane Austen", "Mark Twain")),
    (("painted", "mona lisa"), ("Leonardo da Vinci", "Michelangelo", "Raphael", "Vincent van Gogh")),
    (("color", "sky"), ("blue", "green", "red", "yellow")),
    (("colour", "sky"), ("blue", "green", "red", "yellow")),
    (("opposite", "hot"), ("cold", "warm", "dry", "small")),
    (("opposite", "big"), ("small", "tall", "old", "wide")),
    (("currency", "japan"), ("yen", "dollar", "won", "euro")),
    (("gas", "plants", "absorb"), ("carbon dioxide", "oxygen", "nitrogen", "hydrogen")),
    (("freezing point", "water"), ("0", "32", "100", "-10")),
    (("boiling point", "water"), ("100", "90", "0", "212")),
]
"""Words that must all occur, and the right answer followed by wrong ones."""

DICTIONARY: dict[str, tuple[str, str, str, str]] = {
    "hello": ("bonjour", "hola", "hallo", "ciao"), "goodbye": ("au revoir", "adiós", "auf wiedersehen", "addio"),
    "thanks": ("merci", "gracias", "danke", "grazie"), "please": ("s'il vous plaît", "por favor", "bitte", "per favore"),
    "yes": ("oui", "sí", "ja", "sì"), "no": ("non", "no", "nein", "no"), "world": ("monde", "mundo", "Welt", "mondo"),
    "water": ("eau", "agua", "Wasser", "acqua"), "bread": ("pain", "pan", "Brot", "pane"),
    "house": ("maison", "casa", "Haus", "casa"), "cat": ("chat", "gato", "Katze", "gatto"),
    "dog": ("chien", "perro", "Hund", "cane"), "book": ("livre", "libro", "Buch", "libro"),
    "friend": ("ami", "amigo", "Freund", "amico"), "day": ("jour", "día", "Tag", "giorno"),
    "night": ("nuit", "noche", "Nacht", "notte"), "sun": ("soleil", "sol", "Sonne", "sole"),
    "moon": ("lune", "luna", "Mond", "luna"), "good": ("bon", "bueno", "gut", "buono"),
    "big": ("grand", "grande", "groß", "grande"), "red": ("rouge", "rojo", "rot", "rosso"),
    "blue": ("bleu", "azul", "blau", "blu"), "one": ("un", "uno", "eins", "uno"), "two": ("deux", "dos", "zwei", "due"),
    "the": ("le", "el", "der", "il"), "and": ("et", "y", "und", "e"), "is": ("est", "es", "ist", "è"),
    "i": ("je", "yo", "ich", "io"), "love": ("aime", "amo", "liebe", "amo"),
}  # fmt: skip
"""English words and their French, Spanish, German and Italian translations."""

LANGUAGES = ("french", "spanish", "german", "italian")
"""The order of the translations in `DICTIONARY`."""


def recall(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the answer to a question of fact and some wrong answers, or None if it is not known."""
    lowered = text.lower()
    if "capital" in lowered:
        country = _COUNTRY.search(lowered)
        if country is not None:
            return CAPITALS[country.group(1)], _SOME_CAPITALS
        capital = _CAPITAL_NAME.search(text)
        if capital is not None:
            return _COUNTRIES[capital.group(1).lower()], _SOME_COUNTRIES
    for words, answers in _FACTS:
        if words[0] in lowered and all(word in lowered for word in words):
            return answers[0], answers[1:]
    return None


class Rewritten(NamedTuple):
    """The result of an instruction about a text."""

    text: str
    """The resulting text."""
    is_number: bool = False
    """Whether the result is a count."""


_QUOTED = re.compile(r"\"([^\"\n]+)\"|'([^'\n]+)'(?!\w)|“([^”\n]+)”|`([^`\n]+)`")
_AFTER_COLON = re.compile(r":[ \t]{0,20}\n?(.+)", re.DOTALL)
_TRANSLATE = re.compile(rf"(?i)\btranslat\w+\b.*?\b(?:in)?to ({'|'.join(LANGUAGES)}|[A-Z]\w+)\b", re.DOTALL)
_WORD = re.compile(r"\w+")


def _translate(text: str, language: str) -> str:
    column = LANGUAGES.index(language) if language in LANGUAGES else None

    def one(match: re.Match[str]) -> str:
        word = match.group()
        known = DICTIONARY.get(word.lower())
        # An unknown language or word stays unchanged, so that the translation is visibly incomplete.
        return word if known is None or column is None else known[column]

    return _WORD.sub(one, text)


_HINT = re.compile(
    r"(?i)\b(?:reverse|backward|upper-? ?case|lower-? ?case|all caps|capital letters|how many (?:letters|characters"
    r"|words)|first letter|last letter|spell|translat)|^\W*(?:please )?(?:repeat|copy|echo|say|print|output|write)\b"
)


@cache
def _tasks() -> list[tuple[re.Pattern[str], Callable[[str], Rewritten]]]:
    """Return each instruction with its function. Compiled for the first text with a hint."""
    return [
        (re.compile(r"(?i)\breverse[ds]?\b|\bbackwards?\b"), lambda text: Rewritten(text[::-1])),
        (
            re.compile(r"(?i)\bupper-?\s?case\b|\ball caps\b|\bcapital letters\b"),
            lambda text: Rewritten(text.upper()),
        ),
        (re.compile(r"(?i)\blower-?\s?case\b"), lambda text: Rewritten(text.lower())),
        (
            re.compile(r"(?i)\bhow many (?:letters|characters)\b"),
            lambda text: Rewritten(str(len(text)), True),
        ),
        (re.compile(r"(?i)\bhow many words\b"), lambda text: Rewritten(str(len(text.split())), True)),
        (re.compile(r"(?i)\bfirst letter\b"), lambda text: Rewritten(text[:1])),
        (re.compile(r"(?i)\blast letter\b"), lambda text: Rewritten(text[-1:])),
        (re.compile(r"(?i)\bspell\b"), lambda text: Rewritten("-".join(text))),
        (
            re.compile(
                r"(?i)^\W*(?:please )?(?:repeat|copy|echo|say|print|output|write)\b(?!.{0,20}\b(?:story|poem|essay))"
            ),
            lambda text: Rewritten(text),
        ),
    ]


def rewrite(block: str, preface: str) -> Rewritten | None:
    """Carry out an instruction, which is in `block` or in the `preface` above it."""
    if _HINT.search(block) is not None:
        instruction, text = block, _object_of(block)
    elif preface and _HINT.search(preface) is not None:
        instruction, text = preface, block
    else:
        return None
    translation = _TRANSLATE.search(instruction)
    if translation is not None:
        return Rewritten(_translate(text, translation.group(1).lower()))
    for pattern, task in _tasks():
        if pattern.search(instruction) is not None:
            return task(text)
    return None


def _object_of(block: str) -> str:
    """Return the text that an instruction is about: the quoted text, the text after the colon, or the last word."""
    quoted = _QUOTED.search(block)
    if quoted is not None:
        return next(group for group in quoted.groups() if group)
    after = _AFTER_COLON.search(block)
    if after is not None:
        return after.group(1).strip()
    words = block.rsplit(None, 1)
    return words[-1].rstrip("?.!") if words else block

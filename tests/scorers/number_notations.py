"""Random numbers in the notations of five languages, in sentences, with the value that is meant."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Written:
    """One reply."""

    text: str
    value: Fraction
    """The number that it gives."""
    target: str
    """The same as an expected answer, in plain notation."""
    ambiguous: bool
    """Whether the notation by itself can be read in two ways."""


@dataclass(frozen=True)
class Language:
    """How numbers and sentences are written."""

    point: str
    groups: tuple[str, ...]
    million: tuple[str, str]
    percent: tuple[str, ...]
    minus: str
    money: tuple[str, ...]
    stated: tuple[str, ...]
    """Sentences that state an answer; `{}` is the number."""
    plain: tuple[str, ...]
    """Sentences in which the number is the only one, or the last."""


LANGUAGES = {
    "en": Language(
        ".", (",",), ("million", "million"), ("{}%", "{} %", "{} percent"), "minus", ("${}", "{} dollars", "USD {}", "£{}"),
        (
            "The answer is {}.", "**Answer:** {}", "Adding 3 and 4 first, the final answer is {}.", "Answer: {}\nI checked it 2 times.",
            "So the correct answer is {}, not 17.", "We try 12, then 15. The answer is therefore {}.", "#### {}", r"So $\boxed{{{}}}$.",
            "The answer to question 7 is {}.", "Final answer: {}",
        ),
        ("{}", "It is {}.", "It costs {} in all.", "There are 3 boxes of 5, so we get {}.", "= {}", "1. Add both.\n2. The sum is {}."),
    ),
    "de": Language(
        ",", (".", " ", "\u202f", "'"), ("Million", "Millionen"), ("{} %", "{}%", "{} Prozent"), "minus", ("{} €", "{} Euro", "€ {}"),
        ("Die Antwort lautet {}.", "Antwort: {}", "Das Ergebnis ist {}.", "Zuerst 3 und 4, also ist die Antwort {}.", "Die Lösung beträgt {}, nicht 17."),
        ("Es sind {}.", "Das macht insgesamt {}.", "Das kostet {}.", "Wir haben 3 Kisten mit 5, also ergibt das {}."),
    ),
    "fr": Language(
        ",", (" ", "\u202f", "\u00a0"), ("million", "millions"), ("{} %", "{} pour cent"), "moins", ("{} €", "{} euros"),
        ("La réponse est {}.", "Réponse : {}", "Le résultat est de {}.", "La réponse finale est donc {}."),
        ("Il y en a {}.", "Au total, cela fait {}.", "Cela coûte {}."),
    ),
    "es": Language(
        ",", (".", " "), ("millón", "millones"), ("{} %", "{}%", "{} por ciento"), "menos", ("{} €", "{} euros", "{} pesos"),
        ("La respuesta es {}.", "Respuesta: {}", "El resultado es {}.", "Por lo tanto, la respuesta correcta es {}."),
        ("Hay {} en total.", "En total son {}.", "Cuesta {}."),
    ),
    "ru": Language(
        ",", (" ", "\u00a0"), ("миллион", "миллионов"), ("{} %", "{}%", "{} процентов"), "минус", ("{} рублей", "{} ₽"),
        ("Ответ: {}.", "Ответ: {}", "Результат равен {}.", "Итак, ответ: {}"),
        ("Получаем {}.", "Всего {}.", "В итоге это стоит {}."),
    ),
}  # fmt: skip


def written(seed: int) -> Written:
    """One reply, always the same for a seed."""
    chance = random.Random(seed)
    language = LANGUAGES[chance.choice(list(LANGUAGES))]
    number, value, ambiguous = chance.choice(_NOTATIONS)(chance, language)
    sentence = chance.choice(language.stated if chance.random() < 0.6 else language.plain)
    if "boxed" not in sentence:
        number = number.replace("@", "")
    return Written(sentence.format(number.replace("@", "")), value, str(value), ambiguous)


def _whole(chance: random.Random) -> int:
    return chance.choice([chance.randrange(10), chance.randrange(100), chance.randrange(1_000), chance.randrange(10**6), chance.randrange(10**10)])  # fmt: skip


def _grouped(number: int, mark: str) -> str:
    return f"{number:,}".replace(",", mark)


def _plain(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    number = _whole(chance)
    return str(number), Fraction(number), False


def _in_groups(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    number = chance.randrange(1_000, 10 ** chance.randrange(4, 11))
    mark = chance.choice(language.groups)
    return _grouped(number, mark), Fraction(number), mark in ".," and number < 10**6


def _decimal(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    places = chance.randrange(1, 6)
    number, below = chance.randrange(10 ** chance.randrange(1, 6)), chance.randrange(10**places)
    text = f"{number}{language.point}{below:0{places}d}"
    return text, Fraction(f"{number}.{below:0{places}d}"), places == 3 and 0 < number < 1_000


def _grouped_decimal(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    number, below = chance.randrange(1_000, 10**8), chance.randrange(100)
    text = f"{_grouped(number, chance.choice(language.groups))}{language.point}{below:02d}"
    return text, Fraction(f"{number}.{below:02d}"), False


def _fraction(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    above, below = chance.randrange(1, 60), chance.randrange(2, 60)
    form = chance.choice(["{}/{}", "{} / {}", r"\frac{{{}}}{{{}}}", r"\dfrac{{{}}}{{{}}}", "{}⁄{}"])
    return form.format(above, below), Fraction(above, below), False


def _mixed(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    whole, below = chance.randrange(1, 40), chance.randrange(2, 20)
    above = chance.randrange(1, below)
    form = chance.choice(["{} {}/{}", r"{}\frac{{{}}}{{{}}}"])
    return form.format(whole, above, below), whole + Fraction(above, below), False


def _sign_fraction(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    sign, value = chance.choice([("½", "1/2"), ("¼", "1/4"), ("¾", "3/4"), ("⅓", "1/3"), ("⅝", "5/8")])
    whole = chance.choice(["", str(chance.randrange(1, 99))])
    return whole + sign, Fraction(whole or 0) + Fraction(value), False


def _power(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    exponent = chance.randrange(-9, 24)
    form = chance.choice(["10^{}", "10^{{{}}}", "10**{}", "@10{}"])
    raised = (
        str(exponent).translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))
        if form.startswith("@")
        else exponent
    )
    return form.format(raised), Fraction(10) ** exponent, False


def _scientific(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    exponent, tenths = chance.randrange(-9, 24), chance.randrange(10, 100)
    factor = f"{tenths // 10}{language.point}{tenths % 10}"
    form = chance.choice(
        ["{} × 10^{}", "{}x10^{}", r"{} \times 10^{{{}}}", "{} · 10^{}", "{}e{}", "{}E{}", "{} * 10^{}"]
    )
    return form.format(factor, exponent), Fraction(tenths, 10) * Fraction(10) ** exponent, False


def _million(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    tenths = chance.randrange(11, 400)
    text = f"{tenths // 10}{language.point}{tenths % 10} {language.million[1]}"
    return text, Fraction(tenths, 10) * 10**6, False


def _negative(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    text, value, ambiguous = chance.choice([_plain, _decimal, _grouped_decimal])(chance, language)
    return chance.choice(["-{}", "−{}", f"{language.minus} {{}}"]).format(text), -value, ambiguous


def _money(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    text, value, ambiguous = chance.choice([_plain, _grouped_decimal])(chance, language)
    return chance.choice(language.money).format(text), value, ambiguous


def _percent(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    text, value, ambiguous = chance.choice([_plain, _decimal])(chance, language)
    return chance.choice(language.percent).format(text), value / 100, ambiguous


def _unit(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    text, value, ambiguous = chance.choice([_plain, _decimal, _in_groups])(chance, language)
    unit = chance.choice(
        [" km", " kg", " cm^2", " m²", " km/h", " m/s^2", "°C", " kWh", r"\,\text{cm}", r"\text{ m}^2"]
    )
    return text + unit, value, ambiguous


def _digits(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    number = _whole(chance)
    zero = chance.choice([0xFF10, 0x0660, 0x06F0, 0x0966])
    return "".join(chr(zero + int(digit)) for digit in str(number)), Fraction(number), False


def _latex_groups(chance: random.Random, language: Language) -> tuple[str, Fraction, bool]:
    number = chance.randrange(10**6, 10**10)
    return _grouped(number, chance.choice(["{,}", r"\,", "{,}\\!"])), Fraction(number), False


_NOTATIONS = (
    _plain, _in_groups, _decimal, _grouped_decimal, _fraction, _mixed, _sign_fraction, _power, _scientific, _million,
    _negative, _money, _percent, _unit, _digits, _latex_groups,
)  # fmt: skip


def parts(text: str) -> Iterator[str]:
    """The runs of digits of a text: what a careless reader would take for the number."""
    run = ""
    for char in text + " ":
        if char.isascii() and char.isdigit():
            run += char
        elif run:
            yield run
            run = ""

"""Which of the numbers of a worked reply is its result: a class of replies per table, each with many numbers."""

from __future__ import annotations

import random

import pytest

from benchwright.scorers._numbers import plain_number
from benchwright.scorers._quantity.reader import read_number

RESULT = {
    "known ones beside the result": (
        "{a} × {b} = {r}\n\nSo {a} boxes of {b} pens hold {r} pens.",
        "{a} × {b} = {r}\n\nPortanto, {a} caixas custam R$ {r}.",
        "Speed = {a} km/h\nTime = {b} h\nDistance = {a} × {b}\nDistance = {r} km\n\nSo the car travels {r} km in {b} hours at a speed of {a} km/h.",
        "**Calcul :** {a} × {b} = {r}\n\n**Réponse finale :** {a} bouteilles contiennent {r} litres.",
    ),
    "comments on the result": (
        "She has {a} × {b} = {r} pens, which is {c}% of all.",
        "He needs {a} × {b} = {r} litres, costing about ${c}.",
        "{a} × {b} = {r}.\n\nShe earns ${r} a week, which is about ${c} a month.",
        "Each gets {a} × {b} = {r} pens, with 0 left over.",
        "There were {r} left. The capacity of the vase ({c} flowers) is not needed.",
    ),
    "headings": (
        "## Result\n\nAfter {a} years the balance will be ${r}. That means ${c} more.",
        "**Ergebnis:**\nNach {a} Jahren sind es {r} Euro. Das sind {c} Euro mehr.",
        "## Answer\n\nAfter {a} years the balance will be ${r}.",
    ),
    "two quantities": ("{a} · {b} = {r}\n\n**Antwort:** Der Zug legt in {a} Stunden {r} km zurück.",),
    "the same in other units": (
        "The marathon is {r} km, or {c} miles, long.",
        "It is {r} metres ({c} feet) tall.",
    ),
    "loops": ("So the box has {a} x {b} = {r} pens." + " So the box has {r} pens." * 5 + " So the box",),
}
NO_RESULT = {
    "breaks off": (
        "First, {a} × {b} = {r}. Next, {r} + {c} remain.\n\nSo between both stops, Henry travelled",
        "The discount is {a} × {b} = {r}.\n\nSale price = ${c} −",
    ),
    "another conclusion": (
        "{a} × {b} = {r}\n\nSo plan B is ${r} cheaper. At {a} minutes it costs less, so it is ${c} cheaper there.",
        "{a} × {b} = {r}\n\nSo the interest is ${r}, and the total would be ${c}.",
    ),
    "items of their own": (
        "It is one of two:\n\n- Long days: {a} × {b} = {r} hours\n- Short days: {c} × 2 = {d} hours",
        "The perimeter is {a} × {b} = {r} cm. The area is {c} cm.",
    ),
    "it depends": ("It depends on the tax. Without tax it is ${r}; with tax, it is ${c}.",),
    "a year or a number": (
        "It was founded in 1636, making it nearly {r} years old.",
        "The wall fell in 1989, {r} years after it was built.",
    ),
    "something new beside it": (
        "So {a} × {b} = {r}, so x = {r}. There were {r} adults and {c} children.",
        "Water boils at {r} degrees, which is {c} elsewhere.",
    ),
}


def numbers() -> list[dict[str, int]]:
    random.seed(7)
    found = []
    for _ in range(20):
        a, b = random.sample(range(3, 40), 2)
        c = a * b * 3 + 1_000 + random.randrange(97)
        found.append({"a": a, "b": b, "r": a * b, "c": c, "d": c * 2})
    return found


@pytest.mark.parametrize("name", RESULT)
def test_the_result_is_read(name: str) -> None:
    for shape in RESULT[name]:
        for values in numbers():
            text = shape.format(**values)
            number = read_number(text).number
            assert number is not None, text
            assert plain_number(number) == str(values["r"]), text


@pytest.mark.parametrize("name", NO_RESULT)
def test_where_two_may_be_the_result_none_is_read(name: str) -> None:
    for shape in NO_RESULT[name]:
        for values in numbers():
            assert read_number(shape.format(**values)).number is None, shape.format(**values)

"""Which of the numbers of a worked reply is its result: a class of replies per table, each with many numbers."""

from __future__ import annotations

import random

import pytest

from benchwright.scorers import ScorerInput, gsm8k_answer_strict, qa_answers
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
    "what follows the verb": tuple(
        f"{lead}{subject} {verb} {{r}}."
        for lead in (
            "",
            "Hence ",
            "So ",
            "Result: ",
            "**Answer:** ",
            "**{a}%** of {c}: we multiply.\n\nThus ",
        )
        for subject in (
            "{a}% of {c}",
            "**{a}%** of {c}",
            "{a} percent of ${c}",
            "a third of {c}",
            "two thirds of {c}",
            "half of {c}",
            "{a} times {b}",
            "the sum of {a} and {c}",
            "the product of {a} and {b}",
        )
        for verb in ("is", "equals", "makes", "gives", "comes to", "is equal to", "amounts to")
    ),
    "a formula before a plain statement": (
        "Speed = distance / time = {c} / 2.5.\n\nThe average speed is {r} km/h.",
        "v = d / t = {c} / 9.58.\n\nThe runner's speed is {r} m/s.",
        "F = m × a = {c} × 9.8.\n\nThe force on the body is {r} N.",
    ),
    "remarks after the result": tuple(
        f"{{a}} crates with {{b}} each\n\n**Answer**\nThe daily wage bill is ${{r}}.\n\n{remark}"
        for remark in (
            "*Note: for a 5-day week, multiply by 5.*",
            "_N.B. prices of {c} shops._",
            "(Hint: {c} is even.)",
            "*Hint: {c} is even.*",
            "**Remark:** {c} would be too many.",
            "By the way, {c} is even.",
            "Tip: order {c} more than you need.",
        )
    ),
    "what the reasoning concluded": (
        "<think>{a} mph for {b} hours. {a}*{b} = {r}.</think>\nThe car travels {r} miles in {b} hours.",
        "<think>{b} boxes at ${a} = {r} dollars.</think>{b} boxes will set you back ${r}.",
        "<think>{b} hours at {a} mph. So {r}.</think>{b} hours later the car has gone {r} miles.",
    ),
    "why fewer would not do": (
        "You'd need {r} buses: two buses would carry only {a} of the {c} pupils.",
        "They will need {r} tables: {a} tables would only seat {b} of the {c} guests.",
        "You need {r} drivers: {a} would not be enough.",
        "It takes {r} trips because {a} trips would move only {b} of the {c} boxes.",
        "{r} billes, car {a} sont rouges et {b} sont bleues.",
    ),
    "what a program gives": tuple(
        f"`{code}` {verb} `{{r}}`."
        for code in ("print(sum(range({a}, {b})))", "{c} // {a}", "max([{a}, {b}])", "f({a})")
        for verb in ("outputs", "prints", "returns", "evaluates to", "gives")
    ),
    "another answer that is called wrong": tuple(
        f"{lead} {{c}}{tail} {rest}"
        for lead in (
            "The intuitive answer is",
            "The tempting answer is",
            "The answer is",
            "You might say",
            "At first it looks like",
        )
        for tail in (
            ", but that's wrong.",
            ", which is incorrect.",
            " hours, but that is not right.",
            ", but it's a trap.",
        )
        for rest in ("It takes {r} days.", "The ball costs {r} cents.")
    ),
    "remarks that say so": tuple(
        f"There are {{r}} cups in it.{gap}{lead} {{a}} quarts = {{b}} gallons and {{b}} cups = {{a}} quarts"
        for gap in (" ", "\n")
        for lead in ("FYI,", "fyi", "btw", "For your information:", "Incidentally,", "For what it's worth,")
    ),
    "several units and then one": tuple(
        f"{lead} {{a}} hours and {{b}} minutes{link} {{r}}{end}"
        for lead in ("That's", "It took", "From 9:40 to 14:10 are")
        for link in (", or", ", i.e.", ", that is,")
        for end in (" hours.", " minutes in all.")
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
    "only a part of something": (
        "So a third of {c} is not {r}.",
        "Answer: {a}% of {c}",
        "The answer is half of {c}.",
        "{a}% of {c} is {r} and {b}% of {c} is {d}.",
    ),
    "several of which the reasoning concluded one": (
        "<think>{a} * {b} = {r}, and {c} * 2 = {d}.</think>The car travels {r} miles in {b} hours and {d} miles in {a} hours.",
        "<think>{a} * {b} = {r}</think>The {a} teams play {c} matches in {b} weeks.",
    ),
    "programs that give several numbers or another one": (
        "`foo({a})` returns {r} and `foo({b})` returns {c}.",
        "`int('{r}')` does not return {c}.",
        "She returns {a} books and keeps {b}.",
    ),
    "more than one thing needed": (
        "You'd need {a} vans and {b} buses: the vans would carry only 16 of {c}.",
        "Price for {a} shirts: only ${r} plus ${c} shipping.",
        "You need {a} eggs per cake: for {b} cakes you would only need {r}.",
        "{b} hours later the car has gone {r} miles.",
    ),
    "as many of the one as of the other": (
        "Each does so in {b} minutes. So {a} machines make {a} parts in {b} minutes.",
        "{a} machines working in parallel therefore make {a} widgets in {b} minutes.",
    ),
    "a formula with words": (
        "I can't see the figure. Then I would use A = {a} · base · height.",
        "Use V = {a} × length × width.",
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


@pytest.mark.parametrize("share", [12, 15, 40, 75])
@pytest.mark.parametrize("whole", [80, 200, 1_000])
@pytest.mark.parametrize(
    "shape",
    [
        "{part} / {whole} = {decimal}, so {part} is {share}% of {whole}.",
        "{part}/{whole} = {decimal}, i.e. {part} is {share} % of {whole}.",
        "x = {part} / {whole} = {decimal}. The share is {share}% a year.",
        "So r = {part} / {whole} = {decimal}. The rate was {share}%.",
    ],
)
def test_a_share_that_repeats_the_result_is_a_percentage(shape: str, share: int, whole: int) -> None:
    part = share * whole / 100
    number = read_number(shape.format(part=f"{part:g}", whole=whole, share=share, decimal=share / 100)).number
    assert number is not None
    assert plain_number(number) == f"{share}%"


@pytest.mark.parametrize(
    ("unit", "asked"),
    [("million", "in million dollars"), ("thousand", "in thousands"), ("billion", "in billions of euros"), ("dozen", "How many dozens?")],
)  # fmt: skip
def test_numbers_in_the_scale_that_the_question_asks_for(unit: str, asked: str) -> None:
    for reply in (f"The profit is 25 {unit}.", f"75/3 = 25 {unit}", f"25 {unit}"):
        in_scale = ScorerInput(reply, "25", {"question": f"{asked}?"})
        assert gsm8k_answer_strict(in_scale) == {"correct": True, "parsed": True}
        assert qa_answers(["numeric"])(in_scale)["numeric"] is True
        assert not gsm8k_answer_strict(ScorerInput(reply, "25", {"question": "How many are there?"}))[
            "parsed"
        ]
        assert gsm8k_answer_strict(ScorerInput(reply, "26", {"question": asked})) == {
            "correct": False,
            "parsed": True,
        }


@pytest.mark.parametrize("name", NO_RESULT)
def test_where_two_may_be_the_result_none_is_read(name: str) -> None:
    for shape in NO_RESULT[name]:
        for values in numbers():
            assert read_number(shape.format(**values)).number is None, shape.format(**values)

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


@pytest.mark.parametrize(
    ("short", "word", "zeros"), [("K", "thousand", 3), ("M", "million", 6), ("B", "billion", 9)]
)
def test_numbers_written_out_where_the_question_asks_in_a_scale(short: str, word: str, zeros: int) -> None:
    amount = f"${4_150 * 10 ** (zeros - 2):,}"
    for reply in (
        f"$41.5{short}",
        f"$24{short} + $17.5{short} = $41.5{short}",
        amount,
        f"It is {amount}.",
        f"$41.5 {word}",
        "41.5",
    ):
        for asked in (f"in {word}s of dollars", f"(in $ {word}s)", f"in {word}s", f"in {word} dollars"):
            row = {"question": f"What was the total {asked}?"}
            assert gsm8k_answer_strict(ScorerInput(reply, "41.5", row))["correct"], (reply, asked)
            assert not gsm8k_answer_strict(ScorerInput(reply, "415", row))["correct"], (reply, asked)
        given = {"question": f"Of 3 {word} units half were sold. What was the total?"}
        assert reply == "41.5" or not gsm8k_answer_strict(ScorerInput(reply, "41.5", given))["correct"]
    for asked in ("dozens", "hundreds"):
        assert not gsm8k_answer_strict(ScorerInput("1200", "12", {"question": f"How many {asked}?"}))[
            "correct"
        ]


@pytest.mark.parametrize("then", ["→", "⇒", "=>", "->", r"\Rightarrow"])
def test_the_last_of_several_equations_gives_the_unknown(then: str) -> None:
    for reply, value in (
        (f"3x − 6 = 5x + 4 {then} −10 = 2x {then} x = −5", "-5"), (f"2x + 3 = 11 {then} 2x = 8 {then} x = 4.", "4"),
        (f"2x = 12 {then} x = 6 {then} y = 4", None), (f"x² = 9 {then} x = 3 or x = −3", None),
    ):  # fmt: skip
        found = read_number(reply).number
        assert (None if found is None else plain_number(found)) == value, reply


@pytest.mark.parametrize("name", NO_RESULT)
def test_where_two_may_be_the_result_none_is_read(name: str) -> None:
    for shape in NO_RESULT[name]:
        for values in numbers():
            assert read_number(shape.format(**values)).number is None, shape.format(**values)


WITHOUT_VALUE = (
    "Division by zero is undefined, so this expression has no numerical value.", "{a} divided by 0 is undefined.", "Dividing {a} by 0 is undefined.",
    "{a} / 0 is undefined because no number times 0 gives {a}.", "The answer is undefined, since {a} / 0 has no value.",
    "You can't divide by 0, so {a} / 0 cannot be computed.", "No number times 0 gives {a}. Therefore the quotient is undefined.",
    "{a}/0 does not exist.", "The result does not exist: you cannot divide {a} by zero.", "The value of {a} / 0 is not defined.",
    "{a} / 0 = undefined", "Zero has no reciprocal. The quotient is undefined.", "{a} ÷ 0 = \\boxed{{\\text{{undefined}}}}",
    "The division of {a} by zero has no numerical value.", "Because you cannot divide by 0, this is meaningless.",
    "{a} geteilt durch 0 ist nicht definiert.", "Die Division durch null ist nicht definiert, daher hat der Ausdruck keinen Wert.",
    "{a} durch 0 lässt sich nicht berechnen.", "Das Ergebnis existiert nicht, weil man {a} nicht durch 0 teilen darf.",
    "{a} divisé par 0 n'est pas défini.", "La division par zéro n'est pas définie ; l'expression n'a pas de valeur.", "{a} / 0 n'existe pas.",
    "{a} dividido por 0 no está definido.", "La división por cero no está definida, así que no tiene valor.", "El cociente {a} / 0 no existe.",
    "{a} diviso 0 non è definito.", "Il quoziente {a} / 0 non esiste.", "Деление {a} на 0 не определено.", "Выражение {a} / 0 не имеет значения.",
)  # fmt: skip
HAS_VALUE = (
    "The limit is {r}, although the function itself is undefined there.", "f(x) is undefined at x = 0, but its limit is {r}.",
    "At x = 2 the slope is undefined, so x = {r}.", "The limit is {r}. Note that the quotient is undefined at 0.",
    "Since the year 0 does not exist, there are {r} years between them.", "The year 0 does not exist, so there are {r} years between them.",
    "The limit is {r}, and f(2) is undefined.", "The value at 0 is undefined.\n\nAnswer: {r}", "x = {r} (x = 0 is undefined)", "{r}, because 1/0 is undefined.", "{r} is the answer since 1/0 is undefined.",
    "There are 3 terms which have no value, leaving {r}.", "The slope is undefined: the line is vertical, x = {r}.",
)  # fmt: skip


@pytest.mark.parametrize("shape", WITHOUT_VALUE)
def test_what_has_no_value_gives_no_number(shape: str) -> None:
    for lead in (
        "",
        "Let me think about it. ",
        "We are asked for {a} / 0. ",
        "**Step 1:** look at the divisor.\n\n",
    ):
        for values in numbers():
            reply = (lead + shape).format(**values)
            assert read_number(reply).number is None, reply


@pytest.mark.parametrize("shape", HAS_VALUE)
def test_another_thing_without_a_value_takes_no_number_back(shape: str) -> None:
    for values in numbers():
        number = read_number(shape.format(**values)).number
        assert number is not None, shape.format(**values)
        assert plain_number(number) == str(values["r"])


CONVERTED = (
    "km miles feet",
    "kg pounds ounces",
    "litres gallons pints",
    "km/h mph m/s",
    "hours minutes days",
)
SAID_AGAIN = (
    "That's about {c} {other}.", "That is roughly {c} {other}!", "This is about {c} {other}.", "In other words, about {c} {other}.",
    "If you're curious, that's a little over {c} {other}!", "For reference, that's {c} {other}.", "In case you're wondering, it's about {c} {other}.",
    "Just for fun: that's {c} {other} or {d} {third}.", "It's about {c} {other}.", "That works out to {c} {other}.",
)  # fmt: skip


@pytest.mark.parametrize("units", CONVERTED)
def test_what_says_the_result_in_other_units_is_no_conclusion(units: str) -> None:
    asked, other, third = units.split()
    for said in SAID_AGAIN:
        for question in (
            f"There are {other} and more. How many {asked} is it?",
            f"How much is it in {asked}?",
        ):
            for values in numbers():
                for shape in (
                    "It is {r} {asked} in all.",
                    "So the whole is {r} {asked}.",
                    "{a} × {b} = {r} {asked}.",
                    "The result is {r} {asked}.",
                ):
                    reply = f"{shape} {said}".format(**values, asked=asked, other=other, third=third)
                    scores = qa_answers(["numeric"])(
                        ScorerInput(reply, str(values["r"]), {"question": question})
                    )
                    assert scores["numeric"] is True, (reply, scores)


@pytest.mark.parametrize("units", CONVERTED)
def test_what_converts_into_the_asked_unit_is_the_conclusion(units: str) -> None:
    other, asked, _ = units.split()
    for values in numbers():
        reply = "It is {a} {other}. That's {r} {asked}.".format(**values, asked=asked, other=other)
        scores = qa_answers(["numeric"])(
            ScorerInput(reply, str(values["r"]), {"question": f"How many {asked} are {values['a']} {other}?"})
        )
        assert scores["numeric"] is True, (reply, scores)


@pytest.mark.parametrize("verb", ["is", "has", "gets", "earns", "weighs", "scored"])
def test_of_several_persons_the_one_that_is_asked_for(verb: str) -> None:
    def read(reply: str, question: str) -> object:
        return qa_answers(["numeric"])(ScorerInput(reply, "0", {"question": question}))["matched"]

    about = "Ann and Bob share. How much does {who} get?"
    for values in numbers():
        for lead in ("So ", "Therefore ", "Thus, ", "", "x = 5. Hence "):
            reply = (lead + "Bob {verb} {b} and Ann {verb} {r}.").format(**values, verb=verb)
            assert read(reply, about.format(who="Ann")) == str(values["r"]), reply
            assert read(reply, about.format(who="Bob")) == str(values["b"]), reply
            for who in ("each child", "Ann or Bob", "Eve"):
                assert read(reply, about.format(who=who)) is None, reply
            for asked in (
                "How much more does Ann get?",
                "What do Ann and Eve get?",
                "What is left after Ann pays?",
            ):
                assert read(reply, asked) is None, reply

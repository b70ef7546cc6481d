"""Explanations of word problems, as models write them, with the number that each concludes."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """A text and what it concludes; None if it concludes nothing."""

    text: str
    result: int | None


CONCLUDED = (
    # English: {a}, {b} and {c} are given, {r} is their sum, {d} is {r} - {c}, {p} is {a} times {b}.
    "There are {a} red and {b} blue balls, so {d} in total.",
    "There are {a} red, {b} blue and {c} green balls, making {r} in all.",
    "There are {a} apples and {b} pears. That's {d} pieces of fruit altogether.",
    "Tom has {a} marbles, Ann has {b} marbles and Joe has {c}, so together they have {r} marbles.",
    "She buys {a} pens and {b} pencils, which gives {d} items.",
    "She picked {a} on Monday and {b} on Tuesday: {d} in total.",
    "He had {a} coins and found {b} more, giving him {d} coins.",
    "With {a} boxes of {b} eggs each, there are {p} eggs in all.",
    "{a} boxes with {b} eggs each: {a} × {b} = {p} eggs.",
    "There were {r} birds and {c} flew away, hence {d} remain.",
    "There were {r} birds; {c} flew away. Thus {d} birds are left.",
    "Out of {r} students {c} are absent, which leaves {d} students.",
    "Starting with {r}, subtract {c} to get {d}.",
    "{a} plus {b} makes {d}, and {d} plus {c} makes {r}.",
    "In the morning they sold {a}, in the afternoon {b}, and in the evening {c}, for a total of {r}.",
    "They sold {a} in the morning and {b} in the evening, therefore {d} tickets were sold that day.",
    "They need {a} cups of flour and {b} cups of sugar. Altogether that is {d} cups.",
    "So {d} balls in total: {a} red and {b} blue.",
    "So there are {d} balls, because {a} are red and {b} are blue.",
    "There are {d} balls in total, since there are {a} red ones and {b} blue ones.",
    "In total there are {r} animals: {a} cows, {b} pigs and {c} hens.",
    "{d}. There are {a} red ones and {b} blue ones.",
    "{d} balls, as {a} are red and {b} are blue.",
    "**{r}**\n\nWe add {a} cows, {b} pigs and {c} hens.",
    "First, Tom has {a}. Then he gets {b}. Finally he gets {c}. This makes a total of {r}.",
    "Step 1: {a} + {b} = {d}\nStep 2: {d} + {c} = {r}\n\nSo she has {r} stickers.",
    "- red: {a}\n- blue: {b}\n- green: {c}\n\nTotal: {r}",
    "1. Tom has {a} cards.\n2. Ann has {b} cards.\n\nTogether they have {d} cards.",
    "She has {a} apples. Her brother has {b} apples. Combined, they have {d}.",
    "We add {a} and {b} to find {d}.",
    "Adding {a} and {b} yields {d} passengers.",
    "The sum of {a} and {b} is {d}.",
    "Since {a} are red and {b} are blue, the bag holds {d} balls.",
    "As she had {r} and gave away {c}, she now has {d} left.",
    "{a} and {b} and {c} add up to {r}.",
    "We have {a} rows of {b} chairs, that is, {p} chairs overall.",
    # German
    "Es gibt {a} rote und {b} blaue Kugeln, also insgesamt {d}.",
    "Es gibt {a} rote und {b} blaue Kugeln, also {d} insgesamt.",
    "Anna hat {a} Äpfel und Ben hat {b}. Zusammen haben sie {d} Äpfel.",
    "Von {r} Kindern fehlen {c}, daher sind {d} da.",
    "{a} Kisten mit je {b} Flaschen ergeben {p} Flaschen.",
    "Sie kauft {a} Hefte, {b} Stifte und {c} Mappen, das macht {r} Teile.",
    "Insgesamt sind es {d} Kugeln, denn {a} sind rot und {b} sind blau.",
    "{d} Kugeln, weil {a} rot und {b} blau sind.",
    "Morgens kamen {a} Gäste und abends {b}, somit waren es {d} Gäste.",
    # French
    "Il y a {a} billes rouges et {b} billes bleues, donc {d} au total.",
    "Il y a {a} billes rouges et {b} billes bleues, soit {d} billes en tout.",
    "Marie a {a} pommes et Paul en a {b}. Ensemble, ils ont {d} pommes.",
    "Sur {r} élèves, {c} sont absents, il reste donc {d} élèves.",
    "{a} boîtes de {b} œufs font {p} œufs.",
    "Au total, il y a {d} billes : {a} rouges et {b} bleues.",
    "{d} billes, car {a} sont rouges et {b} sont bleues.",
    # Spanish
    "Hay {a} bolas rojas y {b} azules, así que son {d} en total.",
    "Hay {a} bolas rojas y {b} azules, por lo tanto {d} en total.",
    "Ana tiene {a} manzanas y Luis tiene {b}. En total tienen {d} manzanas.",
    "De los {r} alumnos faltan {c}, por lo que quedan {d}.",
    "{a} cajas de {b} huevos dan {p} huevos.",
    "En total hay {d} bolas: {a} rojas y {b} azules.",
    "{d} bolas, porque {a} son rojas y {b} azules.",
    # Russian
    "В коробке {a} красных и {b} синих шаров, значит, всего {d}.",
    "В коробке {a} красных и {b} синих шаров, итого {d}.",
    "У Пети {a} яблок, у Маши {b}. Вместе у них {d} яблок.",
    "Было {r} птиц, {c} улетели, следовательно, осталось {d}.",
    "Всего {d} шаров: {a} красных и {b} синих.",
    "{d} шаров, потому что {a} красных и {b} синих.",
    "В {a} коробках по {b} яиц, получается {p} яиц.",
)  # fmt: skip
"""The result stands at the end, or at the start with the explanation after it."""

OPEN = (
    "There are {a} red and {b} blue balls.",
    "There are {a} red balls, {b} blue balls and {c} green balls.",
    "Tom has {a} marbles and Ann has {b}.",
    "Tom has {a} marbles, Ann has {b}, and Joe has {c} marbles.",
    "They sold {a} on Monday and {b} on Tuesday.",
    "So there are {a} boys and {b} girls.",
    "Es gibt {a} rote und {b} blaue Kugeln.",
    "Anna hat {a} Äpfel und Ben hat {b} Birnen.",
    "Il y a {a} billes rouges et {b} billes bleues.",
    "Hay {a} bolas rojas y {b} bolas azules.",
    "В коробке {a} красных и {b} синих шаров.",
)
"""Nothing is concluded."""


def explanations(seed: int) -> list[Explanation]:
    """Every template with random numbers that all differ."""
    chosen = random.Random(seed)
    found = []
    for template in (*CONCLUDED, *OPEN):
        while True:
            a, b, c = (chosen.randint(2, 90) for _ in range(3))
            d, r, p = a + b, a + b + c, a * b
            if len({a, b, c, d, r, p}) == 6:
                break
        values = {"a": a, "b": b, "c": c, "d": d, "r": r, "p": p}
        result = None
        if template in CONCLUDED:
            result = _result(template, values)
        found.append(Explanation(template.format(**values), result))
    return found


def _result(template: str, values: dict[str, int]) -> int:
    """The largest is the result where things are added or multiplied; where things are taken away, what is left."""
    if "{r}" in template and template.index("{r}") < template.rindex("{d}" if "{d}" in template else "{r}"):
        return values["d"]
    return next(values[name] for name in "prd" if f"{{{name}}}" in template)

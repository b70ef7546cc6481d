"""Replies built from an answer and what comes before or after it, with the number that is meant: a class of replies per table."""

from __future__ import annotations

import random
from collections.abc import Iterator

ANSWERS = (
    "x = {r}",
    "So she has {r} apples left.",
    "The average speed is {r} km/h.",
    "{a} × {b} = {r}",
    "In total, that makes {r} pieces.",
    "Das Ergebnis beträgt {r}.",
    "Es bleiben also {r} Äpfel übrig.",
    "Il reste donc {r} pommes.",
    "Por lo tanto, quedan {r} manzanas.",
    "Значит, осталось {r} яблок.",
)
"""Sentences that give a number."""

NOT_ANSWERS = {
    "check": (
        "Check: {a} + {b} = {c}, and {c} - {b} = {a}. ✓",
        "Let's verify: {a} × {b} = {c}.",
        "To double-check, {a} + {b} = {c}. Both sides equal {c}.",
        "Verification:\n\nLeft side: {a} + {b} = {c}\n\nRight side: {c}",
        "Probe: {a} + {b} = {c}.",
        "Vérification : {a} + {b} = {c}.",
        "Comprobación: {a} + {b} = {c}.",
        "Проверка: {a} + {b} = {c}.",
        "Conferindo: {a} + {b} = {c}.",
    ),
    "source": (
        "[1] Annual report, page {a}, edition {b}.",
        "Source: Handbook of Facts, volume {a}.",
        "Sources: survey of {a} towns.",
    ),
    "question": (
        "Would you like to see how {a} and {b} are added?",
        "Shall I also show the case of {a} boxes?",
    ),
    "remark": (
        "Note: I assumed that each box holds {a}.",
        "Let me know if you need help with the other {a} problems!",
        "(A box holds {a}.)",
        "Hinweis: eine Kiste fasst {a}.",
        "*Bonus:* a box would hold about {a}.",
        "Many people answer {a}, but then the total would be {c}.",
    ),
    "supposed": (
        "If there were {a} boxes instead, she would have {c}.",
        "Wenn es {a} Kisten wären, würde sie {c} haben.",
    ),
    "next question": (
        "Q: What is {a} + {b}?\nA: {c}",
        "User: And what is {a} + {b}?\nAssistant: The answer is {c}.",
    ),
}
"""What follows an answer and gives none, by class."""

NOTHING = {
    "declined": (
        "The shop sold {a} pens and {b} pencils. However, there is not enough information to find the price.",
        "There are {a} boxes. The number of eggs cannot be determined.",
        "I'm sorry, but I don't have the records of {a} shops.",
        "I can't help with that. You can call {a} at any time.",
        "Es gibt {a} Kisten. Die Anzahl lässt sich nicht bestimmen.",
        "At most {a} guests came, though the exact number isn't stated.",
        "I'm not able to predict the rate. The long-run target is {a} percent.",
        "The conditions a = {a} and a = {b} are inconsistent, so there is no solution.",
    ),
    "unfinished": (
        "First, {a} + {b} = {c}. Next we subtract the ones that were sold on Monday, which",
        "Il y a {a} rangées de {b} places. On multiplie {a} par {b}, ce qui donne",
        "Step 1: {a} + {b} = {c}\n\nStep 2: Now we have to take away the",
        "The car needs {a} litres per tank. The car needs {a} litres per tank. The car needs {a} litres per tank. The car needs {a} litres per tank.",
    ),
    "program": ("```python\nprint({a} * {b})\n```",),
    "parts": ("a) {a}\nb) {b}", "(a) The area is {a}. (b) The perimeter is {b}."),
    "facts": (
        "The tower is {a} m high. It was built by {b} people.",
        "The city has {a} bridges. The largest one carries {b} cars a minute.",
        "The number is {a}. It could also be {b}.",
    ),
    "cases": (
        "Let me go through the cases.\n\n- If it is a square, it is {a}°.\n- If it is a triangle, it is {b}°.",
    ),
    "contradiction": ("The final answer is {a}.\n\nThe final answer is {b}.", "Answer: {a}\nAnswer: {b}"),
    "vague": ("Several dozen people came.", "With those two numbers I can find it."),
}
"""Replies without a number that is the answer, by class."""

BESIDE = (
    "In 2021 the town had about {r} inhabitants.",
    "Deutschland hatte im Jahr 2021 rund {r} Betriebe.",
    "Rounded to 2 decimal places, the result is {r}.",
    "Rounded to the nearest 10, that is {r}.",
    "Therefore, Maria needs to save {r} dollars per week for {a} weeks.",
    "So the number of pairs among {a} people is {r}.",
    "Your total would be ${r}, including a ${a} tip.",
    "Running it with Python 3.11 prints {r}.",
    "The price rose from ${a} to ${b}, an increase of {r} dollars.",
    "Thus, {r} buses are needed for the {a} students.",
    "The school has {a} classes with {b} pupils each.\n\nThe number of pupils who take the bus is **{r}**, and {c} walk.",
    "{r} hours. With {a} workers the job takes {b} hours.",
    "{r} — the remaining {a} birds have flown away.",
    "~~{a}~~ {r}",
    "Answer: <{r}>",
    "Answer - {r}",
    "- {r}",
    "{a} → {b} → {c} → {r}",
    "$1101_2 + {a} = {r}_{{10}}$",
    "**Total:** {a} + {b} = **{r}**\n\n| Pages | Cost |\n|---|---|\n| {a} | {b} |\n\nAs the table shows, it's {c} cents for each.",
    "The change is –{r} dollars, i.e. a loss.",
    "Somando as partes ({a} + {b}) e tirando a tarifa de {c}, o saldo final é de {r}.",
)
"""Sentences with one answer among other numbers."""


def followed(seed: int) -> Iterator[tuple[str, str, int]]:
    """Answers followed by a part that gives none: its class, the reply, the number."""
    chance = random.Random(seed)
    for kind, endings in NOT_ANSWERS.items():
        for ending in endings:
            values = _values(chance)
            answer = chance.choice(ANSWERS)
            yield kind, f"{answer}\n\n{ending}".format(**values), values["r"]


def without(seed: int) -> Iterator[tuple[str, str]]:
    """Replies without an answer, with their class."""
    chance = random.Random(seed)
    for kind, replies in NOTHING.items():
        for reply in replies:
            yield kind, reply.format(**_values(chance))


def beside(seed: int) -> Iterator[tuple[str, int]]:
    """Answers among other numbers."""
    chance = random.Random(seed)
    for reply in BESIDE:
        values = _values(chance)
        yield reply.format(**values), -values["r"] if "–{r}" in reply else values["r"]


def _values(chance: random.Random) -> dict[str, int]:
    """Two numbers, their sum, and a result that is none of them."""
    while True:
        a, b, r = chance.randint(2, 90), chance.randint(2, 90), chance.randint(100, 900)
        if len({a, b, a + b, r, a * b}) == 5:
            return {"a": a, "b": b, "c": a + b, "r": r}

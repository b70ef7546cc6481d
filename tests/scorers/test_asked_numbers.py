"""Numbers of replies that give more than was asked for: the one that is called what the question asks for, or none."""

from __future__ import annotations

import re
from itertools import product

import pytest
from tests.scorers.growth import assert_linear

from benchwright.scorers import ScorerInput, qa_answers


def read(reply: str, question: str) -> object:
    return qa_answers(["numeric"])(ScorerInput(reply, "0", {"question": question}))["matched"]


MEASURES = (("area", 40, "perimeter", 26), ("mean", 9, "median", 8), ("volume", 27, "height", 3), ("tip", 10, "bill", 60), ("speed", 20, "distance", 90))  # fmt: skip
TWO = (
    "{X} = {a}, {y} = {b}.", "{X}: {a}\n{Y}: {b}", "The {x} is {a}. The {y} is {b}.", "The {y} is {b}, and the {x} is {a}.", "{X} = 2 × {h} = {a}; {y} = {b}.",
    "The {x} is 2 × {h} = {a}, while the {y} is {b}.", "2 × {h} = {a}. The {y} is then {b}.", "We get 2 × {h} = {a}; the {y} is 3 × 7 = {b}.",
)  # fmt: skip


@pytest.mark.parametrize("shape", TWO)
def test_of_two_things_never_the_other_one(shape: str) -> None:
    for x, a, y, b in MEASURES:
        reply = shape.format(x=x, X=x.capitalize(), y=y, Y=y.capitalize(), a=a, b=b, h=a / 2)
        assert read(reply, f"What is the {x}?") in (str(a), None), reply


NOUNS = ("moons", "legs", "members", "planets", "cows")


@pytest.mark.parametrize("noun", NOUNS)
def test_the_number_of_what_is_counted(noun: str) -> None:
    question = f"How many {noun} does Vega have?"
    for reply in (
        f"Vega has 8 {noun}; Altair has around 300.", f"Vega has eight {noun}, the first of which was seen in 1877.", f"Vega has 8 {noun}, unlike Altair, which has 6.",
        f"Vega is known for its size (about 22 km across). It has 8 {noun}.", f"Rigel has 3 stars (12 km) around it. Vega has 8 {noun}.",
    ):  # fmt: skip
        assert read(reply, question) == "8", reply
    for reply in (
        f"Unlike Altair with its 6 {noun}, Vega has eight.",
        f"Altair has 6 {noun}, Vega eight.",
        f"Until 2006 Vega was thought to have many {noun}.",
    ):
        assert read(reply, question) in ("8", None), reply


@pytest.mark.parametrize(
    ("thing", "unit"),
    [
        ("boiling point", "°C"),
        ("half-life", "years"),
        ("range", "km"),
        ("weight", "kg"),
        ("price", "dollars"),
    ],
)
def test_examples_and_older_values_are_not_what_is_asked_for(thing: str, unit: str) -> None:
    for last in (
        "It varies; in Denver, for instance, it is about 95 {unit}.", "For example, the small one has 95 {unit}.", "Older books give 95 {unit}, but the accepted figure is 100.",
        "Some say 95 {unit}, yet the official one remains 100.", "The other one has, e.g., 95 {unit}.",
    ):  # fmt: skip
        reply = f"The {thing} is 100 {unit}. {last.format(unit=unit)}"
        assert read(reply, f"What is the {thing} in {unit}?") in ("100", None), reply


@pytest.mark.parametrize("verb", ["passed", "voted", "agreed"])
def test_the_share_of_others_is_not_what_is_asked_for(verb: str) -> None:
    for last in ("The rate of the others is accordingly 15 percent.", "So 15 % did not.", "That leaves 15%."):
        reply = f"34 out of 40 {verb}. 34/40 = 0.85, i.e. 85 percent. {last}"
        assert read(reply, f"What percentage of the people {verb}, if 34 of 40 {verb}?") in ("85%", None), (
            last
        )


YEAR_QUESTIONS = (
    ("In which year was the bridge finished?", "The bridge was finished {date}"), ("What year did the bridge open?", "The bridge opened {date}"),
    ("In welchem Jahr wurde die Brücke eröffnet?", "Die Brücke wurde {date} eröffnet"), ("En quelle année le pont a-t-il été inauguré ?", "Le pont a été inauguré {date}"),
    ("¿En qué año se inauguró el puente?", "El puente se inauguró {date}"), ("In che anno fu aperto il ponte?", "Il ponte fu aperto {date}"),
)  # fmt: skip
DATES = (
    "in 1088", "on April 15, 1912", "on 9 November **1989**", "on 2 May 1961", "(1 October 1949)", "on 1937-05-27",
)  # fmt: skip
BESIDE = (
    "", " Today it carries around 90,000 cars a day.", " It is 2,737 m long.", " Some 12 % of it is older.", " It cost $35.5 million.", " More than 4,000 people worked on it.",
)  # fmt: skip


@pytest.mark.parametrize(("question", "told"), YEAR_QUESTIONS)
def test_a_question_for_a_year_is_answered_by_a_year(question: str, told: str) -> None:
    for date, beside in product(DATES, BESIDE):
        reply = f"{told.format(date=date)}.{beside}"
        year = max(re.findall(r"\d+", date), key=len)
        assert read(reply, question) == year or (beside and read(reply, question) is None), reply
    for other in ("before 1912", "after 1912", "in 1912 or 1913", "between 1912 and 1913", "in the 1910s"):
        assert read(f"{told.format(date=other)}.", question) is None, other
    for year, question_of_year in product(("1912", "1999"), ("How many bridges were built in {}?",)):
        assert read(f"In {year} they built many.", question_of_year.format(year)) is None


@pytest.mark.parametrize("whole", [250, 80, 1200])
def test_a_share_is_the_number_with_a_percent_sign(whole: int) -> None:
    for reply in (
        "({part} ÷ {whole}) × 100 = 16\n\nSo {part} is 16% of {whole}.", "{part} out of {whole} is 16 %.", "{part} is 16 percent of {whole}.",
    ):  # fmt: skip
        said = reply.format(part=whole * 16 // 100, whole=whole)
        assert read(said, f"What percentage of {whole} is {whole * 16 // 100}?") in ("16%", None), said
    first = f"({whole * 16 // 100} ÷ {whole}) × 100 = 16\n\nSo {whole * 16 // 100} is 16% of {whole}."
    assert read(first, f"What percentage of {whole} is {whole * 16 // 100}?") == "16%"


@pytest.mark.parametrize("noun", NOUNS)
def test_years_in_brackets_are_no_count(noun: str) -> None:
    reply = f"Three {noun} were sold: the first (1868), the second (1998) and the last (2019 and 2021)."
    assert read(reply, f"How many {noun} were sold by the farm?") == "3"


@pytest.mark.parametrize(
    ("verb", "past"),
    [("fall", "fell"), ("begin", "began"), ("open", "opened"), ("close", "closed"), ("win", "won")],
)
def test_the_year_of_what_happened(verb: str, past: str) -> None:
    for shape in (
        "The house, built in 1961, {past} on 9 November 1989, and the garden followed on 3 October 1990.", "It was planned in 1950 and {past} in 1989.",
        "The house {past} in 1989, after it had been sold in 1975.",
    ):  # fmt: skip
        assert read(shape.format(past=past), f"In which year did the house {verb}?") in ("1989", None), shape
    assert (
        read(f"The house, built in 1961, {past} in 1989.", f"In which year did the house {verb}?") == "1989"
    )


MISTAKES = (
    "A common mistake is to use the diameter, which would give {b}.", "Using the diameter is a typical error that leads to {b}.", "Interestingly, that is more than the mean of {b}.",
    "Older sources give {b}.", "Some sources say {b}.", "{b} would be double counting.", "Please disregard the {b}.",
)  # fmt: skip


@pytest.mark.parametrize("remark", MISTAKES)
def test_what_would_be_wrong_is_no_answer(remark: str) -> None:
    for shape, (a, b) in product(
        ("3 × 26.18 = {a}.", "It is {a} in all.", "So there are {a}."), ((78.54, 314.16), (35, 34))
    ):
        reply = f"{shape} {remark}".format(a=a, b=b)
        assert read(reply, "What is it?") in (str(a), None), reply


CORRECTED = (
    "The answer is {b}.\n\nHmm, let me check with the formula: 20 × 10.5 = {a}. My first statement was incorrect. The sum is {a}.", "**Answer: {b}**\n\n*Edit:* I made a mistake above. 200 + 10 = {a}. Please disregard the {b}.",
    "Answer: {b}\n\nSorry, I made an error: 200 + 10 = {a}.", "The answer is {b}. Wait, that's wrong. 200 + 10 = {a}, so the answer is {a}.",
)  # fmt: skip


@pytest.mark.parametrize("shape", CORRECTED)
def test_a_corrected_number_is_the_answer(shape: str) -> None:
    assert read(shape.format(a=210, b=200), "What is the sum?") == "210"


def test_what_the_reply_does_not_know_is_not_replaced_by_something_else() -> None:
    for first in ("I don't have that information.", "Sorry, I don't know.", "I couldn't find a figure."):
        assert (
            read(
                f"{first} The nearest town has about 4,500 inhabitants.",
                "How many people live in the village?",
            )
            is None
        )
    assert (
        read(
            "There is no single agreed answer: some count seven, others six. I'd rather not pick one.",
            "How many continents are there?",
        )
        is None
    )


@pytest.mark.parametrize(
    "unit",
    [
        "area = 5, ",
        "8 moons; ",
        "the area is 5. ",
        "in 1989 fell 1990 ",
        "5 hours 6 minutes, ",
        "how many 5 ",
    ],
)
def test_hostile_texts_are_read_in_linear_time(unit: str) -> None:
    assert_linear(
        lambda reply: read(
            reply, "How many moons does it have, and what is the area in minutes? When did it fall?"
        ),
        unit,
    )


@pytest.mark.parametrize("reference", ["Op. 125", "clause 125", "cláusula 125", "Klausel 125", "annex 125"])
def test_the_number_of_a_reference_is_no_answer(reference: str) -> None:
    question = "How many months of notice does the contract require?"
    assert read(f"The contract says nothing of it; {reference} only names the parties.", question) is None


@pytest.mark.parametrize("heading", ["Here is the breakdown:", "Here's how it works:", "Hier ist die Rechnung:", "Voici le détail :", "Aquí está el desglose:"])  # fmt: skip
@pytest.mark.parametrize("told", ["Lisa pays $9.65.", "She pays **$9.65** in all.", "$9.65"])
def test_the_parts_of_a_number_do_not_replace_it(told: str, heading: str) -> None:
    question = "Lisa buys 3 notebooks at $2.75 each and a pen for $1.40. How much does she pay?"
    parts = "- 3 notebooks × $2.75 = $8.25\n- 1 pen = $1.40"
    assert read(f"{told}\n\n{heading}\n{parts}", question) in ("9.65", None)
    assert read(f"{told}\n\n{heading}\n{parts}\n- total = $9.65", question) in ("9.65", None)


@pytest.mark.parametrize("noun", NOUNS)
def test_what_a_reply_takes_back_is_not_its_answer(noun: str) -> None:
    for check in ("Let me double-check: one here, one there.", "Wait.", "I made a small mistake."):
        reply = (
            f"Vega has 2 {noun}.\n\n{check} I count three. So I was wrong at first: the correct count is 3."
        )
        assert read(reply, f"How many {noun} does Vega have?") in ("3", None), reply


OTHERS = {
    "what checks the number": (
        "The number is {r}. Let's see if it works: {r} × {a} = {p}.", "n = {r}. Plugging it in: {a} · {r} = {p} ✔", "We get n = {r}. Sum check: {q} + {a} = {p}.",
        "It is {r}. Indeed, {r} × {a} = {p}.",
    ),
    "a rate after a total": (
        "{a} × {b} = {r}. That's {c} per person.", "The total is {a} × {b} = {r}. On average, one takes {c} each.", "There are {r}, which comes to {b} per room.",
        "They have {a} × {b} = {r}. Per hour that is {b}.",
    ),
    "somebody else's": ("I get {r}. My colleague's method yields {c}, though.", "There are {r}. Another count gives {c}."),
    "what is not of the kind": (
        "There are {r} chapters with {c} pages in total.", "It has {r} chapters on {c} pages.", "She can read {r} chapters and has ${c} left.",
        "It has {r} chapters and {c} pages are left over.", "It has {r} chapters, for which {c} weeks are needed.", "On day 1 she reads {a} chapters, on day 2 {b} chapters.",
        "See room {c}.", "It starts at 3 pm.", "She finished 3rd out of {c}.", "Over {c} are known.",
    ),
    "more that is told": (
        "{a} × {b} is {c}, and with the others there are {r}.", "The first has {c} and is old, and the second has {d}.",
        "f({a}, {b}) = {c} and g({a}, {b}) = {d}.", "It was {c} in 2019 and {d} in 2020.", "2x = {c}", "The result is {r}.4567…",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_not_sure_is_not_read(name: str) -> None:
    for shape, a in product(OTHERS[name], (7, 12, 35)):
        values = {"a": a, "b": 9, "r": a * 9 + 1, "c": a * 31 + 3, "d": a * 17 + 4, "p": 640, "q": 99}
        question = f"There are {a} in each of 9 and 640 in all. How many chapters are there?"
        assert read(shape.format(**values), question) in (str(values["r"]), None), shape.format(**values)


@pytest.mark.parametrize(
    ("reply", "question", "number"),
    [
        (
            "Sales fell from 200 to 150, a drop of 50 units, or 25%.",
            "By what percentage did sales fall?",
            "25%",
        ),
        (
            "The company has 1,200 employees in 15 countries.",
            "In how many countries does it have employees?",
            "15",
        ),
        (
            "She drove 105 miles in 2 hours, an average of 52.5 mph.",
            "How many miles did she drive in all?",
            "105",
        ),
        ("Nearly 2,000 people came, 1,985 to be exact.", "How many people came?", "1985"),
        ("She will be 30 in 2031.", "In which year will she be 30?", "2031"),
        ("$1,299.00 – $200.00 = $1,099.00", "What does it cost?", "1099"),
        ("It costs 99¢.", "How many dollars does it cost?", "0.99"),
    ],
)
def test_the_number_of_the_kind_that_is_asked_for(reply: str, question: str, number: str) -> None:
    assert read(reply, question) == number


@pytest.mark.parametrize(
    ("reply", "question", "other"),
    [
        ("The Nile is 250 km longer than the Amazon, which measures 6,400 km.", "How much longer is the Nile, in km?", "6400"),
        ("43 divided by 6 is 7 with a remainder of 1.", "What is the remainder of 43 divided by 6?", "7"),
        ("Sorted: 3, 5, 8, 9, 14. The middle one is 8 and the mean is 7.8.", "What is the median of 3, 5, 8, 9, 14?", "7.8"),
        ("The company lost $3 million.", "What is its profit?", "3000000"),
        ("The result is 2.6457…, which rounded to two decimals gives 2.65.", "What is √7?", "2.6457"),
        ("Water boils at 100 °C at sea level; in Denver it boils at 95 °C.", "What is it at sea level in °C?", "95"),
    ],
)  # fmt: skip
def test_the_number_of_another_thing_is_not_read(reply: str, question: str, other: str) -> None:
    assert read(reply, question) != other


LEGS = "How many legs do 14 hens and 9 cows have in total?"


@pytest.mark.parametrize(
    ("reply", "question", "number"),
    [
        ('{"hen_legs": 28, "cow_legs": 36, "total_legs": 64}', LEGS, "64"),
        ('{"total_legs": 64, "total_animals": 23, "cow_legs": 36}', LEGS, "64"),
        ('```json\n{"hens": 28, "cows": 36, "total": 64}\n```', LEGS, "64"),
        ('{"legs": {"hens": 28, "cows": 36}, "sum": 64}', LEGS, "64"),
        ('{"hens": 28, "cows": 36}', LEGS, None),
        ('{"totalCost": 36, "unitPrice": 12}', "What is the total cost of 3 shirts?", "36"),
        ('{"cost": 12.5, "change": 7.5}', "Ann pays $12.50 with $20. How much change does she get?", "7.5"),
        ('{"area": 40, "perimeter": 26}', "What is the area?", "40"),
        ('{"area": 40, "perimeter": 26}', "How long is the fence?", None),
        ('{"spent_on_apples": 12, "remaining": 8}', "How much money is left after buying apples?", None),
        ('{"hours": 2, "minutes": 30}', "How many minutes does it take?", None),
        ('{"change": 8, "total": 12}', "How much change does she get in total?", None),
        ('{"final_answer": 42, "steps": 3}', "What is 6 * 7?", "42"),
        ('{"a": 6, "b": 7, "result": 42}', "What is 6 * 7?", "42"),
        ('{"calculation": "6 * 7 = 42", "total": 42}', "What is the total of 6 rows of 7?", "42"),
    ],
)
def test_of_several_members_the_one_that_is_called_what_is_asked(
    reply: str, question: str, number: str | None
) -> None:
    assert read(reply, question) == number


@pytest.mark.parametrize("verb", ["grow", "increase", "rise", "fall", "drop"])
def test_what_something_grew_to_is_not_by_how_much(verb: str) -> None:
    for reply in ("It went up by 15 points, to 47.", "It changed by 15 to 47.", "It was 32 and went to 47."):
        assert read(reply, f"By how many points did it {verb}?") in ("15", None), reply


@pytest.mark.parametrize("other", ["Sarah", "the mother", "her father"])
@pytest.mark.parametrize("name", ["her son", "his daughter", "their dog"])
def test_what_is_told_of_a_relative(other: str, name: str) -> None:
    reply, noun = f"s = 12\n\nSo {other} is 36 and {name} is 12.", name.split()[1]
    for asked in (name, f"the {noun}"):
        assert read(reply, f"In 12 years she will be twice as old. How old is {asked} now?") == "12", reply
    assert read(reply, f"How much older is {other} than {name}?") is None
    assert read(reply, f"How old is Sarah's {noun}?") == "12"
    assert read(reply, "How old is Sarah's cousin?") is None


@pytest.mark.parametrize(
    "reply",
    [
        "The text gives two different figures: {a} and {b}. It isn't possible to say which of them is right.",
        "The sources differ: one says {a}, the other {b}.",
        "The two reports contradict each other: one gives {a}, the other gives {b}.",
        "There are conflicting figures in the text ({a} and {b}).",
        "One counted {a} and the other {b}. I can't tell which figure is correct.",
        "The numbers don't match: the first table says {a} and the second says {b}.",
        "I can't see a map. If you give me the scale (for example 1 inch = {a} miles), I can work it out.",
        "I don't see a picture. Please share the lengths, e.g. {a} and {b}, and I'll calculate it.",
        "There's no table in your message. Could you paste it? For example: Ann: {a}, Bob: {b}.",
        "I'd need the radius. Once you tell me (say, {a}), I'll compute it.",
        "The price isn't given. With a price of {a}, for example, it would be {b}.",
        "No file is attached. Send it and I'll count; a typical file has {a} lines.",
        "I can't determine that without the lengths. If they are {a} and {b}, for instance, it is {a}.",
        "Paragraph 1 says {a} people came. Paragraph 3 says {b}.",
        "According to the first report {a} people came; according to the second, {b}.",
        "The text doesn't say. Last week it was {a}.",
        "That is not in the document; only the bonus of {a} is listed.",
        "There is no mention of it, only of a bonus of {a}.",
        "The document mentions a bonus of {a} but not a salary.",
        "We need the base and the height. For example, with base {b} and height 2, it is {a}.",
        "I would need the length in inches. For {b} inches it would be {a}.",
        "I couldn't find reliable information about that. In 2020 it was {a}.",
        "Unfortunately the chart is missing. If the bar is at {a}, say, that means {b}.",
    ],
)
def test_numbers_that_conflict_and_those_of_offers_are_no_answers(reply: str) -> None:
    for a, b in ((12, 9), ("12,000", "9,500"), (45, 54)):
        for question in ("How many people came?", "What is the distance in miles?", "How much is it?"):
            assert read(reply.format(a=a, b=b), question) is None, (reply, question)


@pytest.mark.parametrize(
    "reply",
    [
        "Both sources agree: 340 people came.",
        "I couldn't find the exact number. The hall holds about 340 people.",
        "The text gives two different figures, but one is a misprint, so the answer is 340.",
        "The sources differ in detail. In total, 340 people came.",
        "If you give 3 to Tom, you have 340 left.",
        "The date is not given, but that does not matter: 170 × 2 = 340.",
        "If you add both, we can see that it gives 340.",
    ],
)
def test_numbers_beside_words_of_conflict_and_offers(reply: str) -> None:
    assert read(reply, "How many people came?") == "340"

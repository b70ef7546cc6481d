"""What the question tells about the number of a reply: the unit that it asks for, what it counts, and of whom or what it asks."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from benchwright.core import Row
from benchwright.scorers._conditions import depends, may_depend
from benchwright.scorers._mcq.view import lower_alike, without_reasoning
from benchwright.scorers._quantity.asides import is_example
from benchwright.scorers._quantity.expressions import Number
from benchwright.scorers._quantity.labels import is_doubtful, is_of_another_kind, labelled_as, values_of
from benchwright.scorers._quantity.members import asked_member, members_of
from benchwright.scorers._quantity.numerals import Mark
from benchwright.scorers._quantity.passage import Passage, passage_of
from benchwright.scorers._quantity.patterns import caseless, compiled
from benchwright.scorers._quantity.reader import read_number
from benchwright.scorers._quantity.results import BOLD, CONCLUSION, WEAK, ReadNumber
from benchwright.scorers._quantity.units import NAMED_UNIT, Unit, asked_unit, unit_at, unit_of
from benchwright.scorers._quantity.words import is_scale, spelled_pattern, spelled_value
from benchwright.scorers._replies import Span

_LONG = 4_000
"""Characters of a reply whose sentences are compared with the question."""
_COUNTED_IN = rf"(?P<number>\d[\d,.]*(?<![,.]))\s?(?:degrees\s)?{NAMED_UNIT}"
_SAYS_AGAIN = r"\s*(?:(?:that|this|it)(?:'s|\s(?:is|equals|would\sbe|comes\sto|works\sout\s(?:to|at)|corresponds\sto))|in\sother\swords|equivalently|or|roughly|about|converted|in\s[^\W\d_]+,)(?!\w)"
"""Begins a sentence that gives what was said in other terms."""
_FIRMLY = r"\s*(?:that|this|it)(?:'s|\sis)\s\d"
"""Begins one that may be a conclusion as well, if it is not the same."""
_TELLS = r"(?:is|has|gets|earns|pays|owns|weighs|needs|receives|scored|scores|costs?|got|had|was|walks|walked|ran|runs|saved|saves|sold|sells|bought|makes|made|gave|ate|=)"
_NAMED = rf"(?:^|[,;:]\s|(?<!\w)(?i:and|while|but|so|then|therefore|thus|hence|that)[,:]?\s)(?P<name>[A-Z][^\W\d_]+|(?:[Tt]he|[Hh]er|[Hh]is|[Tt]heir)\s[a-z]+)\s{_TELLS}\s(?:now\s|exactly\s|only\s|about\s)?(?P<number>[$€£]?\d[\d,.]*(?<![,.]))"
"""A clause that tells a number of somebody or something."""
_COMPARES = r"(?<!\w)(?:and|or|than|more|fewer|less|\w{3,8}er(?=\s(?:is|was|are|does|did))|together|altogether|total|both|difference|sum|average|combined|left|remain\w*|after|before|times|share|each|percent\w*)(?!\w)"
"""In a question that asks for more than what is told of one person."""
_COUNTS = r"(?<!\w)(?:how\smany|wie\sviele|combien\sde|cuánt[oa]s|quant[ie]|quant[oa]s|hoeveel)\s(?P<noun>(?:[^\W\d_]+\s){0,2}?[^\W\d_]{3,})(?=\s(?:are|is|were|was|does|do|did|has|have|had|can|could|will|would|in|on|of|must|should|fit|make|make\sup|there|per|remain|live|belong|hat|haben|gibt|sind|leben|y|sont|compte|hay|tiene|tienen|son|ha|hanno|sono|ci|há|tem|têm|são|heeft|hebben|zijn|telt)(?!\w)|\s?$)"
"""What a question counts."""


def read_asked(text: str, mark: Mark | None, row: Row | None) -> ReadNumber:
    """The number that a reply to the question of a row gives, as `read_number` reads it with what the question asks for.

    >>> row = {"question": "Ann is twice as old as Bob. How old is Ann?"}
    >>> read_asked("So Bob is 12 and Ann is 24.", None, row).number.value
    Fraction(24, 1)
    >>> read_asked("It takes 3 hours.", None, {"question": "How many minutes does it take?"}).number.value
    Fraction(180, 1)
    """
    question = (row or {}).get("question")
    if not isinstance(question, str):
        return read_number(text, mark)
    said = "\n".join(text[start:end] for start, end in without_reasoning(text)[0]).rstrip()
    if not said or len(said) > _LONG:
        return read_number(text, mark)
    asked = _asked_part(question)
    if (members := members_of(said)) is not None:
        member = asked_member(members, (asked or question).lower())
        return ReadNumber(None, "several") if member is None else read_number(member, mark)
    small, unit = (asked or question).lower(), asked_unit(asked.lower())
    end = len(said) if unit is None else _without_conversions(said, unit)
    found = read_number(said[:end] if end < len(said) else text, mark)
    if found.number is not None and (parts := caseless(_BREAKDOWN).search(lower_alike(said))) is not None:
        found = _before_its_parts(said, mark, found, parts.start())
    doubted = False
    if (number := found.number) is not None and found.rule in WEAK:
        if is_of_another_kind(passage_of(said, mark), number, small, unit) or _is_no_year(
            number, said.lower(), small
        ):
            found = ReadNumber(None, "several")
        else:
            doubted = is_doubtful(passage_of(said, mark), number, question, small, _is_bold(said, number))
            found = ReadNumber(None, "several") if doubted else found
    if found.number is not None:
        return found if unit is None else _in_unit(passage_of(said, mark), found, unit)
    if found.rule not in ("several", "not_found", "date"):
        return found
    passage = passage_of(said, mark)
    tied = _dated(passage, small, question)
    if found.rule != "date" and tied is None:
        told = _of_asked(said, asked)
        if told is not None:
            return read_number(told, mark)._replace(rule="concluded")
        tied = (None if doubted else _tied(passage, mark, question, small, unit)) or labelled_as(
            passage, small
        )
    return found if tied is None or _depends(passage, tied) else ReadNumber(tied, "concluded")


def _before_its_parts(text: str, mark: Mark | None, found: ReadNumber, at: int) -> ReadNumber:
    """The number that a reply gives before it lists the parts of it, which end at another one: `She pays $9.65. Here is the breakdown: …`"""
    before = read_number(text[:at], mark)
    if before.number is None or before.number.value == found.number.value:  # type: ignore[union-attr]
        return found
    concludes = caseless(_TOTAL).search(lower_alike(text), at) is not None or found.rule not in (
        "last_number",
        "opening",
    )
    return ReadNumber(None, "several") if concludes else before


def _is_bold(text: str, number: Number) -> bool:
    """Whether a number is the only one in bold print."""
    if "**" not in text:
        return False
    bold = [one for one in compiled(BOLD).findall(text) if any(map(str.isdecimal, one))]
    return bool(bold) and all(number.value in values_of(one) for one in bold)


def _depends(passage: Passage, number: Number) -> bool:
    if not may_depend(passage.lower):
        return False
    values = sorted(Span(one.start, one.end, one.value.value) for one in _numbers(passage))
    return depends(passage.small, values, number.value)


def _asked_part(question: str) -> str:
    """The last sentence of a question that asks."""
    end = question.rfind("?")
    if end < 0:
        return ""
    start = max(question.rfind(mark, 0, end) for mark in (". ", "? ", "! ", "; ", "\n"))
    return question[start + 1 : end].strip()


def _without_conversions(text: str, unit: Unit) -> int:
    """Where a reply ends without its last sentence, if that says in other units what was said in those of the question."""
    start = _last_sentence(text)
    last = text[start:].lower()
    given = [unit_of(one["unit"]) for one in caseless(_COUNTED_IN).finditer(last)]
    if not start or "=" in last or not given or unit in given or None in given:
        return len(text)
    if not caseless(_SAYS_AGAIN).match(last):
        return len(text)
    before = [
        one for one in _quantities(text[:start]) if one[1] is not None and one[1].dimension == unit.dimension
    ]
    if not before or before[-1][1] != unit:
        return len(text)
    if not caseless(_FIRMLY).match(last):
        return start
    return start if all(_is_same(before[-1][0], *one, unit) for one in _quantities(last)) else len(text)


def _quantities(text: str) -> list[tuple[Fraction | None, Unit | None]]:
    return [
        (number.value if (number := read_number(one["number"]).number) else None, unit_of(one["unit"]))
        for one in caseless(_COUNTED_IN).finditer(text.lower())
    ]


def _is_same(value: Fraction | None, other: Fraction | None, other_unit: Unit | None, unit: Unit) -> bool:
    """Whether a value in another unit may be the same as one in the unit of the question."""
    if value is None or other is None or other_unit is None or other_unit.system != unit.system:
        return True
    return abs(other * other_unit.size - value * unit.size) * 20 <= value * unit.size


def _in_unit(passage: Passage, found: ReadNumber, unit: Unit) -> ReadNumber:
    """A number in the unit of the question: `3 hours` is 180 where minutes are asked, and nothing where that is not exact."""
    assert found.number is not None
    given = [
        unit_at(passage.small, one.start, one.end)
        for one in _numbers(passage)
        if one.value.value == found.number.value and one.value.percent == found.number.percent
    ]
    other = given[-1] if given else None
    if other is None or other.dimension != unit.dimension or unit in given:
        return found
    if other.system != unit.system or found.number.same:
        return ReadNumber(None, "units")
    ratio = other.size / unit.size
    number = found.number
    return ReadNumber(
        number._replace(value=number.value * ratio, other=tuple(one * ratio for one in number.other)),
        found.rule,
    )


def _numbers(passage: Passage) -> Iterator[Span[Number]]:
    """The numbers of a text, in digits and in words, each group in order."""
    for one in passage.usable(0, len(passage.text)):
        if one.number is not None:
            yield Span(one.start, one.end, one.number)
    spelled = spelled_pattern()
    for word in spelled.finditer(passage.small) if passage.may[spelled.pattern] else ():
        value = None if word[0].lower() in ("one", "a", "an") else spelled_value(word)
        if (
            value is not None
            and not is_scale(passage.small, word.start())
            and not passage.is_void(word.start())
        ):
            yield Span(word.start(), word.end(), Number(value))


def _tied(passage: Passage, mark: Mark | None, question: str, asked: str, unit: Unit | None) -> Number | None:
    """The only number of a reply that is tied to what the question asks for and that the question does not give."""
    noun = caseless(_COUNTS).search(asked)
    share = caseless(_ASKS_SHARE).search(asked)
    if unit is None and noun is None and share is None:
        return None
    if caseless(_ASKS_TWO).search(asked):
        return None
    known = values_of(question)
    numbers = [
        one
        for one in _numbers(passage)
        if one.value.value not in known and not is_example(passage.small, one.start)
    ]
    if not numbers:
        return None
    last = passage.sentence_start(max(one.start for one in numbers))
    if unit is not None:
        tied = [
            one
            for one in numbers
            if unit_at(passage.small, one.start, one.end) == unit
            and not _is_of_another_year(passage, one, question)
        ]
    elif share is not None:
        tied = [one for one in numbers if one.value.percent]
    else:
        assert noun is not None
        stem = _stem(noun["noun"].split()[-1])
        after = caseless(
            rf"(?:\s(?:million|billion|thousand))?\s(?:[^\W\d_]+\s){{0,2}}{stem}[^\W\d_]{{0,3}}(?!\w)"
        )
        tied = [
            one
            for one in numbers
            if after.match(passage.small, one.end) and not _is_beside(passage, one, question)
        ]
        unread = (one for one in passage.usable(0, len(passage.text)) if one.reason == "several")
        if any(after.match(passage.small, one.end) for one in unread):
            return None  # `on day 2 20 pages`
        about = set(caseless(r"[^\W\d_]{4,}").findall(asked)) - {noun["noun"].split()[-1]}
        of_asked = {
            one.value for one in tied if any(word[:5] in _clause(passage, one.start) for word in about)
        }
        if len(of_asked) == 1:
            return of_asked.pop()  # `an adult has 206 bones; babies have 300`
        bare = caseless(_BARE)
        sentences = {passage.sentence_start(one.start) for one in tied}
        values = {one.value for one in tied}
        if any(
            bare.match(passage.small, one.end) and passage.sentence_start(one.start) in sentences
            for one in numbers
            if one.value not in values and not _is_beside(passage, one, question)
        ):
            return None  # `insects have six legs, spiders eight`
    closing = {one.value for one in tied if one.start >= last}
    end = max((one.end for one in tied), default=0)
    bare = caseless(_BARE)
    if unit is not None and any(
        one.start > max(end, last)
        and bare.match(passage.small, one.end)
        and not _is_beside(passage, one, question)
        for one in numbers
    ):
        return None  # `the old value of 5,568 years, but the accepted figure is 5,730`
    concluded = unit is not None and passage.search(CONCLUSION, last, end)
    if len(closing) == 1 and (concluded or len({one.value for one in tied}) == 1):
        return closing.pop()
    first = passage.sentence_end(0)
    opening = {one.value for one in tied}
    return opening.pop() if len(opening) == 1 and all(one.start < first for one in tied) else None


_BARE = r"[)\]*]{0,3}\s?(?:[.,;!?\n]|$)"
"""After a number without a unit or a noun."""
_BREAKDOWN = (
    r"(?m:^)[\W_]{0,4}(?:here(?:'s|’s|\sis|\sare)|hier\s(?:ist|sind)|voici|aquí\sestán?|ecco)\s[^\n:.]{0,40}"
    r"(?:breakdown|calculations?|working|workings|math|details?|steps?|explanation|how|why|aufschlüsselung|rechnung|rechenweg|détail|calcul|explication|desglose|cálculo|calcolo|dettaglio)[^\n:.]{0,30}:"
)
"""Begins the parts or the explanation of what was said."""
_TOTAL = r"(?<!\w)(?:total|altogether|in\sall|sum|so|thus|therefore|hence|finally|gesamt|summe|insgesamt|also|somit|donc|somme|suma|entonces|quindi|totale)(?!\w)"
"""In parts that come to a result."""
_ASKS_TWO = r"(?<!\w)how\s(?:many|much).*\s(?:and|or)\s(?:how|what)(?!\w)"
_ASKS_SHARE = r"(?<!\w)(?:what|which)\s(?:percent(?:age)?|per\scent)(?!\w)|wie\sviel\sprozent|quel\spourcentage|qué\sporcentaje|quale\spercentuale|que\spercentagem"
_ASKS_YEAR = r"(?<!\w)(?:(?:which|what)\syear|(?:welchem|welches)\sjahr|quelle\sannée|qué\saño|(?:che|quale)\sanno|que\sano|welk\sjaar|каком\sгоду)(?!\w)"
_YEAR = r"(?<![\d.,/:$€£#-])(?P<year>[12]\d{3})(?!\w|[.,:/]\d|\s?%)"
_NOT_THEN = r"(?<!\w)(?:before|after|since|until|till|by|prior\sto|earlier\sthan|later\sthan|between|vor|nach|bis|seit|avant|après|jusqu'en|antes\sde|después\sde|dopo|prima\sdel)\s(?:the\syear\s)?$"
"""Before a year that is not the one."""
_ASKS_WHEN = r"(?<!\w)(?:(?:in\s)?(?:which|what)\syear|when)\s(?:did|was|were)\s.*?(?P<verb>[^\W\d_]{3,})(?:\s(?:in|on|at|by|to|off|out|from)(?:\s.*)?)?$"
_PAST = {
    "fall": "fell", "begin": "began", "win": "won", "become": "became", "take": "took", "write": "wrote", "sink": "sank", "rise": "rose", "leave": "left", "break": "broke",
    "lose": "lost", "build": "built", "meet": "met", "come": "came", "go": "went", "fly": "flew", "get": "got", "make": "made", "sell": "sold", "find": "found", "die": "died",
    "born": "born", "run": "ran", "hold": "held", "give": "gave", "buy": "bought", "set": "set", "speak": "spoke", "steal": "stole",
}  # fmt: skip


def _is_no_year(number: Number, said: str, asked: str) -> bool:
    """Whether a year was asked for, and what was found in passing cannot be it: `90,000 students`, `before 1912`."""
    if not caseless(_ASKS_YEAR).search(asked):
        return False
    if number.percent or number.value.denominator > 1 or not -5_000 <= number.value <= 2_200:
        return True
    written, years = str(number.value.numerator), _years(said)
    return written not in years and (
        bool(years) or (written in said and compiled(_YEAR).fullmatch(written) is not None)
    )


def _years(text: str, start: int = 0, end: int | None = None) -> dict[str, int]:
    """The years in which something was so, each with its last place: not `before 1912`, and no decade."""
    before = caseless(_NOT_THEN)
    return {
        one["year"]: one.start()
        for one in caseless(_YEAR).finditer(text, start, len(text) if end is None else end)
        if not before.search(text[max(0, one.start() - 40) : one.start()])
    }


def _dated(passage: Passage, asked: str, question: str) -> Number | None:
    """The year that a reply gives to a question for one: the only one that stands after its verb, in its clause (`erected in 1961, fell on
    9 November 1989`), or the only one that the question does not name."""
    found = caseless(_ASKS_WHEN).search(asked)
    if found is not None:
        verb = found["verb"]
        past = _PAST.get(verb) or rf"{verb.removesuffix('e')}(?:e?d)?"
        clauses = caseless(rf"(?<!\w){past}(?!\w)(?:(?!\sand\s)[^.,;:()]){{0,60}}").finditer(passage.small)
        years = {year for one in clauses for year in _years(passage.small, *one.span())}
        if len(years) == 1:
            return Number(Fraction(years.pop()))
    if not caseless(_ASKS_YEAR).search(asked):
        return None
    years = {
        year for year, at in _years(passage.small).items() if year not in question and not passage.is_void(at)
    }
    named = {one["year"] for one in caseless(_YEAR).finditer(passage.small) if one["year"] not in question}
    return Number(Fraction(years.pop())) if len(named) == 1 and years == named else None


def _clause(passage: Passage, at: int) -> str:
    """The clause before a place."""
    start = passage.sentence_start(at)
    return passage.small[max(start, *(passage.small.rfind(mark, start, at) for mark in ",;:(")) : at]


def _is_beside(passage: Passage, one: Span[Number], question: str) -> bool:
    """Whether a number stands in brackets, or with a year that is not asked about."""
    start = passage.sentence_start(one.start)
    small = passage.small
    if small.count("(", start, one.start) > small.count(")", start, one.start):
        return True
    return _is_of_another_year(passage, one, question)


def _is_of_another_year(passage: Passage, one: Span[Number], question: str) -> bool:
    """Whether a number stands with a year that is not asked about."""
    small, year = passage.small, r"(?<!\d)[12]\d{3}(?!\d)"
    start = passage.sentence_start(one.start)
    clause = max(small.rfind(mark, start, one.start) for mark in ",;:(")
    years = caseless(year).findall(small, max(start, clause), one.start)
    if caseless(year).search(question.lower()):
        years += caseless(r"(?:\s(?!and\s)[^\W\d_]+){0,3}\sin\s([12]\d{3})(?!\d)").findall(
            small[one.end : one.end + 40]
        )[:1]
    return any(one not in question for one in years)


def _stem(noun: str) -> str:
    return (
        noun[:-3]
        if noun.endswith("ies")
        else noun.removesuffix("es")
        if noun.endswith("ches")
        else noun.removesuffix("s")
    )


def _of_asked(text: str, asked: str) -> str | None:
    """The number that the last sentence tells of the one person or thing that the question asks about, if it tells one of others too."""
    last = text[_last_sentence(text) :].replace("*", "")
    if (
        caseless(_COMPARES).search(asked.lower().split(" if ")[0])
        or len(compiled(r"(?<!^)(?<!\w)[A-Z][^\W\d_]+").findall(asked)) > 1
    ):
        return None
    told = [*compiled(_NAMED).finditer(last)]
    names = [one["name"] for one in told]
    if len(told) < 2 or len(set(names)) < len(told) or len(compiled(r"\d[\d,.]*").findall(last)) != len(told):
        return None
    head = asked.split(" if ")[0]
    about = [
        one for one in told if compiled(rf"(?<!\w){one['name']}(?!\w|['’]s\s)").search(head)
        or (" " in one["name"] and compiled(rf"(?<!\w)(?:the|her|his|their|\w+['’]s)\s\w*{one['name'].split()[1]}(?!\w)").search(head.lower()))
    ]  # fmt: skip
    return about[0]["number"] if len(about) == 1 else None


def _last_sentence(text: str) -> int:
    return max((stop.end() for stop in compiled(r"[.!?]\s+(?=\S)|\n").finditer(text)), default=0)

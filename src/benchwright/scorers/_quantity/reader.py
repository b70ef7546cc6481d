"""Finds the number that a text gives as its answer.

These are tried in order: after `####`; in the last box; after the last statement such as "the answer is"; the number that
opens a reply; and finally the number that the last conclusion, or else the last sentence, gives as its result (see `results`).
A number is read as a whole or not at all (see `expressions`): if the one that counts cannot be read, no other is taken instead.
Parts of a reply that ask, check or decline give no answer (see `passage`), and neither do numbers such as page numbers (see
`asides`).
"""

from __future__ import annotations

from collections import deque
from itertools import islice

from benchwright.scorers._conditions import depends, may_depend
from benchwright.scorers._mcq.view import without_reasoning
from benchwright.scorers._quantity.asides import is_dated, is_guess, is_reference, is_weak
from benchwright.scorers._quantity.expressions import Expression, Number, shown_mark
from benchwright.scorers._quantity.members import asked_member, members_of
from benchwright.scorers._quantity.numerals import Mark
from benchwright.scorers._quantity.passage import CALLED_WRONG, CUES, SPAN, passage_of
from benchwright.scorers._quantity.patterns import caseless, compiled
from benchwright.scorers._quantity.plain import plain
from benchwright.scorers._quantity.quick import read_quickly
from benchwright.scorers._quantity.results import (
    BOLD,
    CAR,
    CONCLUDES,
    CONCLUSION,
    KNOWN,
    POINTER,
    SUM,
    ReadNumber,
    Results,
    same,
)
from benchwright.scorers._quantity.words import spelled_pattern, spelled_value
from benchwright.scorers._replies import (
    ANSWER_ELSEWHERE,
    ANSWER_QUALIFIED,
    ANSWER_STEMS,
    RESULT_STEMS,
    Span,
    breaks_off,
    next_question,
)

_BE = (
    r"(?:is|are|was|(?:would|should|must|will)\sbe|comes\s(?:out\s)?to|equals|ist|lautet|beträgt|wäre|est(?:\sde)?|vaut|es(?:\sde)?|son|sería"
    r"|è|é(?:\sde)?|равен|равна|равно|составляет|wynosi|jest|är|er|je|on|adalah)\b\s?(?:[:=])?|[:=—–]|-(?=\s)|→"
)
_OF = r"(?:\s(?:to|for|of|in|auf|à|a|de|zu|на)\s[^.\n:?;=]{1,60}?)?"
_STATEMENTS = (
    # Words for an answer, then words for a result: these may also name a step on the way.
    (
        ANSWER_STEMS,
        rf"(?<!\w)(?:answers?|lösung|endergebnis|{ANSWER_ELSEWHERE})"
        rf"[\"']?{ANSWER_QUALIFIED}{_OF}\s?(?:{_BE}|\s\s*(?<=\n))|ответ(?=\s\d)|(?:最终)?答案\s?(?:应该|应|就)?\s?(?:是|为|為|:)?\s?:?|答え\s?(?:は|:)|(?:정답|답)\s?(?:은|는|:)",
    ),
    (
        RESULT_STEMS,
        rf"(?<!\w)(?:results?|solution|ergebnis|résultat|resultado|solución|risultato|результат|итог|wynik|final\svalue)"
        rf"[\"']?{_OF}\s?(?:{_BE})|结果\s?(?:是|为|:)"
        r"|(?:(?<=\n)|(?<=\#\s))(?:final\s)?(?:results?|conclusion|ergebnis|fazit|résultat|resultado|risultato|итог|вывод)\s?:?\s?\n",
    ),
)
"""The words that each begins with, and the whole."""
_FAR = 40
"""Characters between a statement and its number; what comes later is not what is stated."""
_FEW = 4
"""Words of a line that gives a number and nothing else."""
_ONE_SENTENCE = 400
"""Characters of a text whose sentences are all read from their beginning."""
_LOOKED_AT = 1_000
"""Numbers of a reply, from its end, that may be its last one."""
_CORRECTION = (
    r"(?<!\w)(?:wait|actually|correction|edit(?=\s?:)|update(?=\s?:)|erratum|sorry|oops|hmm+|let\sme\sre\w*|i\smean|my\smistake|on\ssecond\sthought|no,|moment|korrektur|stopp"
    r"|nein,|pardon|non,|perdón|corrección|нет,|точнее|больше)"
)
_ADMITS = (
    r"(?<!\w)(?:wrong|incorrect|mistakes?|mistaken|errors?|disregard|ignore|misread|miscounted|miscalculated|should(?:\shave)?\sbe(?:en)?|(?:not|n't)\s(?:how|right|correct|quite\sright)"
    r"|fehler|falsch|verrechnet|erreur|faux|trompée?|error|equivoqué|errore|sbagliato|erro|errado|fout|vergist)(?!\w)"
)
"""What says that the answer before was wrong."""
_NO_STATEMENT = r"(?<!\w)(?:no\s(?:\w+\s){0,3}|(?:if|whether|suppose|unless)\s(?:the\s|my\s)?|(?:first|initial|previous|original|earlier|old|wrong|incorrect|your|intuitive|na[iï]ve|tempting|popular|usual)\s)$"
"""Before `answer`: it is supposed, or was given before."""
_REFUTED = rf"(?:\s[^\W\d_]+){{0,3}}[,.;:!]?\s(?:(?:but|yet|and|which|however),?\s)?{CALLED_WRONG}"
"""After an answer that the reply then calls wrong."""
_FINAL = r"(?<!\w)(?:final|finally|total|altogether|in\sall|in\sthe\send|left\swith|end(?:s|ed)?\sup|comes?\sto|now|remain(?:s|ing)?|left|bring(?:s|ing))(?!\w)"
"""In a sentence that ends a calculation."""
_LIST = r"(?:[-*•+]\s|\d{1,2}[.)]\s|[^\W\d][^\n:=]{0,40}:\s)"
_ITEM = r"\s{0,3}[-*•+]\s"
_ADDS = r"(?<!\w)(?:also|too|as\swell|another|auch|weitere|aussi|également|también|además|тоже|также)(?!\w)"
"""Says that a number comes on top of others."""
_DIRECTLY = (
    r"[^\w\s]{0,4}\s?(?:(?:[^\W\d_]{1,2}\s?[=:≈])|(?:about|approximately|approx\.?|roughly|around|exactly|just|only|equal|to|a|of|the|number|value|total|thus|therefore|then|simply"
    r"|ungefähr|etwa|rund|environ|de|aproximadamente|unos|circa|примерно|около|usd|eur|rs\.?)|[^\w\s]{1,4}|\s){0,8}"
)
"""Between a statement and the number that it states: no sentence of its own."""
_MAKES = r"\s(?:is|equals|makes|gives|is\sequal\sto|(?:comes|amounts|adds\sup)\sto)\s[$€£]?"
"""Between a calculation in words and its result: `6 times 7 makes 42`."""
_SETS_OUT = r"(?:first|firstly|let|let's|start|step|we|given|since|if|zuerst|zunächst|wir|man|d'abord|on|nous|primero|сначала|сперва|首先)(?!\w)"
"""Begins an explanation, not an answer, after a heading such as `Solution:`."""
_STEP = r"(?:[*#>-]{1,3}\s?)?(?:step\s\d|\d{1,2}[.)]\s|schritt\s\d|étape\s\d|paso\s\d|шаг\s\d)"
"""Begins the first of several steps."""
_BECAUSE = (
    rf"(?:\s[^\W\d_]+){{0,3}}(?:\s?[,;:(–—-]\s?\(?(?:because|since|as|given\sthat|denn|weil|da|{CAR}|parce\sque|puisque|comme|porque|ya\sque|puesto\sque|como"
    rf"|потому|так\sкак|поскольку|ведь|for|due|given)|\s(?:because|since|denn|weil|{CAR}|parce|puisque|porque|ya\sque|потому|так\sкак))(?!\w)"
)
_BARE = r"(?:\s(?:(?:square|cubic)\s)?[^\W\d_]+)?(?:[.!](?=\s)|\s[–—]\s(?![$€£]?\d))(?!\s?[=≈])(?=\s?\S)"
"""After a number that is the whole first sentence, or that a dash sets off."""
_HAS = r"(?<!\w)(?:has|have|is|are|only|exactly|just)\s$"
_PICKED = r"(?<!\w)(?:pick|choose|choosing|picking|name|give|single|any|no|this|that|which|each|every|the)\s$"
"""Before `one` that stands for a thing."""
_ONE_OF = r"\s(?:of|can|could|who|that|which|way|might|must|should|day|another|such|thing|more)(?!\w)"
_CONCLUDES_FIRST = rf"\s*(?:{CONCLUSION})"


def read_number(text: str, mark: Mark | None = None) -> ReadNumber:
    """The number that a text gives as its answer, or the reason why none can be read.

    Args:
        text: a reply, or an expected answer.
        mark: the decimal mark that is used if the text does not reveal its own.

    >>> read_number(r"So \\boxed{\\frac{3}{4}}").number.value, read_number("1999-12-01").rule
    (Fraction(3, 4), 'date')
    """
    quick = read_quickly(text)
    return read_fully(text, mark) if quick is None else quick


def read_fully(text: str, mark: Mark | None = None) -> ReadNumber:
    """The same without the quick path."""
    if "<" in text or "◁" in text or "[" in text:
        kept, unfinished = without_reasoning(text)
        if unfinished and not any(text[start:end].strip() for start, end in kept):
            return ReadNumber(None, "not_found")
        reply = "\n".join(text[start:end] for start, end in kept)
        if len(reply) < len(text):
            found = _read(reply, mark)
            return found if found.rule != "several" else _reasoned(text, reply, mark) or found
        text = reply
    return _read(text, mark)


def _read(text: str, mark: Mark | None) -> ReadNumber:
    """The number of a reply without reasoning."""
    if (members := members_of(text)) is not None:
        member = asked_member(members, "")
        return ReadNumber(None, "several") if member is None else _Reader(member, mark).read()
    cut = next_question(text)
    if cut is not None:
        found = _Reader(text[:cut], mark).read()
        if found.number is not None:
            return found
    return _Reader(text, mark).read()


def _reasoned(text: str, reply: str, mark: Mark | None) -> ReadNumber | None:
    """The number of a reply that its reasoning concluded, if all others of the reply are given there: `160 miles in 4 hours`."""
    end = text.find(reply.strip()) if len(reply) <= _ONE_SENTENCE else -1
    if end <= 0:
        return None
    reasoning = _Reader(text[:end], mark)
    concluded = reasoning.read().number
    return None if concluded is None else _Reader(reply, mark).beside(concluded, reasoning)


def decimal_mark_of(text: str) -> Mark | None:
    """The decimal mark that a text reveals, if it reveals one."""
    return shown_mark(plain(text))


class _Reader:
    """Reads one reply."""

    def __init__(self, reply: str, mark: Mark | None) -> None:
        self._reply = reply
        self._mark = mark
        self._passage = passage_of(reply, mark)
        self._text = self._passage.small
        self._results = Results(self._passage)

    def read(self) -> ReadNumber:
        for find in (self._marked, self._boxed, self._stated, self._opening, self._last):
            found = find()
            if found is not None:
                return ReadNumber(None, "depends") if self._depends(found) else found._replace(at=-1)
        return ReadNumber(None, "not_found")

    def _depends(self, found: ReadNumber) -> bool:
        """Whether the number is given for one of several cases only."""
        if found.number is None or not may_depend(self._passage.lower):
            return False
        numbers = self._passage.numbers.between(0, len(self._text))
        values = (Span(one.start, one.end, one.number.value) for one in numbers if one.number)
        return depends(self._text, values, found.number.value, found.at)

    def beside(self, concluded: Number, reasoning: _Reader) -> ReadNumber | None:
        """What was concluded, if the only sentence with numbers gives it beside numbers that are given in the reasoning."""
        numbers = self._passage.usable(0, len(self._text))
        if len({self._passage.sentence_start(one.start) for one in numbers}) != 1:
            return None
        earlier = reasoning._passage.numbers.between(0, len(reasoning._text))
        results = {one.number.value for one in earlier if one.equals and one.number}
        given = reasoning._passage.numbers.operands(0, len(reasoning._text)) - results
        chosen = [one for one in numbers if same(one.number, concluded)]
        others = [one for one in numbers if one.number and not same(one.number, concluded)]
        if len(chosen) != 1 or len(others) + 1 < len(numbers):
            return None
        if not all(one.number and one.number.value in given for one in others):
            return None
        return ReadNumber(chosen[0].number, "concluded")

    def _marked(self) -> ReadNumber | None:
        at = self._text.rfind("####")
        while at >= 0:
            end = self._passage.line_end(at + 4)
            if not self._text[at + 4 : end].strip():
                end = self._passage.line_end(end + 1)
            inside = self._passage.numbers.between(at, end)
            if inside:
                return self._results.chosen(inside, 0, "marked")
            at = self._text.rfind("####", 0, at)
        return None

    def _boxed(self) -> ReadNumber | None:
        if "\\boxed" not in self._text and "\\fbox" not in self._text:
            return None
        for box in reversed(deque(caseless(r"\\(?:boxed|fbox)\s?\{").finditer(self._text), CUES)):
            end = _brace_end(self._text, box.end())
            inside = self._passage.numbers.between(box.end(), end)
            if inside:
                sides = self._results.sides(inside, 0)
                if len(sides) < len(inside):
                    return ReadNumber(None, "several")
                return self._results.resolved(sides, "boxed")
            spelled = spelled_pattern().search(self._text, box.end(), end)
            if spelled and (value := spelled_value(spelled)) is not None:
                return ReadNumber(Number(value), "boxed")
        return None

    def _stated(self) -> ReadNumber | None:
        for stems, pattern in _STATEMENTS:
            later: tuple[int, ReadNumber] | None = None
            for cue in self._passage.cues(pattern, stems):
                found = None if self._denied(cue.start()) else self._after(cue.end())
                if found is None or caseless(_REFUTED).match(self._text, found[0]):
                    continue
                if later is None:
                    last, later = self._corrected(*found), (cue.start(), found[1])
                    if len(self._text) - cue.start() > _FAR * 2:
                        return last
                    continue
                # Two statements side by side contradict each other.
                between = self._text[found[0] : later[0]]
                sides = (
                    len(between) < _FAR
                    and not caseless(_CORRECTION).search(between)
                    and len(between.split()) <= 4
                )
                return (
                    ReadNumber(None, "several")
                    if sides and not same(found[1].number, later[1].number)
                    else last
                )
            if later is not None:
                return last
        return None

    def _denied(self, at: int) -> bool:
        return self._passage.is_void(at) or (
            self._passage.search(_NO_STATEMENT, max(0, at - 24), at) is not None
        )

    def _after(self, at: int) -> tuple[int, ReadNumber] | None:
        """The number that is stated at `at`, and the place after it."""
        text = self._text
        begin = at
        while begin < len(text) and text[begin] in " \t\r\n*:":
            begin += 1
        if "\n" in text[at:begin] and caseless(_STEP).match(text, begin):
            return None
        end = self._passage.sentence_end(begin)
        inside = self._passage.usable(begin, max(end, begin + 1))
        spelled = spelled_pattern().search(text, begin, min(end, begin + _FAR))
        part = spelled is not None and inside and self._results.is_share(spelled.end())
        if part and len(inside) == 1 and not text[inside[0].end : end].strip():
            return inside[0].end, ReadNumber(None, "several")  # `half of 60`
        part = part and len(inside) > 1
        if spelled and not part and (not inside or spelled.start() < inside[0].start):
            linked = text[begin : spelled.start()].count(" ") <= 3
            bare_one = (
                spelled[0].lower() in ("one", "a", "an") and text[spelled.end() : spelled.end() + 1] == " "
            )
            if linked and not bare_one:
                value = spelled_value(spelled)
                return spelled.end(), ReadNumber(
                    None if value is None else Number(value), "stated" if value is not None else "notation"
                )
        if not inside:
            return None
        if (
            len(inside) == 2
            and self._results.is_share(inside[0].end)
            and not text[inside[1].end : end].strip()
        ):
            return inside[1].end, ReadNumber(None, "several")  # `15 % of 200`
        lead = text[begin : inside[0].start].rstrip("$€£")
        if len(lead) > _FAR or len(lead.split()) > 5 or caseless(_SETS_OUT).match(lead):
            return None
        if len(inside) > 1 and (
            caseless(r"[^.;\d]{0,30}(?<!\w)round").match(text, inside[0].end, inside[1].start)
            or not caseless(_DIRECTLY).fullmatch(lead)
            or self._results.is_subject(inside, 0)
            or (len(inside) > 2 and self._results.is_share(inside[0].end))
            or (
                inside[0].reason == "formula"
                and caseless(_MAKES).fullmatch(text, inside[0].end, inside[1].start)
            )
        ):
            return inside[-1].end, self._results.pick(inside, "stated")
        if len(inside) > 1 and not same(inside[0].number, inside[1].number):
            between = text[inside[0].end : inside[1].start]
            if caseless(r"[^.;:(]{0,20}\s(?:and|und|et|y|и|&|plus|or|oder|ou|или)\s[$€£]?").fullmatch(
                between
            ):
                return inside[1].end, ReadNumber(None, "several")
        if any(is_guess(text, one) and one.number != inside[0].number for one in inside[1:]):
            return inside[-1].end, ReadNumber(None, "several")
        return inside[0].end, self._results.chosen(inside, 0, "stated")

    def _corrected(self, end: int, found: ReadNumber) -> ReadNumber:
        """What was stated, unless the text after it takes it back."""
        corrections = deque(caseless(_CORRECTION).finditer(self._text, end, end + SPAN), 1)
        if not corrections:
            return found
        correction = corrections[0]
        later = self._passage.usable(correction.end(), correction.end() + SPAN)
        values = {one.number for one in later}
        if not later or values == {found.number}:
            return found
        first = later[0]
        lead = self._text[max(correction.end(), first.start - 40) : first.start]
        if len(values) == 1 and (not lead.strip(" ,.:;-") or caseless(POINTER).search(lead)):
            return ReadNumber(first.number, "stated" if first.number else first.reason)
        if self._passage.search(_ADMITS, end):
            # What follows has an answer of its own.
            again = _Reader(self._passage.text[correction.end() :], self._mark).read()
            if again.number is not None and again.number != found.number:
                return again
        return ReadNumber(None, "corrected")

    def _opening(self) -> ReadNumber | None:
        """The number that opens the reply and is explained, or that is the first line."""
        text, passage = self._text, self._passage
        start = len(text) - len(text.lstrip())
        spelled = spelled_pattern().match(text, start)
        if spelled and not caseless(r"[ ][^\W\d_]").match(text, spelled.end()):
            value = spelled_value(spelled)
            return ReadNumber(None, "notation") if value is None else ReadNumber(Number(value), "opening")
        begin = len(text) - len(text.lstrip(" \n\t*#>~≈$€£-+("))
        if len(self._passage.numbers) < 2 or not (opening := self._passage.usable(0, begin + 1)):
            return None
        first = opening[0]
        if caseless(_BECAUSE).match(text, first.end) or (
            first.number and caseless(_BARE).match(text, first.end)
        ):
            concluded = self._concluded(first.end)
            if concluded is None and not caseless(_BECAUSE).match(text, first.end):
                last = passage.sentence_start(len(text.rstrip()) - 1)
                result = self._results.result(passage.usable(max(last, first.end), len(text)))
                concluded = None if result is None else ReadNumber(result.number, "concluded")
            if concluded is not None and concluded.number not in (None, first.number):
                return ReadNumber(None, "several")
            return self._results.resolved([first], "opening")
        line = self._passage.line_end(first.end)
        rest = text[first.end : min(line, first.end + 100)]
        if line >= len(text.rstrip()) or len(rest.split()) > 3 or rest.rstrip().endswith((":", ",")):
            return None
        if compiled(r"\d").search(rest):
            return None
        last_line = text.rstrip().rfind("\n") + 1
        closing = self._passage.usable(last_line, last_line + SPAN)
        if closing and not text[last_line : closing[0].start].strip(" *_$≈=-("):
            return None  # the last line is a number too
        return self._results.resolved([first], "opening")

    def _last(self) -> ReadNumber | None:
        """What the last conclusion gives, else the last sentence."""
        passage = self._passage
        usable = (one for one in islice(passage.numbers.backwards(), _LOOKED_AT) if passage.is_usable(one))
        last = next(usable, None)
        if last is None:
            return ReadNumber(None, "declined") if passage.has_no_value(0) else self._spelled()
        in_words = self._in_words(last.end)
        if in_words is not None:
            return in_words
        if is_dated(self._text, last) or passage.in_brackets(last):
            last = next(
                (one for one in usable if not is_dated(self._text, one) and not passage.in_brackets(one)),
                last,
            )
        if self._is_unfinished(last):
            return ReadNumber(None, "unfinished")
        begin = passage.sentence_start(last.start)
        concludes = passage.search(CONCLUSION, begin, last.start) and not caseless(r"\s*if\s").match(
            self._text, begin
        )
        if (
            passage.refuses()
            or passage.declines_after(last.end)
            or (not concludes and (passage.depends() or passage.conflicts() or passage.lacks(last.start)))
        ):
            return ReadNumber(None, "declined")
        if passage.parts() and not self._passage.search(SUM, begin, last.start):
            return ReadNumber(None, "several")
        inside = passage.usable(begin, begin + SPAN) or [last]
        inside = [one for one in inside if one.start <= last.start]
        found = self._closing(begin, inside, last)
        if found.rule == "several":
            return self._emphasised(0) or found
        line = self._reply.rstrip().rfind("\n") + 1
        if not self._passage.search(CONCLUSION, begin, last.start):
            line = min(line, len(self._reply) // 3)  # a remark may follow the answer
        return self._emphasised(line) or found

    def _closing(self, begin: int, inside: list[Expression], last: Expression) -> ReadNumber:
        """What the last sentence gives, if it draws a conclusion or there is none before it."""
        if len(self._passage.numbers) == 1 and len(self._text) <= _ONE_SENTENCE:
            return self._results.pick(inside, "last_number")  # nothing else can be concluded
        if self._results.result(inside) is not None:
            found = self._results.pick(inside, "last_number")
            settled = self._settled(begin)
            other = settled is not None and "=" not in self._text[begin : last.end]
            if (other and not same(found.number, settled and settled.number)) or self._is_apart(last):
                return ReadNumber(None, "several")
            return found
        conclusion = self._conclusion(0, begin)
        if conclusion is not None:
            after, concluded = conclusion
            later = self._goes_on(after, begin, inside, concluded)
            if later is not None:
                return later
            # The last sentence may name what was concluded next to something new.
            shown = self._passage.numbers.operands(0, begin)
            new = [
                one
                for one in inside
                if one.number and one.number.value not in shown and not same(one.number, concluded.number)
            ]
            repeated = [one.number for one in inside if same(one.number, concluded.number)]
            if new and repeated:
                return ReadNumber(None, "several")
            percent = next((one for one in repeated if one and one.percent), None)
            return concluded if percent is None else ReadNumber(percent, concluded.rule)
        found = self._results.pick(inside, "last_number")
        if self._is_one_of_many(begin, inside, last) or not self._answers(begin, inside, found):
            return ReadNumber(None, "several")
        return found

    def _is_apart(self, last: Expression) -> bool:
        """Whether an item of a list calculates something of its own, as the item above does: neither uses the other's result."""
        text = self._text
        start = text.rfind("\n", 0, last.start) + 1
        above = text.rfind("\n", 0, len(text[:start].rstrip())) + 1
        if not all(caseless(_ITEM).match(text, at) for at in (start, above)) or self._passage.search(
            SUM, start, self._passage.line_end(last.end)
        ):
            return False
        result = self._results.equated(start)
        used = (one.number for one in self._passage.numbers.between(start, last.start))
        return result is not None and result.start >= above and result.number not in (*used, last.number)

    def _settled(self, end: int) -> ReadNumber | None:
        """The result of the last calculation before `end`, if a conclusion after it repeats it: what is concluded later may be
        another thing that follows.
        """
        equated = self._results.equated(end)
        if equated is None:
            return None
        concluded = self._concluded(self._passage.sentence_end(equated.end), end)
        return concluded if concluded and same(concluded.number, equated.number) else None

    def _answers(self, begin: int, inside: list[Expression], found: ReadNumber) -> bool:
        """Whether the last sentence answers: it goes on with a calculation, or it is the only one with a number."""
        passage, text = self._passage, self._text
        if self._results.is_premised(begin):
            return True
        earlier = [
            one
            for one in passage.usable(max(0, begin - SPAN), begin)
            if one.reason != "several" and not is_weak(text, one)
        ]
        if not earlier or any(one.number == found.number for one in earlier):
            return True
        equated = self._results.equated(begin)
        if equated is not None and found.number is not None:
            return self._follows(found.number, equated)
        if any(one.equals or one.reason == "formula" for one in earlier):
            return True
        line = text[text.rfind("\n", 0, begin + 1) + 1 : passage.line_end(inside[-1].end)]
        sentence = text[begin : passage.line_end(inside[-1].end)]
        return len(line.split()) <= _FEW or "=" in sentence or caseless(SUM).search(sentence) is not None

    def _follows(self, number: Number, equated: Expression) -> bool:
        """Whether a number follows from the last result in one step: it rounds it, or combines it with another number."""
        last, value = equated.number, number.value
        if last is None:
            return True
        if same(number, last) or abs(value - last.value) < 1:
            return True
        others = self._passage.numbers.operands(max(0, equated.start - SPAN), equated.end + SPAN) - {value}
        return any(
            value in (last.value + one, last.value - one, one - last.value, last.value * one)
            or (one and value == last.value / one)
            or (last.value and value == one / last.value)
            for one in others
        )

    def _emphasised(self, begin: int) -> ReadNumber | None:
        """The only number in bold from a place of the reply on, or at the end of a calculation before it."""
        if "**" not in self._reply:
            return None
        found = set()
        for part in islice(compiled(BOLD).finditer(self._reply, max(0, len(self._reply) - SPAN)), CUES):
            if part[1].endswith(":") or not compiled(r"\d").search(part[1]):
                continue  # a label such as `Step 1:`
            bold = plain(part[1]).strip()
            at = self._passage.text.rfind(bold) if bold else -1
            if at >= 0:
                inside = self._passage.usable(at, at + len(bold))
                if not any(self._results.is_share(one.end) for one in inside):
                    found |= {one.number for one in inside if part.start() >= begin or one.equals}
        number = found.pop() if len(found) == 1 else None
        return None if number is None else ReadNumber(number, "last_number")

    def _spelled(self) -> ReadNumber | None:
        """The only number in words, unless it is known already: `with those two numbers`."""
        text = self._text
        found = set()
        for spelled in spelled_pattern().finditer(text, max(0, len(text) - SPAN)):
            at = spelled.start()
            if self._passage.is_void(at):
                continue
            if spelled[0].lower() == "one" and not (
                self._passage.search(_HAS, max(0, at - 24), at)
                and not caseless(_ONE_OF).match(text, spelled.end())
            ):
                continue
            if not self._passage.search(KNOWN, max(0, at - 10), at):
                found.add(spelled_value(spelled))
        if len(found) > 1:
            return self._in_words(0)
        value = found.pop() if len(found) == 1 else None
        return None if value is None else ReadNumber(Number(value), "last_number")

    def _in_words(self, begin: int) -> ReadNumber | None:
        """The number in words that is concluded after the last one in digits: `so they need seven buses`."""
        text, passage = self._text, self._passage
        if len(text) - begin > SPAN:
            return None
        if not passage.may[spelled_pattern().pattern]:
            return None
        last = None
        for spelled in spelled_pattern().finditer(text, begin):
            one = spelled[0].lower() == "one" and (
                caseless(_ONE_OF).match(text, spelled.end())
                or self._passage.search(_PICKED, max(0, spelled.start() - 12), spelled.start())
            )
            if not one and not passage.is_void(spelled.start()):
                last = spelled
        if last is None or (value := spelled_value(last)) is None or (begin and value.denominator > 1):
            return None
        start = max(begin, passage.sentence_start(last.start()))
        points = self._results.points_at(start, last.start())
        if points is False or self._passage.search(KNOWN, max(0, last.start() - 10), last.start()):
            return None
        if points is None and begin and self._passage.search(CONCLUSION, 0, begin):
            return ReadNumber(None, "several")
        return ReadNumber(Number(value), "concluded")

    def _is_unfinished(self, last: Expression) -> bool:
        """Whether the text breaks off before it gives a result."""
        text = self._passage.text.rstrip()
        if text.endswith((".*", "!*", ")*", "._", "!_", ")_")):
            text = text.rstrip("*_")  # it ends in italics
        if self._passage.repeats(last.start):
            return not caseless(_CONCLUDES_FIRST).match(
                self._text, self._passage.sentence_start(last.start), len(text)
            )
        if last.end >= len(text):
            return False
        begin = self._passage.sentence_start(len(text) - 1)
        cut = text[-1].isalpha() and begin > last.end and len(text[begin:].split()) > 2
        return breaks_off(text) or (cut and not self._passage.is_void(begin))

    def _is_one_of_many(self, begin: int, inside: list[Expression], last: Expression) -> bool:
        """Whether the last sentence names one more of the things that were counted before."""
        text, passage = self._text, self._passage
        if not passage.numbers.between(max(0, begin - SPAN), begin):
            return False
        if is_guess(text, inside[0]):
            return True
        start = text.rfind("\n", 0, last.start) + 1
        line = text[max(start, last.start - 400) : passage.line_end(last.end)]
        if "=" in line or caseless(SUM).search(line):
            return False
        if caseless(_LIST).match(line.lstrip()):
            label = line.partition(":")[0] + " "
            if not is_reference(label, len(label)):
                before = text[max(0, start - 400) : start].rstrip().rpartition("\n")[2].lstrip()
                return (
                    caseless(_LIST).match(before) is not None and compiled(r"\d").search(before) is not None
                )
        return self._passage.search(_ADDS, begin, passage.line_end(last.end)) is not None

    def _goes_on(
        self, after: int, begin: int, inside: list[Expression], concluded: ReadNumber
    ) -> ReadNumber | None:
        """What a text calculates after it has concluded something: `With the discount, the price is $45.`"""
        passage = self._passage
        shown = passage.numbers.operands(0, begin)
        new = [one for one in inside if one.number and one.number.value not in shown]
        if new and self._results.is_premised(begin) and self._results.pointed_at(inside[-1]):
            return self._results.pick(inside, "last_number")
        between = passage.usable(after, begin)
        while between:
            start = passage.sentence_start(between[-1].start)
            sentence = [one for one in between if one.start >= start]
            if self._results.result(sentence) is not None:
                found = self._results.pick(sentence, "concluded")
                if same(found.number, concluded.number):
                    return None
                if self._passage.search(_FINAL, start, passage.sentence_end(sentence[-1].end)):
                    return found
                return ReadNumber(None, "several")
            between = [one for one in between if one.start < start]
        return None

    def _concluded(self, begin: int, end: int | None = None) -> ReadNumber | None:
        found = self._conclusion(begin, end)
        return None if found is None else found[1]

    def _conclusion(self, begin: int, end: int | None = None) -> tuple[int, ReadNumber] | None:
        """Where a conclusion ends, and the number of the last sentence in a part of the text that draws a conclusion, if no calculation goes on after it."""
        passage = self._passage
        stop = len(self._text) if end is None else end
        for cue in passage.cues(CONCLUSION, CONCLUDES, begin, stop):
            if cue[0].lower() == "also" and passage.numbers.language() == ".":
                continue
            start = max(begin, passage.sentence_start(cue.start()))
            after = passage.sentence_end(cue.end())
            inside = passage.usable(start, after)
            if inside:
                goes_on = self._text.find("=", after, stop) >= 0 and any(
                    one.equals for one in passage.usable(after, stop)
                )
                return None if goes_on else (after, self._results.pick(inside, "concluded"))
        return None


def _brace_end(text: str, at: int) -> int:
    depth = 1
    for found in caseless(r"[{}]").finditer(text, at, min(len(text), at + 2_000)):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.start()
    return min(len(text), at + 200)

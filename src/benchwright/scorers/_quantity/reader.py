"""Finds the number that a text gives as its answer.

These are tried in order: after `####`; in the last box; after the last statement such as "the answer is"; the number that
opens or closes a reply; and finally the number that the last conclusion, or else the last sentence, gives as its result. A
number is read as a whole or not at all (see `expressions`): if the one that counts cannot be read, no other is taken instead.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import islice
from typing import NamedTuple

from benchwright.scorers._mcq.view import lower_alike, without_reasoning
from benchwright.scorers._quantity.expressions import Expression, Expressions, Number, shown_mark
from benchwright.scorers._quantity.numerals import Mark
from benchwright.scorers._quantity.plain import plain
from benchwright.scorers._quantity.words import spelled_pattern, spelled_value
from benchwright.scorers._stems import matches_at, places


class ReadNumber(NamedTuple):
    """The number that a text gives, or why it gives none."""

    number: Number | None
    """The number."""
    rule: str
    """How it was found: `marked` (####), `boxed`, `stated` ("answer is"), `opening`, `concluded` or `last_number`; without
    a number the reason: `not_found` or a key of `UNREAD`."""


_BE = (
    r"(?:is|are|was|(?:would|should|must|will)\sbe|comes\s(?:out\s)?to|equals|ist|lautet|beträgt|wäre|est(?:\sde)?|vaut|es(?:\sde)?|son|sería"
    r"|è|é|равен|равна|равно|составляет|wynosi|jest|är|er)\b\s?(?:[:=])?|[:=—–]|-(?=\s)|→"
)
_OF = r"(?:\s(?:to|for|of|in|auf|à|a|de|zu|на)\s[^.\n:?;=]{1,60}?)?"
_STATEMENTS = (
    # Words for an answer, then words for a result: these may also name a step on the way.
    (
        "answer antwort lösung endergebnis réponse respuesta risposta resposta antwoord odpowied svar ответ 答案 答え 답",
        rf"(?<!\w)(?:answers?|antwort|lösung|endergebnis|réponse|respuesta|risposta|resposta|antwoord|odpowied[źz]|svar(?:et)?|ответ)"
        rf"[\"']?(?:\s(?:finale?|correcte?|correcta|here|then|therefore|thus|richtig))?{_OF}\s?(?:{_BE})|ответ(?=\s\d)|(?:最终)?答案\s?(?:应该|应|就)?\s?(?:是|为|為|:)?\s?:?|答え\s?(?:は|:)|(?:정답|답)\s?(?:은|는|:)",
    ),
    (
        "result solution ergebnis résultat solución risultato результат итог wynik final 结果",
        rf"(?<!\w)(?:results?|solution|ergebnis|résultat|resultado|solución|risultato|результат|итог|wynik|final\svalue)"
        rf"[\"']?{_OF}\s?(?:{_BE})|结果\s?(?:是|为|:)",
    ),
)
"""The words that each begins with, and the whole."""
_SHORT = 48
"""Characters of a reply that may be a plain one."""
_FAR = 40
"""Characters between a statement and its number; what comes later is not what is stated."""
_CUES = 40
"""The last statements of a reply are looked at."""
_LOOKED_AT = 1_000
"""Numbers of a reply, from its end, that may be its last one."""
_SPAN = 2_000
"""Characters of a sentence or a correction that are read."""
_SENTENCE_END = r"(?=[.!?\n;。！？])(?:[.!?](?=\s|$)|[\n;。！？])"
_CORRECTION = (
    r"(?<!\w)(?:wait|actually|correction|sorry|oops|hmm+|let\sme\sre\w*|i\smean|my\smistake|on\ssecond\sthought|no,|moment|korrektur|stopp"
    r"|nein,|pardon|non,|perdón|corrección|нет,|точнее|больше)"
)
_POINTER = (
    r"(?:(?:=|≈|->|→|:)|(?<!\w)(?:is|are|was|be|it's|that's|makes?|gets?|gives?|equals?|totals?|has|have|leaves?|to|costs?|ist|sind|hat"
    r"|ergibt|beträgt|kostet|est|a|fait|es|son|tiene|hay|quedan|равно|будет|составляет|получаем|о?стал[оа]сь))"
    r"\s?(?:(?:now|only|about|approximately|exactly|roughly|around|just|a|total|of|left|with|equal|to|really|actually|then|ungefähr|etwa|environ|unos)\s){0,3}"
    r"[$€£¥₽₹~≈]?\s?-?$"
)
_NOT = (
    r"(?:(?<!\w)(?:not|never|nicht|pas|rather\sthan|instead\sof|statt|anstatt|а\sне|не|unlike|none\sof|y\sno|sino\sno|kein)|n't)\s"
    r"(?:(?:exactly|equal\sto|just|be|to|the|is)\s){0,3}[$€£]?$"
)
_NOT_WORDS = ("no", "n't", "ne", "nicht", "pas ", "than ", "instead", "statt", "не ", "unlike", "kein")
"""Parts of the words of `_NOT`: without one of them, it is not tried."""
_REFERENCE = (
    r"(?<!\w)(?:steps?|questions?|problem|exercise|equations?|eq\.?|pages?|sections?|chapter|figure|fig\.?|table|part|case|method|lines?"
    r"|example|note|footnote|item|q|rule|theorem|schritt|frage|aufgabe|gleichung|seite|étape|paso|pregunta|página|шаг|вопрос|задача)\s?[#(]?$"
)
_SURE = r"\s?(?:sure|certain|confident|confidence|certainty|likely|sicher|sûr|seguro|уверен)"
_SURE_BEFORE = (
    r"(?:confidence|certainty|sicherheit|confiance|confianza)(?:\slevel|\sscore)?\s?(?:is|of|:|=)?\s?$"
)
_CHECKED = r"(?<!\w)(?:checked|verified|counted|tried|in|took|within|after)(?!\w)[^.\d\n]{0,12}$"
_EFFORT = r"\s(?:times|steps|attempts|ways|minutes|seconds|schritte\w*|mal|fois|étapes|veces|pasos|раза?|шаг\w*)(?!\w)"
_GUESS = r"(?<!\w)(?:(?:could|might|may|can)\s(?:also\s)?be|maybe|perhaps|possibly|vielleicht|peut-être|quizás|может\sбыть)\s(?:it's\s)?[$€£]?$"
_COMPARED = (
    r"\s(?:[^\W\d_]+\s){0,2}(?:(?:more|less|fewer|higher|lower|older|younger|larger|smaller|longer|shorter|greater|bigger)\sthan"
    r"|mehr\sals|weniger\sals|de\splus\sque|de\smoins\sque|más\sque|menos\sque|больше,?\sчем|меньше,?\sчем)"
)
_PER = (" per ", " pro ", " je ")
_THAN = r"\d\s(?:[^\W\d_]+\s){1,3}than\s(?:the\s)?$"
_LABEL = r"\s?[.)]\s+\S"
_TOTALS = (
    "in total", "altogether", "in all", "overall", "all together", "together", "combined", "insgesamt", "zusammen", "au total",
    "en tout", "en total", "ensemble", "en conjunto", "juntos", "juntas", "всего", "вместе", "итого", "in totale", "no total",
)  # fmt: skip
_CONCLUSIONS = (
    *_TOTALS, "so", "therefore", "thus", "hence", "consequently", "in conclusion", "that means", "this means", "which means",
    "also", "daher", "somit", "deshalb", "folglich", "das heißt", "donc", "ainsi", "par conséquent", "c'est-à-dire", "por tanto",
    "por lo tanto", "por lo que", "así que", "es decir", "entonces", "итак", "значит", "следовательно", "поэтому",
    "таким образом", "то есть", "в итоге", "quindi", "portanto", "dus", "więc",
)  # fmt: skip
_CONCLUSIONS_IN_CHARACTERS = ("所以", "因此", "总共", "一共")
_CONCLUDES = (*_CONCLUSIONS, *_CONCLUSIONS_IN_CHARACTERS)
_TOTAL = "|".join(_TOTALS).replace(" ", r"\s")
_CONCLUSION = rf"(?<!\w)(?:{'|'.join(_CONCLUSIONS)})(?!\w)|{'|'.join(_CONCLUSIONS_IN_CHARACTERS)}".replace(
    " ", r"\s"
)
_RESULT = (
    r"(?<!\w)(?:(?:which|that|this|it|these)\s(?:all\s|would\s|will\s)?(?:is|are|makes?|gives?|leaves?|means)|that's|,\s(?:making|giving|leaving)"
    r"|equals?|totals?|yields?|yielding|totall?ing|(?:amount|add|come|work)(?:s|ing)?\s(?:up\s|out\s)?to|results?\sin|means(?!\sof)|end(?:s|ed|ing)?\s(?:up\s)?with|(?:we|to|you|i)\s(?:get|find|obtain)"
    r"|total\sof|(?:total|sum|product|difference|remainder|average|mean)\s(?:is|was|=)|i\.e\.|finally|the\sfinal|wait|actually|correction|sorry|make\sthat|or\srather|i\smean"
    r"|ergeben|ergibt|das\s(?:macht|sind|ist)|macht\sdas|(?:ver)?bleib(?:en|t)|d\.\s?h\.|soit|(?:cela|ça|qui)\s(?:fait|donne)|(?<!ils\s)(?<!elles\s)font"
    r"|(?:il\s)?reste(?:nt)?|finalement|suman|quedan?|resultan?|(?:lo\sque|esto|eso)\s(?:da|es|hace)|(?<!le\s)(?<!les\s)(?<!me\s)dan"
    r"|получа(?:ется|ем|ют)|получим|выходит|оста(?:лось|лось|ётся|ется|нется|лись)|равно|равен|равна)(?!\w)|,\s(?:making|giving|leaving)\s"
)
"""What stands before a result, next to the words for a conclusion."""
_IS = r"\s(?:makes?|gives?|is|are|ist|sind|macht|gibt|fait|font|es|son|da|dan|равно|будет|это)\s"
_TOTAL_AFTER = rf"(?:\s[^\W\d_]+){{0,3}}?\s(?:{_TOTAL}|total|remain(?:s|ed|ing)?|übrig|ergib(?:t|en)|ergeben|macht)(?!\w)"
_AND = r"(?<!\w)(?:and|und|et|y|и|e|or|oder|ou|o|или)(?!\w)"
_SETS_OUT = r"(?:first|firstly|let|let's|start|step|we|given|since|if|zuerst|zunächst|wir|man|d'abord|on|nous|primero|сначала|сперва|首先)(?!\w)"
"""Begins an explanation, not an answer, after a heading such as `Solution:`."""
_THE = r"(?<!\w)(?:the|these|those|their|its|his|her|die|den|les|ces|los|las|эти|этих)\s[$€£]?$"
"""Before a number that is known already."""
_ASSIGNED = r"(?<!\w)[^\W\d_](?:_?\d)?\s?=\s?[-$€£]?$"
_YEAR = r"(?<!\w)(?:in|since|by|until|im\sjahr|seit|en|depuis|desde|в|с)\s$"
_WITH = r"(?<!\w)(?:for|in|with|from|after|every|each\sof|für|bei|nach|pour|dans|avec|para|con|tras|для|за|через)\s[$€£]?$"
"""Before a number that a result depends on: `so for 7 cakes she needs 14 eggs`."""
_SHARE = (
    r"(?<!\w)(?:half|twice|double|thrice|hälfte|doppelt|moitié|double|mitad|doble|половин\w*|вдвое)(?!\w)"
)
_SAYS = r"(?<!\w)(?:is|are|was|ist|sind|beträgt|est|sont|es|son|равен|равна|равно)(?!\w)"
_SUBSET = r"(?<!\w)(?:of\swhich|of\sthem|davon|dont|de\s(?:los|las)\scuales|из\sних)(?!\w)"
_ROUNDED = (
    r"[^\d.;]{0,20}?(?:about|approximately|approx\.?|roughly|around|almost|etwa|rund|ungefähr|environ|aproximadamente|unos|примерно|около)"
    r"\s[$€£]?"
)
_LIST = r"(?:[-*•+]\s|\d{1,2}[.)]\s|[^\W\d][^\n:=]{0,40}:\s)"
_SUM = r"(?<!\w)(?:sub)?(?:total|sum|gesamt|summe|somme|suma|altogether|итого|сумма|всего|answer|result|final|insgesamt|left|remain)|="
_ADDS = r"(?<!\w)(?:also|too|as\swell|another|auch|weitere|aussi|également|también|además|тоже|также)(?!\w)"
"""Says that a number comes on top of others."""
_WHY = r"because|since|as|given\sthat|denn|weil|da|car|parce\sque|puisque|comme|porque|ya\sque|puesto\sque|como|потому|так\sкак|поскольку|ведь"
_REASON = r"(?<!\w)(?:because|since|denn|weil|car|parce|puisque|porque|ya\sque|puesto\sque|потому|так\sкак|поскольку|ведь)(?!\w)|,\sas\s"
"""What begins a reason within a sentence."""
_PREMISE = rf"\s*(?:[-*•]\s)?(?:{_WHY}|if|when|after|with|out\sof|given|wenn|nachdem|falls|bei|von|si|avec|sur|après|con|cuando|después|если|когда|после|из)(?!\w)"
"""What begins a sentence whose result comes after a comma."""
_EXPLAINED = rf"[^\d]*?(?:[:(–—]|\s-\s|(?<!\w)(?:{_WHY}|with|consisting|namely|of\swhich|of\sthem|davon|de\s(?:los|las)\scuales|из\sних|und\szwar|nämlich|dont|con|а\sименно)(?!\w))"
"""What comes between a result and the numbers that explain it."""
_BECAUSE = rf"(?:\s[^\W\d_]+){{0,3}}(?:\s?[,;:(–—-]\s?\(?(?:{_WHY}|for|due|given)|\s(?:because|since|denn|weil|car|parce|puisque|porque|ya\sque|потому|так\sкак))(?!\w)"


def read_number(text: str, mark: Mark | None = None) -> ReadNumber:
    """The number that a text gives as its answer, or the reason why none can be read.

    Args:
        text: a reply, or an expected answer.
        mark: the decimal mark that is used if the text does not reveal its own.

    >>> read_number(r"So \\boxed{\\frac{3}{4}}").number.value, read_number("1999-12-01").rule
    (Fraction(3, 4), 'date')
    """
    if len(text) < _SHORT and (short := _plain_reply().fullmatch(text)):
        # The same as below, at a tenth of the cost.
        value = Fraction(short["number"])
        return ReadNumber(Number(value), "stated" if short["stated"] else "last_number")
    if "<" in text or "◁" in text or "[" in text:
        kept, unfinished = without_reasoning(text)
        if unfinished and not any(text[start:end].strip() for start, end in kept):
            return ReadNumber(None, "not_found")
        text = "\n".join(text[start:end] for start, end in kept)
    return _Text(plain(text), mark).read()


@cache
def _plain_reply() -> re.Pattern[str]:
    """Matches replies that are a plain number, alone or as "The answer is 12."."""
    return re.compile(
        r"(?P<stated>(?:[Tt]he\s|[Ff]inal\s|[Tt]he\sfinal\s)?[Aa]nswer(?:\sis|:)\s)?(?P<number>-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,2})?)\.?\n?"
    )


def decimal_mark_of(text: str) -> Mark | None:
    """The decimal mark that a text reveals, if it reveals one."""
    return shown_mark(plain(text))


class _Text:
    """One text, with the expressions in it."""

    def __init__(self, text: str, mark: Mark | None) -> None:
        self.text = text
        self.lower = lower_alike(text).replace("\n", " ")
        self._all = Expressions(text, mark)
        self._ends: list[int] | None = None
        """Where sentences end."""
        self._asides: dict[int, bool] = {}
        """Start of an expression → whether it is no answer."""

    def read(self) -> ReadNumber:
        for find in (self._marked, self._boxed, self._stated, self._opening, self._last):
            found = find()
            if found is not None:
                return found
        return ReadNumber(None, "not_found")

    def _marked(self) -> ReadNumber | None:
        at = self.text.rfind("####")
        while at >= 0:
            end = self._line_end(at + 4)
            if not self.text[at + 4 : end].strip():
                end = self._line_end(end + 1)
            inside = self._all.between(at, end)
            if inside:
                return self._chosen(inside, 0, "marked")
            at = self.text.rfind("####", 0, at)
        return None

    def _boxed(self) -> ReadNumber | None:
        for box in reversed(deque(_caseless(r"\\(?:boxed|fbox)\s?\{").finditer(self.text), _CUES)):
            end = _brace_end(self.text, box.end())
            inside = self._all.between(box.end(), end)
            if inside:
                sides = self._sides(inside, 0)
                if len(sides) < len(inside):
                    return ReadNumber(None, "several")
                return self._resolved(sides, "boxed")
            spelled = spelled_pattern().search(self.text, box.end(), end)
            if spelled and (value := spelled_value(spelled)) is not None:
                return ReadNumber(Number(value), "boxed")
        return None

    def _stated(self) -> ReadNumber | None:
        for stems, pattern in _STATEMENTS:
            for cue in self._cues(pattern, stems.split()):
                found = None if self._denied(cue.start()) else self._after(cue.end())
                if found is not None:
                    return self._corrected(*found)
        return None

    def _cues(
        self, pattern: str, stems: Iterable[str], begin: int = 0, end: int | None = None
    ) -> Iterator[re.Match[str]]:
        """The last matches of a pattern that begins with one of the stems, the last one first."""
        starts = places(self.lower, stems, begin, end, _CUES)
        return islice(matches_at(_caseless(pattern), self.text, starts), _CUES)

    def _denied(self, at: int) -> bool:
        return (
            _caseless(r"(?<!\w)(?:if|whether|suppose|unless)\s(?:the\s|my\s)?$").search(
                self.text, max(0, at - 16), at
            )
            is not None
        )

    def _after(self, at: int) -> tuple[int, ReadNumber] | None:
        """The number that is stated at `at`, and the place after it."""
        text = self.text
        begin = at
        while begin < len(text) and text[begin] in " \t\r\n*:":
            begin += 1
        stop = _compiled(_SENTENCE_END).search(text, begin, begin + _SPAN)
        end = min(stop.start() if stop else len(text), begin + _SPAN)
        inside = self._usable(begin, max(end, begin + 1))
        spelled = spelled_pattern().search(text, begin, min(end, begin + _FAR))
        if spelled and (not inside or spelled.start() < inside[0].start):
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
        lead = text[begin : inside[0].start]
        if len(lead) > _FAR or len(lead.split()) > 5 or _caseless(_SETS_OUT).match(lead):
            return None
        if len(lead.split()) > 3 and len(inside) > 1:
            return inside[-1].end, self._pick(inside, "stated")
        if len(inside) > 1 and not _same(inside[0].number, inside[1].number):
            between = text[inside[0].end : inside[1].start]
            if _caseless(r"[^.;:(]{0,20}\s(?:and|und|et|y|и|&|plus|or|oder|ou|или)\s[$€£]?").fullmatch(
                between
            ):
                return inside[1].end, ReadNumber(None, "several")
        if any(self._is_guess(one) and one.number != inside[0].number for one in inside[1:]):
            return inside[-1].end, ReadNumber(None, "several")
        return inside[0].end, self._chosen(inside, 0, "stated")

    def _corrected(self, end: int, found: ReadNumber) -> ReadNumber:
        """What was stated, unless the text after it takes it back."""
        corrections = deque(_caseless(_CORRECTION).finditer(self.text, end, end + _SPAN), 1)
        if not corrections:
            return found
        correction = corrections[0]
        later = self._usable(correction.end(), correction.end() + _SPAN)
        values = {one.number for one in later}
        if not later or values == {found.number}:
            return found
        first = later[0]
        lead = self.text[max(correction.end(), first.start - 40) : first.start]
        if len(values) == 1 and (not lead.strip(" ,.:;-") or _caseless(_POINTER).search(lead)):
            return ReadNumber(first.number, "stated" if first.number else first.reason)
        return ReadNumber(None, "corrected")

    def _opening(self) -> ReadNumber | None:
        """The number that opens the reply and is explained, or that is the first line."""
        text = self.text
        start = len(text) - len(text.lstrip())
        spelled = spelled_pattern().match(text, start)
        if spelled and not _caseless(r"[ ][^\W\d_]").match(text, spelled.end()):
            value = spelled_value(spelled)
            return ReadNumber(None, "notation") if value is None else ReadNumber(Number(value), "opening")
        begin = len(text) - len(text.lstrip(" \n\t*#>~≈$€£-+("))
        if len(self._all) < 2 or not (opening := self._usable(0, begin + 1)):
            return None
        first = opening[0]
        if _caseless(_BECAUSE).match(text, first.end):
            concluded = self._concluded(first.end)
            if concluded is not None and concluded.number not in (None, first.number):
                return ReadNumber(None, "several")
            return self._resolved([first], "opening")
        line = self._line_end(first.end)
        rest = text[first.end : min(line, first.end + 100)]
        if line >= len(text.rstrip()) or len(rest.split()) > 3 or rest.rstrip().endswith((":", ",")):
            return None
        if _compiled(r"\d").search(rest):
            return None
        last_line = text.rstrip().rfind("\n") + 1
        closing = self._usable(last_line, last_line + _SPAN)
        if closing and not text[last_line : closing[0].start].strip(" *_$≈=-("):
            return None  # the last line is a number too
        return self._resolved([first], "opening")

    def _last(self) -> ReadNumber | None:
        last = next(
            (one for one in islice(self._all.backwards(), _LOOKED_AT) if not self._is_aside(one)), None
        )
        if last is None:
            found = {
                value
                for spelled in spelled_pattern().finditer(self.text[-2_000:])
                if spelled[0].lower() != "one" and (value := spelled_value(spelled)) is not None
            }
            return ReadNumber(Number(found.pop()), "last_number") if len(found) == 1 else None
        begin = self._sentence_start(last.start)
        closing = self._pick(self._usable(begin, begin + _SPAN) or [last], "last_number")
        concluded = self._concluded(0, begin)
        if concluded is None:
            return ReadNumber(None, "several") if self._is_one_of_many(begin, last) else closing
        result = self._result(self._usable(begin, begin + _SPAN))
        if result is not None and result.number not in (None, concluded.number):
            return ReadNumber(None, "several")
        return concluded

    def _is_one_of_many(self, begin: int, last: Expression) -> bool:
        """Whether the last sentence names one more of the things that were counted before, without a result."""
        text = self.text
        inside = self._usable(begin, begin + _SPAN)
        if self._result(inside) is not None or not self._all.between(max(0, begin - _SPAN), begin):
            return False
        start = text.rfind("\n", 0, last.start) + 1
        line = text[max(start, last.start - 400) : self._line_end(last.end)]
        if _caseless(_SUM).search(line):
            return False
        if _caseless(_LIST).match(line.lstrip()) and not _caseless(_REFERENCE).search(
            line.partition(":")[0] + " "
        ):
            before = text[max(0, start - 400) : start].rstrip().rpartition("\n")[2].lstrip()
            return _caseless(_LIST).match(before) is not None and _compiled(r"\d").search(before) is not None
        return _caseless(_ADDS).search(text, begin, self._line_end(last.end)) is not None

    def _concluded(self, begin: int, end: int | None = None) -> ReadNumber | None:
        """The number of the last sentence in a part of the text that says that it draws a conclusion."""
        text = self.text
        stop = len(text) if end is None else end
        for cue in self._cues(_CONCLUSION, _CONCLUDES, begin, stop):
            if cue[0].lower() == "also" and self._all.language() == ".":
                continue
            start = max(begin, self._sentence_start(cue.start()))
            found = _compiled(_SENTENCE_END).search(text, cue.end(), cue.end() + _SPAN)
            inside = self._usable(start, found.start() if found else cue.end() + _SPAN)
            if inside:
                return self._pick(inside, "concluded")
        return None

    def _sentence_start(self, at: int) -> int:
        ends = self._ends
        if ends is None:
            ends = self._ends = [0, *(end.end() for end in _compiled(_SENTENCE_END).finditer(self.text))]
        return max(0, at - 400, ends[bisect_right(ends, at) - 1])

    def _pick(self, inside: list[Expression], rule: str) -> ReadNumber:
        """The result of a sentence with these numbers: the last one that it concludes, else the only one that a verb points at."""
        inside = self._claimed(self._outside_brackets(inside))
        if len({_key(one) for one in inside}) == 1:
            return self._chosen(inside, len(inside) - 1, rule)
        if len({_key(one) for one in inside if self._is_guess(one)}) > 1:
            return ReadNumber(None, "several")
        at = max((at for at in range(len(inside)) if self._is_result(inside, at)), default=-1)
        if at < 0:
            pointed = [at for at, one in enumerate(inside) if self._pointed_at(one)]
            if not pointed:
                return ReadNumber(None, "several")
            at = pointed[-1]
            if len({_key(inside[at]) for at in pointed}) != 1:
                # `It has 12 balls: 5 red and 7 blue.`
                first = pointed[0]
                if first + 2 >= len(inside) or ":" not in self._between(inside, first + 1):
                    return ReadNumber(None, "several")
                at = first
        elif at and (self._is_assigned(inside, at) or self._is_second(inside, at)):
            return ReadNumber(None, "several")  # `x = 2 and x = 5`
        if _caseless(_SHARE).search(self.text[inside[at].end : self._sentence_end(inside[at].end)]):
            return ReadNumber(None, "several")  # `so 6 workers need half of that`
        if not self._explain(inside, at):
            return ReadNumber(None, "several")
        return self._chosen(inside, at, rule)

    def _between(self, inside: list[Expression], at: int) -> str:
        """The text between a number and the one before it."""
        return self.text[inside[at - 1].end : inside[at].start]

    def _is_assigned(self, inside: list[Expression], at: int) -> bool:
        """Whether two values are assigned side by side."""
        between = self._between(inside, at)
        return (
            _caseless(_ASSIGNED).search(between) is not None
            and _caseless(rf"{_AND}|^,").search(between) is not None
            and not _caseless(_CONCLUSION).search(between)
            and _key(inside[at]) != _key(inside[at - 1])
            and _caseless(_ASSIGNED).search(self.text, max(0, inside[at - 1].start - 8), inside[at - 1].start)
            is not None
        )

    def _is_second(self, inside: list[Expression], at: int) -> bool:
        """Whether another result stands before it, in the same sentence: `the sum is 3 + 4 = 7 and the product is 3 × 4 = 12`."""
        before = next((one for one in range(at - 1, -1, -1) if self._is_result(inside, one)), None)
        if before is None or _key(inside[before]) == _key(inside[at]):
            return False
        between = self._between(inside, before + 1)
        return (
            _caseless(_AND).search(between) is not None
            and _caseless(_SAYS).search(between) is not None
            and not _caseless(_CONCLUSION).search(between)
        )

    def _sentence_end(self, at: int) -> int:
        stop = _compiled(_SENTENCE_END).search(self.text, at, at + _SPAN)
        return stop.start() if stop else min(len(self.text), at + _SPAN)

    def _explain(self, inside: list[Expression], at: int) -> bool:
        """Whether the numbers after a result are no others: they explain it, or are the year in which it was so."""
        later = inside[at + 1 :]
        if {_key(one) for one in later} <= {_key(inside[at])}:
            return True
        between = self._between(inside, at + 1)
        year = len(later) == 1 and later[0].number is not None and 1000 <= later[0].number.value < 2100
        if year and _caseless(_YEAR).search(between) and not _caseless(rf"{_AND}|,").search(between):
            return True
        if _caseless(_SUBSET).search(between):
            parts = [one.number.value for one in later if one.number is not None]
            whole = inside[at].number
            return whole is not None and sum(parts) == whole.value
        return _caseless(_EXPLAINED).match(between) is not None

    def _result(self, inside: list[Expression]) -> Expression | None:
        """The last number that a sentence concludes."""
        return next((one for at, one in reversed([*enumerate(inside)]) if self._is_result(inside, at)), None)

    def _is_result(self, inside: list[Expression], at: int) -> bool:
        """Whether words or an equals sign say that a number is a result."""
        one = inside[at]
        if one.equals:
            return True
        if _caseless(_THE).search(self.text, max(0, one.start - 10), one.start):
            return False
        begin = inside[at - 1].end if at else self._sentence_start(one.start)
        if at + 1 < len(inside) and self._is_condition(inside, at):
            return False
        if at and self._is_condition(inside, at - 1):
            begin = inside[at - 2].end if at > 1 else self._sentence_start(one.start)
        elif at and (total := _caseless(_TOTAL_AFTER).match(self.text, begin, one.start)):
            begin = total.end()  # it belongs to the number before it
        before = self.text[max(begin, one.start - 80) : one.start]
        if _caseless(_RESULT).search(before) or (at and _caseless(_IS).fullmatch(before)):
            return True
        lower = self.lower[max(begin, one.start - 80) : one.start]
        cue = any(word in lower for word in _CONCLUDES) and _caseless(_CONCLUSION).search(before)
        if cue and not (cue[0].lower() == "also" and self._all.language() == "."):
            return True
        if not _caseless(_TOTAL_AFTER).match(self.text, one.end, one.end + 80):
            return False
        direct = _caseless(rf"\s(?:{_TOTAL})(?!\w)").match(self.text, one.end)
        if not at or direct is not None:
            return True
        # Of `5 red, 7 blue in total` the 7 is one of two; `5 red and 7 blue, 12 balls in total` goes on after the list.
        if _caseless(_AND).search(before):
            return False
        listed = self.text[inside[0].end : inside[at - 1].start]
        return (
            "," not in before
            or _caseless(r"[:–—]|,\s[^\W\d_]+\s").search(before) is not None
            or (_caseless(_AND).search(listed) is not None)
        )

    def _is_condition(self, inside: list[Expression], at: int) -> bool:
        """Whether a number is what the next one depends on."""
        one = inside[at]
        return _caseless(_WITH).search(
            self.text, max(0, one.start - 12), one.start
        ) is not None and not _caseless(rf"{_AND}|[:(]").search(self._between(inside, at + 1))

    def _claimed(self, inside: list[Expression]) -> list[Expression]:
        """The numbers that are no reasons: `since 5 are red and 7 are blue`; all if there are no others."""
        text, begin = self.text, self._sentence_start(inside[0].start)
        if _caseless(_PREMISE).match(text, begin):
            comma = text.rfind(", ", begin, inside[-1].start)
            return [one for one in inside if one.start > comma] or inside
        why = _caseless(_REASON).search(text, inside[0].end, inside[-1].start)
        if why is None:
            return inside
        resumed = _caseless(_CONCLUSION).search(text, why.end(), inside[-1].start)
        after = resumed.end() if resumed else inside[-1].end
        return [one for one in inside if not why.start() < one.start < after]

    def _outside_brackets(self, inside: list[Expression]) -> list[Expression]:
        """The numbers that are not in brackets, if there are any: what is in brackets explains or repeats."""
        if "(" not in self.text:
            return inside
        outside: list[Expression] = []
        depth, place = 0, self._sentence_start(inside[0].start)
        for one in inside:
            between = self.text[place : one.start]
            depth = max(0, depth + between.count("(") - between.count(")"))
            place = one.start
            if not depth:
                outside.append(one)
        return outside or inside

    def _pointed_at(self, one: Expression) -> bool:
        return _caseless(_POINTER).search(self.text, max(0, one.start - 40), one.start) is not None

    def _is_guess(self, one: Expression) -> bool:
        return _caseless(_GUESS).search(self.text, max(0, one.start - 24), one.start) is not None

    def _chosen(self, inside: list[Expression], at: int, rule: str) -> ReadNumber:
        return self._resolved(self._sides(inside, at), rule)

    def _sides(self, inside: list[Expression], at: int) -> list[Expression]:
        """The expression and those that equals signs connect with it."""
        first = at
        while first > 0 and (
            inside[first].equals or _caseless(_ROUNDED).fullmatch(self._between(inside, first))
        ):
            first -= 1
        after = at + 1
        while after < len(inside) and inside[after].equals:
            after += 1
        return inside[first:after]

    def _resolved(self, sides: list[Expression], rule: str) -> ReadNumber:
        """The value of a chain of equations: the last side that is a number."""
        numbers = [side.number for side in sides if side.number is not None]
        if _compiled(r"(?:±|\+/-|\\pm)\s?$").search(self.text, max(0, sides[-1].start - 5), sides[-1].start):
            return ReadNumber(None, "several")
        if not numbers:
            return ReadNumber(None, sides[-1].reason)
        last = numbers[-1]
        if len(numbers) > 1:
            # Of `1/3 ≈ 0.333` both count; of `100 cm = 1 m` it is not clear which one does.
            same = [one for one in numbers[:-1] if _agree(one, last)]
            last = last._replace(same=tuple(_scaled(one, last) for one in same))
        return ReadNumber(last, rule)

    def _usable(self, begin: int, end: int) -> list[Expression]:
        """The expressions in a part of the text that may be an answer."""
        return [one for one in self._all.between(begin, end) if not self._is_aside(one)]

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end

    def _is_aside(self, one: Expression) -> bool:
        """Whether an expression is no answer: denied, a label, a reference, how sure somebody is."""
        known = self._asides.get(one.start)
        if known is None:
            known = self._asides[one.start] = self._says_nothing(one)
        return known

    def _says_nothing(self, one: Expression) -> bool:
        text, start, end = self.text, one.start, one.end
        begin = max(0, start - 40)
        before = self.lower[begin:start]
        if any(word in before for word in _NOT_WORDS) and _caseless(_NOT).search(text, begin, start):
            return True
        if _caseless(_REFERENCE).search(text, max(0, start - 14), start):
            return True
        if before.endswith(_PER) or ("than " in before and _caseless(_THAN).search(text, begin, start)):
            return True
        if _caseless(_COMPARED).match(text, end) or (text[end : end + 1] == "?" and self._is_guess(one)):
            return True
        percent = one.number is not None and one.number.percent
        if percent and (
            _caseless(_SURE).match(text, end) or _caseless(_SURE_BEFORE).search(text, begin, start)
        ):
            return True
        if _caseless(_EFFORT).match(text, end) and _caseless(_CHECKED).search(text, begin, start):
            return True
        if text[start - 1 : start] == "[" and text[end : end + 1] == "]" and end - start <= 3:
            return bool(text[begin:start].strip(" \n["))  # the number of a source
        if end - start > 2 or not _compiled(r"(?:^|\n)[ *#(]{0,6}$").search(text, max(0, start - 7), start):
            return False
        return (start < 7 or "\n" in text[start - 7 : start]) and bool(_caseless(_LABEL).match(text, end))


def _key(one: Expression) -> tuple[Fraction, bool] | None:
    """What makes two numbers the same."""
    return None if one.number is None else (one.number.value, one.number.percent)


def _same(one: Number | None, other: Number | None) -> bool:
    return one == other or (one is not None and other is not None and _agree(one, other))


def _agree(one: Number, other: Number) -> bool:
    exact = _scaled(one, other)
    return exact == other.value or abs(exact - other.value) * 50 <= abs(exact)


def _scaled(one: Number, other: Number) -> Fraction:
    """The value of `one` in the terms of `other`, if only one of them is a percentage."""
    if one.percent == other.percent:
        return one.value
    return one.value * 100 if other.percent else one.value / 100


def _brace_end(text: str, at: int) -> int:
    depth = 1
    for found in _caseless(r"[{}]").finditer(text, at, min(len(text), at + 2_000)):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.start()
    return min(len(text), at + 200)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _caseless(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)

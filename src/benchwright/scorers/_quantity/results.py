"""The number that a sentence gives as its result: by a word of conclusion, an equals sign, or the verb that points at it."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from benchwright.scorers._quantity.asides import is_dated, is_example, is_guess, is_weak
from benchwright.scorers._quantity.expressions import Expression, Number
from benchwright.scorers._quantity.passage import SPAN, Passage
from benchwright.scorers._quantity.patterns import caseless, compiled


class ReadNumber(NamedTuple):
    """The number that a text gives, or why it gives none."""

    number: Number | None
    rule: str
    """How it was found: `marked` (####), `boxed`, `stated` ("answer is"), `opening`, `concluded` or `last_number`; without
    a number the reason: `not_found` or a key of `UNREAD`."""
    at: int = -1
    """Where it stands in the plain text while that is read; else -1."""


WEAK = ("last_number", "concluded", "opening")
"""Rules by which a number is found that nothing calls the answer."""
_TOTALS = (
    "in total", "altogether", "in all", "overall", "all together", "together", "combined", "insgesamt", "zusammen", "au total",
    "en tout", "en total", "ensemble", "en conjunto", "juntos", "juntas", "всего", "вместе", "итого", "in totale", "no total",
)  # fmt: skip
_CONCLUSIONS = (
    *_TOTALS, "so", "therefore", "thus", "hence", "consequently", "in conclusion", "that means", "this means", "which means",
    "also", "daher", "somit", "deshalb", "folglich", "das heißt", "donc", "ainsi", "par conséquent", "c'est-à-dire", "por tanto",
    "por lo tanto", "por lo que", "así que", "es decir", "entonces", "итак", "значит", "следовательно", "поэтому",
    "таким образом", "то есть", "в итоге", "quindi", "dunque", "perciò", "pertanto", "logo", "assim", "então", "zatem", "daarom", "portanto", "dus", "więc",
)  # fmt: skip
_CONCLUSIONS_IN_CHARACTERS = ("所以", "因此", "总共", "一共")
CONCLUDES = (*_CONCLUSIONS, *_CONCLUSIONS_IN_CHARACTERS)
_TOTAL = "|".join(_TOTALS).replace(" ", r"\s")
CONCLUSION = rf"(?<!\w)(?:{'|'.join(_CONCLUSIONS)})(?!\w)|{'|'.join(_CONCLUSIONS_IN_CHARACTERS)}".replace(
    " ", r"\s"
)
_RESULT = (
    r"(?<!\w)(?:(?:which|that|this|it|these)\s(?:all\s|would\s|will\s)?(?:is|are|makes?|gives?|leaves?|means)|that's|,\s(?:making|giving|leaving)"
    r"|equals?|totals?|yields?|yielding|totall?ing|(?:amount|add|come|work)(?:s|ing)?\s(?:up\s|out\s)?to|results?\sin|means(?!\sof)|end(?:s|ed|ing)?\s(?:up\s)?with|(?:we|to|you|i)\s(?:get|find|obtain)"
    r"|(?:total|increase|decrease|difference|change|reduction|rise|drop|gain|loss|profit|average|mean|rate|speed|ratio)\sof|(?:total|sum|product|difference|remainder|average|mean)\s(?:is|was|=)|should\sbe|bring(?:s|ing)\s[^.,;\d]{1,20}\sto|left\swith|round(?:s|ed|ing)?\s(?:up\s|down\s|off\s)?(?:to|is|gives)|(?:auf|ab)gerundet|arrondit?\sà|redondea(?:do|n)?\sa|i\.e\.|now\s(?:has|have)|now\s(?:he|she|it|they|we|you|there)\s(?:has|have|is|are)|(?:correct|actual|real|right|true)\s(?:\w+\s)?is|finally|the\sfinal|wait|actually|correction|sorry|make\sthat|or\srather|i\smean"
    r"|ergeben|ergibt|das\s(?:macht|sind|ist)|macht\sdas|(?:ver)?bleib(?:en|t)|d\.\s?h\.|soit|(?:cela|ça|qui)\s(?:fait|donne)|(?<!ils\s)(?<!elles\s)font"
    r"|(?:il\s)?reste(?:nt)?|finalement|suman|quedan?|resultan?|(?:lo\sque|esto|eso)\s(?:da|es|hace)|(?<!le\s)(?<!les\s)(?<!me\s)dan"
    r"|получа(?:ется|ем|ют)|получим|выходит|оста(?:лось|лось|ётся|ется|нется|лись)|равно|равен|равна)(?!\w)|,\s(?:making|giving|leaving)\s"
)
"""What stands before a result, next to the words for a conclusion."""
BOLD = r"\*\*([^*\n]{1,80})\*\*"
SUM = r"(?<!\w)(?:sub)?(?:total|sum|gesamt|summe|somme|suma|altogether|итого|сумма|всего|answer|result|final|insgesamt|left|remain)"
"""In a sentence that gives a total or what is left."""
_IS = r"\s(?:makes?|gives?(?:\sus)?|is|are|ist|sind|macht|gibt|fait|font|es|son|da|dan|равно|будет|это)\s"
_TOTAL_AFTER = rf"(?:\s[^\W\d_]+){{0,3}}?\s(?:{_TOTAL}|total|remain(?:s|ed|ing)?|left|needed|required|übrig|nötig|ergib(?:t|en)|ergeben|macht)(?!\w)"
_OF_WHOM = r"(?:\s[^\W\d_]+)?\s(?:of\s(?:whom|which)|von\sdenen|d'entre\seux)(?!\w)"
_EXACTLY = r"(?:\s[^\W\d_]+)?,?\s(?:to\sbe\s(?:exact|precise|more\sprecise)|exactly|um\sgenau\szu\ssein|exactement|para\sser\sexactos)(?!\w)"
_AND = r"(?<!\w)(?:and|und|et|y|и|e|or|oder|ou|o|или)(?!\w)"
POINTER = (
    r"(?:(?:=|≈|->|→|:)|(?<!\w)(?:is|are|was|be|it's|that's|makes?|gets?|gives?|equals?|totals?|has|have|leaves?|to|costs?|ist|sind|hat"
    r"|ergibt|beträgt|kostet|est|a|fait|es|son|tiene|hay|quedan|é|são|custa|è|sono|costa|равно|будет|составляет|получаем|о?стал[оа]сь))"
    r"\s?(?:(?:now|de|di|only|about|approximately|exactly|roughly|around|just|a|total|of|left|with|equal|to|really|actually|then|ungefähr|etwa|environ|unos)\s){0,3}"
    r"[$€£¥₽₹~≈]?\s?-?[\"']?$"
)
KNOWN = r"(?<!\w)(?:the|these|those|their|its|his|her|die|den|les|ces|los|las|эти|этих)\s[$€£]?$"
"""Before a number that is known already."""
_OF_KNOWN = r"(?<!\w)(?:of|for|in|by|among|between|all|over|at\sthe\send\sof)\s(?:all\s)?(?:the|these|those|his|her|their|its)\s$|(?<!\w)all\s(?:of\sthe\s)?$"
_ASSIGNED = r"(?<!\w)[^\W\d_](?:_?\d)?\s?=\s?[-$€£]?$"
_WITH = r"(?<!\w)(?:for|in|with|from|after|every|each\sof|für|bei|nach|pour|dans|avec|para|con|tras|для|за|через)\s[$€£]?$"
"""Before a number that a result depends on: `so for 7 cakes she needs 14 eggs`."""
_ADJUNCT = (
    r"^(?!.*(?:,|;|(?<!\w)(?:and|und|et|y|и|e)(?!\w))).*(?<!\w)(?:for|per|over|out\sof|of|during|each|on|in|at|within|für|pro|je|aus|von|pour|sur|par|para|por|de|за|из|на)"
    r"\s(?:(?:the|all|his|her|its|their|every|each|a|total|die|den|alle|les|los|las|an)\s){0,2}[$€£]?$"
)
"""Between the object of a conclusion and a number that says for what it holds."""
_COMMENT = (
    r"[^.;\d]{0,40}?(?:,\s(?:which\s(?:is|are|equals)|that\sis|or|making|i\.e\.|a\s\w+\sof|costing|saving|worth|earning|covering|es\sdecir|d\.\s?h\.|with|up\sfrom|down\sfrom|instead\sof|compared|ou\sseja|oder|ou|o|cioè|то\sесть)"
    r"|\s(?:instead\sof|compared\sto|au\slieu\sde|statt|en\slugar\sde|out\sof))(?!\w)[^.;]{0,40}$"
)
"""Between a result and a number that says the same in other words, or compares it."""
_ROUNDS = r"(?<!\w)(?:round|gerundet|aufgerundet|abgerundet|arrond|redond|arroton|arred|окру)"
_BESIDE_YEAR = r",\s(?:making\s\w+\s(?:\w+\s)?|(?:only|just|some|about)\s)?\d"
_BESIDE = r"(?<!\w)(?:for|per)\s(?:(?:all|each|every|only|about)\s){0,2}$|(?<!\w)(?:the|these|those)\s$"
_OTHER_UNIT = r"[^.;\d,]{1,30},\s(?:or|oder|ou|o|или)\s(?:(?:about|approximately|roughly|around|etwa|rund|ca\.|environ|unos|circa|около|примерно)\s)?[$€£]?$"
_IN_ONE_UNIT = r"\s[^\W\d_]{1,12},?\s(?:or|i\.e\.,?|that\sis,?|oder|d\.\s?h\.|also|ou|soit|o|es\sdecir,?|или|то\sесть)\s(?:(?:about|exactly|just)\s)?|\s[^\W\d_]{1,12}\s\((?:or\s|i\.e\.,?\s|=\s?)?"
"""Between a quantity in several units and the same in one: `4 hours and 30 minutes, or 4.5 hours`."""
_OPERATES = r"(?<!\w)(?:subtract|add|take\saway|remove|(?:multiply|divide)(?:\s\w+)?\sby|minus|plus|times)\s(?:the\s|another\s|those\s)?[$€£]?$"
_SHARE = r"(?<!\w)(?:the\ssame|half(?=\s(?:of|that|this|as|the|it)(?!\w))|twice|double|thrice|hälfte|doppelt|moitié|double|mitad|doble|половин\w*|вдвое)(?!\w)"
_SAYS = r"(?<!\w)(?:is|are|was|(?:would|will)\sbe|ist|sind|beträgt|est|sont|es|son|равен|равна|равно)(?!\w)"
_VERB = (
    r"(?:[\s/][^\W\d_]+(?:['’][^\W\d_]+)?){2,6}(?<!\sand)(?<!\sor)(?<!\sof)(?<!\sin)(?<!\sfor)(?<!\sat)(?<!\son)(?<!\swith)(?<!\sper)(?<!\sfrom)(?<!\sby)"
    r"(?<!\sthan)(?<!\sover)(?<!\severy)(?<!\seach)(?<!\sthe)(?<!\sund)(?<!\soder)(?<!\svon)(?<!\sauf)(?<!\sfür)(?<!\spro)(?<!\smit)(?<!\saus)(?<!\set)(?<!\sou)(?<!\sde)(?<!\sdes)(?<!\spour)(?<!\ssur)"
    r"(?<!\sy)(?<!\so)(?<!\spor)(?<!\spara)(?<!\sen)(?<!\scon)(?<!\se)(?<!\sdi)(?<!\sem)(?<!\sи)(?<!\sиз)(?<!\sза)(?<!\sпо)\s(?:r?[$€£]\s?)?"
)
"""Between a quantity that is the subject and what is said about it: words of which the last links no noun."""
_SUBSET = r"(?<!\w)(?:of\swhich|di\scui|d[ao]s\squais|waarvan|of\sthem|davon|dont|de\s(?:los|las)\scuales|из\sних)(?!\w)"
_ROUNDED = (
    r"[^\d.;]{0,20}?(?:about|approximately|approx\.?|roughly|around|almost|etwa|rund|ungefähr|environ|aproximadamente|unos|примерно|около)"
    r"\s[$€£]?"
)
CAR = (
    r"car(?:(?<=,\scar)(?!\sor)|(?=\s(?:ils?|elles?|nous|vous|je|les?|la|un|une|des|du|de|ce|cela|ça|chaque|si|sur|avec|dans|chacun\w*|tou[st]\w*|son|ses|leurs?)(?!\w)"
    r"|\s(?:[ljc]'|on\s(?!the|a\s)|\d+\s?[×*+/÷-])))"
)
"""The French word for `because`, not the English one for a vehicle."""
_WHY = rf"because|since|as|given\sthat|denn|weil|da|{CAR}|parce\sque|puisque|comme|porque|ya\sque|puesto\sque|como|потому|так\sкак|поскольку|ведь"
_REASON = rf"(?<!\w)(?:because|since|denn|weil|{CAR}|parce|puisque|porque|ya\sque|puesto\sque|потому|так\sкак|поскольку|ведь)(?!\w)|,\sas\s|,\swhich\sis\s(?:rather|quite|very|too|pretty|fairly|relatively|well|far)\s[^\d:.;,]{{1,30}}:\s"
"""What begins a reason within a sentence."""
PREMISE = (
    rf"\s*(?:[-*•]\s)?(?:{_WHY}|if|when|after|with|out\sof|given|(?:in|over|within)\s(?:an?|one)|wenn|nachdem|falls|bei|von|si|avec|sur|après|con|com|para|cuando|después|если|когда|после|из"
    r"|(?:add|subtract|multiply|divid|tak|us|start|comput|sum|combin)ing|en\s\w+ant|(?:suma|resta|multiplica|dividi|divide|sumá|usa|soma|subtrai|somma|sottrae)n?ndo|сложив|вычтя|умножив|разделив)(?!\w)"
)
"""What begins a sentence whose result comes after a comma."""
_EXPLAINED = rf"[^\d]*?(?:[:(–—]|\s-\s|(?<!\w)(?:{_WHY}|with|consisting|namely|di\scui|d[ao]s\squais|waarvan|including|inclusive|included|(?<=,\s)from|up\sfrom|down\sfrom|compared|based|after|before|einschließlich|inklusive|y\scompris|incluyendo|incluido|включая|of\swhich|of\sthem|davon|de\s(?:los|las)\scuales|из\sних|und\szwar|nämlich|dont|con|а\sименно)(?!\w))"
"""What comes between a result and the numbers that explain it."""


_SHARE_OF = r"\s?(?:%|percent|per\scent|prozent|pour\s?cent|por\sciento|процент\w*)?\s(?:of|von|de|от)\s(?:the\s)?[$€£]?\d"
"""After a number that says which part of another is meant: `15 % of 200`."""
_PART_OF = r"(?<!\w)(?:half|(?:third|quarter|fourth|fifth|sixth|eighth|tenth)s?|twice|double|triple)\s(?:of\s)?[$€£]?$"
"""Before a number of which a part or a multiple is meant."""
_CODE = r"(?:^[)\]'\"]{0,4}|\w\([\w,=]{0,12}\)|[)\]'\"]\))\s(?:outputs?|prints?|returns?|evaluates\sto|displays?)\s['\"]?$"
"""Between a piece of a program and what it gives."""
_CODE_STEMS = ("output", "print", "return", "evaluates", "display")
_NEEDS = r"(?<!\w)(?:needs?|requires?|takes?|must|can|should|would|will|(?:has|have)\sto|(?:you|we|they|he|she|i)'(?:d|ll))\s(?:[^\W\d_]+\s){0,3}$"
_BESIDES = r"(?<!\w)(?:for|in|with|from|after|every|each|by|of|at|on|than|the|per|and|or|within|over)\s$"
_WHY_NOT = (
    r"(?!.*(?<!\w)(?:and|or|per|each|every|for|a|an)\s.*:)[^.;:\d]{0,40}:\s[^.;]*?"
    r"(?<!\w)(?:(?:would|could|can|will)\s(?:\w+\s)?(?:only|just|not|leave)|wouldn't|couldn't|can't|won't|only|(?:not|n't)\senough|too\s(?:few|many|little|much|small)|(?:is|are)\sleft)(?!\w)"
)
"""Between a number that is needed and why fewer or more would not do: `3 buses: two would carry only 96 of the 110`."""
_AND_OR_COMMA = rf"{_AND}|^,"
_CONCLUSION_BEFORE = rf"(?:{CONCLUSION})[,:]?\s[$€£]?$"
_LINKED = rf"{_AND}|[,:;(–—]|(?<!\w)(?:which|that|qui|que|die|das)(?!\w)"
_NO_SUBJECT = rf"{_AND}|{_REASON}|(?<!\w)(?:which|that|if|when|after|while|as)(?!\w)"
_SAID_TO_BE = rf"(?:{_IS}|\s(?:will|would)\sbe\s)$"
_TOTAL_DIRECTLY = rf"\s(?:{_TOTAL})(?!\w)"
_THEN = r"(?:[→⇒⟹⟶¿]|[-=]>)\s?[^\W\d_]\s?=\s?[-$€£]?$"
_UNKNOWN = r"(?<![\w.^])([^\W\d_])(?=\s?=\s?-?\d)"
"""What an equation gives the value of."""
_AND_OR_BREAK = rf"{_AND}|[:(]"


class Results:
    """Chooses among the numbers of a sentence."""

    def __init__(self, passage: Passage) -> None:
        self._passage = passage
        self._text = passage.small
        self._lower = passage.lower

    def pick(self, inside: list[Expression], rule: str) -> ReadNumber:
        """The result of a sentence with these numbers: the last one that it concludes, else the only one that a verb points at."""
        if self._passage.may[_OF_WHOM] and caseless(_OF_WHOM).match(self._text, inside[-1].end):
            return ReadNumber(None, "several")  # `25 pupils, 10 of whom are boys`
        if len(inside) == 1:
            begin = max(0, inside[0].start - 20)
            if self._passage.search(_PART_OF, begin, inside[0].start):
                return ReadNumber(None, "several")  # `a third of 60 is not 30`
            if is_example(self._text, inside[0].start) and self._passage.usable(0, inside[0].start):
                return ReadNumber(None, "several")  # `it is 100. In Denver, for example, it is 95.`
            return self.chosen(inside, 0, rule)
        if inside[-2].reason == "units" and caseless(_IN_ONE_UNIT).fullmatch(
            self._passage.gap(inside, len(inside) - 1)
        ):
            return self.resolved(inside[-1:], rule)
        if self._is_solved(inside):
            return self.resolved(inside[-1:], rule)
        claimed = self._claimed(self._outside_brackets(inside))
        inside = self._strong(claimed)
        if claimed[0] is not inside[0] and self._passage.search(
            r"(?<!\w)out\sof\s(?:the\s)?$", max(0, inside[0].start - 12), inside[0].start
        ):
            return ReadNumber(None, "several")  # `3rd out of 48`
        if claimed[0] is not inside[0] and self._is_asked_year(claimed[0], inside[0]):
            return ReadNumber(None, "several")  # `it fell in 1989, 28 years after it was built`
        if len({_key(one) for one in inside}) == 1:
            end = inside[-1].end
            if caseless(r"[^\d.]{0,30}\sthe\ssame(?!\w)").match(self._text, end, end + 60):
                return ReadNumber(None, "several")  # `so 100 machines make 100 parts in the same time`
            return self.chosen(inside, len(inside) - 1, rule)
        if len({_key(one) for one in inside if is_guess(self._text, one)}) > 1:
            return ReadNumber(None, "several")
        at = self._repeated(inside)
        if at is None:
            at = max((at for at, one in enumerate(inside) if at and one.equals), default=None)
            if at is not None and (again := self._given_again(inside, at)):
                return self.resolved([again], rule)
        if at is not None and self._are_comments(inside, at):
            if at and (self._is_assigned(inside, at) or self._is_second(inside, at)):
                return ReadNumber(None, "several")  # `x = 2 and x = 5`
            return self._with_same(inside, at, rule)
        if at is not None and at == self._repeated(inside):
            return self.resolved([inside[at]], rule)
        at = max((at for at in range(len(inside)) if self._is_result(inside, at)), default=-1)
        if at < 0:
            if self._is_needed(inside):
                return self.resolved([inside[0]], rule)
            pointed = [at for at, one in enumerate(inside) if self.pointed_at(one)]
            if not pointed:
                pointed = [at for at, one in enumerate(inside) if not self._is_beside(one)]
                if len(pointed) != 1 or len(claimed) > len(inside):
                    return ReadNumber(None, "several")
            at = pointed[-1]
            if len({_key(inside[at]) for at in pointed}) != 1:
                # `It has 12 balls: 5 red and 7 blue.`
                first = pointed[0]
                if first + 2 >= len(inside) or ":" not in self._passage.gap(inside, first + 1):
                    return ReadNumber(None, "several")
                at = first
        elif at + 1 < len(inside) and self._is_said(inside, at + 1):
            at += 1  # `so the number of pairs among 10 people is 45`
        elif at and self._is_comment(inside, at):
            return ReadNumber(None, "several")  # `water boils at 100 °C, which is 212 °F`
        elif at and (self._is_assigned(inside, at) or self._is_second(inside, at)):
            return ReadNumber(None, "several")  # `x = 2 and x = 5`
        if caseless(_SHARE).search(self._text[inside[at].end : self._passage.sentence_end(inside[at].end)]):
            return ReadNumber(None, "several")  # `so 6 workers need half of that`
        if at and len(inside) > at + 1 and _key(inside[at]) in map(_key, inside[:at]):
            return ReadNumber(None, "several")  # `so 100 machines make 100 parts in 5 minutes`
        if any(self._is_told_too(inside, at, later) for later in range(at + 1, len(inside))):
            return ReadNumber(None, "several")  # `4 × 11 is 44, and with the 3 others there are 56`
        if not self._explain(inside, at) and not all(map(self._is_beside, inside[at + 1 :])):
            return ReadNumber(None, "several")
        return self._with_same(inside, at, rule)

    def _is_solved(self, inside: list[Expression]) -> bool:
        """Whether the last of several equations gives the one unknown: `2x = 10 → x = 5`."""
        gap = self._passage.gap(inside, len(inside) - 1)
        if inside[-1].number is None or not compiled(_THEN).search(gap):
            return False
        begin, end = self._passage.sentence_start(inside[0].start), inside[-1].end
        unknowns = {one[1] for one in compiled(_UNKNOWN).finditer(self._text, begin, end)}
        return len(unknowns) == 1 and not self._text[end : self._passage.sentence_end(end)].strip(" *$)")

    def _is_told_too(self, inside: list[Expression], at: int, later: int) -> bool:
        """Whether another clause after a result tells a number of its own."""
        between = self._text[inside[at].end : inside[later].start]
        return (
            not same(inside[later].number, inside[at].number)
            and caseless(
                r"(?:,|(?<!\w)(?:and|while|und|et|y))\s[^,;:(]*(?<!\w)(?:there\s)?(?:is|are|has|have|makes?|gives?)\s[$€£]?$"
            ).search(between)
            is not None
        )

    def _given_again(self, inside: list[Expression], at: int) -> Expression | None:
        """The number after a calculation that gives its result again, beside those it was made of: `= 0.15, so 12 is 15 % of 80`."""
        used = self._passage.numbers.operands(inside[0].start, inside[at].start)
        again = [one for one in inside[at + 1 :] if same(one.number, inside[at].number)]
        others = [one for one in inside[at + 1 :] if one not in again]
        is_used = all(one.number and one.number.value in used for one in others)
        return again[-1] if len(again) == 1 and others and is_used else None

    def _with_same(self, inside: list[Expression], at: int, rule: str) -> ReadNumber:
        """A result, with the values that say the same after it."""
        also = [one for one in inside[at + 1 :] if same(one.number, inside[at].number)]
        return self.resolved([*self.sides(inside, at), *also], rule)

    def _are_comments(self, inside: list[Expression], at: int) -> bool:
        """Whether the numbers after a calculated result say for what it holds, or the same in other words: `= 75, which is 60 %`."""
        if self._passage.search(_ROUNDS, inside[at].end, inside[-1].start):
            return False
        return all(
            same(inside[later].number, inside[at].number)
            or self._is_adjunct(inside, later)
            or caseless(_COMMENT).match(self._passage.gap(inside, later))
            for later in range(at + 1, len(inside))
        )

    def _is_comment(self, inside: list[Expression], at: int) -> bool:
        """Whether a number comments on the one before it, which may be the result as well."""
        before, one = inside[at - 1].number, inside[at].number
        return (
            before is not None
            and not inside[at].equals
            and not same(before, one)
            and not (one and abs(before.value) == abs(one.value))
            and caseless(_COMMENT).match(self._passage.gap(inside, at)) is not None
        )

    def _repeated(self, inside: list[Expression]) -> int | None:
        """The number that repeats the result of the last calculation, if those before it were known before, and so were those
        after it or they comment on it: `so 20 boxes for 3 each cost 60`.
        """
        begin = self._passage.sentence_start(inside[0].start)
        result = self.equated(begin)
        if result is None:
            return None
        start = max(0, begin - SPAN)
        results = {
            one.number.value for one in self._passage.usable(start, begin) if one.equals and one.number
        }
        known = self._passage.numbers.operands(start, result.start) - results
        repeated = [at for at, one in enumerate(inside) if same(one.number, result.number)]
        if not repeated:
            return None
        others = [
            one
            for at, one in enumerate(inside)
            if at not in repeated and (at < repeated[-1] or not self._are_comments(inside[: at + 1], at - 1))
        ]
        is_known = all(one.number.value in known if one.number else one.reason == "units" for one in others)
        return repeated[-1] if is_known else None

    def equated(self, end: int) -> Expression | None:
        """The last number before `end` that comes after an equals sign."""
        for one in reversed(self._passage.usable(max(0, end - SPAN), end)):
            before = max(0, one.start - 4)
            if one.number and (
                one.equals or compiled(r"[=≈]\s?[$€£]?$").search(self._text, before, one.start)
            ):
                return one
        return None

    def _strong(self, inside: list[Expression]) -> list[Expression]:
        """The numbers without years, ordinals and what is known already (`each of the 4 friends`); all if there are no others."""
        strong = [one for one in inside if not is_weak(self._text, one)] or inside
        return [
            one for one in strong if not self._passage.search(_OF_KNOWN, max(0, one.start - 24), one.start)
        ] or strong

    def _is_assigned(self, inside: list[Expression], at: int) -> bool:
        """Whether two values are assigned side by side."""
        between = self._passage.gap(inside, at)
        return (
            caseless(_ASSIGNED).search(between) is not None
            and caseless(_AND_OR_COMMA).search(between) is not None
            and not caseless(CONCLUSION).search(between)
            and _key(inside[at]) != _key(inside[at - 1])
            and self._passage.search(_ASSIGNED, max(0, inside[at - 1].start - 8), inside[at - 1].start)
            is not None
        )

    def _is_second(self, inside: list[Expression], at: int) -> bool:
        """Whether another result stands before it, in the same sentence: `the sum is 3 + 4 = 7 and the product is 3 × 4 = 12`."""
        before = next((one for one in range(at - 1, -1, -1) if self._is_result(inside, one)), None)
        if before is None or _key(inside[before]) == _key(inside[at]):
            return False
        between = self._text[inside[before].end : inside[at].start]
        if inside[before].reason == "several" and caseless(_SHARE_OF).match(between + "0"):
            return True  # `20 % of 150 is 30 and 30 % of 150 is 45`
        if not caseless(_AND).search(between) or caseless(CONCLUSION).search(between):
            return False
        if caseless(_SAYS).search(between) or caseless(_CODE).search(between):
            return True
        # `3 × 2 = 6 for Ann and 4 × 2 = 8 for Bob`: the second calculation does not use the first result.
        first = inside[before]
        used = self._passage.numbers.operands(first.end, inside[at].start)
        return (
            first.equals
            and inside[at].equals
            and compiled(r"\)?\s?[=≈]\s?[$€£]?").fullmatch(self._passage.gap(inside, at)) is not None
            and first.number is not None
            and first.number.value not in used
        )

    def _is_said(self, inside: list[Expression], at: int) -> bool:
        """Whether a number is what a sentence says about the one before it, which is its subject: `so 20 boxes weigh 350 kg`."""
        between = self._passage.gap(inside, at)
        first = inside[at - 1].start
        leads = caseless(_CONCLUSION_BEFORE).search(self._text, max(0, first - 24), first)
        if leads and self.is_subject(inside, at - 1):
            return True
        return self.pointed_at(inside[at]) and (
            caseless(_SAYS).search(between) is not None and caseless(_LINKED).search(between) is None
        )

    def is_subject(self, inside: list[Expression], at: int) -> bool:
        """Whether something is said about a number and what it counts, which the next number gives."""
        between = self._passage.gap(inside, at + 1)
        return (
            caseless(_VERB).fullmatch(between) is not None and caseless(_NO_SUBJECT).search(between) is None
        )

    def _explain(self, inside: list[Expression], at: int) -> bool:
        """Whether the numbers after a result are no others: they explain it, or are the year in which it was so."""
        later = inside[at + 1 :]
        if all(same(one.number, inside[at].number) for one in later):
            return True
        between = self._passage.gap(inside, at + 1)
        if self._are_adjuncts(inside, at):
            return True
        parts = [one.number.value for one in later if one.number is not None]
        whole = inside[at].number
        if whole is not None and len(parts) > 1 and sum(parts) == whole.value:
            return True
        if caseless(_SUBSET).search(between):
            return whole is not None and sum(parts) == whole.value
        if len(later) == 1 and caseless(_OTHER_UNIT).match(between):
            return True
        return caseless(_EXPLAINED).match(between) is not None

    def _are_adjuncts(self, inside: list[Expression], at: int) -> bool:
        """Whether the numbers after the object of a conclusion only say for what it holds: `so she saves 15 a week for 8 weeks`."""
        start = self._passage.sentence_start(inside[at].start)
        lead = self._text[max(start, inside[at - 1].end if at else start) : inside[at].start]
        is_object = (
            len(lead.split()) > 2 or caseless(_TOTAL_AFTER).match(self._text, inside[at].end) is not None
        )
        return is_object and all(self._is_adjunct(inside, later) for later in range(at + 1, len(inside)))

    def _is_asked_year(self, year: Expression, other: Expression) -> bool:
        """Whether a year may be what a sentence tells, rather than the number after it."""
        if caseless(_BESIDE_YEAR).match(self._text, year.end, other.start + 1):
            return True
        lead = self._text[self._passage.sentence_start(year.start) : year.start].split()
        return (
            is_dated(self._text, year)
            and len(lead) > 2
            and lead[-1].lower() in ("in", "im", "en")
            and not self.pointed_at(other)
            and not caseless(r"[^.;]{0,30},").match(self._text, year.end, other.start)
        )

    def _is_beside(self, one: Expression) -> bool:
        """Whether a preposition or an article says that a number is no object: `for 20 pancakes`, `the 45 students`."""
        return self._passage.search(_BESIDE, max(0, one.start - 24), one.start) is not None

    def _is_adjunct(self, inside: list[Expression], at: int) -> bool:
        return caseless(_ADJUNCT).search(self._passage.gap(inside, at)) is not None

    def points_at(self, begin: int, at: int) -> bool | None:
        """Whether words conclude what stands at `at`; None if a verb only points at it."""
        before = self._text[max(begin, at - 60) : at]
        if caseless(CONCLUSION).search(before) or caseless(_RESULT).search(before):
            return True
        return None if caseless(_SAID_TO_BE).search(before) else False

    def is_premised(self, begin: int) -> bool:
        """Whether a sentence begins with what its result depends on: `with 4 boxes`."""
        return caseless(PREMISE).match(self._text, begin) is not None

    def result(self, inside: list[Expression]) -> Expression | None:
        """The last number that a sentence concludes."""
        return next((one for at, one in reversed([*enumerate(inside)]) if self._is_result(inside, at)), None)

    def _is_result(self, inside: list[Expression], at: int) -> bool:
        """Whether words or an equals sign say that a number is a result."""
        one = inside[at]
        if one.equals:
            return True
        if self._passage.search(KNOWN, max(0, one.start - 10), one.start) or self._is_operand(one):
            return False
        begin = inside[at - 1].end if at else self._passage.sentence_start(one.start)
        if at + 1 < len(inside) and self._is_condition(inside, at):
            return False
        if at and self._is_condition(inside, at - 1):
            begin = inside[at - 2].end if at > 1 else self._passage.sentence_start(one.start)
        elif at and (total := caseless(_TOTAL_AFTER).match(self._text, begin, one.start)):
            begin = total.end()  # it belongs to the number before it
        before = self._text[max(begin, one.start - 80) : one.start]
        lower = self._lower[max(begin, one.start - 80) : one.start]
        cue = any(word in lower for word in self._passage.present(CONCLUDES)) and caseless(CONCLUSION).search(
            before
        )
        if cue and not (cue[0].lower() == "also" and self._passage.numbers.language() == "."):
            return True
        if caseless(_RESULT).search(before) or (at and caseless(_IS).fullmatch(before)):
            return True
        if (at or "(" in before) and self._passage.present(_CODE_STEMS) and caseless(_CODE).search(before):
            return True
        if at and compiled(r"\s?(?::|→|->)\s[$€£]?").fullmatch(before) and self._is_operand(inside[at - 1]):
            return True  # `subtract 4: 32 tiles`
        if self._passage.may[_EXACTLY] and caseless(_EXACTLY).match(self._text, one.end):
            return True
        if not caseless(_TOTAL_AFTER).match(self._text, one.end, one.end + 80):
            return False
        direct = caseless(_TOTAL_DIRECTLY).match(self._text, one.end)
        if not at or direct is not None:
            return True
        # Of `5 red, 7 blue in total` the 7 is one of two; `5 red and 7 blue, 12 balls in total` goes on after the list.
        if caseless(_AND).search(before):
            return False
        listed = self._text[inside[0].end : inside[at - 1].start]
        return (
            "," not in before
            or caseless(r"[:–—]|,\s[^\W\d_]+\s").search(before) is not None
            or (caseless(_AND).search(listed) is not None)
        )

    def is_share(self, end: int) -> bool:
        """Whether the number that ends at `end` says which part of another is meant."""
        return caseless(_SHARE_OF).match(self._text, end) is not None

    def _is_needed(self, inside: list[Expression]) -> bool:
        """Whether the first number is what is needed, and the others say why."""
        first, text = inside[0], self._text
        if first.number is None or ":" not in text[first.end : inside[1].start]:
            return False
        lead = text[self._passage.sentence_start(first.start) : first.start]
        return (
            caseless(_NEEDS).search(lead) is not None
            and caseless(_BESIDES).search(lead) is None
            and caseless(_WHY_NOT).match(text, first.end, self._passage.sentence_end(inside[-1].end))
            is not None
        )

    def _is_operand(self, one: Expression) -> bool:
        """Whether a sentence tells to calculate with a number: `so multiply by 7`."""
        return self._passage.search(_OPERATES, max(0, one.start - 24), one.start) is not None

    def _is_condition(self, inside: list[Expression], at: int) -> bool:
        """Whether a number is what the next one depends on."""
        one = inside[at]
        return self._passage.search(_WITH, max(0, one.start - 12), one.start) is not None and not caseless(
            _AND_OR_BREAK
        ).search(self._passage.gap(inside, at + 1))

    def _claimed(self, inside: list[Expression]) -> list[Expression]:
        """The numbers that are no reasons: `since 5 are red and 7 are blue`; all if there are no others."""
        text, begin = self._text, self._passage.sentence_start(inside[0].start)
        if self.is_premised(begin):
            comma = text.rfind(", ", begin, inside[-1].start)
            return [one for one in inside if one.start > comma] or inside
        why = self._passage.search(_REASON, inside[0].end, inside[-1].start)
        if why is None:
            return inside
        resumed = self._passage.search(CONCLUSION, why.end(), inside[-1].start)
        after = resumed.end() if resumed else inside[-1].end
        return [one for one in inside if not why.start() < one.start < after]

    def _outside_brackets(self, inside: list[Expression]) -> list[Expression]:
        """The numbers that are not in brackets, if there are any: what is in brackets explains or repeats."""
        if "(" not in self._text:
            return inside
        outside: list[Expression] = []
        depth, place = 0, self._passage.sentence_start(inside[0].start)
        for one in inside:
            between = self._text[place : one.start]
            depth = max(0, depth + between.count("(") - between.count(")"))
            place = one.start
            pair = one.reason == "several" and self._text[one.start - 1] == "("  # (2, 3) is one thing
            if not depth or pair:
                outside.append(one)
        return outside or inside

    def pointed_at(self, one: Expression) -> bool:
        return self._passage.search(POINTER, max(0, one.start - 40), one.start) is not None

    def chosen(self, inside: list[Expression], at: int, rule: str) -> ReadNumber:
        return self.resolved(self.sides(inside, at), rule)

    def sides(self, inside: list[Expression], at: int) -> list[Expression]:
        """The expression and those that equals signs connect with it."""
        first = at
        while first > 0 and (
            inside[first].equals or caseless(_ROUNDED).fullmatch(self._passage.gap(inside, first))
        ):
            first -= 1
        after = at + 1
        while after < len(inside) and inside[after].equals:
            after += 1
        return inside[first:after]

    def resolved(self, sides: list[Expression], rule: str) -> ReadNumber:
        """The value of a chain of equations: the last side that is a number."""
        numbers = [side.number for side in sides if side.number is not None]
        if compiled(r"(?:±|\+/-|\\pm)\s?$").search(self._text, max(0, sides[-1].start - 5), sides[-1].start):
            return ReadNumber(None, "several")
        if not numbers:
            return ReadNumber(None, sides[-1].reason)
        last = numbers[-1]
        if compiled(r"(?<![\w.])\d+[a-z]\s?=\s?[$€£]?-?$").search(
            self._text, max(0, sides[-1].start - 12), sides[-1].start
        ):
            return ReadNumber(None, "formula")  # `3x = 24`
        if len(numbers) > 1:
            # Of `1/3 ≈ 0.333` both count; of `100 cm = 1 m` it is not clear which one does.
            same = [one for one in numbers[:-1] if _agree(one, last)]
            last = last._replace(same=tuple(_scaled(one, last) for one in same))
        return ReadNumber(last, rule, sides[-1].start)


_FINEST = Fraction(1, 10**12)


def _key(one: Expression) -> tuple[Fraction, bool] | None:
    """What makes two numbers the same."""
    return None if one.number is None else (one.number.value, one.number.percent)


def same(one: Number | None, other: Number | None) -> bool:
    return one == other or (one is not None and other is not None and _agree(one, other))


def _agree(one: Number, other: Number) -> bool:
    exact, value = _scaled(one, other), other.value
    if exact == value:
        return True
    parts = exact.numerator * value.denominator
    if abs(parts - value.numerator * exact.denominator) * 50 > abs(parts):
        return False  # by more than 2 %; fractions take ten times as long to compare
    return abs(exact - value) < max(_place(exact), _place(value))


def _place(value: Fraction) -> Fraction:
    """The value of the last digit: 100 for 1200, 0.01 for 3.14, and 0 for 1/3, which has none."""
    place = Fraction(1)
    if value.denominator == 1:
        while value and value % (place * 10) == 0:
            place *= 10
        return place
    while place > _FINEST:
        place /= 10
        if value % place == 0:
            return place
    return Fraction(0)


def _scaled(one: Number, other: Number) -> Fraction:
    """The value of `one` in the terms of `other`, if only one of them is a percentage."""
    if one.percent == other.percent:
        return one.value
    return one.value * 100 if other.percent else one.value / 100

"""A plain text with its numbers and sentences, and the parts of it that give no answer."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice
from sys import maxsize

from benchwright.scorers._mcq.view import lower_alike
from benchwright.scorers._quantity.asides import Asides, is_example
from benchwright.scorers._quantity.expressions import Expression, Expressions
from benchwright.scorers._quantity.numerals import Mark
from benchwright.scorers._quantity.patterns import caseless, compiled, small_letters
from benchwright.scorers._quantity.plain import plain
from benchwright.scorers._stems import matches_at, places
from benchwright.scorers._triggers import Gate

_MANY = 200
"""Numbers of a text of which not all are looked at."""
CUES = 40
"""The last cues of a reply are looked at."""
_LOOP = 4
"""The same sentence this many times is no answer."""
SPAN = 2_000
"""Characters of a sentence or a correction that are read."""

_ABBREVIATED = (
    "i.e", "e.g", "approx", "ca", "d.h", "d. h", "z.B", "z. B", "Mio", "Mrd", "Nr", "vs", "bzw", "p.ej", "т.е", "т. е", "млн", "млрд",
    "тыс", "resp", "env", "aprox", "Rs", "No", "min", "max",
)  # fmt: skip
# The characters come first: a pattern that begins with a set of characters is searched for much faster.
_SENTENCE_END = (
    r"[.!?\n;。！？](?:(?<=[\n;。！？])|(?=\s|$)(?!(?<=\d!)\s?[=≈])(?!(?:"
    + "|".join(rf"(?<=\W{re.escape(word)}\.)" for word in _ABBREVIATED)
    + r")\s[\da-zа-я$€£≈~(-]))"
)
_LINE = r"[^\w\d]{0,8}(?:\d{1,2}[.)]\s[*]{0,2})?"
"""What may come before the first word of a sentence."""
_CHECK = (
    rf"{_LINE}(?:(?:(?:quick|sanity|double|sum|let\sme|let's|let\sus|we\scan|you\scan|to|now|and|i)[\s-]){{0,3}}(?:double-)?(?:check(?:s|ing|ed)?|verif(?:y|ying|ication)|proof)(?!\s(?:my|the\s\w+\sfor))"
    r"|(?:zur\s)?(?:probe|kontrolle|überprüfung|gegenprobe)|vérif(?:ication|ions)|on\svérifie|comprob(?:ación|amos|emos)|conferindo|controlliamo|verifichiamo|kontrollrechnung|prüfung|(?:substitut|plugg)ing\s(?:[^.\n]{0,40}?(?:back|original|check|verify)|(?:it|this|that)\sin)|let(?:'s|\sus|\sme)\s(?:see|test)\s(?:if|whether|that)|test(?=:)|verifi(?:cación|camos|quemos|cação|cando)"
    r"|verifica|controle|sprawdzenie|провер(?:ка|им|яем)|验证|检验|验算|検算|확인)(?!\w)"
)
_REMARK = (
    rf"{_LINE}(?:note|n\.?b\.?|hint|remark|(?:pro|quick|handy|useful)\stip|tips?\s?:\s(?:if|for|to|you|remember|use|multiply|divide|always|order|buy|try|when|don't|never)|hinweis|anmerkung|remarque|nota|примечание|keep\sin\smind|fun\sfact|(?:older|earlier|other|some|many|most)\s(?:\w+\s)?(?:sources|surveys|estimates|models|books|texts|definitions|measurements|counts|figures|websites|authors|conventions)|interestingly|curiously|by\sthe\sway|btw|fyi|for\syour\sinformation|for\swhat\sit's\sworth|incidentally|trivia|reminder|bonus|extra|side\snote|p\.?s\.?|as\syou\scan\ssee|for\s(?:context|reference|comparison)"
    r"|let\sme\sknow|feel\sfree|(?:i\s)?hope\sthis|would\syou\slike|(?:just\s)?(?:if\syou(?:'re|\sare)|in\scase\syou(?:'re|\sare|\swere)?)\s(?:curious|wondering|interested|wonder)|just\sfor\s(?:fun|scale|reference|comparison)|zum\svergleich|pour\s(?:info(?:rmation)?|comparaison)|para\s(?:comparar|referencia)|per\sconfronto|для\sсравнения|if\syou(?:'d|\swould|\swant|\sneed|\shave)\s(?:like|help|more|any|further|to\sknow|another|questions)|i\sassum\w*)(?!\w)"
)
_MISTAKE = (
    r"(?<!\w)(?:(?:common|typical|frequent|classic|usual|easy|popular)\s(?:\w+\s)?(?:mistake|error|misconception|pitfall|trap|slip)s?|(?:häufiger|typischer)\s(?:fehler|irrtum)|erreur\s(?:fréquente|courante|classique)"
    r"|error\s(?:común|frecuente|típico)|errore\s(?:comune|frequente|tipico)|erro\s(?:comum|frequente)|veelgemaakte\sfout|(?:please\s)?(?:disregard|ignore)\s(?:the|my|that|this|what)|would\s(?:wrongly|incorrectly|mistakenly)\s)(?!\w)"
)
"""In a sentence about what would be wrong."""
_NOT_NEEDED = r"(?<!\w)(?:(?:not|n't)\s(?:\w+\s)?(?:needed|relevant|necessary|required|used|matter)|irrelevant|unnecessary|extra(?:neous)?\sinformation|distractor)(?!\w)"
_SUPPOSED = r"(?<!\w)(?:if|were|wenn|falls|si|se|если)(?!\w)[^.!?\n]{0,120}?(?:(?<!\w)(?:would|könnte|würde|wäre|hätte|serait|aurait|sería|serían|habría|seriam?|teria)(?!\w)|'d\s|(?<!\w)бы(?!\w))"
_WILL = r"\s*if\s[^.!?\n]{0,120}?(?:'ll|\swill)\s"
"""Another case, after a calculation."""
_OTHERS = r"(?<!\w)(?:people|others|students|someone|many|some|most)\s(?:\w+\s){0,3}(?:answer|say|think|guess|believe|assume|expect)s?(?!\w)"
_CASES = r"(?:(?<=\n)|^)[ ]{0,3}[-*•]\s{0,3}(?:if|wenn|falls|si|se|если)(?!\w)"
_SUPPOSED_STEMS = ("if ", "were ", "wenn ", "falls ", "si ", "se ", "если ")
CALLED_WRONG = (
    r"(?:(?:that|this|it|which)(?:'s|\s(?:is|was|would\sbe))|is)\s(?:(?:actually|clearly|simply|of\scourse|however)\s)?"
    r"(?:wrong|incorrect|false|mistaken|a\s(?:trap|mistake)|the\strap|(?:not|n't)\s(?:right|correct|true|the\sanswer))(?!\w)"
)
_NAMED_WRONG = rf"(?<!\w)(?:but|yet|which|however),?\s{CALLED_WRONG}"
"""In a sentence whose number is no answer: `24 is tempting, but that's wrong`."""
_SOURCE = r"[*_(]{0,3}(?:\[\^?\d{1,2}\]:?\s|\^\d{1,2}\s|\*\s(?=[a-z])|(?:sources?|references?|footnotes?|citations?|quellen?|fuentes?|fonti?|источники?|来源)\s?:)"
_TELL = r"(?:see|view|read|open|tell|determine|answer|calculate|compute|say|give|provide|know|find|solve|verify|confirm|access|help|assist|share|be\s(?:determined|calculated|answered|sure|certain)|look)"
_DECLINE = (
    rf"(?:(?<!\w)(?:(?:cannot|can't|can\snot|couldn't|could\snot|unable\sto|not\sable\sto)\s(?:\w+\s)?{_TELL}|(?:isn't|not|n't)\s(?:possible|enough)|impossible\sto|insufficient"
    r"|do(?:es)?(?:\snot|n't)\s(?:\w+\s)?(?:have|know|say|state|specify|provide|give|mention)|not\s(?:given|specified|stated|provided|mentioned)|unclear|no\sway\sto|no\smention\sof|unknown"
    r"|kann\sich\snicht|kann\s(?:man\s)?nicht|nicht\s(?:möglich|bekannt|angegeben|genug|genügend)|lässt\ssich\snicht|keine\s(?:angaben|informationen|daten)"
    r"|(?:je\s)?ne\s(?:peux|sais|dispose|connais)|impossible\sde|pas\sassez|ne\spermet\spas|no\s(?:puedo|sé|tengo|es\sposible|se\spuede|dispongo|hay\ssuficiente)"
    r"|não\s(?:posso|sei|tenho|é\spossível|há)|non\s(?:posso|so|è\spossibile|ho)|не\s(?:могу|знаю|имею|хватает|указан\w*)|невозможно|недостаточно|depends\son)"
    r"|无法|不知道|没有足够|わかりません)"
)
_DECLINE_STEMS = (
    "can", "n't", "unable", "not ", "impossible", "insufficient", "unclear", "unknown", "no ", "nicht", "keine", "ne ", "pas ", "não", "non ", "не ",
    "невозможно", "недостаточно", "depends", "无法", "不知道", "没有", "わかり", "inconsistent", "contradict", "нет ",
)  # fmt: skip
_UNDETERMINED = (
    rf"(?:(?<!\w)(?:cannot|can't|can\snot|unable\sto|impossible\sto|(?:not|isn't|wasn't)\spossible\sto|no\sway\sto)\s(?:\w+\s)?{_TELL}"
    r"|(?:not|n't)\senough|(?:insufficient|too\slittle)\s(?:information|data|details)|(?:not|n't)\s(?:\w+\s)?(?:provide|give|contain|have)\s(?:us\s)?(?:enough|sufficient)"
    r"|inconsistent|contradict|but\s(?:not|no)\s(?:an?|the|her|his|its|their|any|figure|number)(?!\w)|(?:not|n't)\s(?:\w+\s)?(?:stated|given|known|specified|mentioned|provided)|(?<!\w)no\s(?:such\s|valid\s|possible\s|real\s)?(?:solutions?|answer|number|value)(?!\w)|keine\s(?:\w+\s)?lösung|pas\sde\ssolution|(?:sin|no\stiene)\ssolución|нет\sрешени"
    r"|(?:kann|lässt\ssich)\s(?:\w+\s)?nicht\s(?:bestimm|berechn|beantwort|sagen)\w*|nicht\s(?:genug|genügend)|pas\sassez\sd|impossible\sde|no\s(?:se\spuede|hay\ssuficiente|es\sposible)"
    r"|недостаточно|невозможно|无法|没有足够)"
)
_REFUSES = r"(?<!\w)(?:cannot|can't|can\snot|unable\sto|won't|not\sable\sto)\s(?:help|assist|comply|support|do\sthat|fulfil|predict|forecast)|(?<!\w)(?:rather\snot|prefer\snot\sto|won't|will\snot|refuse\sto)\s(?:pick|choose|give|name|commit|say)(?!\w)|(?<!\w)no\s(?:single|universally|generally|one)\s(?:\w+\s)?(?:\w+\s)?answer"
_FIGURES = r"(?:figures?|numbers?|values?|answers?|estimates?|counts?|totals?|dates?|amounts?|ages?|statements?|claims?|sources?|accounts?|reports?|records?|texts?|passages?|documents?|articles?|versions?)"
_CONFLICT = (
    rf"(?<!\w)(?:(?<!the\s)(?:two|three|several|multiple|both)\s(?:(?:\w+,?\s)?(?:different|differing|distinct|competing)\s)(?:\w+\s)?{_FIGURES}|(?:conflicting|contradictory|contradicting|inconsistent|irreconcilable)\s(?:\w+\s)?(?:information|data|{_FIGURES})"
    rf"|{_FIGURES}\s(?:\w+\s){{0,3}}?(?:differ|disagree|conflict|contradict|clash|(?:do\snot|don't)\s(?:agree|match)|(?:are|is)\s(?:\w+\s)?(?:inconsistent|contradictory|conflicting|in\sconflict|at\sodds))"
    rf"|which\s(?:of\s(?:them|the\s(?:two|three)|these)|one|{_FIGURES})\s(?:is|was)\s(?:right|correct|true|accurate|reliable))(?!\w)"
)
"""What says that there are several numbers, of which the reply does not know the right one."""
_ATTRIBUTED = r"(?<!\w)(?:according\sto\s[^.;,\n]{1,40},?|says|claims|states|reports|estimates?|puts|counted)\s[^.;,\n]{0,60}"
"""What a source says."""
_OFFER = (
    r"(?<!\w)(?:if|once|when|as\ssoon\sas)\s(?:you|it|the|they|i\s(?:had|knew))(?!\w)[^.!?\n]{0,200}?(?<!\w)(?:i|we)(?:'ll|'d|\s(?:can|could|will|would))\s(?:\w+\s){0,3}?(?:help|work|calculate|compute|tell|give|find|solve|answer|figure|do|walk|show|estimate|convert|determine|get|run|redo)(?!\w)"
    r"|(?<!\w)(?:i|we)(?:'ll|'d|\s(?:can|could|will|would))\s[^.!?\n]{0,80}?(?<!\w)(?:if|once|as\ssoon\sas)\syou\s(?:can\s|could\s)?(?:give|share|send|tell|provide|let|upload|paste|attach|describe|type|confirm|specify)(?!\w)"
    r"|(?<!\w)(?:please|(?:could|can|would)\syou)\s(?:\w+\s)?(?:give|share|send|tell|provide|let|upload|paste|attach|describe|type|confirm|specify|clarify)(?!\w)"
)
"""A sentence that offers to answer when something is given."""
_MISSING = (
    r"(?:(?:cannot|can't|can\snot|couldn't|could\snot|don't|do\snot|didn't|unable\sto|not\sable\sto|no\sway\sto|impossible\sto|n't\spossible\sto|not\spossible\sto)\s(?:\w+\s)?(?:see|open|view|access|find|determine|tell|say|answer|know|count|work\sout|(?:have|give)\s(?:any|enough|reliable|the\sdata))(?!\s[^.\n]*(?<!\w)(?:exact|precise|sure|certain))|(?:is|are|was|were|seems?\sto\sbe)\s(?:\w+\s)?missing|(?<!\w)no\s(?:\w+\s){1,3}?(?:attached|included|provided|given|shown|visible|here|in\syour)"
    r"|does(?:\snot|n't)\s(?:\w+\s)?(?:say|state|specify|mention|tell|contain|include|list)|not\sin\sthe\s(?:text|document|passage|table|article|data)|(?<!\w)no\smention\sof|(?<!\w)n/a|(?:not|n't)\senough\s(?:information|data)|(?<!\w)i(?:'d|\swould)\sneed"
    r"|(?:not|n't)\s(?:\w+\s)?(?:given|attached|provided|included|shown|stated|specified|mentioned|visible|come\sthrough))(?!\w)"
)
"""In a first sentence: what the answer depends on was not given."""
_SUPPOSES = r"\s*(?:if|suppose|supposing|assuming|say)(?!\w)"
_NO_VALUE = (
    r"(?<!\w)(?:undefined|meaningless|indeterminate|(?:is|are)\s(?:not|n't)\s(?:well[\s-])?defined|isn't\s(?:well[\s-])?defined|(?:has|have|with)\sno\s(?:(?:numerical|numeric|defined|finite|real|meaningful|definite|mathematical|possible|exact)\s){0,2}(?:value|meaning|result)"
    r"|(?:cannot|can't|can\snot|could\snot|couldn't)\sbe\s(?:\w+ly\s)?(?:computed|calculated|evaluated|defined|assigned|expressed\sas\sa\snumber)|(?:does\snot|doesn't)\sexist"
    r"|undefiniert|(?:nicht|un)\s?definiert|hat\skeinen\s(?:\w+\s)?wert|(?:existiert|gibt\ses)\snicht|(?:lässt\ssich|kann)\s(?:\w+\s)?nicht\s(?:berechn|bestimm)\w+"
    r"|indéfinie?|(?:n'est|est)\s(?:pas|non)\sdéfinie?|n'a\s(?:pas\sde|aucune)\s(?:\w+\s)?valeur|n'existe\spas|ne\speut\s(?:pas\s)?être\s(?:calculée?|définie?)"
    r"|(?:no\sestá|está\sin|es\sin|in)\s?definid[oa]|no\stiene\s(?:un\s|ningún\s)?valor|no\sexiste|no\s(?:se\spuede|puede)\s(?:calcular|definir|calcularse|definirse)"
    r"|indefinit[oa]|non\s(?:è\s)?definit[oa]|non\sha\s(?:un\s|alcun\s)?valore|non\sesiste|não\s(?:está|é)\sdefinid[oa]|não\stem\svalor|não\sexiste"
    r"|не\s(?:определен|определён)[оаы]?|не\sимеет\s(?:числового\s)?(?:значения|смысла)|не\sсуществует|нельзя\sвычислить)(?!\w)|未定义|没有意义|无意义|不存在"
)
"""What says that there is no number to give."""
_NO_VALUE_STEMS = (
    "defin", "meaning", "indeterminate", " no ", "n't", "not ", "nicht", "kein", "défini", "valeur", "pas ", "ne peut", "existe", "non ", "não", "не ",
    "нельзя", "未定义", "意义", "不存在",
)  # fmt: skip
_WITHOUT_VALUE = (
    rf"(?:(?<!\w)(?:it|this|that|(?:the|this|that|such\san?)\s(?:\w+\s)?(?:answer|result|expression|quotient|value|ratio|division|operation|quantity|calculation)"
    rf"|(?:der|das|die|dieser|dieses|diese)\s(?:antwort|ergebnis|ausdruck|quotient|wert|division)|(?:le|la|cette|ce|l'|el|esta|este|il|lo|o|a)\s?(?:réponse|résultat|expression|quotient|division|valeur|respuesta|resultado|expresión|cociente|división|risultato|espressione|quoziente|divisione|quociente|divisão)"
    rf"|(?:результат|выражение|частное|значение|ответ|деление))(?:'s|\s(?:is|are|remains|ist|bleibt|est|es|è|é))?|[=:{{])\s?(?:(?:therefore|thus|simply|also|daher|somit|donc|por\s(?:lo\s)?tanto|quindi|portanto|indeed)\s)?(?:{_NO_VALUE})(?=\s?(?:[.,;!)}}]|$|\n)|\s(?:because|since|as|weil|da|car|porque|perché)(?!\w))"
)
"""The same, of what was asked for; not of the place where a function has none."""
_CONCEDES = r"(?<!\w)(?:although|though|while|obwohl|wobei|bien\sque|aunque|sebbene|embora|хотя)(?!\w)"
_SINCE = r"\s*(?:since|because|as|weil|da|comme|puisque|como|porque|poiché|так\sкак|поскольку)(?!\w)"
_SO = (
    r"(?<!\w)(?:so|therefore|thus|hence|also|daher|somit|deshalb|donc|ainsi|por\s(?:lo\s)?tanto|así\sque|entonces|quindi|dunque|portanto|logo|поэтому|значит|следовательно)(?!\w)"
    r"|所以|因此"
)
_BUT = r"(?<!\w)(?:but|however|though|although|yet|still|aber|jedoch|allerdings|mais|cependant|toutefois|pero|aunque|sin\sembargo|mas|porém|ma|però|но|однако)(?!\w)|但"
_ANOTHER = rf"{_BUT}|\(|;|,\s(?:and|und|et|y|e|и)\s|(?<!\w)(?:because|since|weil|denn|puisque|porque|perché|поскольку)(?!\w)"
"""Before something else than what a sentence spoke of."""
_RETURNS = rf"{_BUT}|{_SO}|(?<!\w)(?:leaving|leaves)(?!\w)|[,:;]\s[^\W\d_]\s=\s"
"""After something that has no value: the sentence goes on with something that has one."""
_RESUMES = (
    r"\s{0,3}[✅➡👉🎯]|[\s*#>(–—-]{0,6}(?:so|step|next|now|finally|therefore|thus|hence|answer|the\s(?:final\s)?answer|final|result|total|in\stotal|also|daher|somit|damit|antwort|donc|ainsi|réponse"
    r"|por\s(?:lo\s)?tanto|respuesta|así|итак|значит|ответ|所以|因此|答案)(?!\w)"
)


_FAULT = r"(?<!\w)(?:slip|mistaken?|mistakes|errors?|wrong|oops|wait|incorrect|should\sbe|correct\s\w+\sis|corrected|fehler|falsch|erreur|faux|errore?|ошибка|неверно)(?!\w)|(?:not|n't)\s(?:match|equal|add)|错"


class Passage:
    """A plain text, with the expressions in it.

    Args:
        text: what `plain` returned.
        mark: the decimal mark if the text itself does not reveal one.
    """

    def __init__(self, text: str, mark: Mark | None) -> None:
        self.text = text
        lower = lower_alike(text)
        self.small = small_letters(lower)
        """The text for patterns that ignore case, each letter at its place."""
        self.lower = lower.replace("\n", " ")
        self._is_ascii = text.isascii()
        self.may = Gate(self.small)
        """Which patterns may be in it."""
        self.numbers = Expressions(text, mark, self.small, self.may)
        self._asides = Asides(self.small, self.lower, self.may)
        self._present: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._starts: list[int] = []
        self._all: list[Expression] | None = None
        """The expressions that may be an answer, if there are not many."""
        self._places: list[int] = []
        self._usable: dict[int, bool] = {}
        """Start of an expression → whether it may be an answer."""
        self._checked: list[tuple[int, int]] | None = None
        """The parts that check an answer."""
        self._silent: dict[int, tuple[int, int]] = {}
        """Start of a sentence → the part of it that gives no answer."""

    def _sentences(self) -> list[int]:
        """Where sentences begin."""
        if not self._starts:
            self._starts = [0, *[end.end() for end in compiled(_SENTENCE_END).finditer(self.text)]]
        return self._starts

    def sentence_start(self, at: int) -> int:
        """The beginning of the sentence that contains `at`."""
        starts = self._sentences()
        start = starts[bisect_right(starts, at) - 1]
        return start if at - start <= 400 else at - 400

    def sentence_end(self, at: int) -> int:
        """The end of the sentence that goes on at `at`."""
        if at + SPAN >= len(self.text):
            starts = self._sentences()  # an end is one character, wherever the search begins
            after = bisect_right(starts, at)
            return starts[after] - 1 if after < len(starts) else len(self.text)
        stop = compiled(_SENTENCE_END).search(self.text, at, at + SPAN)
        return stop.start() if stop else min(len(self.text), at + SPAN)

    def search(self, pattern: str, begin: int = 0, end: int = maxsize) -> re.Match[str] | None:
        """The first match of a pattern that ignores case in a part of the text that ends where a word does."""
        return caseless(pattern).search(self.small, begin, end) if self.may[pattern] else None

    def line_end(self, at: int) -> int:
        """The end of the line that goes on at `at`."""
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end

    def cues(
        self, pattern: str, stems: tuple[str, ...], begin: int = 0, end: int | None = None
    ) -> Iterator[re.Match[str]]:
        """The last matches of a pattern that begins with one of the stems, the last one first."""
        present = self.present(stems) if self.may[pattern] else ()
        if not present:
            return iter(())
        starts = places(self.lower, present, begin, end, CUES)
        return islice(matches_at(caseless(pattern), self.small, starts), CUES)

    def present(self, stems: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the stems that the text contains: most contain none."""
        found = self._present.get(stems)
        if found is None:
            lower = self.lower
            found = tuple([one for one in (_ascii(stems) if self._is_ascii else stems) if one in lower])
            self._present[stems] = found
        return found

    def usable(self, begin: int, end: int) -> list[Expression]:
        """The expressions in a part of the text that may be an answer."""
        if len(self.numbers) > _MANY:
            return [one for one in self.numbers.between(begin, end) if self.is_usable(one)]
        if self._all is None:
            self._all = [one for one in self.numbers.between(0, len(self.text)) if self.is_usable(one)]
            self._places = [one.start for one in self._all]
        return self._all[bisect_left(self._places, begin) : bisect_left(self._places, end)]

    def is_usable(self, one: Expression) -> bool:
        """Whether an expression may be an answer."""
        known = self._usable.get(one.start)
        if known is None:
            known = not self._asides.contain(one) and not self.is_void(one.start)
            self._usable[one.start] = known
        return known

    def is_void(self, at: int) -> bool:
        """Whether a place is in a part that gives no answer: it checks one, asks, names a source, or says that there is none."""
        if self._checked is None:
            self._checked = [*self._checks()]
        for start, end in self._checked:
            if start <= at < end:
                return True
        start = self.sentence_start(at)
        span = self._silent.get(start)
        if span is None:
            span = self._silent[start] = self._silent_part(start, self.sentence_end(at))
        return span[0] <= at < span[1]

    def _silent_part(self, start: int, end: int) -> tuple[int, int]:
        """The part of a sentence that gives no answer, which may be empty."""
        text, may = self.small, self.may
        if text.startswith("?", end):
            return start, end
        if start and may[_REMARK] and caseless(_REMARK).match(text, start):
            return start, end
        if (
            start
            and compiled(r"\s*\((?:[AI]\s|[^\W\d_]{2})").match(self.text, start)
            and "=" not in text[start:end]
        ):
            return start, end
        line = text.rfind("\n", max(0, start - 400), start + 1) + 1
        if caseless(_SOURCE).match(text, line if line >= start - 400 else start):
            return start, end
        sentence = self.lower[start:end]
        if self.search(_OFFER, start, end):
            return start, end
        if start and self.search(_NOT_NEEDED, start, end):
            return start, end
        if self.search(_MISTAKE, start, end):
            return start, end
        wrong = self.search(_NAMED_WRONG, start, end)
        if wrong:
            return start, wrong.end()
        if (
            may[_OTHERS]
            and ("people" in sentence or "some" in sentence or "many" in sentence)
            and self.search(_OTHERS, start, end)
        ):
            return start, end
        supposed = self.present(_SUPPOSED_STEMS) if may[_SUPPOSED] or may[_WILL] else ()
        declines = self.present(_DECLINE_STEMS) if may[_DECLINE] else ()
        if (
            supposed
            and any(stem in sentence for stem in supposed)
            and (
                self.search(_SUPPOSED, start, end)
                or (caseless(_WILL).match(text, start) and "=" in text[:start])
            )
            and (self.numbers.between(0, start) or self.numbers.between(end, len(text)))
        ):
            return start, end
        if declines and any(stem in sentence for stem in declines):
            if self.search(_SUPPOSED, start, end) and self.search(_DECLINE, start, end):
                return start, end  # `If there were 10, it would be 6, but that is not given.`
            found = self.search(_DECLINE, start, end)
            if found:
                turn = self.search(_BUT, found.end(), end)
                back = self.search(_BUT, start, found.start())
                return (back.end() if back else start), (turn.start() if turn else end)
        return self._without_value(start, end)

    def _without_value(self, start: int, end: int) -> tuple[int, int]:
        """The part of a sentence that says that something has no value: `Division by zero is undefined`."""
        if not self.may[_NO_VALUE]:
            return 0, 0
        text, stems = self.small, self.present(_NO_VALUE_STEMS)
        if not stems or not any(stem in self.lower[start:end] for stem in stems):
            return 0, 0
        found = [*islice(caseless(_NO_VALUE).finditer(text, start, end), CUES)]
        if not found:
            return 0, 0
        back = deque(caseless(_ANOTHER).finditer(text, start, found[0].start()), 1)
        turn = self.search(_RETURNS, found[-1].end(), end)
        stop = turn.start() if turn else end
        if caseless(_SINCE).match(text, start) and (comma := text.find(", ", found[-1].end(), stop)) >= 0:
            stop = comma
        return (back[0].end() if back else start), stop

    def _checks(self) -> Iterator[tuple[int, int]]:
        """A check goes on until something is concluded or a fault is found."""
        if not self.may[_CHECK]:
            return
        check, resumes = caseless(_CHECK), caseless(_RESUMES)
        begin: int | None = None
        for start in self._sentences():
            if begin is not None and (
                resumes.match(self.small, start) or self.search(_FAULT, start, self.sentence_end(start))
            ):
                yield begin, start
                begin = None
            if begin is None and check.match(self.small, start):
                begin = start
        if begin is not None:
            yield begin, len(self.text)

    def parts(self) -> bool:
        """Whether the text answers part a) and part b), or one case after the other."""
        if "\n" in self.text and len([*islice(caseless(_CASES).finditer(self.small), 2)]) > 1:
            return True
        if "a)" not in self.lower or "b)" not in self.lower:
            return False
        labels = islice(caseless(r"(?:^|(?<=\n)|(?<=[.;]\s))[ *(]{0,4}([ab])\)").finditer(self.small), CUES)
        return len({label[1] for label in labels}) > 1

    def refuses(self) -> bool:
        """Whether the text refuses to help."""
        return self.search(_REFUSES) is not None

    def conflicts(self) -> bool:
        """Whether the text says that there are several numbers and not which one is right."""
        if self.search(_CONFLICT):
            return True
        told = islice(caseless(_ATTRIBUTED).finditer(self.small), CUES) if self.may[_ATTRIBUTED] else ()
        values = {frozenset(self.numbers.operands(*one.span())) for one in told}
        return len(values - {frozenset()}) > 1

    def lacks(self, at: int) -> bool:
        """Whether the first sentence says that something was not given, and the one at a place gives an example or supposes it."""
        end, begin = self.sentence_end(0), self.sentence_start(at)
        if is_example(self.small, at) and not self.usable(0, begin):
            return True
        if begin <= end or not self.search(_MISSING, 0, end) or self.search(_BUT, 0, end):
            return False
        supposed = is_example(self.small, at) or caseless(_SUPPOSES).match(self.small, begin)
        return bool(supposed) or "=" not in self.text[end:at]

    def in_brackets(self, one: Expression) -> bool:
        """Whether an expression is in brackets within a sentence."""
        start = self.sentence_start(one.start)
        opened = self.text.rfind("(", start, one.start)
        return (
            opened > start
            and one.reason != "several"  # (2, 3) is one thing
            and self.text.find(")", opened, one.start) < 0
            and len(self.text[start:opened].split()) > 2
        )

    def depends(self) -> bool:
        """Whether the text says at its beginning that the answer depends on something."""
        return "depend" in self.lower[:200] or "hängt" in self.lower[:200] or "dépend" in self.lower[:200]

    def repeats(self, at: int) -> bool:
        """Whether the sentence at `at` occurs again and again, as in replies of models that are caught in a loop."""
        start = self.sentence_start(at)
        sentence = self.text[start : self.sentence_end(at)].strip()
        return len(sentence) > 16 and self.text.count(sentence) >= _LOOP

    def declines_after(self, at: int) -> bool:
        """Whether the text says after `at` that no answer can be given, and gives none then."""
        after = self.lower[at:]
        if (
            self.may[_UNDETERMINED]
            and any(stem in after for stem in self.present(_DECLINE_STEMS))
            and self.search(_UNDETERMINED, at)
        ):
            return True
        return (
            self.may[_NO_VALUE]
            and any(stem in after for stem in self.present(_NO_VALUE_STEMS))
            and self.has_no_value(at)
        )

    def has_no_value(self, at: int) -> bool:
        """Whether the text says after `at` that what was asked for has no value."""
        if not self.may[_WITHOUT_VALUE]:
            return False
        for found in islice(caseless(_WITHOUT_VALUE).finditer(self.small, at), CUES):
            start = self.sentence_start(found.start())
            if not caseless(_REMARK).match(self.small, start) and not self.search(
                _CONCEDES, start, found.start()
            ):
                return True
        return False

    def gap(self, inside: list[Expression], at: int) -> str:
        """The text between an expression of a list and the one before it, in small letters."""
        return self.small[inside[at - 1].end : inside[at].start]


@lru_cache(maxsize=4)  # a reply is looked at again with its question
def passage_of(text: str, mark: Mark | None) -> Passage:
    """The passage of a text as it was written."""
    return Passage(plain(text), mark)


@cache
def _ascii(stems: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(stem for stem in stems if stem.isascii())

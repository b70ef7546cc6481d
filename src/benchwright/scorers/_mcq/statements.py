"""Finds explicit answer statements: collects all of them, drops doubtful ones, and takes the last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from benchwright.scorers._mcq.extraction import (
    NOT_INSIDE,
    NOT_PART,
    STOP,
    ChoiceRule,
    caseless,
    compiled,
    is_word,
    joined_to,
    letter_at,
)
from benchwright.scorers._mcq.rules import RULES, STATEMENT_RULES
from benchwright.scorers._mcq.sayers import ENDS, OTHERS_SAY, OTHERS_SAY_NAMED, reported
from benchwright.scorers._mcq.texts import OptionTexts, denied, marked_option
from benchwright.scorers._mcq.view import ReplyText

_CALCULATED = r"\s?[+×÷*/^=–-]\s?[\d(\\]"  # "the answer is 2258 + 5 = …" names nothing yet
_REACH = 48
# Words before a cue that make it a denial, a condition or a question, with words that may be between.
_NOT_SAID = (
    r"(?:(?<![^\W_])(?:not|never|cannot|neither|nor|hardly|if|whether|(?<!i\s)suppose|supposing|assume|assuming|unless|why|imagine"
    r"|least|less|worst|(?:second|third|next)(?:\smost)?)|n't|如果|假设|假如|假定|若|并非|不是|不能|不)\s?"
    r"(?:(?:i|we|you|they|it|is|was|be|to|the|a|an|my|our|your|that|this|think|believe|say|saying|feel|agree|mean|claim"
    r"|conclude|sure|certain|confident|convinced|clear|obvious|true|case|really|actually|necessarily|only|final|correct|right|best"
    r"|option|choice|letter|answer)\s){0,6}$"
)
_SENTENCE = 240
# In a sentence before a statement: it applies to a hypothetical case.
_OTHER_CASE = (
    r"(?<![^\W_])(?:if(?!\s(?:i|we)\s(?:had|have)\sto\b)|were\s(?:it|the|this|we)|had\s(?:it|the|this|we)|unless|otherwise"
    r"|without|instead\sof|in\s(?:that|which|another|a\sdifferent|other)\s(?:case|context|setting|scenario)|hypothetically"
    r"|wenn|falls|sonst|andernfalls|ohne|hätte|si|sinon|autrement|sans|de\slo\scontrario|sin)(?![^\W_])|如果|假如|若|否则"
)
# An exception: the hypothetical case is the actual one.
_DECIDED = r"(?<![^\W_])(?:therefore|thus|hence|so|wait|actually|correction|but|also|daher|donc|mais|pero)(?![^\W_])|所以|因此|但"
_OTHER_SAYERS = (
    r"(?<![^\W_])(?:(?:some|many|others|people|students?|someone|readers|critics)\s(?:\w+\s){0,3}(?:say|says|think|believe|argue"
    r"|claim|answer|choose|pick)|(?:mistake|error|tempting|trap|wrong|mistakenly|wrongly|incorrectly)\s(?:\w+\s){0,4})"
)
# An exception: the reply corrects itself.
_OWN_MISTAKE = r"(?<![^\W_])(?:i|we)\s(?:was|were|am|made|had|have|got)\s(?:\w+\s){0,3}(?:wrong|mistaken?|error|incorrectly|wrongly)"
# After a statement: it applies only to a hypothetical case, or is a mistake.
_IN_OTHER_CASE = (
    r"[)\]]?,?\s(?:would\s(?:only\s)?(?:be|have\sbeen)\s(?:an?\s)?(?:mistake|error|wrong|incorrect|correct|right|true)"
    r"|(?:is|was)\san?\s(?:mistake|error|trap)|(?:only\s)?if\s)"
)
# After a statement: what it names is called wrong.
REFUTED = (
    r"[)\]]?[.,;!–—-]{0,2}\s?(?:(?:but|however|though|although|yet|and|which|wait|hmm|no|oh|actually|sorry|oops|aber|mais|pero)[.,\s]{1,3}){0,2}(?:(?:that|this|it|they|he|she|das|c|ce|eso)(?:'s|'est)?\s)?"
    r"(?:(?:is|are|was|would\sbe|ist|est|es)\s)?(?:(?:actually|clearly|simply|also|just|a\scommon|common|all|in\sfact)\s){0,2}"
    r"(?:wrong|incorrect|false|mistaken|not\s(?:correct|right|true|it|the\s(?:answer|case))|a\s(?:mistake|myth|misconception|trap)|misconception|falsch|faux|falso)(?![\w-])"
)
# Before a choice: somebody else makes it, or it is called a mistake.
_BY_OTHERS = (
    r"(?<![^\W_])(?:mistakes?|errors?|traps?|tempt(?:ed|ing|ation)|students?|people|readers|candidates|learners|many|some|others"
    r"|someone|mistakenly|wrongly|incorrectly|forgiven|excused|pardoned|(?:understandable|easy|natural|common|instinct|reflex|impulse)(?=\s(?:is\s)?(?:to|for|in)\s))\s(?:(?:for|in|is|are|was|be|been|to|who|may|might|could|would|will|often|tend|also|just"
    r"|simply|mistakenly|wrongly|incorrectly)\s){0,5}$"
)
# A letter at the start of a clause, with the text that may be between it and its verdict.
_HEAD = rf"{NOT_INSIDE}[(\[]?(?P<letter>[A-Za-z]){NOT_PART}"
_AFTER_HEAD = r"[)\]]?[.:]?\s?[(\[–—-]?\s?"
# Words that may be before it; "Vitamin B is best" says nothing about option B.
_HEAD_AFTER = (
    r"(?:^|[.,;:!?\n()\[\]–—>]|(?<![^\W_])(?:in\sthe\send|still|overall|ultimately)|[\u2e80-\u9fff\uac00-\ud7af]|(?<![^\W_])(?:options?|choices?|answers?|letter|alternative|statement|that|with|leaves|leaving"
    r"|think|believe|say|guess|feel|meant|mean|so|but|and|or|thus|hence|therefore|then|because|since|as|only|clearly|obviously"
    r"|indeed|here|where|means|shows|suggests|confirms|makes|making|conclude|conclusion|is|was|yes|no|well|ok|okay"
    r"|wait|actually|finally|now|while|although|though|whereas|given|it's|would|really|both|either|if|antwort(?:en)?|aussage|lösung|denke|glaube|meine|dass|also|aber|daher|deshalb|somit|nur|und"
    r"|ist|réponse|donc|mais|que|pense|opción|respuesta|alternativa|pero|creo|entonces))\s?$"
)
_ADVERBS = (
    r"(?:(?:clearly|indeed|definitely|certainly|thus|therefore|probably|likely|most|the|my|our|actually|then|hence|only"
    r"|obviously|really|in\sfact|by\sfar|also|simply|just|completely|totally|plainly|an?|both)\s){0,4}"
)
_ONLY_DOES = (
    r"(?:has|names|describes|refers\sto|satisfies|meets|contains|qualifies|applies|belongs|counts|represents|fulfil+s|answers|expresses|denotes|defines|mentions|does(?=\s?[.,;!]|\sso)|is\s(?:an?|the|true|valid|accurate))"
    r"(?!\w)(?![^.;,\n]{0,80}(?:(?<!\w)(?:wrong|incorrect|false|not|no|never|errors?|mistakes?|traps?|distract\w*|outlier|exception|close|part\w*|half|problem|issue|candidates?|rival|option|choice|alternative|serious|real|possible|plausible)(?!\w)|n't))(?![^.;\n]{0,120}(?:\?|\s(?:but|however|though|although|yet)\s))"
)
"""After `only A`: it is the one of which something holds, and nothing is denied."""
_SEEMS = r"(?:is|was|must\sbe|should\sbe|has\sto\sbe|seems|looks|appears)(?:\sto\sbe)?"
VERDICT = (
    rf"[)\]]?,?\s{_SEEMS}\s(?!also){_ADVERBS}(?:correct|right|best|better(?=\s(?:choice|option|answer|fit|one|match))|answer|solution|winner|final\sanswer|(?:safest|strongest|closest|likeliest|soundest)(?=\s(?:choice|option|answer|bet|match|fit))"
    r"|(?<=most\s)(?:appropriate|suitable|accurate|likely|plausible|logical|fitting|reasonable))(?![\w-])"
    r"(?!\s(?:if|when|about|unless|but\snot)\b|\s?\?)"
    rf"|(?<=only\s\w)[)\]]?\s{_ONLY_DOES}"
    r"|(?<=only\s\w)[)\]]?\s(?:makes\ssense|remains|fits|works|matches|is\s(?:left|possible))(?!\w)"
    r"|[)\]]?\s(?:it\s)?is(?=\s?[.!;]|\s?\n|\s?$)|[)\]]?\s(?:wins|gets\smy\s(?:vote|pick|money))(?!\w)|[)\]]?,?\sis\s(?:exactly\s)?what\s(?:we|you|i|the\squestion)(?!\w)"
    r"|[)\]]?,?\sis\sthe\sonly\s(?:\w+\s)?(?:that|which|to)\s(?:\w+\s)?(?:fits?|works?|matches|makes\ssense|is\s(?:correct|right|true|valid))\b"
    r"|[)\]]?,?\s(?:best|most\sclosely|perfectly|clearly|correctly)\s(?:matches|fits|describes|answers|captures|represents|explains)\b"
    r"|[)\]]?,?\s(?:fits|matches|works|makes\sthe\smost\ssense)(?:\s(?:best|better|perfectly|exactly)\b|(?<=sense))"
    r"|[)\]]?,?\s(?:as\s)?the\s(?:correct|right|best)\s(?:answer|option|choice)\b"
    r"|[)\]]?,?\s(?:ist|wäre|est|es)\s(?:(?:also|eindeutig|klar|bien|donc|la|die|le|el|einzig)\s){0,3}"
    r"(?:richtig(?:e)?|korrekt(?:e)?|zutreffend|correcte?|correct[ao]|exacte?|juste|bonne|buena)(?![\w-])"
    r"(?!\s(?:wenn|falls|si)\b|\s?\?)|[)\]]?\s(?:stimmt|trifft\szu)(?!\snicht)\b"
    r"|[)\]]?\s(?:richtig|korrekt|zutreffend)(?![\w-])(?!\s?\?)"
    r"|[)\]]?\s(?:ist\sdie\santwort|est\sla\sréponse|es\sla\srespuesta)\b"
    r"|\s?[)\]]?(?:选项|项|答案)?\s?(?:才?是|为|為)?\s?(?:最)?(?:正确|正確|对(?![应于象比称])|准确|正解|正答)(?!吗|嗎|\?)"
)
SINGLED = (
    r"[)\]]?,?\s(?:is|must\sbe|has\sto\sbe)\s(?:clearly\s|therefore\s|thus\s|indeed\s)?the\s(?:(?P<true>(?:only\s)?(?:true|correct|right|valid|accurate|actual)\s(?:one|statement|claim|sentence))(?!\w)"
    r"|(?:only\s)?one\s(?:(?:here|of\s(?:these|them|the\s\w+))\s)?(?:that|which|who|with|without)\s|odd\sone\sout(?!\w)"
    r"|(?!(?:wrong|incorrect|false|untrue|tempting|tricky|other|hard|harder|hardest|easy|easier|easiest|weak|weaker|weakest|closest|popular|common|usual|obvious|next|first|second|third|last|same|odd|new|old|big|little|only|main|interesting|confusing|misleading|best-known|famous|familiar|runner-up)\s)"
    r"[a-z-]{4,20}\sone(?=\s?[.!:]|\s(?:here|of\sthe|of\sthese|among|in\sth|on\sth)))"
    r"(?![^.!\n]{0,160}(?:\?|(?<!\w)(?:people|students|many|everyone|everybody|you|i'd|i|we|tempt\w*|traps?|wrong|incorrect|false|mistakes?|eliminat\w*|rul(?:e|ed|es|ing)|exclud\w*|discard\w*|trick\w*|confus\w*|but|however|though|although|whereas|while|unless|if|almost|nearly|closest?|looks?|seems?|appears?|sounds?|not\s(?:correct|right|true|it|the)|n't\s(?:fit|work|match))(?!\w)|(?<![\w'])(?-i:[B-J])(?![\w'])))"
)
"""After a letter or a text: it alone is what was asked for, `the one that is not a gas`."""
DESCRIBED = r"[)\]]?,?\s(?:is|must\sbe|has\sto\sbe)\s(?:\w+\s)?the\s(?:[\w-]+\s)?one(?!\w)"
_CONCLUDES = r"(?<![^\W_])(?:so|thus|therefore|hence|consequently|daher|donc)(?![^\W_])[^.;!?\n]{0,40}$"
_WRONG = r"(?:wrong|incorrect|false|impossible|ruled\sout|excluded|eliminated|invalid|out)(?![\w-])"
_NOT_RIGHT = (
    rf"(?:n't|\s?not)\s(?!only){_ADVERBS}(?:be\s)?{_ADVERBS}"
    r"(?:correct|right|true|valid|possible|accurate|answer|option|choice|best|it)(?![\w-])"
)
DENIAL = (
    rf"[)\]]?,?\s(?:(?:{_SEEMS}|are|would\sbe)\s{_ADVERBS}{_WRONG}|(?:{_SEEMS}|are|would|can|could){_NOT_RIGHT})"
    r"|[)\]]?,?\s(?:ist\s(?:falsch|nicht|unzutreffend|ausgeschlossen)|stimmt\snicht|(?:n')?est\s(?:pas|faux|fausse|incorrecte?)"
    r"|es\s(?:falsa|falso|incorrect[ao])|no\ses|(?:scheide(?:t|n)|fällt|fallen)\s(?:(?:also|daher|somit|damit|deshalb)\s)?(?:aus|weg))(?![\w-])"
    r"|\s?[)\]]?(?:选项|项|答案)?\s?(?:是|为)?\s?(?:错|錯|不对|不對|不正确|不正確|不符合|不是(?:正确|答案|对)|有误)"
)
_PREFERRED = (
    rf"[)\]]?,?\s?(?:(?:and|but)\s)?(?:not|rather\sthan|instead\sof|over|而不是|而非)\s?(?:(?:in|at|on|by|from|with|to)\s)?(?:the\s|(?:option|choice|letter)\s)?"
    rf"[(\[]?(?P<other>[A-Z]){NOT_PART}"
)
_TAKEN_BACK = (
    r"(?:(?<![^\W_])(?:not|neither|nor|nicht|pas|no\ses|non\sè|não\sé|niet|eliminat(?:e|es|ed|ing)|rules?\sout|ruled\sout|ruling\sout|exclud(?:e|es|ed|ing)"
    r"|discard(?:s|ed|ing)?|reject(?:s|ed|ing)?|(?:misled|fooled|tricked|distracted|tempted|confused|thrown\soff)\sby|beware\sof|watch\sout\sfor|fall(?:ing)?\sfor"
    r"|careful\s(?:with|of|about)|wary\sof)\s|n't\s|cannot\sbe\s|排除|不选|不是|并非)"
    rf"(?:the\s|la\s|die\s|het\s)?(?:(?:be|options?|choices?|letter|antwort|antwoord|réponse|respuesta|opción|risposta|resposta)\s)?[(\[]?(?P<letter>(?-i:[A-Z])){NOT_PART}"
)
# Not the last item of a list such as "A, B, C".
_LAST_WORDS = (
    rf"(?:(?<=\w\w[.,:!?])|(?<=\s→)|(?<=\s⇒))\s[(\[]?(?P<letter>(?-i:[A-Z])){NOT_PART}[)\]]?[.!]?\s?$"
)
_NOT_AN_ANSWER = r"(?<![^\W_])(?:grade|class|rating|score|level|group|type|(?:first|second|third|next|other|least|less|worst|2nd|3rd|4th)\s(?:\w{2,12}\s)?\w+):\s[(\[]?$"
_LAST_LINE = rf"[(\[{{]?(?P<letter>[A-Za-z]){NOT_PART}[)\]}}.:]{{0,2}}"


_CASE = r"(?:[;,]|\s(?:and|but|while|whereas))\s(?:(?:and|but|while|whereas)\s)?(in|for|under|with|at|on|when|by|from|to|im|in|bei|für|en|dans|pour|para)\s"
_IN_A_CASE = rf"(?<![^\W_])(?:if|when|wenn|falls|si)\s[^.;!?\n]{{1,120}}?,\s(?:(?:then|option|choice|choose|pick|it's|it\sis)\s){{0,2}}[(\[]?(?P<letter>(?-i:[A-Z])){NOT_PART}[)\]]?(?=\s?[.;,!\n])"
_NEXT_CASE = r"[)\]]?[.!]\s(when|wenn|quand|cuando|for|under)\s[^.;!?\n]*$"
_LED = tuple((rule, rule.pattern) for rule in STATEMENT_RULES if rule.pattern)
# A letter that only might be right.
_WOULD_BE = r"[)\]]?,?\s(?:would|could|might|may)\s(?:then\s|also\s)?be\s"


UNSAID = (_NOT_SAID, _OTHER_CASE, _OTHER_SAYERS, OTHERS_SAY, OTHERS_SAY_NAMED)
"""What makes a sentence with a statement a denial, a supposition or a report."""


class Statement(NamedTuple):
    """One explicit statement, or a letter that decides because it is alone."""

    start: int
    """Place of the letter, or of the text, that it names."""
    end: int
    letter: str | None
    """The option; None if it names several."""
    rule: ChoiceRule
    """The rule that recognised it."""
    by_text: bool = False
    """Whether it names the option by its text."""
    supposed: bool = False
    """Whether it is about a hypothetical case or about what others say. It counts only if nothing is asserted."""


class Stated(NamedTuple):
    """The statements of a reply."""

    last: Statement | None
    """The last statement, if there is one."""
    taken_back: dict[str, int]
    """Denied options → the last place where they are denied."""


def statements(view: ReplyText, options: Mapping[str, str], texts: OptionTexts) -> Stated:
    """The last explicit statement of a reply, and the options it takes back."""
    last: Statement | None = None
    verdicts, taken_back, supposed = _verdicts(view, options, texts)
    every = [*_all(view, options, texts), *verdicts]
    for found in every:
        if found.supposed:
            supposed.add(found.letter)
        if last is None or (not found.supposed, found.start) > (not last.supposed, last.start):
            last = found
    if last is not None and last.supposed and len(supposed) > 1:
        last = last._replace(letter=None)  # `if it is open, A; if it is closed, C`
    elif last is not None and any(_other_case(view, found, last) for found in every):
        last = last._replace(letter=None)  # `in Europe it is A; in Asia it is B`
    if last is None and (marked := marked_option(view, options, texts)):
        at, letter, rule = marked
        last = Statement(at, at + 1, letter, rule, False)
    return Stated(last, taken_back)


def _other_case(view: ReplyText, first: Statement, last: Statement) -> bool:
    """Whether two statements of one sentence name different options for different cases."""
    if first.letter == last.letter or not 0 < last.start - first.end < _SENTENCE:
        return False
    between = view.lower[first.end : last.start]
    case = caseless(_NEXT_CASE).match(between)
    if case is None and not caseless(r"[.!?]\s|\n").search(between):
        case = caseless(_CASE).search(between)
    if case is None:
        return False
    before = view.lower[max(0, first.start - _SENTENCE) : first.start]
    return caseless(rf"(?:^|[.;,:!?\n]\s?){case[1]}\s[^.;!?\n]*$").search(before) is not None


def _all(view: ReplyText, options: Mapping[str, str], texts: OptionTexts) -> Iterator[Statement]:
    starts = view.starts
    for rule, pattern in _LED:
        if starts[pattern] == ():
            continue
        for cue in rule.found(view):
            found = _stated(view, cue.end(), rule, options, texts)
            if found is None or not caseless(rule.ending).match(view.text, found.end):
                continue
            if found.letter is None and rule.ending.startswith(
                STOP
            ):  # a remark about several options is no statement
                continue
            if rule.name == "chosen" and _by_others(view, cue.start()):
                continue
            if refuted(view, found.end):
                continue
            if asserted(view, cue.start()) and not reported(
                view, cue.end(), found.end, by_text=found.by_text
            ):
                yield found._replace(supposed=_supposed(view, cue.start(), found.end))
    for ending_rule in (_last_words, _last_line):
        ended = ending_rule(view, options, texts)
        if ended is not None and not reported(view, ended.start, ended.end):
            yield ended._replace(supposed=_supposed(view, ended.start, ended.end))


def asserted(view: ReplyText, at: int) -> bool:
    """Whether the text that begins at `at` is asserted: not denied, supposed or questioned."""
    begin = max(0, at - _REACH)
    return not view.may(_NOT_SAID) or (
        caseless(_NOT_SAID).search(view.lower, max(begin, view.lower.rfind("\n", begin, at) + 1), at) is None
    )


def refuted(view: ReplyText, end: int) -> bool:
    """Whether what ends at `end` is called wrong right after."""
    return caseless(REFUTED).match(view.lower, end) is not None


def _supposed(view: ReplyText, cue: int, end: int) -> bool:
    """Whether the sentence of a statement is about a hypothetical case or about what others think."""
    text = view.lower
    begin = max(text.rfind(mark, max(0, cue - _SENTENCE), cue) for mark in ENDS) + 1
    before = text[max(begin, cue - _SENTENCE) : cue]
    if view.may(_OTHER_CASE) and caseless(_OTHER_CASE).search(before):
        return caseless(_DECIDED).search(before) is None
    others = view.may(_OTHER_SAYERS) and caseless(_OTHER_SAYERS).search(before[-_REACH:])
    if others and not caseless(_OWN_MISTAKE).search(before[-_REACH:], 0, others.end()):
        return True
    return caseless(_IN_OTHER_CASE).match(text, end) is not None


def _by_others(view: ReplyText, at: int) -> bool:
    return caseless(_BY_OTHERS).search(view.lower, max(0, at - _REACH), at) is not None


def _stated(
    view: ReplyText, at: int, rule: ChoiceRule, options: Mapping[str, str], texts: OptionTexts
) -> Statement | None:
    """The option named at `at`: by its letter, or by its text if that is the longer reading."""
    letter = None if rule.method == "option_text" else letter_at(view, at, options)
    named = texts.at(view, at)
    if named is not None and (
        letter is None or (named.start == letter.start and named.end > letter.start + 1)
    ):
        if denied(view.lower, named.start, named.end) or caseless(_CALCULATED).match(view.lower, named.end):
            return None
        other = _other_text(view, named.end, texts)
        several = (
            len(named.value) > 1
            or (other is not None and other != named.value)
            or _is_added(view, named.start)
        )
        return Statement(named.start, named.end, None if several else named.value[0], rule, True)
    if letter is None or texts.covers(view, letter.start):
        return None
    several = (
        joined_to(view, letter.start, letter.value, options, texts.covers)
        or texts.contradict(view, letter.start, letter.value)
        or _is_added(view, letter.start)
    )
    return Statement(letter.start, letter.start + 1, None if several else letter.value, rule, False)


def _is_added(view: ReplyText, at: int) -> bool:
    """Whether an option is named next to another: `The answer is also C.`"""
    return view.lower.find("also", max(0, at - 12), at) >= 0 and (
        caseless(r"(?<![^\W_])(?:is|be|are|was)\salso\s(?:[a-z]+\s)?[(\[]?$").search(
            view.lower, max(0, at - 24), at
        )
        is not None
    )


def _other_text(view: ReplyText, at: int, texts: OptionTexts) -> tuple[str, ...] | None:
    joint = caseless(r"[)\]]?,?\s?(?:or|/|或者?)\s?").match(view.lower, at)
    named = texts.at(view, joint.end()) if joint else None
    return named.value if named else None


def _verdicts(
    view: ReplyText, options: Mapping[str, str], texts: OptionTexts
) -> tuple[list[Statement], dict[str, int], set[str | None]]:
    """Statements that begin with the letter, letters that are denied, and letters that would be right in some case."""
    found: list[Statement] = []
    taken_back: dict[str, int] = {}
    possible: set[str | None] = set()
    text = view.text
    verdict, denial, preferred = caseless(VERDICT), caseless(DENIAL), caseless(_PREFERRED)
    singled: set[int] = set()
    for head in caseless(_HEAD).finditer(text):
        letter = head["letter"].upper()
        at = head.start("letter")
        if letter not in options or texts.covers(view, at):
            continue
        places = [at + 1]
        gap = caseless(_AFTER_HEAD).match(text, at + 1)
        own = texts.own_at(view, gap.end(), letter) if gap else None
        if own is not None:
            places.append(own)
        if any(denial.match(text, place) for place in places):
            if _heads_clause(view, head.start()):
                taken_back[letter] = at
            continue
        rule = None
        if any(verdict.match(text, place) for place in places):
            rule = RULES["verdict"]
        else:
            contrast = next((match for place in places if (match := preferred.match(text, place))), None)
            if contrast and contrast["other"].upper() in options and contrast["other"].upper() != letter:
                rule = RULES["preferred"]
            elif any(caseless(_WOULD_BE).match(text, place) for place in places):
                possible.add(letter)
            elif any(_is_singled(view, at, place) for place in places):
                rule = RULES["verdict"]
                singled.add(at)
        if (
            rule is None
            or (is_word(text, at) and not _is_called(view, head.start()))
            or not _heads_clause(view, head.start())
        ):
            continue
        if not asserted(view, head.start()):
            taken_back[letter] = at
            continue
        if reported(view, head.start(), at + 1):
            continue
        several = joined_to(view, at, letter, options, texts.covers) and rule.name == "verdict"
        stated = Statement(at, at + 1, None if several else letter, rule, False)
        found.append(stated._replace(supposed=_supposed(view, head.start(), stated.end)))
    for case in view.matches(_IN_A_CASE):
        if case["letter"] in options:
            possible.add(case["letter"])
    for back in view.matches(_TAKEN_BACK):
        letter = back["letter"].upper()
        at = back.start("letter")
        if letter in options and not is_word(text, at) and not texts.covers(view, at):
            taken_back[letter] = max(at, taken_back.get(letter, 0))
    if singled and len({one["letter"].upper() for one in caseless(_HEAD + DESCRIBED).finditer(text)}) > 1:
        found = [one for one in found if one.start not in singled]  # each is described
    return found, taken_back, possible


def _is_singled(view: ReplyText, at: int, end: int) -> bool:
    """Whether an option is said to be the one: the true one, or another in a conclusion or in the last sentence."""
    found = caseless(SINGLED).match(view.text, end)
    if found is None:
        return False
    rest = view.text[found.end() : found.end() + _SENTENCE + 1]
    last = len(rest) <= _SENTENCE and compiled(r"[.!?\n]\s?\S").search(rest) is None
    if found["true"] or last:
        return True
    return caseless(_CONCLUDES).search(view.text, max(0, at - 60), at) is not None


def _heads_clause(view: ReplyText, at: int) -> bool:
    return caseless(_HEAD_AFTER).search(view.lower, max(0, at - 20), at) is not None


def _is_called(view: ReplyText, at: int) -> bool:
    """Whether the word before a letter says that it is an option: then it is no article."""
    return (
        caseless(r"(?<![^\W_])(?:option|choice|answer|letter|alternative|only(?=\s$))\s$").search(
            view.lower, max(0, at - 14), at
        )
        is not None
    )


def _last_words(view: ReplyText, options: Mapping[str, str], texts: OptionTexts) -> Statement | None:
    found = caseless(_LAST_WORDS).search(view.text, max(0, len(view.text) - 24))
    if found is None or found["letter"] not in options or texts.covers(view, found.start("letter")):
        return None
    at = found.start("letter")
    if view.text[found.start() - 1] in "→⇒" and view.text.count(view.text[found.start() - 1]) > 1:
        return None  # a list: `12 → A, 15 → B`
    if caseless(_NOT_AN_ANSWER).search(view.text, max(0, at - 24), at):
        return None
    return Statement(at, at + 1, found["letter"], RULES["last_words"], False)


def _last_line(view: ReplyText, options: Mapping[str, str], texts: OptionTexts) -> Statement | None:
    text = view.text.rstrip()
    begin = text.rfind("\n") + 1
    if not begin:  # the only line: the rules for single letters read it
        return None
    found = caseless(_LAST_LINE).match(text, begin + (text[begin : begin + 1] == " "))
    if found is None:
        return None
    letter = found["letter"].upper()
    if letter not in options or _follows_in_list(text, begin, letter):
        return None
    at = found.start("letter")
    after = found.end() + (text[found.end() : found.end() + 1] == " ")
    own = texts.own_at(view, after, letter)
    rest = text[own if own is not None else found.end() :]
    if rest.strip(" .)]}!"):
        return None
    return Statement(at, at + 1, letter, RULES["last_line"], False)


def _follows_in_list(text: str, begin: int, letter: str) -> bool:
    """Whether the line above begins with the previous letter, so that the options are being listed."""
    above = text[max(text.rfind("\n", 0, begin - 1) + 1, begin - 500) : begin].strip()
    opened = caseless(_LAST_LINE).match(above)
    return opened is not None and ord(opened["letter"].upper()) == ord(letter) - 1

"""Reads whether a text says yes or no: by an explicit statement, by a reply that is a verdict, or by its clauses.

Questions, what others say, hypothetical cases and `yes or no` say nothing. Verdicts that contradict one another are no answer,
unless one corrects the other or draws the conclusion. With the question, a reply may also judge its claim (`The passage contradicts
it.`), answer with a pronoun (`It does.`), name a class (`Sentiment: negative`) or repeat it as a statement.
"""

from __future__ import annotations

import json
import re

from benchwright.scorers._asked import YesNoQuestion, content, leaves_open, read_question, signed
from benchwright.scorers._conditions import depends, may_depend
from benchwright.scorers._mcq.view import ReplyText, without_reasoning
from benchwright.scorers._replies import Span, breaks_off, listed, next_question
from benchwright.scorers._stems import matches_at, places
from benchwright.scorers._triggers import gate_of, may_match
from benchwright.scorers._verdict_answers import AnswerClauses
from benchwright.scorers._verdict_clauses import (
    Kind,
    SpottedVerdict,
    label_of,
    opening,
    placed,
    split_sentences,
    whole_sentences,
    words_of,
)
from benchwright.scorers._verdict_phrases import (
    compiled,
    is_asked,
    is_negated,
    is_remark,
    is_truth,
    phrased,
    phrases,
    whole_verdict,
)
from benchwright.scorers._verdict_quick import read_quickly, says_nothing
from benchwright.scorers._verdict_words import (
    ABSTAINS,
    ANAPHOR,
    AT_ONCE,
    BEFORE_NOUNS,
    BOTH,
    CLOSING,
    CONCLUSION,
    CONTRAST,
    CORRECTION,
    EITHER,
    GOES_ON_WITH,
    HEADED,
    HIDDEN,
    LABELLED,
    NOT_A_NOUN,
    NOT_STATED,
    PARTED,
    QUOTED,
    REPORTED,
    SAYS_SO,
    STATED,
    STATED_STEMS,
    STATED_WORDS,
    TAKES_BACK,
)

_OPTION = rf"(?:(?:{LABELLED}|(?:the\s)?(?:correct\s|right\s|best\s)?(?:option|choice|answer)\s?(?:is|:|=)?\s?)?\(?(?P<option>[a-d0-9])\)?\.?)"
_CONTRASTS = rf"(?<!\w){CONTRAST}"
_LABELLED_LINE = rf"(?:(?m:^)|(?<=[.!?]\s)){LABELLED}(?P<label>[^.,;!\n]{{1,60}})"


def read_verdict(reply: str, question: str = "") -> bool | None:
    """True: yes; False: no; None: neither, or both.

    Args:
        reply: what was answered.
        question: what was asked, if it is known.

    >>> [read_verdict(text) for text in ("That's not true.", "Yes and no.", "No, wait, actually yes.")]
    [False, None, True]
    """
    asked = read_question(question) if question else None
    quick = read_quickly(reply, asked)
    if quick is None and not (asked is None and says_nothing(reply)):
        return read_fully(reply, asked)
    return quick


def read_fully(reply: str, asked: YesNoQuestion | None) -> bool | None:
    """The same without the quick path."""
    if "{" in reply and (given := _object(reply)):
        return _of_object(given, asked)
    text = ReplyText(_without_quotations(reply)).lower.strip().replace("tl;dr", "short answer")
    text = compiled(_PICTURES).sub("", text, count=1)
    if not text.isascii() and len(compiled(_SIGNED).findall(text)) == 1:
        text = compiled(_SIGNED).sub("", text)
    if asked is not None and (noun := compiled(_ASKS_FOR_IT).match(asked.text)):
        text = compiled(_NO_SUCH.format(noun[1])).sub("none", text)
    if text.startswith(("question:", "q:")):
        return _answer_below(text, asked)
    cut = next_question(text)
    if cut is not None and (found := _read(text[:cut].strip(), asked)) is not None:
        return found
    return _read(text, asked)


_PICTURES = r"^(?:[⚠❗‼👉➡▶🔹🔸📌💡📝🤔🧠ℹ⭐🔎🔍📢][\ufe0e\ufe0f]?\s?)+"
"""Pictures before a reply that say nothing of its answer, as marks do."""


_SIGNED = (
    r"(?:(?m:^)|(?<=[:.!]\s))(?:[✅✔☑✓]\ufe0f?\s?(?=(?:yes|yep|true|correct|ja|oui|sí|sì|sim|да)(?!\w))"
    r"|[❌✗✘✖]\ufe0f?\s?(?=(?:no|nope|false|incorrect|nein|non|não|нет)(?!\w)))"
)
"""A mark before the word that says the same."""
_ASKS_FOR_IT = r"(?:is|are|was|were|will|would|could)\s(?:there|it|that|this)\s(?:(?:be|any|a|still|really|serious|reasonable)\s){0,3}(doubt|question|problem)"
_NO_SUCH = r"(?<!\w)(?:there(?:'s|\sis)\s)?no\s{}s?(?:\sabout\s(?:it|that|this))?(?=\s?[.,;:!–—]|$|\s(?:whatsoever|at\sall|that|he|she|it|they|there|you|we|i)(?!\w))"
"""What denies such a question, and affirms others: `No doubt.`"""


def verdict_of_word(word: str) -> bool | None:
    """The verdict of an expected answer in words; None if it is none."""
    return whole_verdict(word.strip().lower())


def _without_quotations(reply: str) -> str:
    """A reply without what it quotes, unless that is a word or the whole reply."""
    if not any(mark in reply for mark in '"“«„'):
        return reply

    def hidden(found: re.Match[str]) -> str:
        inner = found[0][1:-1]
        if (
            len(inner.split()) < 2
            or whole_verdict(inner.lower()) is not None
            or (found.start() < 3 and found.end() > len(reply) - 4)
        ):
            return found[0]
        ends = inner.rstrip()[-1:] in (".", "!", "?") and compiled(r"\s+[^\Wa-z]").match(reply, found.end())
        return f"{HIDDEN}." if ends else HIDDEN

    return compiled(QUOTED).sub(hidden, reply)


def _answer_below(text: str, asked: YesNoQuestion | None) -> bool | None:
    """What a reply says that repeats the question first; None if it asks others."""
    first, _, rest = text.partition("\n")
    if next_question("\n" + rest) is not None:
        return None
    if asked and asked.words and len(set(content(first)) & set(asked.words)) < len(set(asked.words)) / 2:
        return None
    return _read(rest.strip(), asked)


def _object(reply: str) -> dict[str, object] | None:
    """The JSON object of a reply, if it has one."""
    kept, _ = without_reasoning(reply)
    text = "".join(reply[start:end] for start, end in kept)
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end - start > 20_000 or len(text) - (end - start) > 200:
        return None
    try:
        given = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) and given else None


_ANSWER_KEYS = listed(
    "answer final_answer verdict label result prediction decision classification conclusion response output class judgment"
    " judgement category sentiment"
)


def _of_object(given: dict[str, object], asked: YesNoQuestion | None) -> bool | None:
    lower = {str(key).lower(): value for key, value in given.items()}
    for key in _ANSWER_KEYS:
        if (name := key.replace(" ", "_")) in lower:
            return _of_value(lower[name], asked)
    read = {}
    for key, value in lower.items():
        if isinstance(value, bool) or (
            isinstance(value, str) and whole_verdict(value.strip().lower()) is not None
        ):
            verdict = _of_value(value, asked)
            if verdict is None:
                continue
            if asked and (words := signed(key.replace("_", " "), frozenset(asked.words))):
                opposite = sum(sign < 0 for word, sign in words if word in asked.words) % 2 == 1
                negated = compiled(r"(?:^|_)not(?:_|$)").search(key) is not None
                if leaves_open(words) and verdict == negated:
                    continue  # `"negative": false`
                verdict ^= opposite ^ negated
            read[key] = verdict
    return next(iter(read.values())) if len(set(read.values())) == 1 else None


def _of_value(value: object, asked: YesNoQuestion | None) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = " ".join(value.replace("_", " ").lower().split())
        return _read(text, asked) if text else None
    return None


_INITIALS = {"y": True, "n": False, "t": True, "f": False}


def _read(text: str, asked: YesNoQuestion | None) -> bool | None:
    if not text:
        return None
    if asked is not None and len(text) <= 3 and (short := _INITIALS.get(text.strip(" ().*"))) is not None:
        return short if asked.sign > 0 else None
    if asked is not None and len(text) <= 60:
        label = label_of(text, asked)
        if label is not None:
            return label
    whole = whole_verdict(text)
    if whole is not None:
        return whole if not asked or asked.sign > 0 or not is_truth(text) else None
    stated, unsettled = _statement(text, asked)
    if unsettled:
        return None
    silent = _abstains(text, asked)
    if stated is not None and stated[0] >= silent:
        if _by_case(text, stated[1], stated[0]):
            return None
        if not compiled(CORRECTION).search(text, stated[0]):
            return stated[1]
        later = [
            one
            for one in words_of(text, stated[0] + 1, asked)
            if one.kind is not Kind.SUPPOSED and _corrects(text, stated[0], one.at)
        ]
        return later[-1].yes if later else stated[1]
    if asked is not None and (marked := _marked_line(text, asked)) is not None:
        return marked
    if asked is not None and (compiled(BOTH).match(text) or compiled(PARTED).match(text)):
        return None
    sentences = split_sentences(text)
    found = words_of(text, 0, asked)
    if asked is not None:
        words = (one for word in found if (one := placed(word, sentences, asked)))
        found = sorted([*words, *AnswerClauses(text, sentences, asked).read()])
    verdicts = [one for one in found if one.kind is not Kind.SUPPOSED]
    supposed = {one.yes for one in found if one.kind is Kind.SUPPOSED}
    if not verdicts:
        verdicts = (whole_sentences(sentences) if asked is None else []) or opening(text)
    if silent:
        verdicts = [
            one for one in verdicts if one.at >= silent and (one.concludes or one.kind >= Kind.CONCLUDED)
        ]
    if verdicts and breaks_off(text) and _corrects(text, verdicts[-1].at, len(text)):
        return None  # taken back, and what it is then is not said any more
    decided = _decided(text, verdicts) if asked is None else _settled(text, verdicts, asked)
    if decided is None or _by_case(text, decided):
        return None
    if supposed <= {decided} or any(_decides(one) for one in verdicts):
        return decided
    return None  # `If it is new, yes. If not, it does not.`


_WORDS = (
    r"(?<!\w)(?:(?P<yes>yes|true|correct|ja|oui|sí|sì|sim|да)|nein|non|nee|нет|false|incorrect"
    r"|(?<!\Wsi\s)(?<!\Wse\s)(?:no|não)|(?:(?<=[,;]\s)|(?<=wise\s)|(?<=else\s)|(?<=and\s)|(?<=but\s)|(?<=sonst\s)|(?<=sten\s)|(?<=anders\s)|(?<=sinon\s))(?:not|nicht|pas|niet))(?!\w)"
)
"""Verdicts in two cases; `if not` names a case."""


def _by_case(text: str, yes: bool, at: int = -1) -> bool:
    """Whether a verdict is given for one of several cases only."""
    if not may_depend(text):
        return False
    found = compiled(_WORDS).finditer(text)
    return depends(text, (Span(one.start(), one.end(), one["yes"] is not None) for one in found), yes, at)


def _decides(one: SpottedVerdict) -> bool:
    """Whether a verdict stands against what is said under conditions or of others."""
    return one.concludes or one.kind is Kind.OPENS


def _abstains(text: str, asked: YesNoQuestion | None) -> int:
    """Where a reply has said for the last time that it gives no answer; 0 if it does not."""
    if not gate_of(text)[ABSTAINS]:
        return 0
    known = frozenset(asked.words) if asked else frozenset[str]()
    for begin, end in ((max(0, len(text) - CLOSING), len(text)), (0, min(CLOSING, len(text)))):
        last = 0
        for found in compiled(ABSTAINS).finditer(text, begin, end):
            said = found[0][-24:] if found[0].startswith("whether") else found[0]
            if (
                not is_asked(text, found.end())
                and not known & {word for word, _ in signed(said, known)}
                and not compiled(r"(?<!\w)(?:if|when|because|unless|though|although)\s$").search(
                    text, max(0, found.start() - 12), found.start()
                )
            ):
                last = found.end()
        if last:
            return last
    return 0


def _marked_line(text: str, asked: YesNoQuestion) -> bool | None:
    """What the last line says if it is a class or a mark: `→ contradiction`, `✅`, or the option that means yes."""
    last = text.rsplit("\n", 1)[-1].strip()
    if len(last) > 60:
        return None
    sign = compiled(r"^(?:[^.!?]{0,30}[:=]\s?)?(?P<mark>[✅✔☑✓❌✗✘✖])\ufe0f?\s?").search(last)
    if sign:
        good = sign["mark"] in "✅✔☑✓"
        word = phrased(r"(?!\w|-\w)").match(last, sign.end())
        return good if word is None or phrases()[word["phrase"]] == good else None
    if asked.options:
        option = compiled(_OPTION).fullmatch(last)
        if option:
            return dict(asked.options).get(option["option"])
    bare = last.lstrip("→-=>•* ").rstrip(". ")
    return label_of(bare, asked, heads=True) if "\n" in text and bare and len(bare.split()) <= 3 else None


def _statement(text: str, asked: YesNoQuestion | None) -> tuple[tuple[int, bool] | None, bool]:
    """Where a text states its answer, and what it is; and whether it states that it is both."""
    may = gate_of(text)
    cues = []
    if may[STATED_WORDS] or "a:" in text:
        cues = [*matches_at(compiled(STATED), text, places(text, STATED_STEMS))]
    if "\n" in text and (headed := [*compiled(HEADED).finditer(text)]):
        cues = sorted([*cues, *headed], key=lambda cue: cue.end(), reverse=True)
    either = cues[0] if cues else None
    if either is not None and compiled(EITHER).match(text, either.end()):
        return None, True
    for cue in cues:
        if compiled(NOT_STATED).search(text, max(0, cue.start() - 40), cue.start()):
            continue
        aside = text.rfind("(", max(0, cue.start() - 80), cue.start()) > text.rfind(")", 0, cue.start())
        if ("would be" in cue[0] or aside) and is_remark(text, cue.start()):
            continue
        if compiled(r"(?<!\w)(?:long|longer|full)\s$").search(text, max(0, cue.start() - 8), cue.start()):
            continue
        begin = max(text.rfind(mark, max(0, cue.start() - 200), cue.start()) for mark in ".;!?\n") + 1
        lead = text[begin : cue.end()]
        if compiled(REPORTED).search(lead) and not compiled(_CONTRASTS).search(lead):
            continue
        found = _after_statement(text, cue.end(), heading="\n" in cue[0])
        if found is not None and compiled(r"(?:n't|cannot\sbe|anything\sbut)\s?$").search(cue[0]):
            found = not found
        if found is None and text.startswith("that ", cue.end()):
            anaphor = compiled(ANAPHOR).match(text, cue.end() + 5)
            found = None if anaphor is None else not is_negated(anaphor)
        if found is None and asked is not None and (said := compiled(SAYS_SO).match(text, cue.end())):
            found = said["yes"] is not None
        if found is None and asked is not None:
            stop = compiled(r"[.,;!\n]|$").search(text, cue.end())
            found = label_of(text[cue.end() : stop.start() if stop else None][:60], asked)
        if found is not None:
            return (cue.end(), found), False
    if asked is not None and may[LABELLED]:
        for cue in reversed([*compiled(_LABELLED_LINE).finditer(text, max(0, len(text) - 4_000))]):
            found = label_of(cue["label"], asked)
            if found is not None:
                return (cue.end(), found), False
    return None, False


def _after_statement(text: str, at: int, *, heading: bool) -> bool | None:
    """What is stated at `at`: a verdict, or `not` and a verdict; below a heading a word before a noun is none: `Yes men are bad.`"""
    found = phrased(r"(?!\w|-\w|'t)", r"(?P<not>not\s|nicht\s|pas\s)?").match(text, at)
    if found is None:
        return None
    if compiled(EITHER).match(text, at):
        return None
    word = found["phrase"]
    if not compiled(NOT_A_NOUN).match(text, found.end()) and word in (
        *BEFORE_NOUNS,
        "yes" if heading else "no",
    ):
        following = compiled(r"\s([^\W\d_]+)").match(text, found.end())
        if following and following[1] not in GOES_ON_WITH:
            return None
    return (not phrases()[word]) if found["not"] else phrases()[word]


def _decided(text: str, verdicts: list[SpottedVerdict]) -> bool | None:
    """The verdict of a reply whose question is not known."""
    if not verdicts:
        return None
    if len({one.yes for one in verdicts}) == 1:
        return verdicts[0].yes
    last = verdicts[-1]
    for number, one in enumerate(verdicts[:-1]):
        following = verdicts[number + 1]
        if one.yes != following.yes and _corrects(text, one.at, following.at):
            return last.yes
    if verdicts[0].kind is Kind.OPENS:
        first = verdicts[0].yes
        if verdicts[1].yes != first and verdicts[1].at - verdicts[0].at <= AT_ONCE:
            return None  # "Yes, it's false."
        return first if all(one.yes == first for one in verdicts if one.kind >= Kind.CONCLUDED) else None
    begin = max(text.rfind(mark, max(0, last.at - 400), last.at) for mark in ".;!?\n") + 1
    return last.yes if compiled(CONCLUSION).search(text, begin, last.at) else None


def _settled(text: str, verdicts: list[SpottedVerdict], asked: YesNoQuestion) -> bool | None:
    """The verdict of a reply to a known question."""
    if asked.negative or asked.sign < 0:
        words = [one for one in verdicts if one.kind >= Kind.CONCLUDED]
        verdicts = words or verdicts  # `Yes, it is not.`
    taken_back = (
        [found.start() for found in compiled(TAKES_BACK).finditer(text)]
        if may_match(TAKES_BACK, text)
        else []
    )
    if taken_back and verdicts:
        after = max(taken_back)
        later = [one for one in verdicts if one.at >= after]
        if later:
            verdicts = later
        else:
            return None
    strong = verdicts
    if not strong:
        return None
    if len({one.yes for one in strong}) == 1:
        return strong[0].yes
    first, last = strong[0], strong[-1]
    if first.kind is Kind.OPENS:
        other = next(one for one in strong if one.yes != first.yes)
        if other.kind is Kind.JUDGED and other.at - first.at <= AT_ONCE:
            return None  # `No, that's true.`
        against = [one for one in strong if one.yes != first.yes and one.kind >= Kind.FIRM]
        if against and all(one.kind is Kind.CONCLUDED and not one.concludes for one in against):
            granted = len(against) > 1 or compiled(
                r"[.!?\n]\s?(?:but|however|yet|still|and\s(?:yes|no))(?!\w)"
            ).search(text, against[-1].at)
            if granted:
                return first.yes  # `No. Yes, they look alike. But …`
        return None if against else first.yes
    concluding = [one for one in strong if one.concludes]
    if concluding and concluding[-1] is last and len({one.yes for one in concluding}) == 1:
        return last.yes
    if (
        concluding
        and concluding[-1] is last
        and last.kind >= max(one.kind for one in strong[:-1] if one.yes != last.yes)
    ):
        return last.yes
    return None


def _corrects(text: str, earlier: int, later: int) -> bool:
    return compiled(CORRECTION).search(text, max(earlier, later - 400), later) is not None

"""A quick path for replies that open with `Yes` or `No` and contain no word that could change it, end in `The answer is no.` or `So yes, …`,
repeat the question as a statement, call it true or false, or contain no word for yes or no at all.

It gives exactly what the full reader gives: the word that opens a reply decides, unless another verdict, a correction or an
abstention follows, or the question asks to judge a statement; the last statement decides, unless the reply knows several cases.
`Yes, Canberra is the capital of Australia.` takes 6 µs of CPU instead of 256 with the question, four sentences that end in `So the
answer is no.` 5 instead of 51. `BENCHWRIGHT_PLAIN=1` switches it off.
"""

from __future__ import annotations

import re
from functools import cache

from benchwright.core import FAST_PATHS
from benchwright.scorers._asked import NEGATIVE, YesNoQuestion, content, signed
from benchwright.scorers._conditions import TIES, may_depend
from benchwright.scorers._replies import is_plain
from benchwright.scorers._restated import MEANS_ELSE, shares
from benchwright.scorers._triggers import Triggers, gate_of, words_of
from benchwright.scorers._verdict_phrases import compiled, phrased
from benchwright.scorers._verdict_words import (
    ABSTAINS,
    BOTH,
    BY_ITSELF,
    CONCEDES,
    CONTRAST,
    CORRECTION,
    FOUND_THAT,
    JUDGES,
    LABELLED,
    MARKED,
    PREDICATE_STEMS,
    PREDICATE_WORDS,
    REPORTED,
    SAYS_SO,
    SPEAKS_OF_ELSE,
    STATED_STEMS,
    STATED_WORDS,
    TAKES_BACK,
    UNKNOWN,
)

_LONG = 2_000
_FEW = 4
"""Words of a last line that may be the name of a class or an option."""
_VERBS = frozenset(("is", "are", "was", "were"))
_CONTENT = 2
"""Words of a question that a reply repeats."""
_SHORT = 60
"""Characters of a reply that may be the name of a class."""
_WHOLE = {form: word == "yes" for word in ("yes", "no") for form in (word, f"{word}.", f"{word}!")}


def read_quickly(reply: str, asked: YesNoQuestion | None) -> bool | None:
    """The verdict of a plain reply; None if the full reader must read it."""
    if not FAST_PATHS or len(reply) > _LONG:
        return None
    lower = reply.lower().replace("\u2019", "'")
    if lower in _WHOLE:
        return _WHOLE[lower]
    if len(lower) < _SHORT // 2 and (judged := _judged().fullmatch(lower)):
        plainly = asked is None or (asked.sign > 0 and not asked.negative)
        return (judged["good"] is not None) != (judged["not"] is not None) if plainly else None
    if "answer" in lower[-40:]:
        if stated := _stated().fullmatch(lower):
            return stated["word"] == "yes"
        ends = _ends().search(lower, max(0, len(lower) - _SHORT))
        if ends and is_plain(reply) and not may_depend(lower) and (asked is None or len(lower) > _SHORT):
            return ends["word"] == "yes"
    if asked is not None:
        before, stop, last = lower.rpartition(". ")
        if _repeats(last, asked) and (not stop or _is_beside(before, asked)):
            return True
    if asked is not None and asked.judges:
        return None
    if not lower.startswith(("yes", "no", "**yes", "**no")):
        return _concluded(lower, asked) if " yes, " in lower else None
    if "*" in lower or "\n" in lower:
        lower = _of_lines(lower, asked)
    opened = _opened().fullmatch(lower)
    if opened is None or not _doubts().none_in(words_of(opened["rest"])):
        return None
    if asked is not None:
        begin = opened.end("word")
        said = lower[begin : lower.find(". ", begin + 2) if ". " in lower[begin + 2 :] else len(lower)]
        if compiled(SPEAKS_OF_ELSE).match(lower, begin):
            return None
        if not _judging().none_in(words_of(said)) and compiled(JUDGES).search(said):
            return None
    return opened["word"] == "yes"


def says_nothing(reply: str) -> bool:
    """Whether a plain reply to an unknown question contains no word for yes or no."""
    lower = reply.lower()
    return FAST_PATHS and _unlike_text().search(lower) is None and _verdicts().none_in(words_of(lower))


def _is_beside(before: str, asked: YesNoQuestion) -> bool:
    """Whether sentences in plain letters say nothing of what was asked."""
    if not before[-4:].isalpha() or before.endswith(("prof", "approx")):  # it may be an abbreviation
        return False
    if _unlike_text().search(before) or shares(asked, before):
        return False
    may = gate_of(before)
    return not any(may[pattern] and compiled(pattern).search(before) for pattern in _alone())


def _concluded(lower: str, asked: YesNoQuestion | None) -> bool | None:
    """The verdict of a last sentence that begins with `So yes,`, if nothing in the reply can deny it."""
    found = _concludes().fullmatch(lower)
    if found is None or not _doubts().none_in(words_of(found["before"] + found["rest"])):
        return None
    if asked is None:
        return True
    if asked.negative or asked.sign < 0 or any(sign < 0 for _, sign in signed(lower, frozenset(asked.words))):
        return None
    return True if _turns().none_in(words_of(found["before"] + found["rest"])) else None


def _repeats(lower: str, asked: YesNoQuestion) -> bool:
    """Whether a reply is the question with its verb behind the subject: `Canberra is the capital.`"""
    said, words = lower.rstrip(".!\n").split(" "), asked.text.split(" ")
    if len(said) != len(words) or words[0] not in _VERBS or said[-1] != words[-1] or words[0] not in said[1:]:
        return False
    at = said.index(words[0], 1)
    if [*said[:at], *said[at + 1 :]] != words[1:] or _unlike_words().search(lower.rstrip(".!\n")):
        return False
    if (
        asked.judges
        or asked.negative
        or asked.sign < 0
        or not _CONTENT <= len(set(asked.words)) == len(asked.words)
    ):
        return False
    return content(" ".join(said[:at])) != () and _turns().none_in(words_of(lower))


def _of_lines(lower: str, asked: YesNoQuestion | None) -> str:
    """A reply without bold print, in one line; nothing if its last line or other markup may decide."""
    last = lower.rstrip().rpartition("\n")[2]
    if not is_plain(lower) or _inside().search(lower) or (asked is not None and len(last.split()) <= _FEW):
        return ""
    lower = lower.replace("**", "").rstrip("\n")
    return _line_ends().sub(". ", lower)


_LEAD = r"(?:(?:so|thus|therefore|hence),? )?(?:the |my )?(?:(?:final|correct|short) )?answer"


@cache
def _stated() -> re.Pattern[str]:
    return re.compile(rf"{_LEAD}(?: is|:|: is) (?P<word>yes|no)[.!]?\n?")


@cache
def _judged() -> re.Pattern[str]:
    return re.compile(
        r"(?:that|this|it)(?: is|'s)(?P<not> not)? (?:(?P<good>true|correct)|false|incorrect)[.!]?\n?"
    )


@cache
def _ends() -> re.Pattern[str]:
    """The end of the sentence before, and a statement, perhaps in bold."""
    return re.compile(
        rf"[.!?]\s\n?(?:\*\*)?{_LEAD}(?: is|:|: is|:\*\*) (?P<bold>\*\*)?(?P<word>yes|no)(?(bold)\*\*)[.!]?(?:\*\*)?\n?\Z"
    )


@cache
def _unlike_words() -> re.Pattern[str]:
    return re.compile(r"[^a-z0-9 ]")


_TURNS = (
    BY_ITSELF,
    ABSTAINS,
    CORRECTION,
    TAKES_BACK,
    LABELLED,
    JUDGES,
    UNKNOWN,
    REPORTED,
    CONCEDES,
    SAYS_SO,
    TIES,
    NEGATIVE,
    *MEANS_ELSE,
)
_REFERS = (
    r"(?<!\w)(?:but|because|since|due|given|so|there|it|this|that|they|these|those|he|she|we|you|i)(?!\w)"
)


@cache
def _turns() -> Triggers:
    """The words by which the full reader takes such a reply for anything else."""
    return Triggers((*_TURNS, _REFERS), (*STATED_STEMS, *PREDICATE_STEMS))


@cache
def _alone() -> tuple[str, ...]:
    """What does so where no word of the question is near."""
    return (*_TURNS, *_verdict_words(), BOTH, FOUND_THAT, MARKED, CONTRAST)


@cache
def _verdict_words() -> tuple[str, ...]:
    """The words for yes and no, and those that lead them in."""
    return BY_ITSELF, PREDICATE_WORDS, STATED_WORDS, phrased(r"(?!\w)", r"(?<!\w)").pattern, "fazit"


@cache
def _verdicts() -> Triggers:
    return Triggers(_verdict_words())


@cache
def _unlike_text() -> re.Pattern[str]:
    return re.compile(r"[^a-z0-9 .,;!?()'-]|[^a-z0-9 ][^a-z0-9 ]|^q ")


@cache
def _inside() -> re.Pattern[str]:
    """Bold print that parts a word or stands by itself, and other emphasis or headings."""
    return re.compile(r"\w\*\*\w|(?:^|\s)\*\*(?:\s|$)|\*{3}|(?<!\*)\*(?!\*)|\n\s*[#>]")


@cache
def _line_ends() -> re.Pattern[str]:
    """Where a line ends, with the stop before it."""
    return re.compile(r"[.:;,!]?[ ]?\n[\n ]*")


_PLAIN = r"(?:[a-z0-9;()%$&/+=\u00e0-\u00f6\u00f8-\u00ff\u2013\u2014-]|[,:!](?![,:!])|(?<=[a-z])'(?=[a-z])|[ ](?![ ])|\.(?![.]))"


@cache
def _concludes() -> re.Pattern[str]:
    """Sentences in plain letters, and one that begins with a verdict."""
    return re.compile(
        rf"(?P<before>{_PLAIN}+?[.!] )(?:so|thus|therefore|hence),? yes, (?P<rest>[a-z0-9 -]+)[.!]\n?"
    )


@cache
def _opened() -> re.Pattern[str]:
    """A text in plain letters, of which at least four words follow the one that opens it."""
    return re.compile(
        rf"(?P<word>yes|no)(?=[,.!;][ ]|[ ][\u2013\u2014-][ ])(?P<rest>(?=(?:[^ ]*[ ]){{4}}){_PLAIN}*+)(?<=[.!])\n?"
    )


@cache
def _doubts() -> Triggers:
    """The words by which the full reader takes another verdict, or none, from such a reply."""
    return Triggers(
        (BY_ITSELF, ABSTAINS, CORRECTION, TAKES_BACK, LABELLED), (*STATED_STEMS, *PREDICATE_STEMS, "fazit")
    )


@cache
def _judging() -> Triggers:
    return Triggers((JUDGES,))

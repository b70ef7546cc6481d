"""Finds option texts in a reply, as whole words or whole numbers: which are named, which are denied, and which one a list
marks as right.

A list has its options one below the other, and exactly one of them is marked:

    A) 2258: too small
    B) 2263: correct ✓
    C) 2281: too large
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import lru_cache

from benchwright.scorers._mcq.extraction import ChoiceRule, compiled
from benchwright.scorers._mcq.rules import RULES
from benchwright.scorers._mcq.view import HEAD_CHARS, TAIL_CHARS, ReplyText, comparable
from benchwright.scorers._replies import Span, listed
from benchwright.scorers._text import is_whole

# An option that is one of these words is named only if the word is by itself: "No." but not "no idea".
FUNCTION_WORDS = frozenset(
    listed("a an the i it is in on at to of or and not no so as be we he she us by if one do for")
)
# An option that is one of these words is named only where it is stated: alone, quoted, or at the end of a sentence.
_WORDS = """
    right left up down true false yes none some any most all many few more less both either neither other same different
    can could may might must should shall will would has have had was were are does did been being
    this that these those there here then now who whom whose which what when where why how
    good bad better best worse worst well long short high low big small large great little much
    first second third last next new old early late before after above below over under out off with without from into
    correct incorrect wrong sure certain likely unlikely possible impossible always never often sometimes
    they them their he his him her its you your me my our because since although however therefore but than too also very
    know think say see go make take give use read write point case fact time way place part thing kind
"""
COMMON_WORDS = frozenset(_WORDS.split())
_ENDS_SENTENCE = r"\s?[)\]]?(?:[.!]|\n|$|\s(?:because|since)\b)"
_IDIOM = r"(?<![^\W_])(?:at|all|no|nothing|anything|something|one|ones|you're|you\sare|that's|not|if|i|you|we|they|he|she|it|and|or|as|just|after)\s(?:(?<=no\s)\w+\s)?$"
_ENDS_CLAUSE = r"\s?[)\]]?(?:[.,;:!)\]–—]|\n|$|\s(?:because|since|as|due\sto|given)\b|\sof\s(?:them|these|the\sabove)(?=\s?[.,!\n]|\sare\b|$))"
_SAID_TO_BE = r"(?:^|[.;:!?\n(\[]|(?<![^\W_])(?:is|be|was|says?|ist|est|es))\s?(?:the\s)?$"
_WHAT_IS = r"(?<![^\W_])(?:what|whatever|who|nothing|anything|something|little)(?:'s|\s(?:is|was|are))\s$"
_REACH = 48
_LINKS = (
    r"(?:(?:i|we|you|it|is|was|be|been|to|in|at|by|on|from|with|the|a|an|that|this|think|believe|say|saying|mean|feel|agree|claim|conclude"
    r"|necessarily|really|actually|simply|just|true|sure|certain|convinced|option|choice|answer|correct|right|best"
    r"|final|equal|equals)\s){0,6}"
)
_DENIED_BEFORE = (
    r"(?:(?<![^\W_])(?:people|many|some|others)\s(?:\w+\s){0,3}(?:say|think|guess|pick|choose|answer|believe|assume)\s|(?<![^\W_])(?:not|never|neither|nor|cannot|without|except|excluding|unlike|than|(?:anything|everything|anywhere|all)\sbut|instead\sof|rules?\sout|ruled\sout"
    r"|ruling\sout|eliminat(?:e|es|ed|ing)|exclud(?:e|es|ed|ing)|reject(?:s|ed|ing)?)\s|n't\s"
    rf"|不是|并非|而非|不选|排除|不){_LINKS}[(\[]?(?:[a-z][).:]\s?)?$"
)
_DENIED_AFTER = (
    r"[)\]]?,?\s(?:is|was|are|were|would\sbe|seems|looks|appears)(?:(?:n't|\snot)\s(?:the\s)?(?:correct|right|true|answer|it)\b"
    r"|\s(?:\w{2,12}\s)?(?:wrong|incorrect|false|impossible|ruled|excluded|eliminated|too)\b)"
    r"|[)\]]?[.,;–—-]{1,2}\s?(?:(?:but|however|though|although|yet|which)[,\s]{1,2})?(?:(?:that|this|it)(?:'s|\s(?:is|was))|is)\s(?:\w{2,12}\s)?"
    r"(?:wrong|incorrect|false|mistaken|not\s(?:correct|right|true|it|the\s(?:answer|case))|a\s(?:mistake|myth|misconception|trap))(?![\w-])"
    r"|[)\]]?\s?(?:是错|错|不对|不是正确|不是答案|不正确|有误)"
)
_OR = r"[)\]]?,?\s(?:or|nor|and)\s(?:the\s|an?\s)?[(\[]?"
_BY_ITSELF_BEFORE = r"(?:^|[.,;:!?\n(\[]|(?<![^\W_])(?:is|be|says?))\s?$"
_BY_ITSELF_AFTER = r"\s?[)\]]?(?:[.,;:!)\]]|\n|$)"
_ASKED = r"\s?[)\]]?\s?\?(?!\s(?:yes|yep|indeed|correct|right|exactly|sure)(?!\w))"
_OPENING = r"[\s({\[<]{0,4}"
LETTER_INSIDE = r"(?<![^\W_])[a-z](?![^\W_])"
_LABEL = r"[)\].:]{1,2}\s?"
"""Between a letter and the text of its option."""
_ARTICLE = r"[\s({\[<]{0,4}(?:(?:the|an?|about|approximately|exactly|equal\sto)\s){0,2}[({\[]?"


def texts_of(options: Mapping[str, str]) -> OptionTexts:
    """The texts of a row's options; rows of a classification have the same ones."""
    texts = tuple([(letter, str(option)) for letter, option in options.items()])
    return _prepared(texts) if sum(len(text) for _, text in texts) < _KEPT else OptionTexts(options)


_KEPT = 4_000
"""Characters of options that are remembered."""


@lru_cache(maxsize=64)
def _prepared(options: tuple[tuple[str, str], ...]) -> OptionTexts:
    return OptionTexts(dict(options))


class OptionTexts:
    """The texts of one row's options, prepared for searching."""

    __slots__ = ("_firsts", "_lettered", "_longer", "_needles", "_own")

    def __init__(self, options: Mapping[str, str]) -> None:
        by_text: dict[str, list[str]] = {}
        self._own: dict[str, tuple[str, ...]] = {}
        for letter, option in options.items():
            text = str(option)
            if len(text) > HEAD_CHARS + TAIL_CHARS:  # longer than anything that is read
                continue
            whole = comparable(text)
            needle = whole.rstrip(" .,;:!") or whole
            if not needle or (len(needle) == 1 and needle.upper() in options):  # letters mean options
                continue
            spellings = (needle, *_other_spellings(needle))
            self._own[letter] = spellings
            for spelling in spellings:
                by_text.setdefault(spelling, []).append(letter)
        self._needles = {
            needle: tuple(by_text[needle]) for needle in sorted(by_text, key=lambda n: (-len(n), n))
        }
        self._firsts = frozenset(needle[0] for needle in self._needles)
        self._lettered = [needle for needle in self._needles if compiled(LETTER_INSIDE).search(needle)]
        self._longer: dict[str, list[tuple[str, int]]] | None = None

    def at(self, view: ReplyText, at: int) -> Span[tuple[str, ...]] | None:
        """The longest option text at `at`, after spaces, brackets and an article."""
        text = view.lower
        opening = compiled(_OPENING).match(text, at)
        article = compiled(_ARTICLE).match(text, at)
        begin = opening.end() if opening else at
        for place in (begin, article.end()) if article and article.end() != begin else (begin,):
            if text[place : place + 1] not in self._firsts:
                continue
            for needle, letters in self._needles.items():
                if text.startswith(needle, place) and self._stands(text, place, needle):
                    return Span(place, place + len(needle), letters)
        return None

    def covers(self, view: ReplyText, at: int) -> bool:
        """Whether the letter at `at` is part of an option's text, such as `Both A and B`, and says nothing itself."""
        if not self._lettered:
            return False
        if view.covered is None:
            spans = (
                (place, place + len(needle))
                for needle in self._lettered
                for place in self._places(view.lower, needle)
            )
            view.covered = sorted(spans)
        near = bisect_right(view.covered, (at, len(view.text)))
        return any(start <= at < end for start, end in view.covered[max(0, near - 26) : near])

    def own_at(self, view: ReplyText, at: int, letter: str) -> int | None:
        """Where the text of the option `letter` ends, if it is at `at`."""
        for needle in self._own.get(letter, ()):
            if view.lower.startswith(needle, at) and is_whole(view.lower, at, at + len(needle)):
                return at + len(needle)
        return None

    def overlap(self, view: ReplyText, start: int, end: int) -> bool:
        """Whether the words from `start` to `end` belong to an option's text."""
        return any(
            view.lower.find(needle, max(0, start - len(needle) + 1), end + len(needle) - 1) >= 0
            for needle in self._needles
            if " " in needle
        )

    def contradict(self, view: ReplyText, at: int, letter: str) -> bool:
        """Whether the letter at `at` comes with the text of another option: `B) Jupiter` where Jupiter is C."""
        label = compiled(_LABEL).match(view.lower, at + 1)
        if label is None or self.own_at(view, label.end(), letter) is not None:
            return False
        other = self.at(view, label.end())
        return other is not None and other.start == label.end() and letter not in other.value

    def named(self, view: ReplyText) -> list[Span[tuple[str, ...]]]:
        """Every option text that the view names and does not deny, in order; texts inside a longer one do not count."""
        found: list[Span[tuple[str, ...]]] = []
        text = view.lower
        for needle, letters in self._needles.items():
            found += [
                Span(at, at + len(needle), letters)
                for at in self._places(text, needle)
                if not self._inside_longer(text, at, needle)
                and (needle not in COMMON_WORDS or _is_stated(view, at, at + len(needle)))
            ]
        found.sort()
        named: list[Span[tuple[str, ...]]] = []
        denied_until: int | None = None
        for one in found:
            joined = denied_until is not None and compiled(_OR).fullmatch(text, denied_until, one.start)
            if joined or denied(text, one.start, one.end):
                denied_until = one.end
                continue
            denied_until = None
            if compiled(_ASKED).match(text, one.end):
                while named and compiled(_OR).fullmatch(text, named[-1].end, one.start):
                    one = named.pop()  # `Paris or Rome?`
            else:
                named.append(one)
        return named

    def _places(self, text: str, needle: str) -> Iterator[int]:
        at = text.find(needle)
        while at >= 0:
            if self._stands(text, at, needle):
                yield at
            at = text.find(needle, at + len(needle))

    def _stands(self, text: str, at: int, needle: str) -> bool:
        end = at + len(needle)
        if not is_whole(text, at, end):
            return False
        if needle not in FUNCTION_WORDS:
            return True
        before = compiled(_BY_ITSELF_BEFORE).search(text, max(0, at - 8), at)
        return before is not None and compiled(_BY_ITSELF_AFTER).match(text, end) is not None

    def _inside_longer(self, text: str, at: int, needle: str) -> bool:
        if self._longer is None:
            self._longer = {
                short: [
                    (long, offset)
                    for long in self._needles
                    if len(long) > len(short)
                    for offset in _offsets(long, short)
                ]
                for short in self._needles
            }
        return any(
            at >= offset
            and text.startswith(long, at - offset)
            and is_whole(text, at - offset, at - offset + len(long))
            for long, offset in self._longer[needle]
        )


def _is_stated(view: ReplyText, start: int, end: int) -> bool:
    """Whether a common word is given as an answer, not merely used."""
    if view.is_marked(start, end):
        return True
    text = view.lower
    if compiled(_WHAT_IS).search(text, max(0, start - 16), start):
        return False
    if compiled(_SAID_TO_BE).search(text, max(0, start - 12), start) and compiled(_ENDS_CLAUSE).match(
        text, end
    ):
        return True
    return (
        compiled(_ENDS_SENTENCE).match(text, end) is not None
        and compiled(_IDIOM).search(text, max(0, start - 24), start) is None
    )


def denied(text: str, start: int, end: int) -> bool:
    """Whether the lower-case text denies the part from `start` to `end`: `not 2258`, `2258 is wrong`."""
    if compiled(_DENIED_BEFORE).search(text, max(0, start - _REACH), start):
        return True
    return compiled(_DENIED_AFTER).match(text, end) is not None


def _other_spellings(needle: str) -> tuple[str, ...]:
    """A whole number with or without commas between thousands."""
    if needle.isascii() and needle.isdigit():
        if 4 <= len(needle) <= 30 and needle[0] != "0":
            return (f"{int(needle):,}",)
    elif "," in needle and len(needle) <= 40 and compiled(r"[1-9]\d{0,2}(?:,\d{3})+").fullmatch(needle):
        return (needle.replace(",", ""),)
    return ()


def _offsets(long: str, short: str) -> list[int]:
    offsets: list[int] = []
    at = long.find(short)
    while at >= 0 and len(offsets) < 8:
        offsets.append(at)
        at = long.find(short, at + 1)
    return offsets


_ITEM = (
    r"(?:(?m:^)[ \-•·*]{0,4}(?:(?i:option|choice|is\sit)\s|选项\s?)?[(\[]?(?P<letter>[A-Z])(?:[)\].:,?]{1,2}|(?=\s?[✅✔✓☑❌✗✘]|\s[–—-]\s))"
    r"|(?<=[.;,:!✅✔✓☑❌✗✘])[ ](?:(?i:is\sit)\s)?[(\[]?(?P<next>[A-Z])(?:[)\]]{0,2}[:?]|[)\]]|(?=\s?[✅✔✓☑❌✗✘])))\s?"
)
_RIGHT = (
    r"\s?[)\].,;:(–—-]{0,3}\s?(?:[✅✔✓☑]|(?i:this\sis\s)?(?i:correct|right|yes|true)(?![\w-])(?=\s?[✅✔✓☑)\].,;!]|\s?\n|\s?$)"
    r"|(?:正确|正確)(?=\s?[).,;!]|\s?\n|\s?$))"
)
_TICKED = r"[^\n✅✔✓☑❌✗✘]{0,400}[✅✔✓☑]\s?(?:\n|$)"
_LISTED = 3
"""The fewest options in a list. In a shorter one, the marks may answer which of two options is wrong."""


def marked_option(
    view: ReplyText, options: Mapping[str, str], texts: OptionTexts
) -> tuple[int, str, ChoiceRule] | None:
    """Place and letter of the only option in a list that is marked as right."""
    listed: set[str] = set()
    right: dict[str, int] = {}
    for item in compiled(_ITEM).finditer(view.text):
        letter = item["letter"] or item["next"]
        if letter not in options:
            continue
        listed.add(letter)
        own = texts.own_at(view, item.end(), letter)
        if compiled(_RIGHT).match(view.text, item.end() if own is None else own) or (
            item["letter"] and compiled(_TICKED).match(view.text, item.end())
        ):
            right[letter] = max(item.start("letter"), item.start("next"))
    if len(right) != 1 or len(listed) < _LISTED:
        return None
    ((letter, at),) = right.items()
    return at, letter, RULES["marked"]

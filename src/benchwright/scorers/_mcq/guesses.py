"""Guesses a choice: the option whose text is nearest to a reply, or the option that AISBench would choose.

`aisbench_choice` is for scores that are compared with those of AISBench. A golden file in the tests compares it with the
released package (ais_bench_benchmark 3.1.20260630).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from benchwright.scorers._mcq.extraction import Extraction, nothing
from benchwright.scorers._mcq.view import comparable

_LONGEST = 20_000
"""The most characters of a reply or an option that are compared; nothing longer is a misspelling."""


def nearest_choice(text: str, options: Mapping[str, str], *, limit: float = 0.2) -> Extraction:
    """The option whose text the whole reply misspells: method `levenshtein`, or `none`.

    The reply is compared, without case, emphasis and outer punctuation, with each option's text, and with letter and text
    (`B. London`). The distance (insertions, deletions, replacements) may be at most `limit` times the length of the
    option's text, and no other option may be as near. Two different numbers are never near.

    >>> options = {"A": "Amsterdam", "B": "Rotterdam"}
    >>> nearest_choice("Amsterdm", options)
    Extraction(letter='A', method='levenshtein', rule='nearest_text', start=0, end=8)
    >>> nearest_choice("Utrecht", options).letter is None
    True
    """
    if not text or text.isspace():
        return nothing("empty")
    if not options:
        return nothing("no_options")
    if len(text) > 2 * _LONGEST:
        return nothing("not_near")
    reply = comparable(text).strip(" \n.,;:!?()[]")
    if not reply:
        return nothing("not_near")
    best: float | None = None
    nearest: list[str] = []
    for letter, option in options.items():
        distance = _distance(reply, letter, str(option), limit)
        if distance is None:
            continue
        if best is None or distance < best:
            best, nearest = distance, [letter]
        elif distance == best:
            nearest.append(letter)
    if not nearest:
        return nothing("not_near")
    if len(nearest) > 1:
        return nothing("ambiguous")
    start = len(text) - len(text.lstrip())
    return Extraction(nearest[0], "levenshtein", "nearest_text", start, len(text.rstrip()))


def _distance(reply: str, letter: str, option: str, limit: float) -> int | None:
    """How far the reply is from one option; None: too far."""
    if len(option) > _LONGEST:
        return None
    expected = comparable(option)
    allowed = int(limit * len(expected) + 1e-9)
    if not expected or len(reply) > len(expected) + 3 + allowed:
        return None
    from rapidfuzz.distance import Levenshtein  # 20 ms to import, and most replies never get here

    spellings = [expected, f"{letter.lower()}. {expected}", f"{letter.lower()}) {expected}"]
    if _is_number(reply) and _is_number(expected):
        spellings = [expected] if reply == expected else []
    distances = [int(Levenshtein.distance(reply, spelling, score_cutoff=allowed)) for spelling in spellings]
    near = [distance for distance in distances if distance <= allowed]
    return min(near) if near else None


def _is_number(text: str) -> bool:
    bare = text.replace(",", "").replace(" ", "").lstrip("+-").removesuffix("%")
    return bare.replace(".", "", 1).isdigit()


_COMPARED_CHARS = 50_000
"""The most characters in an edit distance, because its cost is the product of both lengths."""

# `@` is replaced by the row's letters. Each phrase is searched for in the whole reply, and the first that contains a
# letter decides. The phrases and their order were found by passing thousands of replies to the released function.
_PHRASES: tuple[tuple[str, str], ...] = (
    ("zh_answer", r"答案是?\s*([@])"),
    ("zh_answer_wide_colon", r"答案是?\s*：\s*([@])"),
    ("zh_answer_colon", r"答案是?\s*:\s*([@])"),
    ("zh_answer_option", r"答案选项应?该?是\s*([@])"),
    ("zh_answer_option_as", r"答案选项应?该?为\s*([@])"),
    ("zh_answer_should", r"答案应该?[是选]\s*([@])"),
    ("zh_answer_option_colon", r"答案选项[是为]?\s*[:：]?\s*([@])"),
    ("zh_answer_as", r"答案为\s*([@])"),
    ("zh_chosen", r"选择?\s*([@])"),
    ("zh_only", r"只有选?项?\s*([@])\s*正确"),
    ("zh_right", r"([@])\s*是正确的"),
    ("zh_option_right", r"选项\s*([@])\s*正确"),
    ("ends", r"(?:[\s,，。:：是为]|因此|所以|[\s,，:：][即故])([@])[.。,，]?\s*\Z"),
    ("zh_answer_holds", r"答案是\s*(\S{1,200})(?:。|\Z)"),
    ("zh_answer_should_hold", r"答案应该是\s*(\S{1,200})(?:。|\Z)"),
    ("zh_answer_as_holds", r"答案为\s*(\S{1,200})(?:。|\Z)"),
    ("answer_colon", r"(?i:answer)\s*:\s*([@])"),
    ("answer_is", r"[Tt]he answer is:?\s+\(?([@])"),
    ("answer_is_bold", r"[Tt]he answer is:?\s+\(?\*{1,2}([@])"),
    ("answer_is_option", r"[Tt]he answer is option\s+\(?([@])"),
    ("correct_answer_is", r"[Tt]he correct answer is:?\s+\(?([@])"),
    ("correct_answer_is_option", r"[Tt]he correct answer is option\s+\(?([@])"),
    ("correct_answer_boxed", r"\A(?>.*?[Tt]he correct answer(?: option)? is).*?boxed\{([@])\}"),
    ("correct_option_boxed", r"\A(?>.*?[Tt]he correct option is).*?boxed\{([@])\}"),
    ("answer_to_question", r"[Tt]he answer to the question is:?\s+\(?([@])"),
    ("begins", r"\A(?:选项\s*)?([@])[\s$,.:。，：项选]|\A选项\s*([@])"),
    ("first_item", r"1.\s?(.*)\Z"),
)


def aisbench_choice(text: str, options: Mapping[str, str]) -> Extraction:
    """The letter that AISBench would choose, by `exact`, `pattern`, `option_text`, or a guess `levenshtein`.

    Something is always chosen, unless there are no options. Ties go to the first letter.

    >>> options = {"A": "2258", "B": "2263", "C": "2281"}
    >>> [aisbench_choice(reply, options).letter for reply in ("B", "b", "", "The correct answer is **B**")]
    ['B', 'A', 'A', 'A']
    """
    if not options:
        return nothing("no_options")
    text = text or ""
    reply = text.strip()
    begin = len(text) - len(text.lstrip()) if reply else 0
    if reply in options:
        return Extraction(reply, "exact", "aisbench_exact", begin, begin + len(reply))
    for name, phrase in _compiled("".join(map(re.escape, options))):
        found = phrase.search(reply)
        if found is None:
            continue
        group = found.lastindex if found.lastindex and found[found.lastindex] else 0
        for letter in options:
            at = found[group].find(letter)
            if at >= 0:
                start = begin + found.start(group) + at
                return Extraction(letter, "pattern", f"aisbench_{name}", start, start + len(letter))
    folded = reply.lower()
    contained = [letter for letter, option in options.items() if str(option).lower() in folded]
    if len(contained) == 1:
        return _contained(contained[0], str(options[contained[0]]), reply, folded, begin)
    nearest = min(options, key=lambda letter: (_compat_distance(reply, letter, str(options[letter])), letter))
    span = (begin, begin + len(reply)) if reply else (None, None)
    return Extraction(nearest, "levenshtein", "aisbench_nearest", *span)


def _contained(letter: str, option: str, reply: str, folded: str, begin: int) -> Extraction:
    if len(folded) != len(reply):  # folding the case has shifted the places
        return Extraction(letter, "option_text", "aisbench_option_text", begin, begin + len(reply))
    at = begin + folded.find(option.lower())
    return Extraction(letter, "option_text", "aisbench_option_text", at, at + len(option.lower()))


def _compat_distance(reply: str, letter: str, option: str) -> int:
    from rapidfuzz.distance import Levenshtein  # 20 ms to import

    candidates = (letter, option, f"{letter}. {option}")
    return min(
        int(Levenshtein.distance(reply[:_COMPARED_CHARS], candidate[:_COMPARED_CHARS]))
        + abs(max(len(reply) - _COMPARED_CHARS, 0) - max(len(candidate) - _COMPARED_CHARS, 0))
        for candidate in candidates
    )


@cache
def _compiled(letters: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(phrase.replace("@", letters), re.DOTALL)) for name, phrase in _PHRASES)

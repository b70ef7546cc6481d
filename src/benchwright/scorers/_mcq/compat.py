"""`aisbench_choice`: multiple choice as AISBench reads it, for scores that are to be compared with its own.

Four steps: the reply is a letter; the first answer phrase that fits; the only option whose text occurs; else the
option with the smallest edit distance, however large. So something is always chosen, an empty reply included:
that is what the figure is for, and why it is not the headline.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from benchwright.scorers._mcq.extraction import Extraction, nothing

_COMPARED_CHARS = 50_000
"""Edit distances look at no more of a reply or an option: they cost the product of both lengths."""

# `@` stands for the row's letters. The group is searched for the first letter in the order of the options.
_PHRASES: tuple[tuple[str, str], ...] = (
    ("zh_answer", r"答案(?:应该|应当|应)?(?:是|为|選|选)?(?:选项)?\s*+[:：]?\s*+[(（]?\s*+(@)"),
    ("zh_correct", r"正确(?:的)?(?:选项|答案|选择)(?:应该|应)?(?:是|为)?\s*+[:：]?\s*+[(（]?\s*+(@)"),
    ("zh_chosen", r"(?:故|因此|所以|应|应该|我)?(?:选择|选)\s*+[:：]?\s*+[(（]?\s*+(@)"),
    ("zh_verdict", r"(@)\s*+(?:选项|项)?\s*+(?:是|为)?\s*+正确"),
    ("answer_colon", r"(?i:answer)\s*+[:：]\s*+[(（]?\s*+(@)(?!\w)"),
    ("answer_is", r"(?i:the\s+answer\s+is)\s*+:?\s*+(?i:option\s+)?[(（]?\s*+(@)(?!\w)"),
    (
        "correct_answer_is",
        r"(?i:correct\s+(?:answer|option)\s+is)\s*+:?\s*+(?i:option\s+)?[(（]?\s*+(@)(?!\w)",
    ),
    ("boxed", r"boxed\{\s*+[(（]?\s*+(@)"),
    (
        "answer_to_question",
        r"(?i:answer\s+to\s+the\s+question\s+is)\s*+:?\s*+(?i:option\s+)?[(（]?\s*+(@)(?!\w)",
    ),
    ("begins", r"\A(@(?:\s*+(?:,|/|、|或|和|\bor\b|\band\b)\s*+@(?!\w))*)(?=[\s.,:;)。，：、]|\Z)"),
    ("first_item", r"1\.\s?([^\n]*)"),
)


def aisbench_choice(text: str, options: Mapping[str, str]) -> Extraction:
    """The letter AISBench's order of attempts gives: `exact`, `pattern`, `option_text`, or a guess `levenshtein`.

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
        if found is None or not found[1]:
            continue
        for letter in options:
            at = found[1].find(letter)
            if at >= 0:
                start = begin + found.start(1) + at
                return Extraction(letter, "pattern", f"aisbench_{name}", start, start + len(letter))
    folded = reply.casefold()
    contained = [letter for letter, option in options.items() if str(option).casefold() in folded]
    if len(contained) == 1:
        return _contained(contained[0], str(options[contained[0]]), reply, folded, begin)
    nearest = min(options, key=lambda letter: (_distance(reply, letter, str(options[letter])), letter))
    span = (begin, begin + len(reply)) if reply else (None, None)
    return Extraction(nearest, "levenshtein", "aisbench_nearest", *span)


def _contained(letter: str, option: str, reply: str, folded: str, begin: int) -> Extraction:
    if len(folded) != len(reply):  # places were lost with the case
        return Extraction(letter, "option_text", "aisbench_option_text", begin, begin + len(reply))
    at = begin + folded.find(option.casefold())
    return Extraction(letter, "option_text", "aisbench_option_text", at, at + len(option.casefold()))


def _distance(reply: str, letter: str, option: str) -> int:
    from rapidfuzz.distance import Levenshtein  # 20 ms to import

    candidates = (letter, option, f"{letter}. {option}")
    return min(
        int(Levenshtein.distance(reply[:_COMPARED_CHARS], candidate[:_COMPARED_CHARS]))
        + abs(max(len(reply) - _COMPARED_CHARS, 0) - max(len(candidate) - _COMPARED_CHARS, 0))
        for candidate in candidates
    )


@cache
def _compiled(letters: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(phrase.replace("@", f"[{letters}]"))) for name, phrase in _PHRASES)

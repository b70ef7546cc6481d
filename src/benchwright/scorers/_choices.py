"""Multiple choice: a row's options and the right one, and the scorers by log-probability."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from benchwright.core import BenchmarkError, Row
from benchwright.scorers._mcq.view import comparable
from benchwright.scorers._scorer import ScorerInput, Scores, by_name

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def options_of(row: Row) -> dict[str, str]:
    """The options of a row: its fields `A`, `B`, … as text, up to the first that is missing or blank.

    >>> options_of({"question": "?", "A": 2258, "B": "2263", "C": "", "D": "x"})
    {'A': '2258', 'B': '2263'}
    """
    options = {}
    for letter in LETTERS:
        value = row.get(letter)
        if value is None:
            break
        text = value if value.__class__ is str else str(value)
        if not text or text.isspace():
            break
        options[letter] = text
    return options


def gold_letter(answer: object, options: Mapping[str, str]) -> str | None:
    """The option that `answer` means: by its letter in any case, by letter and text, or by a text that only it has.

    A letter takes precedence over a text: with A = "B" and B = "A" the answer `B` is option B. None if it means no
    option, or several.

    >>> options = {"A": "Paris", "B": "London"}
    >>> gold_letter(" b ", options), gold_letter("B) London", options), gold_letter("london", options)
    ('B', 'B', 'B')
    >>> gold_letter("Rome", options) is None
    True
    """
    if isinstance(answer, str) and answer in options:
        return answer
    if isinstance(answer, list | tuple):  # one right option, not several
        return gold_letter(answer[0], options) if len(answer) == 1 else None
    if answer is None:
        return None
    text = str(answer).strip()
    letter = text.upper()
    if letter in options:
        return letter
    if not text:
        return None
    expected = comparable(text)
    by_text = [name for name, option in options.items() if comparable(str(option)) == expected]
    if by_text:
        return by_text[0] if len(by_text) == 1 else None
    lettered = _lettered().fullmatch(expected)
    if lettered is None:
        return None
    letter = lettered["letter"].upper()
    rest = lettered["rest"]
    if letter not in options or (rest and rest != comparable(str(options[letter]))):
        return None
    return letter


def gold_letters(answer: object, options: Mapping[str, str]) -> list[str] | None:
    """The options that `answer` means, in order, if several may be right; None if it means none.

    The answer may be a list of letters or texts, letters between commas, spaces or other signs, or several capitals in
    alphabetical order.

    >>> options = {"A": "2", "B": "3", "C": "4", "D": "5"}
    >>> gold_letters("C, a", options), gold_letters(["3", "D"], options), gold_letters("ABD", options)
    (['A', 'C'], ['B', 'D'], ['A', 'B', 'D'])
    >>> gold_letters("b", options), gold_letters("A, E", options), gold_letters("DAB", options)
    (['B'], None, None)
    """
    one = gold_letter(answer, options)
    if one is not None:
        return [one]
    if isinstance(answer, str):
        bare = answer.strip()
        parts = [part for part in _joints().split(bare) if part]
        if len(parts) == 1 and bare.isupper() and list(bare) == sorted(set(bare)):
            parts = list(bare)
        if any(part.upper() not in options for part in parts):
            return None
        found: list[str | None] = [part.upper() for part in parts]
    elif isinstance(answer, list | tuple):
        found = [gold_letter(part, options) for part in answer]
    else:
        return None
    letters = {letter for letter in found if letter is not None}
    return sorted(letters) if letters and None not in found else None


@cache
def _joints() -> re.Pattern[str]:
    return re.compile(r"(?:[\s,;/|+&()\[\]\"'.、，；和与]|\band\b|\bund\b|\bet\b|\by\b)+", re.IGNORECASE)


@cache
def _lettered() -> re.Pattern[str]:
    """`(b)`, `b.`, `b) london`."""
    return re.compile(r"[(\[]?(?P<letter>[a-z])[)\].:]*(?:(?<=[)\].:]) *(?P<rest>.+))?", re.DOTALL)


@by_name
def multiple_choice_acc(sample: ScorerInput) -> Scores:
    """`acc`, `acc_norm`, `acc_greedy`: 1.0 when the preferred candidate is the right one, else 0.0.

    `acc` prefers the largest log-probability, `acc_norm` the largest per UTF-8 byte of the candidate
    (leading space included), `acc_greedy` the largest among candidates that greedy decoding would have
    produced. The first wins on ties. Needs `_choices` and `_choices_logprobs` of equal length in the
    metadata, else 0.0.

    The target may be an index, a letter or a candidate's text, tried in this order: a lone letter is an
    offset from A, digits are an index, then the text as it is, then ignoring case. So `"2"` among
    the candidates `1 2 3` means the third; `multiple_choice_acc_verbatim` reads it as the second.
    """
    row = sample.metadata or {}
    choices: Sequence[str] = row.get("_choices") or ()
    logprobs: Sequence[float] = row.get("_choices_logprobs") or ()
    usable = choices and len(choices) == len(logprobs)
    gold = _gold_index(sample.target, choices) if usable else None
    if gold is None:
        return {"acc": 0.0, "acc_norm": 0.0, "acc_greedy": 0.0}
    return _accuracies(gold, choices, logprobs, row.get("_choices_is_greedy") or ())


@by_name
def multiple_choice_acc_verbatim(sample: ScorerInput) -> Scores:
    """`multiple_choice_acc`, but a target equal to a candidate's text always means that candidate.

    Only a target that is not a candidate's text is read as index or letter. `acc_norm` does not count the space that
    separates a candidate from the prompt.

    Raises:
        BenchmarkError: candidates or log-probabilities are missing, or the target names no candidate.
    """
    row = sample.metadata or {}
    choices: Sequence[str] = row.get("_choices") or ()
    logprobs: Sequence[float] = row.get("_choices_logprobs") or ()
    if not choices or len(choices) != len(logprobs):
        raise BenchmarkError(
            f"{len(choices)} candidates with {len(logprobs)} log-probabilities; this scorer needs "
            'endpoint_type="completions_logprob" and choices= or choices_field= on @benchmark'
        )
    target = sample.target
    gold = _same_text(target.strip(), choices) if isinstance(target, str) else None
    if gold is None:
        gold = _gold_index(target, choices)
    if gold is None:
        raise BenchmarkError(
            f"target {target!r} names none of the {len(choices)} candidates {list(choices)!r}; "
            "expected a candidate's text, a letter from A, or an index from 0"
        )
    return _accuracies(gold, _unspaced(choices), logprobs, row.get("_choices_is_greedy") or ())


def mcq_ranked(sample: ScorerInput) -> Scores:
    """`acc`, `acc_norm`, `acc_greedy` as `multiple_choice_acc`, and `chance`: the row's options `A`, `B`, … are ranked.

    `acc_norm` divides by the bytes of the option as the row has it, without the space that separates it from the prompt. The
    target is the letter or the text of an option, as `gold_letter` reads it; a row without one gets no scores.
    """
    row = sample.metadata or {}
    options = options_of(row)
    choices: Sequence[str] = row.get("_choices") or ()
    logprobs: Sequence[float] = row.get("_choices_logprobs") or ()
    gold = gold_letter(sample.target, options)
    if gold is None or len(choices) != len(options) or len(choices) != len(logprobs):
        return {}
    greedy = row.get("_choices_is_greedy") or ()
    scores = _accuracies(list(options).index(gold), _unspaced(choices), logprobs, greedy)
    return {**scores, "chance": 1 / len(options)}


def reread_target(target: object, choices: Sequence[str]) -> tuple[int, int] | None:
    """The candidate whose text a target is, and the other one that `multiple_choice_acc` takes it for.

    None if both scorers read it alike.

    >>> reread_target("2", ["3", "2", "1", "4"]), reread_target("2", ["1", "2"])
    ((1, 2), None)
    """
    if not isinstance(target, str) or len(target) > 20:
        return None
    text = target.strip()
    if len(text) != 1 and not text.isdecimal():
        return None
    meant = _same_text(text, choices)
    read = None if meant is None else _gold_index(text, choices)
    return None if meant is None or read is None or read == meant else (meant, read)


def _accuracies(
    gold: int, choices: Sequence[str], logprobs: Sequence[float], greedy: Sequence[bool]
) -> Scores:
    per_byte = [value / max(len(choice.encode()), 1) for value, choice in zip(logprobs, choices, strict=True)]
    flagged = [index for index, is_greedy in enumerate(greedy) if is_greedy]
    preferred_greedy = max(flagged, key=logprobs.__getitem__, default=None)
    return {
        "acc": float(_first_largest(logprobs) == gold),
        "acc_norm": float(_first_largest(per_byte) == gold),
        "acc_greedy": float(preferred_greedy == gold),
    }


def _unspaced(choices: Sequence[str]) -> list[str]:
    """The candidates without the space that separates them from the prompt."""
    return [choice.removeprefix(" ") for choice in choices]


def _first_largest(values: Sequence[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)


def _gold_index(target: object, choices: Sequence[str]) -> int | None:
    if isinstance(target, int):  # bools too: False is the first candidate, True the second
        return _in_range(int(target), choices)
    if not isinstance(target, str):
        return None
    text = target.strip()
    if not text:
        return None  # an empty target names nothing, not even an empty candidate
    index = None
    capital = text.upper()
    if len(text) == 1 and capital.isalpha():
        # A letter whose capital is two letters (ß) has no offset: the TypeError makes the sample fail.
        index = _in_range(ord(capital) - ord("A"), choices)
    if index is None and text.lstrip("-").isdecimal():
        index = _in_range(_integer(text), choices)
    return _same_text(text, choices) if index is None else index


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:  # "--5"
        return -1


def _in_range(index: int, choices: Sequence[str]) -> int | None:
    return index if 0 <= index < len(choices) else None


def _same_text(text: str, choices: Sequence[str]) -> int | None:
    for index, choice in enumerate(choices):
        if choice.strip() == text:
            return index
    lowered = text.lower()
    for index, choice in enumerate(choices):
        if choice.strip().lower() == lowered:
            return index
    return None

"""`nearest_choice`: the option whose text is nearest to a reply, within a limit. A guess, and called one."""

from __future__ import annotations

from collections.abc import Mapping

from benchwright.scorers._mcq.extraction import Extraction, nothing
from benchwright.scorers._mcq.view import comparable

_LONGEST = 20_000
"""Characters of a reply or an option that are compared; nothing longer is a misspelling."""


def nearest_choice(text: str, options: Mapping[str, str], *, limit: float = 0.2) -> Extraction:
    """The option whose text the whole reply misspells: method `levenshtein`, or `none`.

    Compared without case, emphasis and outer punctuation: the reply with each option's text, and with letter and
    text (`B. London`). The distance (insertions, deletions, replacements) may be at most `limit` times the length
    of the option's text, and no other option may be as near. Two different numbers are never near.

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
    said = comparable(text).strip(" \n.,;:!?()[]")
    if not said:
        return nothing("not_near")
    best: float | None = None
    nearest: list[str] = []
    for letter, option in options.items():
        distance = _distance(said, letter, str(option), limit)
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


def _distance(said: str, letter: str, option: str, limit: float) -> int | None:
    """How far the reply is from one option; None: too far."""
    if len(option) > _LONGEST:
        return None
    wanted = comparable(option)
    allowed = int(limit * len(wanted) + 1e-9)
    if not wanted or len(said) > len(wanted) + 3 + allowed:
        return None
    from rapidfuzz.distance import Levenshtein  # 20 ms to import, and most replies never get here

    spellings = [wanted, f"{letter.lower()}. {wanted}", f"{letter.lower()}) {wanted}"]
    if _is_number(said) and _is_number(wanted):
        spellings = [wanted] if said == wanted else []
    distances = [int(Levenshtein.distance(said, spelling, score_cutoff=allowed)) for spelling in spellings]
    near = [distance for distance in distances if distance <= allowed]
    return min(near) if near else None


def _is_number(text: str) -> bool:
    bare = text.replace(",", "").replace(" ", "").lstrip("+-").removesuffix("%")
    return bare.replace(".", "", 1).isdigit()

"""Reads what indexes say of many recorded scores at once: the way of `_sample_filters`, which reads them one by one, only sooner.

Decoded together, and nothing but the parts that matter, the entries of a million samples take 2.9 s of CPU instead of 4.9, with all that
is the same (alternating, on a busy machine). `BENCHWRIGHT_PLAIN=1` switches it off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from benchwright.core import FAST_PATHS, SampleRecord, ready
from benchwright.store._sample_filters import SampleOrder, facet_and_values, facet_text, reply_values

_BLOCK = 500
"""Scores that are decoded together: they stay in the processor's cache, and other threads wait a millisecond at most."""
_NUMBERS: frozenset[Any] = frozenset({bool, int, float})
_DAMAGED = (msgspec.MsgspecError, ValueError, RecursionError, OverflowError)


def index_entries(
    records: Sequence[bytes], name: str | None, replies: Sequence[bytes | None] | None = None
) -> Iterator[tuple[str, float | None]]:
    """The facet of each recorded score, and its figure of a name: a metric, or with the samples' last replies a figure of these."""
    if replies is None or name is None:
        return _facets_and_values(records, name)
    values = _values_of_replies(records, replies, name)
    return (
        (facet, value) for (facet, _), value in zip(_facets_and_values(records, None), values, strict=True)
    )


def _facets_and_values(records: Sequence[bytes], name: str | None) -> Iterator[tuple[str, float | None]]:
    decode = _decoder(name) if FAST_PATHS else None
    for start in range(0, len(records), _BLOCK):
        block = records[start : start + _BLOCK]
        found = None if decode is None else _together(decode, block)
        if found is None:
            found = [(facet, values.get(name or "")) for facet, values in map(facet_and_values, block)]
        yield from found


def _values_of_replies(
    records: Sequence[bytes], replies: Sequence[bytes | None], name: str
) -> Iterator[float | None]:
    for start in range(0, len(records), _BLOCK):
        block, told = records[start : start + _BLOCK], replies[start : start + _BLOCK]
        found = _replies_together(block, told, name) if FAST_PATHS and None not in told else None
        if found is None:
            found = [reply_values(*each).get(name) for each in zip(block, told, strict=True)]
        yield from found


_TOLD: Any = msgspec.defstruct("Told", [("l", Any, None), ("u", Any, None)], gc=False)
"""The part of a reply's record, or of a score, that figures are about."""
_READ_TOLD = msgspec.json.Decoder(ready(list[_TOLD])).decode


def _replies_together(
    records: Sequence[bytes], replies: Sequence[bytes | None], name: str
) -> list[float | None] | None:
    """None if one is damaged."""
    place = [name.endswith(each) for each in SampleOrder.figures].index(True)
    try:
        told = _READ_TOLD(_list_of(replies))  # type: ignore[arg-type]  # none is None
        pairs = zip(told, _READ_TOLD(_list_of(records)), strict=True)
        usages = [(reply, score.u or reply.u or (None, None)) for reply, score in pairs]
        values: list[Any] = [(reply.l, usage[0], usage[1])[place] for reply, usage in usages]
    except (*_DAMAGED, TypeError, LookupError):
        return None
    whole = len(values) == len(records)
    return [float(each) if each.__class__ in _NUMBERS else None for each in values] if whole else None


def _together(
    decode: Callable[[bytes], list[Any]], records: Sequence[bytes]
) -> list[tuple[str, float | None]] | None:
    """None if a score is damaged, or has no `correct` that is true or false: its other scores tell whether it is right."""
    try:
        decoded = decode(_list_of(records))
        if len(decoded) != len(records):
            return None
        kinds = {(each.outcome, each.scores.correct, each.error is UNSET) for each in decoded}
        facets = {kind: facet_text(kind[0], {"correct": kind[1]}, not kind[2]) for kind in kinds}
        return [
            (
                facets[each.outcome, (scores := each.scores).correct, each.error is UNSET],
                float(value) if (value := scores.value).__class__ in _NUMBERS else None,
            )
            for each in decoded
        ]
    except (*_DAMAGED, AttributeError):
        return None


def _list_of(texts: Sequence[bytes]) -> bytes:
    """A JSON list. Texts that are not UTF-8 are refused here, because a reader of some parts does not look at the others."""
    joined = b"[%b]" % b",".join(texts)
    if not joined.isascii():
        joined.decode()
    return joined


def _decoder(name: str | None) -> Callable[[bytes], list[Any]] | None:
    """Reads a JSON list of scores: outcome, whether there is an error, `correct`, and the metric as `value`. None if its name has
    characters that such a reader cannot have."""
    fields: list[Any] = [("correct", bool)]
    if name != "correct":
        fields.append(("value", Any, UNSET))
    try:
        scores: Any = msgspec.defstruct("Scores", fields, rename={"value": name or ""}, gc=False)
    except ValueError:
        return None
    if name == "correct":
        scores.value = property(lambda each: each.correct)
    parts: list[Any] = [("outcome", str), ("scores", scores), ("error", Any, UNSET)]
    keys = {part[0]: SampleRecord.key(part[0]) for part in parts}
    score: Any = msgspec.defstruct("Score", parts, rename=keys, gc=False)
    decode: Callable[[bytes], list[Any]] = msgspec.json.Decoder(list[score]).decode
    return decode

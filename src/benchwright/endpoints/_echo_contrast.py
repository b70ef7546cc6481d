"""Whether each echoed number belongs to its token: echoes that differ in one place, laid beside each other.

Two prompts have a beginning in common and part at some token. That token's own number must differ between
them, and no number before it may. Where a number before it differs, the numbers stand too far left; where its own
does not, they stand too far right, or say nothing at all. Unlike a comparison with generated tokens this also
decides when all tokens are about equally probable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from benchwright.endpoints._echo_verdict import CURE_OTHER_SERVER, CURE_SHIFT, EchoRefusedError, shifted

SAME = 0.01
"""Nats; numbers closer than this are the same, on a server without noise."""
NOTED = 0.05
"""Nats; noise above this is worth a note."""
NOISE = 0.5
"""Nats; batching may move a number by less than this from one request to the next."""


@dataclass(frozen=True, slots=True)
class EchoedPrompt:
    """A prompt's tokens with their numbers; generated ones left out."""

    stem: str
    """The prompt's beginning."""
    tokens: Sequence[str]
    """All tokens of the prompt, with special ones in front."""
    values: Sequence[float | None]
    """Their log-probabilities."""
    first: int
    """Where the continuation starts."""


def judge_contrast(echoes: Sequence[EchoedPrompt]) -> tuple[str, ...]:
    """Refuse, or accept with notes. `echoes` hold several continuations of each stem, and one continuation
    of several stems."""
    differences = [
        d for pair in combinations(echoes, 2) if pair[0].stem == pair[1].stem for d in _beside(*pair)
    ]
    own = [size for distance, size in differences if distance == 0]
    before = [size for distance, size in differences if distance == 1]
    earlier = [size for distance, size in differences if distance > 1]
    if not own or not before:
        raise EchoRefusedError(
            "the server's echo could not be checked: no two echoes of one beginning part at a token with a "
            f"log-probability, so a shift could not be ruled out. {CURE_OTHER_SERVER}"
        )
    noise = max(earlier, default=0.0)
    if max(before) > NOISE or (max(before) > max(SAME, 4 * noise) and max(before) > max(own) / 8):
        raise EchoRefusedError(
            f"{_WRONG}: changing a token changes the number before it, by {max(before):.2f} nat. {shifted('before')}"
        )
    if noise > NOISE:
        raise EchoRefusedError(
            f"{_WRONG}: those of the same tokens after the same text differ by {noise:.2f} nat when something else "
            f"follows. {CURE_OTHER_SERVER}"
        )
    moved = max(noise, *before)
    if max(own) <= max(SAME, 2 * moved):
        values = {value for echo in echoes for value in echo.values if value is not None}
        if len(values) == 1:
            raise EchoRefusedError(f"{_WRONG}: all of them are {values.pop():g}. {CURE_OTHER_SERVER}")
        raise EchoRefusedError(
            f"{_WRONG}: changing a token does not change its own number. Either they are shifted by one (a token's "
            f"number stands at the token after it) or they mean nothing. {CURE_SHIFT}. {CURE_OTHER_SERVER}"
        )
    elsewhere = list(_after_other_stems(echoes))
    if elsewhere and max(elsewhere) <= SAME:
        raise EchoRefusedError(
            f"{_WRONG}: a token's number is the same whatever text stands before it. {CURE_OTHER_SERVER}"
        )
    if moved > NOTED:
        return (f"the server's log-probabilities vary by up to {moved:.2f} nat from request to request",)
    return ()


_WRONG = "the server's echoed log-probabilities are not those of the tokens"


def _beside(one: EchoedPrompt, other: EchoedPrompt) -> Iterator[tuple[int, float]]:
    """Differences up to the token at which two echoes part, each with its distance from that token."""
    parting = 0
    for ours, theirs in zip(one.tokens, other.tokens, strict=False):
        if ours != theirs:
            break
        parting += 1
    else:
        return  # one is the beginning of the other
    for index in range(parting + 1):
        ours_value, theirs_value = one.values[index], other.values[index]
        if ours_value is not None and theirs_value is not None:
            yield parting - index, abs(ours_value - theirs_value)


def _after_other_stems(echoes: Sequence[EchoedPrompt]) -> Iterator[float]:
    """Differences of a continuation's first token after different stems."""
    for one, other in combinations(echoes, 2):
        if one.stem == other.stem or one.first >= len(one.tokens) or other.first >= len(other.tokens):
            continue
        ours, theirs = one.values[one.first], other.values[other.first]
        if one.tokens[one.first] == other.tokens[other.first] and ours is not None and theirs is not None:
            yield abs(ours - theirs)

"""Computes the log-probability of a continuation from echoed tokens. Pure.

The continuation consists of the tokens from the first one that starts at or after the end of the context to the last
token of the prompt. Tokens are chosen by their position in the text, never by a count.

- A token that straddles the boundary (starts in the context, ends in the continuation) is left out, and
  `straddling` says so. If no token starts in the continuation at all, because it merged into the
  context's last token, that last token represents it.
- Tokens the server generated beyond the prompt are left out.
- Offsets may count characters or UTF-8 bytes, and may be shifted by special tokens in front
  (`<s>`, `<|begin_of_text|>`), which some servers list as tokens although they are not part of the text.
- If there are no tokens, their positions are unknown, the continuation is empty or it has no log-probability,
  an error is raised; the result is never 0 or -inf.

Greedy means that at every position the continuation's token is the most probable one by `top_logprobs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from msgspec import Struct

from benchwright.core import BenchwrightError, EchoedTokens

_MOST_SPECIALS = 3  # special tokens in front of a prompt


class EmptyContinuationError(BenchwrightError, ValueError):
    """Echoed tokens in which no continuation with a log-probability can be found."""


class ChoiceLikelihood(Struct, frozen=True):
    """How probable a continuation is."""

    logprob: float
    """Sum of the natural-log probabilities of its tokens."""
    is_greedy: bool
    """Whether greedy decoding would have produced it."""
    tokens: int
    """Tokens in the sum."""
    straddling: bool = False
    """Whether a token crossed the boundary between context and continuation and was left out (or, if it was the only one,
    represents the continuation)."""
    missing: int = 0
    """Tokens of the continuation without a log-probability; not in the sum."""


def continuation_likelihood(
    echoed: EchoedTokens, context: str, choice: str, *, max_tokens: int = 1
) -> ChoiceLikelihood:
    """The log-probability of `choice` after `context`, from the echo of `context + choice`.

    `max_tokens` is what the request allowed the server to generate. Raises `EmptyContinuationError`.

    >>> echoed = EchoedTokens(["2+2=", "4", "."], [None, -0.25, -1.0], [0, 4, 5], [None, {"4": -0.25}, None])
    >>> continuation_likelihood(echoed, "2+2=", "4")
    ChoiceLikelihood(logprob=-0.25, is_greedy=True, tokens=1, straddling=False, missing=0)
    """
    if not choice:
        raise EmptyContinuationError(
            "the continuation is empty, so it has no probability. Give the choice a text"
        )
    aligned = align_tokens(echoed, context, choice, max_tokens=max_tokens)
    first, after, straddling = _span(aligned)
    return _sum(echoed, first, after, straddling)


class AlignedTokens(Struct, frozen=True):
    """Echoed tokens with their positions in the prompt."""

    starts: Sequence[int | None]
    """Where each token starts; negative for special tokens in front."""
    boundary: int
    """Where the continuation starts, in the same unit."""
    end: int
    """Where the prompt ends, in the same unit."""
    in_bytes: bool = False
    """Whether the unit is UTF-8 bytes, not characters."""

    @property
    def has_generated(self) -> bool:
        """Whether there are tokens beyond the prompt."""
        return any(start is not None and start >= self.end for start in self.starts)


def align_tokens(echoed: EchoedTokens, context: str, choice: str, *, max_tokens: int = 1) -> AlignedTokens:
    """Find the place of each token. Raises `EmptyContinuationError` if it cannot be found."""
    tokens = echoed.tokens
    if not tokens or not echoed.token_logprobs:
        raise EmptyContinuationError("the reply echoes no tokens with log-probabilities")
    if len(echoed.token_logprobs) != len(tokens):
        raise EmptyContinuationError(
            f"the reply has {len(tokens)} tokens but {len(echoed.token_logprobs)} log-probabilities"
        )
    prompt = context + choice
    text = "".join(tokens)
    for specials in range(min(_MOST_SPECIALS, len(tokens) - 1) + 1):
        skipped = sum(map(len, tokens[:specials]))
        if text.startswith(prompt, skipped):
            # The tokens spell the prompt, so their lengths give the most reliable offsets.
            return AlignedTokens(_own_starts(tokens, -skipped), len(context), len(prompt))
    # Tokens with partial bytes or replaced characters do not spell it; only the server's offsets remain.
    offsets = echoed.text_offset
    if len(offsets) == len(tokens) and any(offset is not None for offset in offsets):
        return _by_offsets(tokens, offsets, context, prompt)
    return _from_the_end(tokens, context, choice, max_tokens)


def _own_starts(tokens: Sequence[str], first: int) -> list[int]:
    return list(accumulate(map(len, tokens[:-1]), initial=first))


def _by_offsets(
    tokens: Sequence[str], offsets: Sequence[int | None], context: str, prompt: str
) -> AlignedTokens:
    shift = 0
    first = tokens[0]
    special = len(first) > 2 and first[0] in "<[" and first[-1] in ">]" and not prompt.startswith(first)
    if special and len(offsets) > 1 and offsets[0] == 0 and offsets[1] == len(first):
        shift = len(first)  # counted as if it were part of the text
    starts = [None if offset is None else offset - shift for offset in offsets]
    if _in_bytes(tokens, starts, prompt):
        return AlignedTokens(starts, len(context.encode()), len(prompt.encode()), in_bytes=True)
    return AlignedTokens(starts, len(context), len(prompt))


def _in_bytes(tokens: Sequence[str], starts: Sequence[int | None], prompt: str) -> bool:
    """Whether offsets count UTF-8 bytes, judged by the distances between tokens, else by the end of the last one."""
    chars, size = len(prompt), len(prompt.encode())
    if chars == size:
        return False
    known = [(start, token) for start, token in zip(starts, tokens, strict=True) if start is not None]
    votes = 0
    for (start, token), (following, _) in pairwise(known):
        if not token.isascii() and "\ufffd" not in token:
            votes += (following - start == len(token.encode())) - (following - start == len(token))
    if votes:
        return votes > 0
    all_starts = {start for start, _ in known}
    last_start, last_token = known[-1]
    if size in all_starts or last_start + len(last_token.encode()) == size:
        return True
    if chars in all_starts or last_start + len(last_token) == chars:
        return False
    return last_start >= chars


def _from_the_end(tokens: Sequence[str], context: str, choice: str, max_tokens: int) -> AlignedTokens:
    """Align tokens without offsets: apart from generated ones, they must end with the continuation."""
    for generated in range(min(max_tokens, len(tokens) - 1), -1, -1):
        echo = "".join(tokens[: len(tokens) - generated])
        if echo.endswith(choice):
            first = len(context) + len(choice) - len(echo)
            return AlignedTokens(_own_starts(tokens, first), len(context), len(context) + len(choice))
    raise EmptyContinuationError(
        "the reply has no text_offset, and its tokens do not spell the prompt: "
        "where the continuation starts cannot be determined"
    )


def _span(aligned: AlignedTokens) -> tuple[int, int, bool]:
    """The continuation's tokens: first index, index after the last, whether a token straddles."""
    starts = aligned.starts
    after = len(starts)
    # Generated tokens are at the end; a token without offset belongs to its left neighbour.
    while after > 0 and (start := starts[after - 1]) is not None and start >= aligned.end:
        after -= 1
    if after == 0:
        raise EmptyContinuationError("all echoed tokens lie beyond the prompt; the server ignores `echo`")
    for index in range(after):
        start = starts[index]
        if start is not None and start >= aligned.boundary:
            return index, after, start > aligned.boundary
    return after - 1, after, True


def _sum(echoed: EchoedTokens, first: int, after: int, straddling: bool) -> ChoiceLikelihood:
    total = 0.0
    counted = 0
    for value in echoed.token_logprobs[first:after]:
        if value is not None:
            total += value
            counted += 1
    if counted == 0:
        raise EmptyContinuationError(
            "no token of the continuation has a log-probability; is the context empty?"
        )
    greedy = all(_is_greedy(echoed, index) for index in range(first, after))
    return ChoiceLikelihood(total, greedy, counted, straddling, after - first - counted)


def _is_greedy(echoed: EchoedTokens, index: int) -> bool:
    top = echoed.top_logprobs[index] if index < len(echoed.top_logprobs) else None
    return top is not None and bool(top) and max(top, key=top.__getitem__) == echoed.tokens[index]

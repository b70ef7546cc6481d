"""Computes the log-probability of a continuation from echoed tokens. Pure.

The continuation consists of the tokens from the first one that starts at or after the end of the context to the last
token of the prompt. Tokens are chosen by their position in the text, never by a count.

- A token that straddles the boundary (starts in the context, ends in the continuation) is left out, and
  `straddling` says so. If no token starts in the continuation at all, because it merged into the
  context's last token, that last token represents it.
- Tokens the server generated beyond the prompt are left out.
- Positions follow from the tokens themselves: from their texts, or from their bytes where tokens are parts of characters
  (`_token_places`). Offsets of the server are used only if the tokens do not spell the prompt, and only if every token with
  a readable text is found at its offset. They may count characters or UTF-8 bytes, and may be shifted by special tokens in
  front (`<s>`, `<|begin_of_text|>`), which some servers list as tokens although they are not part of the text.
- If there are no tokens, their positions are unknown, the continuation is empty or it has no log-probability,
  an error is raised; the result is never 0 or -inf, and never the sum of other tokens.

Greedy means that at every position the continuation's token is the most probable one by `top_logprobs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from msgspec import Struct

from benchwright.core import BenchwrightError, EchoedTokens, ModelReply, RequestFailure
from benchwright.endpoints._token_places import MOST_SPECIALS, narrowed, token_places


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


def choice_likelihood(
    reply: ModelReply, context: str, choice: str, *, max_tokens: int
) -> tuple[float, bool] | ModelReply:
    """Log-probability of a choice by the echo in a reply, and whether it is the greedy one; a failed reply if it has none."""
    try:
        if reply.echoed is None:
            raise EmptyContinuationError("the reply contains no echoed log-probabilities")
        found = continuation_likelihood(reply.echoed, context, choice, max_tokens=max_tokens)
    except EmptyContinuationError as error:
        return ModelReply("failed", failure=RequestFailure("bad_reply", f"choice {choice!r}: {error}"))
    return found.logprob, found.is_greedy


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
    if "" not in tokens:
        for specials in range(min(MOST_SPECIALS, len(tokens) - 1) + 1):
            skipped = sum(map(len, tokens[:specials]))
            if text.startswith(prompt, skipped):
                return AlignedTokens(_own_starts(tokens, -skipped), len(context), len(prompt))
    places = token_places(tokens, prompt, max_tokens)
    offsets = echoed.text_offset
    if places is not None:
        if any(len(possible) > 1 for possible in places):
            places = narrowed(places, tokens, offsets, prompt)
        return _by_bytes(tokens, places, context, choice, max_tokens)
    if len(offsets) == len(tokens) and any(offset is not None for offset in offsets):
        return _by_offsets(tokens, offsets, context, prompt, max_tokens)
    return _from_the_end(tokens, context, choice, max_tokens)


def _by_bytes(
    tokens: Sequence[str], places: Sequence[frozenset[int]], context: str, choice: str, max_tokens: int
) -> AlignedTokens:
    boundary, end = (len(part.encode(errors="surrogatepass")) for part in (context, context + choice))
    starts: list[int | None] = []
    for token, possible in zip(tokens, places, strict=True):
        low, high = min(possible), max(possible)
        if low < boundary <= high or low < end <= high:
            raise EmptyContinuationError(
                f"the tokens show parts of characters in such a way that it is not clear whether {token!r} belongs to the "
                f"continuation. {_CURE_BYTES}"
            )
        starts.append(low)
    _place_empty_tokens(tokens, starts, boundary, end, context, choice, max_tokens)
    return AlignedTokens(starts, boundary, end, in_bytes=True)


_CURE_BYTES = "Rows whose text has only ASCII characters can be ranked on this server"


def _place_empty_tokens(
    tokens: Sequence[str],
    starts: list[int | None],
    boundary: int,
    end: int,
    context: str,
    choice: str,
    max_tokens: int,
) -> None:
    """Decide on which side of a boundary tokens without text belong.

    Such a token may be a part of the character after it, if the server shows a character when its last token arrives, or of
    the one before it, if it shows it with its first token. A character of one byte has no parts.
    """
    empty = [index for index, token in enumerate(tokens) if not token and starts[index] != -1]
    leading = 0
    while leading < len(empty) and empty[leading] == leading and starts[leading] == 0:
        starts[leading] = -1  # in front of the text: special tokens
        leading += 1
    empty = empty[leading:]
    if not empty:
        return
    shown_first = _shown_with_first(tokens, starts, empty, (context + choice).encode(errors="surrogatepass"))
    here = [index for index in empty if starts[index] == boundary]
    if here and context and not context[-1].isascii():
        if choice[0].isascii() or shown_first is True:
            for index in here:
                starts[index] = boundary - 1
        elif shown_first is None:
            raise EmptyContinuationError(
                "tokens without text are between context and continuation, and it is not clear to which they belong. "
                + _CURE_BYTES
            )
    behind = [index for index in empty if starts[index] == end]
    if not behind or choice[-1].isascii():
        return
    if max_tokens == 0:  # nothing was generated
        for index in behind:
            starts[index] = end - 1
    elif shown_first is not False:
        raise EmptyContinuationError(
            "tokens without text are at the end, and it is not clear whether they belong to the continuation. "
            + _CURE_BYTES
        )


def _shown_with_first(
    tokens: Sequence[str], starts: Sequence[int | None], empty: Sequence[int], raw: bytes
) -> bool | None:
    """Whether a character is shown with the first of its tokens (True) or with the last (False); None: not known."""
    votes = set()
    for index in empty:
        at = starts[index]
        if at is None or not 0 < at < len(raw):
            continue
        before, after = raw[at - 1] < 0x80, raw[at] < 0x80
        if before != after:
            votes.add(after)
    return votes.pop() if len(votes) == 1 else None


def _own_starts(tokens: Sequence[str], first: int) -> list[int]:
    return list(accumulate(map(len, tokens[:-1]), initial=first))


def _by_offsets(
    tokens: Sequence[str], offsets: Sequence[int | None], context: str, prompt: str, max_tokens: int
) -> AlignedTokens:
    shift = 0
    first = tokens[0]
    special = len(first) > 2 and first[0] in "<[" and first[-1] in ">]" and not prompt.startswith(first)
    if special and len(offsets) > 1 and offsets[0] == 0 and offsets[1] == len(first):
        shift = len(first)  # counted as if it were part of the text
    starts = [None if offset is None else offset - shift for offset in offsets]
    in_bytes = _in_bytes(tokens, starts, prompt)
    units = prompt.encode(errors="surrogatepass") if in_bytes else prompt
    boundary = len(context.encode(errors="surrogatepass")) if in_bytes else len(context)
    if all(start is None or start >= len(units) for start in starts):
        return AlignedTokens(starts, boundary, len(units), in_bytes)
    _check_offsets(
        tokens[1:] if special else tokens, starts[1:] if special else starts, units, boundary, max_tokens
    )
    return AlignedTokens(starts, boundary, len(units), in_bytes)


def _check_offsets(
    tokens: Sequence[str], starts: Sequence[int | None], units: str | bytes, boundary: int, max_tokens: int
) -> None:
    """Refuse offsets at which the tokens are not found, or that leave the boundary to tokens that cannot be checked."""
    checked = [
        units.startswith(_like(token, units), start)  # type: ignore[arg-type]
        for token, start in zip(tokens, starts, strict=True)
        if start is not None and 0 <= start < len(units) and token and "\ufffd" not in token
    ]
    behind = sum(start is not None and start >= len(units) for start in starts)
    exact = boundary in starts
    if not all(checked) or 2 * len(checked) < len(tokens) or behind > max_tokens or not exact:
        raise EmptyContinuationError(
            "the tokens do not spell the prompt, and its text_offset does not fit them: where the continuation starts "
            "cannot be determined"
        )


def _like(token: str, units: str | bytes) -> str | bytes:
    return token if isinstance(units, str) else token.encode(errors="surrogatepass")


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
    fitting = []
    for generated in range(min(max_tokens, len(tokens) - 1), -1, -1):
        echo = "".join(tokens[: len(tokens) - generated])
        if echo.endswith(choice):
            fitting.append(len(context) + len(choice) - len(echo))
    if len(fitting) == 1:
        return AlignedTokens(_own_starts(tokens, fitting[0]), len(context), len(context) + len(choice))
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
    if not top:
        return False
    token = echoed.tokens[index]
    best = max(top, key=top.__getitem__)
    if best != token:
        return False
    value = echoed.token_logprobs[index]
    # Several tokens that are parts of characters have the same text: the number tells them apart.
    return value is None or not ("\ufffd" in token or not token) or value >= top[best] - 1e-6

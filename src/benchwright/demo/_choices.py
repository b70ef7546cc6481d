"""Answers of the demo model as values, and how limits, stop texts and log-probabilities shape them."""

from __future__ import annotations

from dataclasses import dataclass

from benchwright.core import EchoedTokens, JsonValue
from benchwright.demo._logprobs import Reader
from benchwright.demo._tokens import count_tokens, split_tokens, token_offsets


@dataclass(slots=True)
class DemoChoice:
    """One answer of the demo model."""

    text: str
    """The generated text; with `echo`, the prompt in front of it."""
    finish_reason: str
    """stop, length or tool_calls."""
    tokens: int
    """Tokens generated."""
    tool_calls: list[JsonValue] | None = None
    """Tool calls in the form of the chat route."""
    logprobs: EchoedTokens | None = None
    """Tokens with log-probabilities, when asked for."""
    stopped_by: str = ""
    """The stop text that ended it, which OpenAI's routes leave out and TGI keeps."""


@dataclass(slots=True)
class DemoCompletion:
    """What the demo model makes of one request."""

    choices: list[DemoChoice]
    """One per prompt and `n`."""
    prompt_tokens: int
    """Tokens of all prompts."""


def cut(text: str, limit: int | None, stops: list[str]) -> DemoChoice:
    """A text ended by its limit or a stop text, whichever comes first."""
    count = count_tokens(text)
    reason = "stop"
    if limit is not None and count > limit:
        text = "".join(split_tokens(text)[:limit])
        count = limit
        reason = "length"
    if stops:
        found = [(at, stop) for stop in stops if (at := text.find(stop)) >= 0]
        if found:
            at, stop = min(found)
            text = text[:at]
            return DemoChoice(text, "stop", count_tokens(text), stopped_by=stop)
    return DemoChoice(text, reason, count)


def echoed(reader: Reader, text: str, top: int) -> EchoedTokens:
    """Log-probabilities of a whole text, from its start."""
    tokens, logprobs, tops = reader.score(text, top)
    return EchoedTokens(tokens, logprobs, [*token_offsets(tokens)], tops)


def followed(reader: Reader, tokens: list[str], top: int) -> EchoedTokens:
    """Log-probabilities of given tokens after what the reader has read."""
    logprobs: list[float | None] = []
    tops: list[dict[str, float] | None] = []
    for token in tokens:
        logprobs.append(reader.logprob(token))
        tops.append(reader.alternatives(top, token) if top else None)
        reader.follow(token)
    return EchoedTokens(tokens, logprobs, [*token_offsets(tokens)], tops)


def shortened(scored: EchoedTokens, chars: int) -> EchoedTokens:
    """Tokens of a text that a stop text has cut to `chars` characters; the last token may be cut too."""
    kept = sum(1 for offset in scored.text_offset if offset is not None and offset < chars)
    tokens = scored.tokens[:kept]
    surplus = sum(map(len, tokens)) - chars
    if tokens and surplus > 0:
        tokens[-1] = tokens[-1][:-surplus]
    return EchoedTokens(
        tokens, scored.token_logprobs[:kept], scored.text_offset[:kept], scored.top_logprobs[:kept]
    )


def after(prompt: EchoedTokens, generated: EchoedTokens) -> EchoedTokens:
    """The tokens of a prompt and of what was generated behind it."""
    shift = sum(map(len, prompt.tokens))
    return EchoedTokens(
        prompt.tokens + generated.tokens,
        prompt.token_logprobs + generated.token_logprobs,
        prompt.text_offset + [None if offset is None else offset + shift for offset in generated.text_offset],
        prompt.top_logprobs + generated.top_logprobs,
    )

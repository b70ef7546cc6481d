"""Finds out, before anything is ranked, whether a server's echoed log-probabilities can be trusted.

For a few stems the server generates some tokens greedily, with log-probabilities. Stem and tokens are then
sent back to be echoed. Both numbers are the model's opinion of the same token at the same place, so they must
agree; servers are known that leave them out, that ignore `echo`, and that give each token its
neighbour's number. Several tokens of several stems are compared, because one confident token looks like the
next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from benchwright.core import BenchwrightError, EchoedTokens, ModelReply, ModelRequest, encode_json
from benchwright.endpoints._endpoint import Endpoint
from benchwright.endpoints._likelihood import EmptyContinuationError, align_tokens

STEMS: tuple[str, ...] = (
    "The capital of France is",
    "1, 2, 3, 4, 5,",
    "Once upon a time there was a",
    "My favourite food is",
    "def add(a, b):\n    return",
)
"""Some with one likely continuation, some with many: numbers that differ show a shift."""

_ANSWER = " Paris"
_TOKENS_PER_STEM = 4
_TOLERANCE = 1.0  # nats; batching and quantised caches move a number by a few hundredths
_ZERO_TIMEOUT_S = 20.0
_CURE_OTHER_SERVER = (
    "Ranking choices needs a server whose /completions route returns `echo` with `logprobs`, such as vLLM; "
    "or let the model answer in words: --model-type chat (or completions) with a scorer that reads its choice"
)
_CURE_SHIFT = (
    "llama-cpp-python does this unless it is started with "
    "--kv_overrides tokenizer.ggml.add_bos_token=bool:true"
)


class EchoRefusedError(BenchwrightError):
    """The server's echoed log-probabilities cannot be used for ranking."""


@dataclass(frozen=True, slots=True)
class EchoProfile:
    """What was learned about a server's echo."""

    max_tokens: int
    """What to ask for when ranking: 0 if the server then generates nothing, else 1."""
    drops_generated: bool
    """Whether replies hold generated tokens, which `continuation_likelihood` leaves out."""
    notes: tuple[str, ...] = ()
    """What a reader of the results should know."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """One token's log-probability, generated and echoed, with the echo's neighbours."""

    generated: float
    echoed: float | None
    before: float | None
    after: float | None


@runtime_checkable
class _Forgetful(Protocol):
    def forget_failure(self) -> None: ...


async def learn_echo(endpoint: Endpoint, model: str) -> EchoProfile:
    """Check a server's echo with about a dozen short requests. Raises `EchoRefusedError` with the reason."""
    import asyncio  # not for `--help`

    try:
        checked = await asyncio.gather(*(_check_stem(endpoint, model, stem) for stem in STEMS))
        notes = _judge([pair for pairs, _ in checked for pair in pairs])
        generated_seen = any(seen for _, seen in checked)
        zero_note = await _why_not_zero(endpoint, model)
    finally:
        if isinstance(endpoint, _Forgetful):
            endpoint.forget_failure()  # a probe that was refused is not the run's first failure
    if zero_note is None:
        return EchoProfile(max_tokens=0, drops_generated=False, notes=notes)
    return EchoProfile(max_tokens=1, drops_generated=generated_seen, notes=(*notes, zero_note))


async def _check_stem(endpoint: Endpoint, model: str, stem: str) -> tuple[list[_Pair], bool]:
    """Generate, echo, compare; and whether the echo held generated tokens."""
    first = _usable(
        await _ask(endpoint, {"model": model, "prompt": stem, "max_tokens": _TOKENS_PER_STEM,
                              "temperature": 0.0, "logprobs": 1}),
        "log-probabilities of generated tokens",
    )  # fmt: skip
    made = first.echoed
    if made is None:
        raise EchoRefusedError(
            f"the server gives no log-probabilities of the tokens it generates. {_CURE_OTHER_SERVER}"
        )
    count, text = _spelled(made, first.text)
    prompt = stem + text
    second = _usable(
        await _ask(endpoint, {"model": model, "prompt": prompt, "max_tokens": 1, "temperature": 0.0,
                              "logprobs": 1, "echo": True}),
        "an echo with log-probabilities",
    )  # fmt: skip
    echoed = second.echoed
    if echoed is None:
        raise EchoRefusedError(f"the server echoes no log-probabilities. {_CURE_OTHER_SERVER}")
    if len(echoed.tokens) <= 2:
        raise EchoRefusedError(
            f"the server ignores `echo`: asked to echo {prompt!r} it listed {echoed.tokens!r} only. "
            f"{_CURE_OTHER_SERVER}"
        )
    try:
        aligned = align_tokens(echoed, stem, text)
    except EmptyContinuationError as error:
        raise EchoRefusedError(f"the server's echo cannot be used: {error}. {_CURE_OTHER_SERVER}") from None
    at = {key: index for index, key in enumerate(zip(aligned.starts, echoed.tokens, strict=True))}
    pairs = []
    start = aligned.boundary
    for index in range(count):
        token = made.tokens[index]
        value = made.token_logprobs[index]
        found = at.get((start, token))  # None when the text is cut into other tokens this time
        if found is not None and value is not None:
            values = echoed.token_logprobs
            pairs.append(_Pair(value, values[found], _get(values, found - 1), _get(values, found + 1)))
        start += len(token.encode()) if aligned.in_bytes else len(token)
    return pairs, aligned.has_generated


def _judge(pairs: Sequence[_Pair]) -> tuple[str, ...]:
    """Refuse, or accept with notes."""
    if not pairs:
        raise EchoRefusedError(
            "the server's echo could not be checked: no generated token came back as the same token at the "
            f"same place, so its text offsets or tokens are not those of the text. {_CURE_OTHER_SERVER}"
        )
    known = [pair for pair in pairs if pair.echoed is not None]
    if len(known) <= len(pairs) // 2:
        raise EchoRefusedError(
            f"{len(pairs) - len(known)} of {len(pairs)} echoed tokens have no log-probability. {_CURE_OTHER_SERVER}"
        )
    agreeing = sum(_near(pair.generated, pair.echoed) for pair in known)
    if agreeing < len(known) - len(known) // 8:
        raise EchoRefusedError(_disagreement(known, agreeing))
    if all(_near(p.generated, p.before) or _near(p.generated, p.after) for p in known):
        return ("all checked tokens were about equally probable: a shift of the echo could not be ruled out",)
    return ()


def _disagreement(pairs: Sequence[_Pair], agreeing: int) -> str:
    worst = max(pairs, key=lambda p: abs(p.generated - (p.echoed or 0.0)))
    reason = (
        f"the server's echoed log-probabilities are not those of the tokens: {len(pairs) - agreeing} of "
        f"{len(pairs)} disagree by more than {_TOLERANCE:g} nat (for example {worst.generated:.2f} when "
        f"generated, {worst.echoed:.2f} when echoed)"
    )
    for side, neighbours in (
        ("before", [pair.before for pair in pairs]),
        ("after", [pair.after for pair in pairs]),
    ):
        matching = sum(_near(p.generated, value) for p, value in zip(pairs, neighbours, strict=True))
        known = sum(value is not None for value in neighbours)
        if matching > agreeing and matching >= known - known // 4:
            return f"{reason}. They are shifted by one: a token's number stands at the token {side} it. {_CURE_SHIFT}"
    return f"{reason}. {_CURE_OTHER_SERVER}"


async def _why_not_zero(endpoint: Endpoint, model: str) -> str | None:
    """Whether `max_tokens: 0` generates nothing; a reason for using 1 if not.

    Asked last, of a server that is known to answer: llama-cpp-python takes 0 as "no limit", so the
    request also carries stop texts and a short deadline.
    """
    import asyncio

    prompt = STEMS[0] + _ANSWER
    body = {"model": model, "prompt": prompt, "max_tokens": 0, "temperature": 0.0, "logprobs": 1,
            "echo": True, "stop": ["\n", ".", ",", " "]}  # fmt: skip
    try:
        async with asyncio.timeout(_ZERO_TIMEOUT_S):
            reply = await _ask(endpoint, body)
    except TimeoutError:
        return "max_tokens 1 is used: with 0 the server did not stop generating"
    if reply.failure is not None:
        return "max_tokens 1 is used: the server does not accept 0"
    if reply.echoed is None:
        return "max_tokens 1 is used: with 0 the server echoes nothing"
    try:
        aligned = align_tokens(reply.echoed, STEMS[0], _ANSWER, max_tokens=0)
    except EmptyContinuationError:
        return "max_tokens 1 is used: with 0 the server's echo cannot be read"
    if (
        aligned.has_generated
        or len(reply.text) > len(prompt)
        or (reply.usage is not None and reply.usage.completion > 0)
    ):
        return "max_tokens 1 is used: with 0 the server generates all the same"
    return None


async def _ask(endpoint: Endpoint, body: dict[str, object]) -> ModelReply:
    return await endpoint.send(
        ModelRequest("completions", body, encode_json(body))  # type: ignore[arg-type]  # built of JSON values above
    )


def _usable(reply: ModelReply, what: str) -> ModelReply:
    if reply.failure is not None:
        raise EchoRefusedError(
            f"the server could not be checked for {what}: {reply.failure.message}. "
            "If it has no /completions route, use --model-type chat"
        )
    return reply


def _spelled(made: EchoedTokens, text: str) -> tuple[int, str]:
    """How many generated tokens spell the beginning of the text, and that beginning. Stops at special
    tokens, which are listed but not part of the text."""
    spelled = ""
    for count, token in enumerate(made.tokens):
        if not token or not text.startswith(spelled + token) or "\ufffd" in token:
            return count, spelled
        spelled += token
    return len(made.tokens), spelled


def _near(value: float, other: float | None) -> bool:
    return other is not None and abs(value - other) <= _TOLERANCE


def _get(values: Sequence[float | None], index: int) -> float | None:
    return values[index] if 0 <= index < len(values) else None

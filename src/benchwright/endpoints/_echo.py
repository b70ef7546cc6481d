"""Checks, before anything is ranked, whether a server's echoed log-probabilities can be trusted.

For a few stems the server generates some tokens greedily, with log-probabilities. Stem and tokens are then sent back to
be echoed. Both numbers rate the same token at the same place, so they must agree. Some servers leave them out, ignore
`echo`, or give each token the number of its neighbour. The check compares several tokens of several stems, an unlikely
alternative, and a continuation that the model would not choose. Finally it compares the echoes with each other
(`_echo_checks`): if all tokens are about equally probable, a shift would not show otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from benchwright.core import (
    EchoedTokens,
    JsonObject,
    ModelReply,
    ModelRequest,
    clause,
    completions_body,
    encode_json,
)
from benchwright.endpoints._echo_checks import (
    CURE_OTHER_SERVER,
    TOLERANCE,
    EchoedPrompt,
    EchoRefusedError,
    TokenPair,
    judge_contrast,
    judge_echo,
)
from benchwright.endpoints._endpoint import Endpoint
from benchwright.endpoints._likelihood import EmptyContinuationError, align_tokens

STEMS: tuple[str, ...] = (
    "The capital of France is",
    "1, 2, 3, 4, 5,",
    "Once upon a time there was a",
    "def add(a, b):\n    return",
)
"""Some have one likely continuation, others have many, so that the numbers differ and a shift shows."""

_FOREIGN = " purple elephants"
# After several stems begins the same; of four stems three have one: twenty requests at most. Characters of two, three and four
# bytes show whether the server's tokens can be located in them.
_FOREIGN_AFTER = (_FOREIGN, _FOREIGN, f"{_FOREIGN}: ein größeres 象 🐘", None)
_ANSWER = " Paris"
_TOKENS_PER_STEM = 4
_ZERO_TIMEOUT_S = 20.0


class EchoProfile(Struct, frozen=True):
    """What was learned about a server's echo."""

    max_tokens: int
    """The `max_tokens` of ranking requests: 0 if the server then generates nothing, else 1."""
    drops_generated: bool
    """Whether replies contain generated tokens, which `continuation_likelihood` leaves out."""
    notes: tuple[str, ...] = ()
    """Notes on the results."""

    @staticmethod
    async def learned(endpoint: Endpoint, model: str) -> EchoProfile:
        """Check a server's echo with at most twenty short requests. Raises `EchoRefusedError` with the reason."""
        import asyncio  # not for `--help`

        checks = [
            asyncio.ensure_future(_check_stem(endpoint, model, stem, foreign))
            for stem, foreign in zip(STEMS, _FOREIGN_AFTER, strict=True)
        ]
        try:
            findings = await asyncio.gather(*checks)
            judge_echo([pair for pairs, *_ in findings for pair in pairs])
            notes = judge_contrast([echo for _, echoes, *_ in findings for echo in echoes])
            notes += tuple(note for *_, own in findings for note in own)
            zero_note = await _why_not_zero(endpoint, model)
        finally:
            for check in checks:  # one refusal is enough
                check.cancel()
            await asyncio.gather(*checks, return_exceptions=True)
            if isinstance(endpoint, _Forgetful):
                endpoint.forget_failure()  # a refused probe does not count as the run's first failure
        if zero_note is None:
            return EchoProfile(max_tokens=0, drops_generated=False, notes=notes)
        has_generated = any(generated for _, _, generated, _ in findings)
        return EchoProfile(max_tokens=1, drops_generated=has_generated, notes=(*notes, zero_note))


_Findings: TypeAlias = tuple[list[TokenPair], list[EchoedPrompt], bool, tuple[str, ...]]
"""The findings for one stem: tokens generated and echoed, the echoes, whether the echo also contained generated tokens, and notes."""


class _NotLocatedError(EchoRefusedError):
    """An echo whose tokens cannot be located in the prompt."""


@runtime_checkable
class _Forgetful(Protocol):
    def forget_failure(self) -> None: ...


async def _check_stem(endpoint: Endpoint, model: str, stem: str, foreign: str | None) -> _Findings:
    """Generate tokens; have them echoed, and an unlikely token of known probability and other text too; compare."""
    first = await _generate(endpoint, model, stem)
    made = first.echoed
    if made is None:
        raise EchoRefusedError(
            f"the server gives no log-probabilities of the tokens it generates. {CURE_OTHER_SERVER}"
        )
    likely = _spelled(made, first.text)
    rare = _unlikely_token(made)
    found = [await _compare(endpoint, model, stem, likely, unlikely=False)]
    if rare is not None:
        found.append(await _compare(endpoint, model, stem, [rare], unlikely=True))
    notes: tuple[str, ...] = ()
    if foreign is not None or rare is None:
        text = foreign or _FOREIGN
        try:
            found.append(await _compare(endpoint, model, stem, [(text, None)], unlikely=False))
        except _NotLocatedError:
            if text.isascii():
                raise
            notes = (
                "the server's tokens cannot be located in text with characters of several bytes (é, 象, 🐘): candidates "
                "whose boundary stays unclear fail",
            )
    pairs = [pair for own, *_ in found for pair in own]
    return pairs, [echo for _, own, *_ in found for echo in own], found[0][2], notes


async def _compare(
    endpoint: Endpoint, model: str, stem: str, expected: Sequence[tuple[str, float | None]], *, unlikely: bool
) -> _Findings:
    """Have stem and tokens echoed, and find the tokens in the echo."""
    text = "".join(token for token, _ in expected)
    prompt = stem + text
    body = completions_body(model, prompt, 1, logprobs=1, echo=True)
    echoed = _usable(await _ask(endpoint, body), "an echo with log-probabilities").echoed
    if echoed is None:
        raise EchoRefusedError(f"the server echoes no log-probabilities. {CURE_OTHER_SERVER}")
    if len(echoed.tokens) <= 2:
        raise EchoRefusedError(
            f"the server ignores `echo`: it was to echo {prompt!r} and listed {echoed.tokens!r} only. "
            f"{CURE_OTHER_SERVER}"
        )
    try:
        aligned = align_tokens(echoed, stem, text)
    except EmptyContinuationError as error:
        raise _NotLocatedError(
            f"the server's echo cannot be used: {clause(error)}. {CURE_OTHER_SERVER}"
        ) from None
    places = {key: index for index, key in enumerate(zip(aligned.starts, echoed.tokens, strict=True))}
    values = echoed.token_logprobs
    pairs = []
    start = aligned.boundary
    for token, value in expected:
        found = places.get((start, token))  # None if the text is split into other tokens this time
        if found is not None and value is not None:
            pairs.append(
                TokenPair(value, values[found], _get(values, found - 1), _get(values, found + 1), unlikely)
            )
        start += len(token.encode()) if aligned.in_bytes else len(token)
    kept = [i for i, at in enumerate(aligned.starts) if at is None or at < aligned.end]
    before = sum(1 for i in kept if (at := aligned.starts[i]) is None or at < aligned.boundary)
    prompt_tokens = [echoed.tokens[i] for i in kept]
    echo = EchoedPrompt(stem, prompt_tokens, [values[i] for i in kept], before)
    return pairs, [echo], aligned.has_generated, ()


async def _why_not_zero(endpoint: Endpoint, model: str) -> str | None:
    """Check that `max_tokens: 0` generates nothing. Returns a reason for using 1 if it does.

    This check comes last, when the server is known to answer. llama-cpp-python takes 0 as "no limit", so the request also
    has stop texts and a short deadline.
    """
    import asyncio

    prompt = STEMS[0] + _ANSWER
    body = completions_body(model, prompt, 0, logprobs=1, echo=True, stop=["\n", ".", ",", " "])
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


async def _generate(endpoint: Endpoint, model: str, stem: str) -> ModelReply:
    """Generate a few tokens with alternatives: five, or one if the server refuses to list five."""
    body = completions_body(model, stem, _TOKENS_PER_STEM, logprobs=5)
    reply = await _ask(endpoint, body)
    if reply.failure is not None and reply.failure.kind == "rejected":
        reply = await _ask(endpoint, {**body, "logprobs": 1})
    return _usable(reply, "log-probabilities of generated tokens")


async def _ask(endpoint: Endpoint, body: JsonObject) -> ModelReply:
    return await endpoint.send(ModelRequest("completions", body, encode_json(body)))


def _usable(reply: ModelReply, what: str) -> ModelReply:
    if reply.failure is not None:
        # A server that is down, or needs another key, reveals nothing about its log-probabilities.
        at_fault = reply.failure.kind in ("rejected", "bad_reply") and reply.failure.http_status not in (
            401,
            403,
        )
        cure = f". {CURE_OTHER_SERVER}" if at_fault else ""
        raise EchoRefusedError(f"the server could not be checked for {what}: {reply.failure.message}{cure}")
    return reply


def _spelled(made: EchoedTokens, text: str) -> list[tuple[str, float | None]]:
    """The generated tokens that spell the beginning of the text, up to special tokens, which are listed but not part of
    it."""
    spelled = ""
    tokens = []
    for token, value in zip(made.tokens, made.token_logprobs, strict=False):
        if not token or not text.startswith(spelled + token) or "\ufffd" in token:
            break
        spelled += token
        tokens.append((token, value))
    return tokens


def _unlikely_token(made: EchoedTokens) -> tuple[str, float] | None:
    """The least likely alternative to the first generated token, if it is much less likely."""
    top = made.top_logprobs[0] if made.top_logprobs else None
    if not top or len(top) < 2:
        return None
    token = min(top, key=top.__getitem__)
    if top[token] > max(top.values()) - 2 * TOLERANCE or not token.strip() or "\ufffd" in token:
        return None
    return token, top[token]


def _get(values: Sequence[float | None], index: int) -> float | None:
    return values[index] if 0 <= index < len(values) else None

"""Decides whether a server's echo can be trusted, by comparing log-probabilities of the same tokens in two ways. Pure.

First, echoed numbers are compared with those of the same tokens when generated. Second, echoes that differ in one place
are compared with each other: two prompts begin alike and diverge at some token. The number of that token must differ
between them, and no number before it may. If a number before it differs, the numbers are shifted to the left; if its own
number does not, they are shifted to the right or meaningless. Unlike the first comparison, this one also works if all
tokens are about equally probable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from msgspec import Struct

from benchwright.core import BenchwrightError, clause

SAME = 0.01
"""Nats; on a server without noise, numbers closer than this count as equal."""
NOTED = 0.05
"""Nats; noise above this is worth a note."""
NOISE = 0.5
"""Nats; batching changes a number by less than this from one request to the next."""


class EchoedPrompt(Struct, frozen=True):
    """A prompt's tokens with their log-probabilities, without generated tokens."""

    stem: str
    """The prompt's beginning."""
    tokens: Sequence[str]
    """All tokens of the prompt, with special ones in front."""
    values: Sequence[float | None]
    """Their log-probabilities."""
    first: int
    """Where the continuation starts."""


def judge_contrast(echoes: Sequence[EchoedPrompt]) -> tuple[str, ...]:
    """Refuse the echo, or accept it with notes. `echoes` contains several continuations of each stem, and one continuation
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
            f"number is at the token after it) or they mean nothing. {CURE_SHIFT}. {CURE_OTHER_SERVER}"
        )
    elsewhere = list(_after_other_stems(echoes))
    if elsewhere and max(elsewhere) <= SAME:
        raise EchoRefusedError(
            f"{_WRONG}: a token's number is the same whatever text comes before it. {CURE_OTHER_SERVER}"
        )
    if moved > NOTED:
        return (f"the server's log-probabilities vary by up to {moved:.2f} nat from request to request",)
    return ()


_WRONG = "the server's echoed log-probabilities are not those of the tokens"


def _beside(one: EchoedPrompt, other: EchoedPrompt) -> Iterator[tuple[int, float]]:
    """Differences up to the token at which two echoes diverge, each with its distance from that token."""
    parting = 0
    for ours, theirs in zip(one.tokens, other.tokens, strict=False):
        if ours != theirs:
            break
        parting += 1
    else:
        return  # one echo is a prefix of the other
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


TOLERANCE = 1.0  # nats; batching and quantised caches move a number by a few hundredths
CURE_OTHER_SERVER = (
    "Ranking choices needs a server whose /completions route returns `echo` with `logprobs`, such as vLLM. On "
    "this one the model can answer in words. For a file of questions, leave --infer-method logprob out. For a benchmark, leave "
    "completions_logprob out (endpoint_type= of @benchmark, --model-type, or the model's type in benchwright.toml), and score "
    "with a scorer that reads the choice from the reply, such as mcq_letter_extract"
)
CURE_SHIFT = (
    "llama-cpp-python does this unless it is started with "
    "--kv_overrides tokenizer.ggml.add_bos_token=bool:true"
)


class EchoRefusedError(BenchwrightError):
    """The server's echoed log-probabilities cannot be used for ranking."""


class TokenPair(Struct, frozen=True):
    """One token's log-probability, generated and echoed, with the echo's neighbours."""

    generated: float
    """Its log-probability when generated."""
    echoed: float | None
    """Its log-probability when echoed."""
    before: float | None
    """Log-probability of the echoed token before it."""
    after: float | None
    """Log-probability of the echoed token after it."""
    unlikely: bool
    """Whether the token was not the model's choice. Such numbers differ most from those of their neighbours."""


def judge_echo(pairs: Sequence[TokenPair]) -> None:
    """Refuse the echo, or accept it. Numbers that are close to each other do not yet prove that they are not shifted."""
    if not pairs:
        raise EchoRefusedError(
            "the server's echo could not be checked: no generated token came back as the same token at the "
            f"same place, so its text offsets or tokens are not those of the text. {CURE_OTHER_SERVER}"
        )
    known = [pair for pair in pairs if pair.echoed is not None]
    if len(known) <= len(pairs) // 2:
        raise EchoRefusedError(
            f"{len(pairs) - len(known)} of {len(pairs)} echoed tokens have no log-probability. {CURE_OTHER_SERVER}"
        )
    unlikely = [pair for pair in known if pair.unlikely]
    for group, allowed in ((known, len(known) // 8), (unlikely, len(unlikely) // 3)):
        if _disagreeing(group) > allowed:
            raise EchoRefusedError(_disagreement(known))


def shifted(side: str) -> str:
    """The message for an echo whose numbers are one token too far left or right."""
    return f"They are shifted by one: a token's number is at the token {side} it. {CURE_SHIFT}."


def _disagreement(pairs: Sequence[TokenPair]) -> str:
    wrong = _disagreeing(pairs)
    worst = max(pairs, key=lambda p: abs(p.generated - (p.echoed or 0.0)))
    reason = (
        f"the server's echoed log-probabilities are not those of the tokens: {wrong} of "
        f"{len(pairs)} disagree by more than {TOLERANCE:g} nat (for example {worst.generated:.2f} when "
        f"generated, {worst.echoed:.2f} when echoed)"
    )
    for side, neighbours in (
        ("before", [pair.before for pair in pairs]),
        ("after", [pair.after for pair in pairs]),
    ):
        known = [
            (p.generated, value) for p, value in zip(pairs, neighbours, strict=True) if value is not None
        ]
        off = sum(not _near(generated, value) for generated, value in known)
        if known and off < wrong and off <= len(known) // 8:
            return f"{clause(reason)}. {shifted(side)}"
    return f"{clause(reason)}. {CURE_SHIFT}. {CURE_OTHER_SERVER}"


def _disagreeing(pairs: Sequence[TokenPair]) -> int:
    return sum(not _near(pair.generated, pair.echoed) for pair in pairs)


def _near(value: float, other: float | None) -> bool:
    return other is not None and abs(value - other) <= TOLERANCE

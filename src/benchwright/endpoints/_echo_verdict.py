"""The verdict over a server's echo: pure comparison of the same tokens' log-probabilities, two ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchwright.core import BenchwrightError

TOLERANCE = 1.0  # nats; batching and quantised caches move a number by a few hundredths
CURE_OTHER_SERVER = (
    "Ranking choices needs a server whose /completions route returns `echo` with `logprobs`, such as vLLM. On "
    "this one the model can answer in words: leave completions_logprob out where it is asked for (endpoint_type= "
    "of @benchmark, --model-type, or the model's type in benchwright.toml), and score with one that reads the "
    "choice from the reply, such as mcq_letter_extract"
)
CURE_SHIFT = (
    "llama-cpp-python does this unless it is started with "
    "--kv_overrides tokenizer.ggml.add_bos_token=bool:true"
)


class EchoRefusedError(BenchwrightError):
    """The server's echoed log-probabilities cannot be used for ranking."""


@dataclass(frozen=True, slots=True)
class TokenPair:
    """One token's log-probability, generated and echoed, with the echo's neighbours."""

    generated: float
    """When generated."""
    echoed: float | None
    """When echoed."""
    before: float | None
    """Of the echoed token before it."""
    after: float | None
    """Of the echoed token after it."""
    unlikely: bool
    """Whether the token was not the model's choice: such numbers differ most from their neighbours'."""


def judge_echo(pairs: Sequence[TokenPair]) -> None:
    """Refuse, or accept. That the numbers are near each other does not yet show that they are not shifted."""
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
    """What to say of an echo whose numbers stand one token too far left or right."""
    return f"They are shifted by one: a token's number stands at the token {side} it. {CURE_SHIFT}."


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
            return f"{reason}. {shifted(side)}"
    return f"{reason}. {CURE_SHIFT}. {CURE_OTHER_SERVER}"


def _disagreeing(pairs: Sequence[TokenPair]) -> int:
    return sum(not _near(pair.generated, pair.echoed) for pair in pairs)


def _near(value: float, other: float | None) -> bool:
    return other is not None and abs(value - other) <= TOLERANCE

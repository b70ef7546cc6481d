"""Synthetic prompts: `--synthetic input=512,output=128,law=lognormal,prefixes=4x256`. Pure functions of the text and a seed.

Lengths follow a distribution, texts are English words, and some prompts may begin with one of a few shared prefixes, so that
the share of tokens that a prefix cache can serve is known before the first request.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import accumulate
from math import log, sqrt
from random import Random

from msgspec import Struct

from benchwright.core import JsonObject, LengthLaw, Row, UsageError, suggest
from benchwright.perf._texts import TextMaker, open_text_maker

LONGEST = 1 << 20
"""The most tokens of a prompt or a reply."""
USUAL_PROMPTS = 1000
MOST_PROMPTS = 100_000

_FORM = "input=512,output=128,law=lognormal,prefixes=4x256"
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_PREFIXES = re.compile(r"(\d+)x(\d+)")


class Lengths(Struct, frozen=True):
    """The distribution of the lengths of prompts or replies."""

    law: LengthLaw
    mean: int
    """Mean of `fixed`, `normal` and `lognormal`, before the ends are cut off."""
    least: int
    most: int
    spread: float
    """Standard deviation over the mean."""
    alpha: float
    """Exponent of `zipf`: the k-th shortest length is drawn k^-alpha times as often as the shortest."""

    def draw(self, dice: Random, count: int) -> list[int]:
        if self.law == "fixed":
            return [self.mean] * count
        if self.law == "uniform":
            return [dice.randint(self.least, self.most) for _ in range(count)]
        if self.law == "zipf":
            return self._zipf(dice, count)
        if self.law == "normal":
            drawn = [dice.gauss(self.mean, self.spread * self.mean) for _ in range(count)]
        else:
            variance = log(1 + self.spread**2)
            middle = log(self.mean) - variance / 2
            drawn = [dice.lognormvariate(middle, sqrt(variance)) for _ in range(count)]
        return [min(self.most, max(self.least, round(length))) for length in drawn]

    def _zipf(self, dice: Random, count: int) -> list[int]:
        sums = list(accumulate(rank**-self.alpha for rank in range(1, self.most - self.least + 2)))
        return [self.least + bisect_left(sums, dice.random() * sums[-1]) for _ in range(count)]


class Synthetic(Struct, frozen=True):
    """The description in `--synthetic`."""

    input: Lengths
    output: Lengths
    prefixes: int = 0
    """How many shared prefixes there are."""
    prefix_tokens: int = 0
    prefix_share: float = 1.0
    """Share of the requests that begin with one of them."""
    prompts: int | None = None
    """How many distinct prompts are made; None: as many as are sent."""


_KEYS = (
    "input", "output", "law", "input_law", "output_law", "spread", "alpha", "min", "max", "output_min", "output_max", "prefixes",
    "prefix_share", "prompts",
)  # fmt: skip


def parse_synthetic(text: str) -> Synthetic:
    """Parse and check the text of users. Raises UsageError with the key.

    >>> parse_synthetic("input=512,output=128,prefixes=4x256").prefix_tokens
    256
    """
    given: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = part.partition("=")
        key = key.strip().lower().replace("-", "_")
        if not equals or not value.strip():
            raise UsageError(f"--synthetic {part!r}: expected KEY=VALUE, as in {_FORM}")
        if key not in _KEYS:
            raise UsageError(f"--synthetic has no key {key!r}.{suggest(key, _KEYS)} Keys: {', '.join(_KEYS)}")
        if key in given:
            raise UsageError(f"--synthetic has {key} twice")
        given[key] = value.strip()
    for key in ("input", "output"):
        if key not in given:
            raise UsageError(f"--synthetic needs {key}, in tokens, as in {_FORM}")
    count, tokens = _prefixes(given.get("prefixes"))
    found = Synthetic(
        input=_lengths(given, "input", ""),
        output=_lengths(given, "output", "output_"),
        prefixes=count,
        prefix_tokens=tokens,
        prefix_share=_number(given, "prefix_share", 1.0, above=0.0, most=1.0),
        prompts=_whole(given, "prompts", MOST_PROMPTS) if "prompts" in given else None,
    )
    if "prefix_share" in given and not count:
        raise UsageError("--synthetic prefix_share needs prefixes, as in prefixes=4x256")
    if count and found.input.most <= tokens:
        raise UsageError(
            f"--synthetic prefixes={given['prefixes']}: prompts of {found.input.most} tokens have no room for a prefix of {tokens}"
        )
    return found


def _lengths(given: dict[str, str], key: str, ends: str) -> Lengths:
    match = _RANGE.fullmatch(given[key])
    if match is None:
        raise UsageError(f"--synthetic {key}={given[key]}: expected tokens, as 512 or 128-1024")
    first, last = int(match[1]), None if match[2] is None else int(match[2])
    law = given.get(f"{key}_law", given.get("law", "fixed" if last is None else "uniform"))
    laws = tuple(LengthLaw)
    if law not in laws:
        raise UsageError(f"--synthetic law={law} is not known.{suggest(law, laws)} Laws: {', '.join(laws)}")
    if last is None and law in ("uniform", "zipf"):
        if key == "output" and "output_law" not in given:
            law = "fixed"  # one number is the length of all replies, independent of the law of prompts
        else:
            raise UsageError(f"--synthetic {key}={first}: law {law} needs both ends, as in {key}=128-1024")
    if last is not None and law == "fixed":
        raise UsageError(f"--synthetic {key}={given[key]}: law fixed takes one number")
    least = first if last is not None else _whole(given, f"{ends}min", LONGEST, 1)
    most = last if last is not None else _whole(given, f"{ends}max", LONGEST, min(LONGEST, 8 * first))
    mean = first if last is None else (first + last) // 2
    if not 1 <= least <= most <= LONGEST or not least <= mean <= most:
        raise UsageError(
            f"--synthetic {key}={given[key]}: lengths go from 1 to {LONGEST:,}, the shorter end first, and the mean between them"
        )
    if law == "fixed":
        least = most = mean
    return Lengths(
        law=LengthLaw(law),
        mean=mean,
        least=least,
        most=most,
        spread=_number(given, "spread", 0.3, above=0.0, most=10.0),
        alpha=_number(given, "alpha", 1.2, above=0.0, most=10.0),
    )


def _prefixes(text: str | None) -> tuple[int, int]:
    if text is None:
        return 0, 0
    match = _PREFIXES.fullmatch(text.lower())
    if match is None or not 0 < int(match[1]) <= MOST_PROMPTS or not 0 < int(match[2]) <= LONGEST:
        raise UsageError(
            f"--synthetic prefixes={text}: expected their number and their tokens, as in prefixes=4x256"
        )
    return int(match[1]), int(match[2])


def _number(given: dict[str, str], key: str, usual: float, *, above: float, most: float) -> float:
    try:
        value = float(given.get(key, usual))
    except ValueError:
        value = -1.0
    if not above < value <= most:
        raise UsageError(
            f"--synthetic {key}={given[key]}: expected a number above {above:g}, {most:g} at most"
        )
    return value


def _whole(given: dict[str, str], key: str, most: int, usual: int = 1) -> int:
    text = given.get(key, str(usual))
    if not text.isdecimal() or not 0 < int(text) <= most:
        raise UsageError(f"--synthetic {key}={text}: expected a whole number from 1 to {most:,}")
    return int(text)


def synthetic_rows(text: str, tokenizer: str | None, seed: int, count: int) -> tuple[list[Row], JsonObject]:
    """Make `count` rows with `prompt` and `max_tokens` as users describe them; the same seed gives the same rows. Also returns facts: means
    of the lengths, and the share of input tokens that an unlimited prefix cache can serve in one pass."""
    maker, how = open_text_maker(tokenizer, seed), parse_synthetic(text)
    count = min(how.prompts or count, MOST_PROMPTS)
    dice = Random(f"synthetic/{seed}")
    inputs, outputs = how.input.draw(dice, count), how.output.draw(dice, count)
    chosen = [
        dice.randrange(how.prefixes) if how.prefixes and dice.random() < how.prefix_share else None
        for _ in range(count)
    ]
    prefixes = [maker.text(how.prefix_tokens, f"prefix/{number}") for number in range(how.prefixes)]
    rows: list[Row] = []
    seen: set[int] = set()
    cached = total = 0
    for number, (tokens, reply, prefix) in enumerate(zip(inputs, outputs, chosen, strict=True)):
        if prefix is None:
            prompt = maker.text(tokens, f"prompt/{number}")
        else:
            tokens = max(tokens, how.prefix_tokens + 1)
            prompt = _prefixed(maker, prefixes[prefix], tokens, how.prefix_tokens, number)
            cached += how.prefix_tokens if prefix in seen else 0
            seen.add(prefix)
        total += tokens
        rows.append({"prompt": prompt, "max_tokens": reply, "input_tokens": tokens, "prefix": prefix})
    facts: JsonObject = {
        "prompts": count,
        "mean_input_tokens": round(total / count, 3),
        "mean_output_tokens": round(sum(outputs) / count, 3),
        "cacheable_share": round(cached / total, 6),
        "description": text,
        "exact": maker.exact,
    }
    return rows, facts


def _prefixed(maker: TextMaker, prefix: str, tokens: int, prefix_tokens: int, number: int) -> str:
    """A prefix and further words of exactly the requested total length; a tokenizer may join words where they meet."""
    own = tokens - prefix_tokens
    prompt = ""
    for _ in range(4):
        prompt = f"{prefix} {maker.text(max(1, own), f'prompt/{number}')}"
        counted = maker.count(prompt)
        if counted is None or counted == tokens:
            break
        own += tokens - counted
    return prompt

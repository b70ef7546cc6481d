"""What the stub says: answers, tokens and log-probabilities as pure functions of the prompt.

The data generator uses the same functions to write rows whose right answers are known, so that every
tool must report the same accuracy: a tool that loses, mixes up or alters requests is found out.
"""

from __future__ import annotations

import math
import re
from zlib import crc32

TOKEN = re.compile(r" ?\S+|\s")
"""A word with the space before it, or one other white-space character; joined, tokens give the text back."""
COLOURS = ("red", "blue", "green", "white", "black", "brown", "grey", "pink")
THINGS = ("house", "river", "lamp", "stone", "bird", "train", "table", "cloud")
WORDS = tuple(f" {word}" for word in COLOURS + THINGS)
"""What can be generated greedily. The space in front keeps prompt + word splitting where it was joined."""


def answer_to(prompt: str) -> str:
    """The chat answer: two words and a number, from the prompt's checksum."""
    mark = crc32(prompt.encode())
    return f"{COLOURS[mark & 7]} {THINGS[mark >> 3 & 7]} {mark >> 6 & 1023}"


def greedy_word(mark: int) -> str:
    """The most likely next word after a text with checksum `mark`."""
    return WORDS[(mark >> 7) & 15]


def greedy_logprob(mark: int) -> float:
    """Its log-probability: between -0.05 and -2.05, above that of any other token.

    Wide enough that an echo shifted by one place is noticed by whoever checks for it.
    """
    return -0.05 - (mark >> 11 & 255) / 128


def token_logprob(mark: int, token: str, mark_after: int) -> float:
    """Log-probability of `token` after a text with checksum `mark`; `mark_after` is the checksum with it."""
    if token == greedy_word(mark):
        return greedy_logprob(mark)
    return -3.0 - (mark_after & 0xFFFFF) / 200_000


def text_logprob(context: str, continuation: str) -> float:
    """Log-probability of `continuation` after `context`: what ranking by likelihood must arrive at."""
    mark = crc32(context.encode())
    total = []
    for token in TOKEN.findall(continuation):
        after = crc32(token.encode(), mark)
        total.append(token_logprob(mark, token, after))
        mark = after
    return math.fsum(total)


def echo(prompt: str, generated: int) -> tuple[str, dict[str, list[object]]]:
    """The echoed text, and the `logprobs` object of it, with `generated` greedy tokens at the end."""
    tokens: list[object] = []
    logprobs: list[object] = []
    tops: list[object] = []
    offsets: list[object] = []
    mark = position = 0
    for token in TOKEN.findall(prompt):
        after = crc32(token.encode(), mark)
        # The first token has nothing before it: null, as the servers that inspired this do.
        if tokens:
            best = greedy_word(mark)
            value = token_logprob(mark, token, after)
            logprobs.append(value)
            tops.append({best: value} if token == best else {best: greedy_logprob(mark), token: value})
        else:
            logprobs.append(None)
            tops.append(None)
        tokens.append(token)
        offsets.append(position)
        position += len(token)
        mark = after
    text = prompt
    for _ in range(generated):
        best = greedy_word(mark)
        tokens.append(best)
        logprobs.append(greedy_logprob(mark))
        tops.append({best: greedy_logprob(mark)})
        offsets.append(position)
        position += len(best)
        mark = crc32(best.encode(), mark)
        text += best
    return text, {
        "tokens": tokens,
        "token_logprobs": logprobs,
        "top_logprobs": tops,
        "text_offset": offsets,
    }


def generate(prompt: str, max_tokens: int) -> tuple[str, dict[str, list[object]]]:
    """Greedy continuation of at most eight words, and its `logprobs` object; offsets count from the prompt."""
    count = len(TOKEN.findall(prompt))
    text, logprobs = echo(prompt, min(max_tokens, 8))
    return text[len(prompt) :], {name: values[count:] for name, values in logprobs.items()}

"""Finds the place of each echoed token in the bytes of a prompt, however the server writes parts of characters. Pure.

A token may contain only some bytes of a character. Servers show such tokens as `�`, as nothing, as `bytes:\\xe2\\x82`, as
`<0xE2>`, or write all tokens in a byte alphabet (`âĤ¬`). Offsets are then often wrong, because they add up the lengths of
these texts. The bytes of the prompt are known, so every token is matched with them. Where a token could lie in several
places, all of them are kept; the caller refuses an echo whose boundary stays unclear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate, pairwise

MOST_SPECIALS = 3
"""Special tokens in front of a prompt."""
_PARTIAL = "\ufffd"
_LARGEST = 64
"""Places that are followed at the same time; more are never needed for text that is not made to confuse."""


def token_places(tokens: Sequence[str], prompt: str, generated: int = 1) -> list[frozenset[int]] | None:
    """Where each token can begin, in bytes: negative for special tokens in front, the prompt's length for tokens behind it.

    None if the tokens do not spell the prompt. The server was allowed to generate `generated` tokens; it may have generated
    more only if the tokens fit in no other way.

    >>> token_places(["<s>", "a", "�", "�", "!"], "aé")
    [frozenset({-1}), frozenset({0}), frozenset({1}), frozenset({2}), frozenset({3})]
    """
    raw = prompt.encode(errors="surrogatepass")
    for reads in (_as_text, _in_byte_alphabet, _with_word_marks, _with_bytes_left_out):
        for specials in range(min(MOST_SPECIALS, len(tokens) - 1) + 1):
            rest = tokens[specials:]
            places = _follow(rest, raw, reads, len(rest) - generated) or _follow(rest, raw, reads, 0)
            if places is not None:
                return [frozenset({-1})] * specials + places
    return None


def narrowed(
    places: list[frozenset[int]], tokens: Sequence[str], offsets: Sequence[int | None], prompt: str
) -> list[frozenset[int]]:
    """The places that agree with the server's offsets, if those of all tokens do; else the same places.

    Offsets count bytes or characters; all parts of a character may have the offset of the character.
    """
    specials = sum(possible == {-1} for possible in places)
    if len(offsets) != len(tokens) or _are_lengths(tokens[specials:], offsets[specials:]):
        return places
    raw = prompt.encode(errors="surrogatepass")
    characters = list(accumulate((byte & 0xC0 != 0x80 for byte in [*raw, 0]), initial=-1))[1:]
    for shift in {0, sum(map(len, tokens[:specials]))}:
        for unit in (range(len(raw) + 1), characters):
            found = [
                possible
                if offset is None or possible == {-1}
                else frozenset(
                    place for place in possible if unit[place] == offset - shift or place == len(raw)
                )
                for possible, offset in zip(places, offsets, strict=True)
            ]
            if all(found):
                return found
    return places


def _are_lengths(tokens: Sequence[str], offsets: Sequence[int | None]) -> bool:
    """Whether offsets only add up the lengths of the texts, which says nothing new."""
    steps = [None if one is None or other is None else other - one for one, other in pairwise(offsets)]
    return steps in ([len(token) for token in tokens[:-1]], [len(token.encode()) for token in tokens[:-1]])


def _follow(
    tokens: Sequence[str], raw: bytes, reads: Callable[[str, bytes, int], Sequence[int]], in_prompt: int
) -> list[frozenset[int]] | None:
    """The places of tokens of which at least the first `in_prompt` belong to the prompt, unless they have no text."""
    end = len(raw)
    reached: list[set[int]] = [{0}]
    for index, token in enumerate(tokens):
        after: set[int] = set()
        for place in reached[-1]:
            if place == end:
                if index >= in_prompt or not token:
                    after.add(end)
            else:
                after.update(reads(token, raw, place))
        if not after or len(after) > _LARGEST:
            return None
        reached.append(after)
    if end not in reached[-1]:
        return None
    # Backwards: only places from which the end can be reached.
    useful = {end}
    places: list[frozenset[int]] = []
    for index in range(len(tokens) - 1, -1, -1):
        useful = {
            place
            for place in reached[index]
            if (place == end and end in useful and (index >= in_prompt or not tokens[index]))
            or (place != end and not useful.isdisjoint(reads(tokens[index], raw, place)))
        }
        places.append(frozenset(useful))
    return places[::-1]


def _as_text(token: str, raw: bytes, at: int) -> Sequence[int]:
    """The places after a token that is shown as its text, with `�` for bytes that are not a character by themselves."""
    if _PARTIAL not in token:
        shown = _named_bytes(token)
        if shown is not None and raw.startswith(shown, at):
            return (at + len(shown),)
        plain = token.encode(errors="surrogatepass")
        return (at + len(plain),) if raw.startswith(plain, at) else ()
    most = min(len(raw), at + 4 * len(token))
    return [end for end in range(at + 1, most + 1) if _shows(raw[at:end], token)]


def _shows(part: bytes, token: str) -> bool:
    """Whether bytes are shown as `token`, with one sign for a broken character or one for each of its bytes."""
    if part.decode(errors="replace") == token:
        return True
    return _escaped().sub(_PARTIAL, part.decode(errors="surrogateescape")) == token


def _named_bytes(token: str) -> bytes | None:
    """The bytes of `<0xE2>` and `bytes:\\xe2\\x82`."""
    if token.startswith("<0x") and len(token) == 6 and token[5] == ">":
        try:
            return bytes([int(token[3:5], 16)])
        except ValueError:
            return None
    if not token.startswith("bytes:") or len(token) == 6:
        return None
    written = token[6:].encode(errors="surrogatepass")
    return _hexadecimal().sub(lambda found: bytes([int(found[1], 16)]), written)


def _in_byte_alphabet(token: str, raw: bytes, at: int) -> Sequence[int]:
    """The place after a token in the alphabet that has one character for each byte: `Ġ` is a space."""
    table = _byte_alphabet()
    try:
        shown = bytes([table[char] for char in token])
    except KeyError:
        return ()
    return (at + len(shown),) if raw.startswith(shown, at) else ()


def _with_word_marks(token: str, raw: bytes, at: int) -> Sequence[int]:
    """The place after a token in which `▁` is a space; in front of the text it may stand for none."""
    shown = _named_bytes(token)
    if shown is None:
        shown = token.replace("▁", " ").encode(errors="surrogatepass")
    if at == 0 and token.startswith("▁") and not raw.startswith(b" "):
        shown = shown[1:]
    return (at + len(shown),) if raw.startswith(shown, at) else ()


def _with_bytes_left_out(token: str, raw: bytes, at: int) -> Sequence[int]:
    """The places after a token that is shown without the bytes that are not a character by themselves."""
    size = len(token.encode(errors="surrogatepass"))
    most = min(len(raw), at + size + 6)
    return [end for end in range(at + size, most + 1) if raw[at:end].decode(errors="ignore") == token]


@cache
def _escaped() -> re.Pattern[str]:
    return re.compile("[\udc80-\udcff]")


@cache
def _hexadecimal() -> re.Pattern[bytes]:
    return re.compile(rb"\\x([0-9a-fA-F]{2})")


@cache
def _byte_alphabet() -> dict[str, int]:
    """The alphabet of byte-level tokenizers: printable bytes are themselves, the others follow from U+0100."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + at): byte for at, byte in enumerate(others)}

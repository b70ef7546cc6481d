"""A server that splits characters over tokens, as byte-level tokenizers do, in every way of writing such tokens."""

from __future__ import annotations

import hashlib
import math
import random
from itertools import accumulate
from typing import Any

from benchwright.core import ModelRequest

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_REST = [byte for byte in range(256) if byte not in _PRINTABLE]
_ALPHABET = {byte: chr(byte) for byte in _PRINTABLE} | {byte: chr(256 + at) for at, byte in enumerate(_REST)}

TEXTS = (
    "replaced",
    "per_byte",
    "ignored",
    "held_back",
    "shown_first",
    "alphabet",
    "word_marks",
    "named_bytes",
)
"""How tokens are written."""
OFFSETS = ("chars", "bytes", "lengths", "byte_lengths", "none")
"""What the offsets are; those of `lengths` add up the texts of the tokens."""
SCRIPTS = {
    "latin": ("Größe: né à ", ["Ünïcödé", "ascii", "été é"]),
    "cjk": ("問題：日本の首都は", ["東京", "大阪市", "kyoto 京"]),
    "emoji": ("Mood 🙂👩‍👩‍👧 is ", ["🎉🎊", "sad 😢", "👨‍👩‍👧‍👦"]),
    "combining": ("cafe\u0301 e\u0301 ", ["o\u0302te\u0301", "n\u0303", "plain"]),
    "mixed": ("a€b ", ["€", "£5 €", "한국어 말"]),
    "ascii": ("The answer is ", ["Paris", "Rome or so"]),
}


def split(text: str, chance: random.Random, *, inside: bool = False) -> list[bytes]:
    """The text in random pieces of bytes; `inside`: a piece never contains parts of two characters."""
    raw = text.encode()
    if inside:
        parts: list[bytes] = []
        for char in text:
            whole = char.encode()
            at = chance.choice([len(whole), *range(1, len(whole))])
            parts += [part for part in (whole[:at], whole[at:]) if part]
        return parts
    pieces, at = [], 0
    while at < len(raw):
        size = chance.randrange(1, 5) if raw[at] < 0x80 else chance.randrange(1, 4)
        pieces.append(raw[at : at + size])
        at += size
    return pieces


def written(pieces: list[bytes], how: str) -> list[str]:
    """The texts of the tokens."""
    if how == "replaced":
        return [piece.decode(errors="replace") for piece in pieces]
    if how == "per_byte":
        return ["".join("�" if "\udc80" <= char <= "\udcff" else char for char in piece.decode(errors="surrogateescape")) for piece in pieces]  # fmt: skip
    if how == "ignored":
        return [piece.decode(errors="ignore") for piece in pieces]
    if how == "alphabet":
        return ["".join(_ALPHABET[byte] for byte in piece) for piece in pieces]
    if how in ("word_marks", "named_bytes"):
        return [_whole(piece, how) for piece in pieces]
    ends = list(accumulate(map(len, pieces)))
    raw = b"".join(pieces)
    shown, done = [], 0
    for end in ends:
        if how == "shown_first":  # with its first byte
            while end < len(raw) and raw[end] & 0xC0 == 0x80:
                end += 1
        text = raw[done:end].decode(errors="ignore") if end > done else ""
        done += len(text.encode())
        shown.append(text)
    return shown


def _whole(piece: bytes, how: str) -> str:
    try:
        text = piece.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in piece)
    return text.replace(" ", "▁") if how == "word_marks" else text


def offsets(pieces: list[bytes], texts: list[str], how: str) -> list[int]:
    """The offsets of the tokens."""
    if how == "none":
        return []
    starts = list(accumulate(map(len, pieces[:-1]), initial=0))
    if how == "bytes":
        return starts
    raw = b"".join(pieces)
    if how == "chars":
        return [len(raw[:start].decode(errors="ignore")) for start in starts]
    size = len if how == "lengths" else lambda text: len(text.encode())
    return list(accumulate(map(size, texts[:-1]), initial=0))  # type: ignore[arg-type]


class SplittingModel:
    """A model over bytes: the number of a token is a hash of the bytes up to its end. Tokens never straddle `boundaries`."""

    def __init__(
        self, texts: str, offsets: str, *, seed: int = 0, bos: bool = False, generates: int = 0
    ) -> None:
        self.texts, self.offsets, self.seed, self.bos, self.generates = texts, offsets, seed, bos, generates
        self.inside = False
        """Whether a token never contains parts of two characters."""
        self.boundaries: list[str] = []
        """Contexts whose end is also the end of a token."""

    def pieces(self, prompt: str) -> list[bytes]:
        chance = random.Random(self.seed)
        for context in self.boundaries:
            if prompt.startswith(context):
                rest = prompt[len(context) :]
                return [*split(context, chance, inside=self.inside), *split(rest, chance, inside=self.inside)]
        return split(prompt, chance, inside=self.inside)

    def number(self, before: bytes, piece: bytes) -> float:
        digest = hashlib.sha256(before + b"|" + piece).digest()
        return -0.01 - digest[0] / 16

    def likelihood(self, context: str, choice: str) -> float:
        """The truth."""
        before, total = b"", 0.0
        for piece in self.pieces(context + choice):
            if len(before) >= len(context.encode()):
                total += self.number(before, piece)
            before += piece
        return total

    def echo(self, prompt: str) -> dict[str, Any]:
        """The `logprobs` of an echo."""
        pieces = self.pieces(prompt)
        made = [b" and", b" so"][: self.generates]
        shown = written([*pieces, *made], self.texts)
        places = offsets([*pieces, *made], shown, self.offsets)
        values: list[float | None] = []
        before = b""
        for piece in [*pieces, *made]:
            values.append(self.number(before, piece) if before or self.bos else None)
            before += piece
        if self.bos:
            shown, values = ["<s>", *shown], [None, *values]
            places = [0, *places] if places else []
        tops = [None if value is None else {text: value} for text, value in zip(shown, values, strict=True)]
        return {"tokens": shown, "token_logprobs": values, "text_offset": places, "top_logprobs": tops}

    def __call__(self, request: ModelRequest) -> Any:
        prompt = str(request.body["prompt"])
        choice = {"text": prompt, "finish_reason": "length", "logprobs": self.echo(prompt)}
        return {"choices": [choice], "usage": {"prompt_tokens": 5, "completion_tokens": self.generates}}


def near(one: float, other: float) -> bool:
    return math.isclose(one, other, abs_tol=1e-9)

"""Server-sent events are limited in size one by one, and a large one is read in linear time."""

from __future__ import annotations

import time

import pytest

from benchwright.endpoints._sse import EventTooLargeError, SseReader


def read(pieces: list[bytes], limit: int = 10_000) -> list[bytes]:
    reader = SseReader(limit)
    found = [data for piece in pieces for data in reader.feed(piece)] + reader.finish()
    if reader.too_large is not None:
        raise reader.too_large
    return found


def test_limit_counts_one_event() -> None:
    fits = b"data: " + b"x" * 94 + b"\n\n"
    assert len(read([fits] * 50, 100)) == 50
    assert len(read([fits[:30], fits[30:]] * 50, 100)) == 50
    for pieces in (
        [b"data: " + b"x" * 101 + b"\n\n"],
        [b"x" * 60, b"x" * 60],
        [b"data: " + b"x" * 40 + b"\n"] * 3,
    ):
        with pytest.raises(EventTooLargeError, match="larger than 100 bytes"):
            read(pieces, 100)


def test_large_event_in_small_pieces_takes_no_quadratic_time() -> None:
    pieces = [b"data: ", *[b"x" * 500] * 16_000, b"\n\n"]
    started = time.process_time()
    (data,) = read(pieces, 16 * 1024 * 1024)
    assert len(data) == 8_000_000
    assert time.process_time() - started < 10  # 60 s and more where each piece is joined to all before it

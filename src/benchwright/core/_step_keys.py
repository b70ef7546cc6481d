"""Step keys. Zero-padded, so that text order is sample order and a batch of samples is a key range."""

from __future__ import annotations


def call_key(index: int, repeat: int, part: str = "") -> str:
    """Key of a model call; `part` distinguishes choices (`c…`), turns (`t…`) and requests of a scorer (`m…`).

    >>> call_key(12, 0), call_key(12, 0, "c1")
    ('call/000000012/0000', 'call/000000012/0000/c1')
    """
    return f"call/{index:09d}/{repeat:04d}/{part}" if part else f"call/{index:09d}/{repeat:04d}"


def moved_key(key: str, index: int) -> str:
    """The key of the same call of another row.

    >>> moved_key("call/000000012/0000/c1", 7)
    'call/000000007/0000/c1'
    """
    return f"{key[:5]}{index:09d}{key[14:]}"


def judge_key(index: int, repeat: int, number: int) -> str:
    """Key of a judge's call."""
    return f"judge/{index:09d}/{repeat:04d}/{number:03d}"


def score_key(index: int, repeat: int) -> str:
    """Key of a sample's score."""
    return f"score/{index:09d}/{repeat:04d}"


def call_of(score: str) -> str:
    """Key of the call that shares the row of a score."""
    return "call" + score[5:]


def sample_of(key: str) -> str:
    """Row and repeat in a key, the same for all steps of a sample.

    >>> sample_of("judge/000000012/0000/001")
    '000000012/0000'
    """
    start = key.index("/") + 1
    return key[start : start + 14]


def key_range(kind: str, first_index: int, last_index: int) -> tuple[str, str]:
    """The half-open key range of the samples `first_index..last_index`."""
    return f"{kind}/{first_index:09d}/", f"{kind}/{last_index + 1:09d}/"

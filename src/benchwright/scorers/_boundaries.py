"""Whole words and whole numbers: where a piece of text ends by itself and where it was cut out of something."""

from __future__ import annotations


def is_word_character(char: str) -> bool:
    """Whether `char` belongs to a word; characters of scripts without blanks between words do not."""
    if char.isascii():
        return char.isalnum() or char == "_"
    return char.isalnum() and not (
        "\u2e80" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7af"
        or "\uf900" <= char <= "\ufaff"
        or "\U00020000" <= char <= "\U0003ffff"
    )


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether text[start:end], not empty, is cut out of no longer word or number.

    >>> [is_whole("15 or 5.5 or 5%", at, at + 1) for at in (1, 6, 8, 13)]
    [False, False, False, True]
    """
    first, last = text[start], text[end - 1]
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    signed = first in "-+" and end - start > 1
    if before and is_word_character(before) and (is_word_character(first) or signed):
        return False
    if after and is_word_character(after) and is_word_character(last):
        return False
    far_before = text[start - 2] if start > 1 else ""
    far_after = text[end + 1 : end + 2]
    if first.isdigit() and before:
        # 2263 is not in 1,2263, 0.2263, .2263, 1/2263 or -2263; in "10-2263" it is.
        if before in ".,/:^" and far_before.isdigit():
            return False
        if before in ".-−" and not (far_before and (is_word_character(far_before) or far_before in ")]")):
            return False
    elif before == "-" and is_word_character(first) and far_before and is_word_character(far_before):
        return False  # non-toxic
    if last.isdigit():
        return not (after and after in ".,/:^-" and far_after.isdigit())
    return not (after == "-" and far_after and is_word_character(far_after) and is_word_character(last))

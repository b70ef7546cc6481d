"""Brings a text into the form in which numbers are read: plain digits and signs, LaTeX as plain text, no markup.

What is no number but stands next to one, such as a root or a Greek letter, becomes `¿`: a number beside it is part of
something that is not read.
"""

from __future__ import annotations

import re
import unicodedata

from benchwright.scorers._quantity.patterns import compiled

READ_CHARS = 100_000
"""Of a longer text only the end is read."""
UNKNOWN = "¿"
"""Stands for a part of a formula that is not a number."""

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_SIGNS = {
    **dict.fromkeys("−‒‐‑﹣－", "-"),
    **dict.fromkeys("✕✖⨯∗⋅∙·", "×"),
    **dict.fromkeys("≃≅∼≒", "≈"),
    **dict.fromkeys("’‘＇", "'"),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", ""),
    "٪": "%",
    "٫": ".",
    "٬": "'",
    "π": UNKNOWN,
    "√": UNKNOWN,
    "∞": UNKNOWN,
}
_CHANGED = f"[{''.join(_SIGNS)}]"
_RAISED = "[⁰¹²³⁴-⁹⁺⁻¼-¾⅐-⅞]"
_SCRIPT = "[\u2e80-\u9fff\uac00-\ud7af]"
_LATEX = (
    (r"\\(?:text|mathrm|mathbf|textbf|mathit|textit|operatorname|mbox|rm|bf)\s?\{([^{}]*)\}", r" \1 "),
    (r"\{,\}", ","),
    (r"\\!", ""),
    (r"\\[,;: ]|~|\\(?:quad|qquad)\b", " "),
    (r"\\\\", "\n"),
    (r"(?<!\\)&(?==)|\\(?:begin|end)\{[a-z]{1,12}\*?\}(?:\{[lcr|]{0,12}\})?", " "),
    (r"\\[()\[\]]", " "),
    (r"\\(?:left|right|displaystyle|big|Big|bigl|bigr)(?![A-Za-z])", ""),
    (r"\^\s?\{?\\circ\}?|\\degree(?![A-Za-z])", "°"),
    (r"\\(?:times|cdot|ast)(?![A-Za-z])", "×"),
    (r"\\div(?![A-Za-z])", "÷"),
    (r"\\pm(?![A-Za-z])", "±"),
    (r"\\(?:approx|simeq|sim)(?![A-Za-z])", "≈"),
    (r"\\([%$&#{}])", r"\1"),
    (r"\^\s?\{\s?([-+]?\d+)\s?\}", r"^\1"),
    (r"\^\s?\{[^{}]*\}", UNKNOWN),
    (r"\\sqrt\s?(?:\[[^\]{}]*\])?\s?(?:\{[^{}]*\}|\d)", UNKNOWN),
)
_SIMPLE = r"\s?(-?\s?\d[\d.,]{0,30})\s?"
_FRACTION = rf"\\[dtc]?frac\s?(?:\{{{_SIMPLE}\}}\s?\{{{_SIMPLE}\}}|(\d)\s?(\d))"
_OTHER_FRACTION = r"\\[dtc]?frac\s?(?:\{[^{}]*\}){0,2}"
_COMMAND = r"\\(?!boxed|fbox)[A-Za-z]+"

_PROGRAM = (
    r"```(?:python|py|js|javascript|typescript|java|c|cpp|c\+\+|bash|sh|sql|r|ruby|go|rust)\s[^`]*(?:```|$)"
)
"""A program computes an answer and does not give it."""


def plain(text: str) -> str:
    """The text as numbers are read in it."""
    if len(text) > READ_CHARS:
        text = text[-READ_CHARS:]
        text = text[text.find(" ") + 1 :]  # the first word may be cut
    if not text.isascii():
        text = _of_other_scripts(text)
    if "<" in text:
        text = compiled(r"(?i)<(?:final_?)?answer>").sub("\nanswer: ", text)
        text = compiled(r"<\s?([-+]?\d[\d.,/]{0,30})\s?>").sub(r"\1", text)
        text = compiled(r"</?[A-Za-z][\w-]{0,30}/?>").sub(" ", text)
    if "~~" in text:
        text = compiled(r"~~[^~\n]{1,80}~~").sub(" ", text)
    if "```" in text:
        text = compiled(_PROGRAM).sub("\n", text)
    if "\\" in text or "{" in text:
        text = _without_latex(text)
    if "_" in text:
        text = compiled(r"(?<=[A-Za-z)])_(?:\{[^{}]*\}|\w)").sub("", text)
        text = compiled(r"(?<=\d)_(?:\{10\}|10)(?!\d)").sub("", text)  # a decimal number
        text = compiled(r"(?<=\d)_\{?\d{1,2}\}?(?!\d)").sub(UNKNOWN, text)
    if "*" in text or "`" in text or "$" in text:
        text = compiled(r"\*\*(?:(?!\s?[-+]?\d)|(?<![\d)\s]\*\*)|(?<=\s\*\*)(?=\S))|`|\$(?!\s?[\d(.-])").sub(
            "", text
        )
    return text


def _of_other_scripts(text: str) -> str:
    # Each step is tried only if the text contains what it changes: most texts contain one such sign or none.
    if compiled(_RAISED).search(text):
        text = compiled("[⁰¹²³⁴-⁹⁺⁻]+").sub(lambda found: "^" + found[0].translate(_SUPERSCRIPTS), text)
        text = compiled("(?<=\\d)(?=[¼-¾⅐-⅞])").sub(" ", text)
    text = compiled(_CHANGED).sub(lambda found: _SIGNS[found[0]], text)
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
        text = compiled(_CHANGED).sub(lambda found: _SIGNS[found[0]], text)
    text = compiled(r"[^\D0-9]").sub(lambda digit: str(unicodedata.decimal(digit[0])), text)
    if compiled(_SCRIPT).search(text):
        # Between a character of a script without spaces and a number, on either side.
        text = compiled(rf"(?<={_SCRIPT})(?=[-$.]?\d)|(?<=\d)(?={_SCRIPT})").sub(" ", text)
    return text


def _without_latex(text: str) -> str:
    for pattern, instead in _LATEX:
        text = compiled(pattern).sub(instead, text)
    text = compiled(_FRACTION).sub(_fraction, text)
    text = compiled(_OTHER_FRACTION).sub(UNKNOWN, text)
    return compiled(_COMMAND).sub(UNKNOWN, text)


def _fraction(found: re.Match[str]) -> str:
    above, below = (found[1], found[2]) if found[1] is not None else (found[3], found[4])
    gap = " " if found.start() and found.string[found.start() - 1].isdigit() else ""
    return f"{gap}{above.replace(' ', '')}⁄{below.replace(' ', '')} "

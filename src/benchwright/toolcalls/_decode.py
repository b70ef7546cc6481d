"""Reads calls from the text of a reply, in any of the languages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.toolcalls._call import CallDecodeError, Calls, Language
from benchwright.toolcalls._python import decode_python

MAX_CHARS = 30_000
"""The longest text that is parsed; no answer is longer. The time of Python's parser grows with the square of the length for
some texts, such as those with many formatted values: a second for 100,000 characters."""
MAX_OTHER_CHARS = 3_000
"""The same for Java and JavaScript, of which one call is read. On broken texts, the time of their parsers grows with the
square of the length."""
MAX_DEPTH = 200
"""The most brackets open at once, which is the limit of Python's parser."""

_QUOTED_OR_BRACKET = re.compile(
    r'"(?:[^"\\\n]|\\.)*+"?' r"|'(?:[^'\\\n]|\\.)*+'?" r"|[\[({]|[\])}]", re.DOTALL
)
_NO_PARAMETERS: dict[str, list[str]] = {}
_FENCE_LANGUAGE = re.compile(r"[\w+-]*[ \t]*\n")


def decode_calls(
    text: str,
    language: Language = "python",
    *,
    lenient: bool = False,
    functions: Sequence[Mapping[str, Any]] = (),
) -> Calls:
    """The calls that a text lists, as `[{name: {parameter: value}}, …]`.

    `lenient` reads more than the published rules do: it leaves out reasoning between think tags, a fence with a
    language and prose around the list, and names positional arguments of Python by the order of the parameters in
    `functions`, the documents of functions. Raises `CallDecodeError` if no calls can be read.

    >>> decode_calls("[area(base=10, height=5)]")
    [{'area': {'base': 10, 'height': 5}}]
    """
    if not isinstance(text, str):
        raise CallDecodeError(f"a reply is text, not {type(text).__name__}", "not_text")
    most = MAX_CHARS if language == "python" else MAX_OTHER_CHARS
    if len(text) > most:
        raise CallDecodeError(f"the text has {len(text):,} characters; at most {most:,} are read", "too_long")
    text = text.strip("`\n ")
    if not text:
        raise CallDecodeError("the reply is empty", "empty")
    parameters = _NO_PARAMETERS
    if lenient:
        text, parameters = _bare_calls(text), _parameters(functions)
    if text[:1] != "[":
        text = "[" + text
    if text[-1] != "]":
        text += "]"
    if len(text) > MAX_DEPTH:
        guard_depth(text)
    if language == "python":
        return decode_python(text, parameters)
    return _decode_other(text[1:-1], language)


def _decode_other(text: str, language: Language) -> Calls:
    if language == "java":
        from benchwright.toolcalls._java import decode_java

        return decode_java(text)
    if language == "javascript":
        from benchwright.toolcalls._javascript import decode_javascript

        return decode_javascript(text)
    raise CallDecodeError(f"calls are read in python, java and javascript, not in {language!r}", "language")


def guard_depth(text: str) -> None:
    """Refuse text that is nested deeper than a parser's stack."""
    if sum(map(text.count, "[({")) <= MAX_DEPTH:
        return
    depth = 0
    for match in _QUOTED_OR_BRACKET.finditer(text):
        found = match.group()
        if found in "[({":
            depth += 1
            if depth > MAX_DEPTH:
                raise CallDecodeError(f"brackets are nested more than {MAX_DEPTH} deep", "too_deep")
        elif found in "])}":
            depth -= 1


def _parameters(functions: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The names of each function's parameters, in order."""
    return {
        str(each.get("name")): list((each.get("parameters") or {}).get("properties") or ())
        for each in functions
    }


def _bare_calls(text: str) -> str:
    """The part of a chatty reply that contains the calls: no reasoning, no fence, no prose around the list."""
    text = text.rpartition("</think>")[2].strip()
    _, _, fenced = text.partition("```")
    inside, closing, _ = fenced.partition("```")
    if closing:
        text = _FENCE_LANGUAGE.sub("", inside, count=1) if _FENCE_LANGUAGE.match(inside) else inside
        text = text.strip()
    start = re.search(r"\[\s*[\w.]+\s*\(", text)
    if start is not None:
        end = text.rfind("]")
        return text[start.start() : end + 1] if end > start.start() else text[start.start() :]
    call, end = re.search(r"(?<![\w.])[\w.]+\(", text), text.rfind(")")
    return text[call.start() : end + 1] if call is not None and end > call.start() else text

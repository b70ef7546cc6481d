"""Plain documents are written without PyYAML, and exactly as PyYAML writes them."""

from __future__ import annotations

import random
from typing import Any

import pytest
import yaml
from hypothesis import example, given, strategies as st

from benchwright.reports.files.plain_yaml import plain_yaml

ODD = [
    "", " ", "a ", " a", "a: b", "a:", ":a", "a #b", "a#b", "# a", "-", "- a", "--- a", "...", "?", "? a", "yes", "No", "null",
    "~", "true", "1", "1.5", "1e3", "0x1f", "0b1", "1_000", "2026-01-02", "12:30:45", ".inf", ".nan", "=", "<<", "!a", "&a", "*a",
    "a, b", "[a]", "{a}", "a[0]", "a{b}", "it's", "'a'", '"a"', 'a "b"', "a\nb", "a\tb", "é", "\u2028", "a | b", "> a", "%a", "@a",
    "`a`", "http://h:80/v1", "/tmp/a b/c.jsonl", "sha256:0f", "a  b", "a\\b", "\x00", "\ud800", "x" * 200, "y", "N", "on", "OFF",
    "nan", "inf", "a-b", "_", "a?b", "a!b", "a&b", "a*b", "--model x", "pass@1", "e:f:g", "a:-b", "a~", "\x7f", "\x85",
    ".benchwright/runs", "./a", "../a", "..a", ".5", ".Inf", ".NAN", ".a:", "../", "./", "it's: b", "a: b: c", '"a": b', "1: 2", "- a: b", "a: ", ": a", "a: b\x7f",
    "9bd2ad459f3e", "07b96ec49f3e", "0b10110", "0a", "00b1", "1e5", "12e03", "0e1", "0b1a", "1f", "1f_0", "1fg",
]  # fmt: skip
texts = st.one_of(
    st.sampled_from(ODD), st.text(alphabet="ab:#-?, '\"[]{}&*!|>%@`~=<./_0123456789\n", max_size=8)
)
scalars = st.one_of(
    texts, st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from([0.1, 1e22, 1e-5, -0.0])
)
documents = st.dictionaries(
    texts,
    st.recursive(
        scalars,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
        max_leaves=8,
    ),
    max_size=4,
)
SHARED: dict[str, Any] = {"a": 1}


def by_the_library(document: dict[str, Any]) -> str:
    dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(
        document, Dumper=dumper, sort_keys=True, allow_unicode=True, default_flow_style=False, width=2**20
    )
    return text


@given(documents)
@example({"a": {"b": [1, [2, [3]], {"c": [], "d": {}}], "e": [{"f": [{"g": 1, "h": 2}]}]}})
@example({"a": SHARED, "b": SHARED})
@example({"a": [[], {}, [[]], [{}]]})
def test_plain_documents_are_written_as_the_library_writes_them(document: dict[str, Any]) -> None:
    written = plain_yaml(document)
    assert written is None or written == by_the_library(document)


@pytest.mark.parametrize("text", ODD)
def test_an_odd_text_is_written_as_the_library_writes_it_or_left_to_it(text: str) -> None:
    for document in ({"a": text}, {text: 1}, {"a": [text, {"b": text}]}, {text: [{text: 1}]}):
        written = plain_yaml(document)
        assert written is None or written == by_the_library(document)


def test_the_usual_document_is_written_without_the_library() -> None:
    document = {
        "command": "benchwright run bench.py --model-url http://127.0.0.1:80/v1 --top-p 1.0",
        "config": {"params": {"extra": {}, "temperature": 0.0, "tags": ["a", "b c"]}, "notes": []},
        "scores": {"pass@1": {"value": 0.2065, "count": 1, "too_few": True, "git_hash": None}},
    }
    assert plain_yaml(document) == by_the_library(document)


def test_every_commit_is_plain_and_written_as_the_library_writes_it() -> None:
    """Else the library is loaded for some commits, and start-up depends on the last commit."""
    dice = random.Random(1)
    starts = ["", "0", "0b", "00b", "01b", "0b1", "0b0", "09b", "1e", "0e", "0a", "00", "9"]
    for number in range(2_000):
        start = starts[number % len(starts)]
        commit = start + "".join(dice.choice("0123456789abcdef") for _ in range(39 - len(start))) + "c"
        found = plain_yaml({"git_hash": commit})
        assert found == yaml.safe_dump({"git_hash": commit}), commit
        assert yaml.safe_load(found) == {"git_hash": commit}

"""Overrides as they are typed: what separates them, what their values are, and what is broken."""

from __future__ import annotations

import string
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from benchwright.config._overrides import read_override, read_overrides
from benchwright.core import ConfigError


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a.b=5", [("a.b", 5)]),
        ("a=1,b=true , c=x", [("a", 1), ("b", True), ("c", "x")]),
        ("a='x, y',b=\"p,q\"", [("a", "x, y"), ("b", "p,q")]),
        ("a=[1, 2],b={c: 3, d: [4, 5]}", [("a", [1, 2]), ("b", {"c": 3, "d": [4, 5]})]),
        ("a=['x, y', \"]\"],b=1", [("a", ["x, y", "]"]), ("b", 1)]),
        ("a=null,b=~", [("a", None), ("b", None)]),
        ("++a=1,+b=2", [("a", 1), ("b", 2)]),
        ("a=hf://o/d?split=test&filter=x#y", [("a", "hf://o/d?split=test&filter=x#y")]),
        ("a=don't,b=it's", [("a", "don't"), ("b", "it's")]),
        ("a=rock 'n, roll' it,b=1", [("a", "rock 'n, roll' it"), ("b", 1)]),
        ("a=m; touch PWNED #,b=$(id) `id` | x", [("a", "m; touch PWNED #"), ("b", "$(id) `id` | x")]),
        ("a={{config.type}}", [("a", "{{config.type}}")]),
        ("a=Answer: yes,b=50%", [("a", "Answer: yes"), ("b", "50%")]),
        ("a=x[1,2]y,b=(p,q)", [("a", "x[1,2]y"), ("b", "(p,q)")]),
        ("a=b=c", [("a", "b=c")]),
        ("a=2024-01-01", [("a", "2024-01-01")]),
        ("a=Zürich 東京 🎯", [("a", "Zürich 東京 🎯")]),
        ("a='',b=1,", [("a", ""), ("b", 1)]),
        (",a=1, ,b=2", [("a", 1), ("b", 2)]),
        ("a=1,b='x", [("a", 1), ("b", "'x")]),
        ("~a.b,~c=5", [("a.b", None), ("c", None)]),
    ],
)
def test_pairs(text: str, pairs: list[tuple[str, Any]]) -> None:
    assert read_overrides(text) == pairs


@pytest.mark.parametrize(
    ("text", "reason", "character"),
    [
        ("a=1,b", "'b' has no '='", 5),
        ("a", "'a' has no '='", 1),
        ("a='x, b=1", "' is never closed", 3),
        ('a=1,b="x,c=2', '" is never closed', 7),
        ("a=[1, 2,b=3", r"\[ is never closed; expected \]", 3),
        ("a={x: 1", r"\{ is never closed", 3),
        ("a=['x]", "' is never closed", 4),
        ("a='x'y", "not valid YAML", 6),
        ("a=,b=1", "a has no value", 1),
        ("=5", "'' is not a key", 1),
        ("a..b=5", "'a..b' is not a key", 1),
    ],
)
def test_what_is_broken_is_shown_where_it_is(text: str, reason: str, character: int) -> None:
    with pytest.raises(ConfigError, match=reason) as raised:
        read_overrides(text)
    *_, shown, mark = str(raised.value).split("\n")
    assert mark.strip() == f"^ character {character}"
    assert shown[mark.index("^") :][:1] == text[character - 1 : character]


@pytest.mark.parametrize(
    "pair", [f"a.b={'[' * 5000}{']' * 5000}", f"a{'.b' * 5000}=1", f"a{'.b' * 200}={'[' * 200}{']' * 200}"]
)
def test_values_are_only_as_deep_as_those_of_files(pair: str) -> None:
    with pytest.raises(ConfigError, match=r"--overrides: a\.b.*deep"):
        read_overrides(pair)
    with pytest.raises(ConfigError, match=r"-o: a\.b.*deep"):
        read_override(pair)


def test_the_place_in_a_long_text_is_shown_with_what_is_around_it() -> None:
    text = ",".join(f"config.params.extra.name_{n}={n}" for n in range(30)) + ",x='open,y=1"
    with pytest.raises(ConfigError) as raised:
        read_overrides(text)
    *_, shown, mark = str(raised.value).split("\n")
    assert len(shown) < 80
    assert shown[mark.index("^")] == "'"


def test_one_pair_may_hold_commas_and_unpaired_quotes() -> None:
    assert read_override("a=x, y=z") == ("a", "x, y=z")
    assert read_override("a=it's 5 o'clock, \"now") == ("a", "it's 5 o'clock, \"now")
    assert read_override("++a.b=[1, 'x, y']") == ("a.b", [1, "x, y"])
    assert read_override("a='x, y") == ("a", "'x, y")


@given(
    st.one_of(
        st.text("0123456789.", min_size=1, max_size=6),
        st.sampled_from(["null", "true", "false", "True", "٣", "1_0"]),
    )
)
def test_plain_numbers_and_words_are_what_yaml_reads(written: str) -> None:
    _, value = read_override(f"a={written}")
    try:
        expected = yaml.safe_load(written)
    except yaml.YAMLError:  # three dots end a document
        expected = written
    assert (value, type(value)) == (expected, type(expected))


def test_a_deletion_takes_the_value_back() -> None:
    assert read_override("~config.params.top_p") == ("config.params.top_p", None)
    assert read_override("~config.params.top_p=1") == ("config.params.top_p", None)


_PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-9999, 9999), st.text(string.printable + "äßλ東🎯", max_size=12)
)
_VALUES = st.recursive(
    _PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(string.ascii_letters, min_size=1, max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.lists(st.tuples(st.sampled_from(["a", "a.b", "x.y_z"]), _VALUES), min_size=1, max_size=4))
def test_whatever_yaml_writes_in_one_line_comes_back(pairs: list[tuple[str, Any]]) -> None:
    texts = [
        f"{key}={yaml.safe_dump(value, default_flow_style=True, default_style=_quoted(value), width=10**9).removesuffix('...' + chr(10)).strip()}"
        for key, value in pairs
    ]
    assert read_overrides(",".join(texts)) == pairs
    assert [read_override(text) for text in texts] == pairs


def _quoted(value: Any) -> str | None:
    """Texts in quotes; numbers and nulls as they are."""
    return '"' if isinstance(value, str) else None


@pytest.mark.parametrize("written", ["5", "007", "1.50", "true", "off", "1e3", "0x1f", "1_000"])
@pytest.mark.parametrize("key", [
    "target.api_endpoint.model_id",
    "target.api_endpoint.headers.X-Number",
    "config.params.task",
    "config.params.extra.dataset.path",
    "evaluation.tasks.mine.nemo_evaluator_config.target.api_endpoint.api_key_name",
])  # fmt: skip
def test_a_key_whose_value_can_only_be_a_text_takes_it_as_typed(key: str, written: str) -> None:
    assert read_override(f"{key}={written}") == (key, written)
    assert read_overrides(f"{key}= {written} ,a=1") == [(key, written), ("a", 1)]
    assert read_override(f"{key}='{written}'") == (key, written)
    assert read_override(f"{key}=null") == (key, None)

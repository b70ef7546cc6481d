"""Templates of described evaluations: what they see, and what is said when a row lacks it."""

from __future__ import annotations

from typing import Any

import pytest

from benchwright.benchmarks._nocode.templates import RowTemplate
from benchwright.core import ConfigError, MissingFieldError


def template(text: str) -> RowTemplate:
    return RowTemplate(
        text,
        "prompt (p.j2)",
        values=lambda row: {"choices": [{"label": "A", "text": "x"}]},
        names={"choices": frozenset({"c"})},
    )


def test_columns_come_before_methods() -> None:
    row = {"items": "the column", "values": 2, "a b": "spaced", "deep": {"keys": "inner"}}
    shown = template('{{ row.items }} {{ row.values }} {{ row["a b"] }} {{ row.deep.keys }}').render(row)
    assert shown == "the column 2 spaced inner"


def test_choices_have_label_and_text() -> None:
    text = "{% for c in choices %}{{ c.label }}={{ c.text }}{% endfor %}"
    assert template(text).render({}) == "A=x"
    assert template(text).fields == {"c"}


def test_inserted_text_is_never_read_again() -> None:
    assert (
        template("{{ row.q }}").render({"q": "{{ row.secret }} {% x %} <b>"})
        == "{{ row.secret }} {% x %} <b>"
    )


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("{{ row.q }} {{ row['r'] }}", {"q", "r"}),
        ("{% for k in row %}{{ k }}{% endfor %}", {"row"}),
        ("hello", set()),
        ("{% if row.q is defined %}{{ row.q }}{% endif %}", {"q"}),
    ],
)
def test_the_columns_that_it_shows_are_known(text: str, fields: set[str]) -> None:
    assert template(text).fields == fields


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a\n{{ row.q ", "prompt (p.j2), line 2"),
        ("{% for x in row %}", "line 1"),
        ("{{ question }}", "Columns are written {{ row.question }}"),
        ("{{ choice }}", "Did you mean 'choices'?"),
    ],
)
def test_what_is_no_template_is_refused_before_any_row(text: str, part: str) -> None:
    with pytest.raises(ConfigError) as caught:
        template(text)
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("text", "row", "part"),
    [
        ("{{ row.question }}", {"questoin": 1}, 'Did you mean "questoin"? Write {{ row.questoin }} in it'),
        ("{{ row.a.b }}", {"a": {"x": 1}}, "the row has: a"),
        ("{{ row.n / 0 }}", {"n": 1}, "division by zero"),
        ("{{ row.q.__class__ }}", {"q": "x"}, "cannot be rendered"),
    ],
)
def test_a_row_that_cannot_be_shown_is_told(text: str, row: dict[str, Any], part: str) -> None:
    with pytest.raises(MissingFieldError) as caught:
        template(text).render(row)
    assert part in str(caught.value)

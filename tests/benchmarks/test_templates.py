"""Prompt templates: `{field}` and Jinja2, from text or file, safe and exact."""

from __future__ import annotations

import datetime
import string
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from benchwright.benchmarks._template import compile_template, load_template
from benchwright.core import BenchmarkError, MissingFieldError


def render(text: str, row: dict[str, object]) -> str:
    return compile_template(text).render(row)


@dataclass
class City:
    name: str
    population: int

    def secret(self) -> str:
        return "method"


def test_fields_are_filled_in() -> None:
    assert render("Q: {question}\nA:", {"question": "2+2?", "answer": 4}) == "Q: 2+2?\nA:"
    assert render("{a}{b}-{a}", {"a": 1, "b": None}) == "1None-1"
    assert render("no fields, 100% plain", {}) == "no fields, 100% plain"
    assert render("", {}) == ""


def test_paths_specs_and_conversions_work_as_in_python() -> None:
    row = {"choices": ["x", "y"], "meta": {"lang": "hi", "0": "zero"}, "price": 3.14159, "w": 6}
    assert render("{choices[0]}/{choices[1]}", row) == "x/y"
    assert render("{meta[lang]} {meta.lang} {meta[0]}", row) == "hi hi zero"
    assert render("{choices[-1]}", row) == "y"
    assert (
        render("{price:.2f}|{price:>{w}.1f}|{choices!r}|{meta[lang]!r:>6}", row)
        == "3.14|   3.1|['x', 'y']|  'hi'"
    )
    assert render("{d:%Y} {d.year}", {"d": datetime.date(2024, 5, 1)}) == "2024 2024"
    assert render("{city.name} {city.population:,}", {"city": City("Ulm", 126405)}) == "Ulm 126,405"


def test_doubled_braces_are_literal() -> None:
    assert render('{{"answer": "{x}"}} 50%', {"x": 1}) == '{"answer": "1"} 50%'


def test_inserted_text_is_never_looked_at_again() -> None:
    row = {"q": "{answer} {{x}} %s %(answer)s {% raw %}", "answer": "SECRET"}
    assert render("{q}", row) == row["q"]
    assert render("{q}{q!s}", row) == row["q"] * 2
    assert (
        compile_template("{{ q }}", jinja=True).render({"q": "{{ answer }}", "answer": "S"}) == "{{ answer }}"
    )


@given(st.dictionaries(st.sampled_from("abcd"), st.text(), min_size=4), st.text(string.printable))
def test_plain_templates_agree_with_python(row: dict[str, str], literal: str) -> None:
    escaped = literal.replace("{", "{{").replace("}", "}}")
    text = f"{escaped}{{a}}{escaped}{{b}}{{c:>5}}{{d!r}}"
    # By itself a "{%" or "{#" in the literal would choose the other engine.
    assert compile_template(text, jinja=False).render(row) == text.format(**row)


def test_top_level_fields_are_known() -> None:
    assert compile_template("{a} {b[0]} {c.d:{w}} {{e}}").fields == {"a", "b", "c", "w"}
    jinja = compile_template("{% for x in xs %}{{ x }}{{ y }}{% endfor %}{{ range(3)|list }}")
    assert jinja.fields == {"xs", "y"}


def test_a_missing_field_names_near_names_and_the_mapping() -> None:
    with pytest.raises(MissingFieldError) as caught:
        render("{question}", {"id": 1, "questoin": "?"})
    assert caught.value.field == "question"
    assert str(caught.value) == (
        'field "question" is missing; the row has: id, questoin. Did you mean "questoin"? '
        'Map it with field_mapping={"questoin": "question"}'
    )


def test_each_missing_field_of_several_is_found() -> None:
    with pytest.raises(MissingFieldError) as caught:
        render("{a} {b} {c}", {"a": 1, "c": 3})
    assert caught.value.field == "b"


def test_wide_rows_are_cut_in_messages() -> None:
    with pytest.raises(MissingFieldError, match=r"c11, … \(40 in all\)"):
        render("{zzz}", {f"c{i}": i for i in range(40)})


@pytest.mark.parametrize(
    ("text", "row", "said"),
    [
        ("{m[x]}", {"m": {"y": 1}}, 'field "m[x]" is missing: no "x" among: y'),
        ("{m[5]}", {"m": [1]}, 'field "m[5]" is missing: no "5" in a list of 1'),
        ("{m.upper}", {"m": "text"}, """field "m.upper" is missing: str 'text' has no "upper\""""),
        ("{m:d}", {"m": "12a"}, "field \"m\" cannot be written as {m:d}: it contains str '12a'"),
    ],
)
def test_parts_that_are_not_there_are_named(text: str, row: dict[str, object], said: str) -> None:
    with pytest.raises(MissingFieldError) as caught:
        render(text, row)
    assert said in str(caught.value)


def test_methods_classes_and_private_names_are_out_of_reach() -> None:
    for text in ("{c.secret}", "{c.name.join}"):
        with pytest.raises(MissingFieldError):
            render(text, {"c": City("Ulm", 1)})
    with pytest.raises(MissingFieldError):
        render("{c.mro}", {"c": City})
    for text in ("{c.__class__}", "{c._x}", "{c[0].__init__.__globals__}"):
        with pytest.raises(BenchmarkError, match="templates may not"):
            compile_template(text)


@pytest.mark.parametrize("text", ["{}", "{0}", "a {} b", "{0[x]}", "{!r}"])
def test_positional_placeholders_are_refused_with_the_cure(text: str) -> None:
    with pytest.raises(BenchmarkError, match=r"names no field .* such as \{question\}"):
        compile_template(text)


@pytest.mark.parametrize(
    "text",
    ['Answer as {"answer": "x"}', "if (x) { return 1; }", "a } b", "a { b", "{ question }", "{a!x}", "{a[}"],
)
def test_stray_braces_are_refused_with_the_cure(text: str) -> None:
    with pytest.raises(BenchmarkError, match=r"prompt: "):
        compile_template(text)


def test_jinja_is_chosen_by_its_marks_only() -> None:
    assert compile_template("{% if a %}{{ a }}{% endif %}").engine == "jinja2"
    assert compile_template("{# note #}x").render({}) == "x"
    assert render("{{ a }}", {"a": 1}) == "{ a }"
    assert compile_template("{{ a }}", jinja=True).render({"a": 1}) == "1"


def test_jinja_escapes_nothing_and_drops_one_final_newline() -> None:
    assert render("{% if 1 %}{{ a }}{% endif %}\n\n", {"a": "<&>"}) == "<&>\n"


def test_jinja_undefined_is_a_missing_field() -> None:
    template = compile_template("{# #}{{ question }}")
    with pytest.raises(MissingFieldError) as caught:
        template.render({"questoin": 1})
    assert caught.value.field == "question"
    assert "Did you mean" in str(caught.value)
    with pytest.raises(MissingFieldError, match=r"no attribute 'b'.*the row has: a"):
        compile_template("{# #}{{ a.b }}").render({"a": {}})


def test_jinja_can_neither_escape_the_sandbox_nor_change_the_row() -> None:
    for text in (
        "{# #}{{ ''.__class__.__mro__ }}",
        "{# #}{{ a.append(1) }}",
        "{# #}{% include 'x' %}",
        "{# #}{{ 1/0 }}",
    ):
        with pytest.raises(MissingFieldError):
            compile_template(text).render({"a": []})


def test_jinja_syntax_errors_name_the_line() -> None:
    with pytest.raises(BenchmarkError, match="prompt, line 2: "):
        compile_template("ok\n{% if %}")


def test_template_files_are_read_from_the_benchmark_folder(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("Frage: {frage} ü\n", encoding="utf-8")
    (tmp_path / "p.jinja").write_text("Q: {{ q }}", encoding="utf-8")
    assert load_template("p.txt", tmp_path).render({"frage": "?"}) == "Frage: ? ü\n"
    template = load_template("p.jinja", tmp_path)
    assert (template.engine, template.render({"q": 1})) == ("jinja2", "Q: 1")
    assert load_template(str(tmp_path / "p.txt"), Path("/")).render({"frage": 1}) == "Frage: 1 ü\n"


def test_what_is_no_file_is_the_template_itself(tmp_path: Path) -> None:
    assert load_template("lost.txt", tmp_path).render({}) == "lost.txt"
    long_text = "word " * 2000 + "see notes.md"
    assert load_template(long_text, tmp_path).render({}) == long_text
    assert load_template("nul\0.txt", tmp_path).render({}) == "nul\0.txt"


def test_messages_name_the_template_file(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("{}")
    with pytest.raises(BenchmarkError, match=r"system_prompt \(bad.txt\): \{\} names no field"):
        load_template("bad.txt", tmp_path, what="system_prompt")
    (tmp_path / "latin.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(BenchmarkError, match="cannot read the template file"):
        load_template("latin.txt", tmp_path)


def test_jinja_is_imported_only_when_needed() -> None:
    code = (
        "import sys; from benchwright.benchmarks._template import compile_template as c; c('{a}').render({'a': 1}); "
        "heavy = {'jinja2', 'pyarrow', 'asyncio', 'importlib.metadata', 'difflib'} & set(sys.modules); "
        "assert not heavy, heavy; c('{# #}'); assert 'jinja2' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

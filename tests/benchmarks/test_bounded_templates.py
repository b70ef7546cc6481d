"""Every template of a user runs within limits of time and memory, whatever it repeats, and ends in one clear error."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Thread

import pytest

import benchwright
from benchwright.benchmarks._nocode.templates import RowTemplate
from benchwright.benchmarks._template import compile_template
from benchwright.bfcl._data_templates import load_template as load_data_template
from benchwright.core import BenchwrightError, BraceTemplate, MissingFieldError, Row
from benchwright.scorers._judge_templates import render as render_judge_template

ROW: Row = {"text": "x" * 50, "many": list(range(300)), "none": None}

ENDLESS = {
    "repeated text": "{{ 'a' * 10**10 }}",
    "repeated bytes": "{{ 'a'.encode() * 10**10 }}",
    "repeated list": "{{ [1] * 10**9 }}",
    "large range": "{{ range(10**10) | list }}",
    "large power": "{{ 10 ** 10 ** 10 }}",
    "large product": "{% set n = namespace(t=9) %}{% for i in range(60) %}{% set n.t = n.t * n.t %}{% endfor %}",
    "nested loops": "{% for a in range(9999) %}{% for b in range(9999) %}{{ a }}{% endfor %}{% endfor %}",
    "loops over the row": "{% for a in MANY %}{% for b in MANY %}{% for c in MANY %}x{% endfor %}{% endfor %}{% endfor %}",
    "a macro that calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "a macro that calls itself twice": (
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}"
    ),
    "a loop that calls itself": ("{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}"),
    "doubled text": "{% set n = namespace(t='a') %}{% for i in range(60) %}{% set n.t = n.t ~ n.t %}{% endfor %}",
    "doubled block": "{% set a %}x{% endset %}" + "{% set a %}{{ a }}{{ a }}{% endset %}" * 40 + "{{ a }}",
    "doubled list": "{% set n = namespace(t=[1]) %}{% for i in range(60) %}{% set n.t = n.t + n.t %}{% endfor %}",
    "wide format": "{{ '{:9999999999}'.format(1) }}",
    "wide by a value": "{{ '%*d' | format(9999999999, 1) }}",
    "centred": "{{ 'a' | center(10**10) }}",
    "indented JSON": "{{ [[1]] | tojson(indent=10**9) }}",
    "much indented JSON": "{{ (range(9999) | list) | tojson(9999) }}",
    "indented lines": "{{ ('\\n' * 9999) | indent(9999, true, true) }}",
    "centred bytes": "{{ 'a'.encode().center(10**10) }}",
    "words": "{{ lipsum(n=10000, max=10000) }}",
    "large list sorted again and again": (
        "{% set l = range(9999) | list %}{% for i in range(9999) %}{{ (l | sort)[0] }}{% endfor %}"
    ),
    "large list searched again and again": (
        "{% set l = range(9999) | list %}{% for i in range(9999) %}{% if -1 in l %}{% endif %}{% endfor %}"
    ),
    "large list compared again and again": (
        "{% set l = range(9999) | list %}{% for i in range(9999) %}{% if l == l[:] %}{% endif %}{% endfor %}"
    ),
    "large list tested again and again": (
        "{% set l = range(9999) | list %}{% for i in range(9999) %}{% if i is in(l) %}{% endif %}{% endfor %}"
    ),
    "large list cut again and again": (
        "{% set l = range(9999) | list %}{% for i in range(9999) %}{% set m = l[1:] %}{% endfor %}"
    ),
    "large text searched again and again": (
        "{% set t = 'ab' * 4999 %}{% for i in range(9999) %}{{ t.count('abc') }}{% endfor %}"
    ),
    "large list printed": (
        "{% set n = namespace(t=[1]) %}{% for i in range(19) %}{% set n.t = n.t + n.t %}{% endfor %}"
        "{% for i in range(9) %}{{ (n.t | pprint) | length }}{% endfor %}"
    ),
}

UNREADABLE = {
    "parentheses": "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
    "lists": "{{ " + "[" * 400 + "]" * 400 + " }}",
    "a long sum": "{{ 1" + " + 1" * 20_000 + " }}",
    "blocks": "{% if 1 %}" * 2000 + "{% endif %}" * 2000,
    "minuses": "{{ " + "-" * 5000 + "1 }}",
    "unfinished": "{{ x",
}


def by_prompt(text: str, folder: Path) -> str:
    return compile_template(text.replace("MANY", "many"), jinja=True).render(ROW)


def by_described_evaluation(text: str, folder: Path) -> str:
    return RowTemplate(text.replace("MANY", "row.many"), "prompt").render(ROW)


def by_data_template(text: str, folder: Path) -> str:
    (folder / "t.json").write_text(json.dumps({"a": text.replace("MANY", "item.many")}))
    return str(load_data_template(folder / "t.json")(ROW))


KINDS: dict[str, Callable[[str, Path], str]] = {
    "prompt": by_prompt,
    "described evaluation": by_described_evaluation,
    "data template": by_data_template,
}


@pytest.fixture(autouse=True)
def little_memory() -> object:
    """No template gets more than a gigabyte beyond what the tests use."""
    pages = (
        int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else None
    )
    if pages is None:
        return None
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**30, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


FEW = ("repeated text", "large range", "nested loops", "a macro that calls itself", "doubled text", "words")
"""For kinds other than prompts: all have the same environment, as a test below makes sure."""


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name in ENDLESS for kind in KINDS if kind == "prompt" or name in FEW]
)
def test_a_template_that_would_not_end_is_refused(name: str, kind: str, tmp_path: Path) -> None:
    with pytest.raises((BenchwrightError, ValueError)) as refused:
        KINDS[kind](ENDLESS[name], tmp_path)
    text = str(refused.value)
    assert len(text) < 300, text
    assert "Error" not in text, text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UNREADABLE)
def test_a_template_that_cannot_be_compiled_is_refused(name: str, kind: str, tmp_path: Path) -> None:
    with pytest.raises((BenchwrightError, ValueError)) as refused:
        KINDS[kind](UNREADABLE[name], tmp_path)
    assert not isinstance(refused.value, MissingFieldError)
    assert "(Jinja2)" in str(refused.value)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    "spec", ["{text:>9999999999}", "{text:.9999999999}|{n:.99999999f}", "{text:>{wide}}"]
)
def test_a_wide_field_is_refused(spec: str) -> None:
    row = {"text": "x", "n": 1.5, "wide": 10**10}
    with pytest.raises(MissingFieldError, match="at most 10,000"):
        BraceTemplate(spec).render(row)
    with pytest.raises(BenchwrightError, match="at most 10,000"):
        render_judge_template(spec, row)
    assert BraceTemplate("{text:>9999}").render(row).endswith(" x")


def test_large_rows_may_be_written_more_than_once() -> None:
    row = {"context": "word " * 400_000, "parts": ["a"] * 50_000}
    text = "{% for part in parts %}{{ part }}{% endfor %}{{ context | trim }}{{ context | upper }}{{ context.lower() }}"
    assert len(compile_template(text, jinja=True).render(row)) > 6_000_000


def test_threads_that_render_at_once_have_their_own_limits() -> None:
    template = compile_template("{% for i in range(900) %}{{ text }}{% endfor %}", jinja=True)
    start, found = Barrier(4), []

    def work(size: int) -> None:
        start.wait()
        found.extend(len(template.render({"text": "x" * size})) == 900 * size for _ in range(20))

    threads = [Thread(target=work, args=(size,)) for size in (1000, 1, 900, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 80


def test_no_other_place_makes_an_environment() -> None:
    """Templates of users have one home. Our own pages are no templates of users."""
    folder = Path(benchwright.__file__).parent
    makers = {
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if any(
            word in path.read_text()
            for word in ("SandboxedEnvironment", "jinja2 import Environment", "jinja2 import Template\n")
        )
    }
    assert makers == {"benchmarks/_bounded_templates.py"}


def test_start_up_does_not_load_the_template_engine() -> None:
    code = "import sys, benchwright.benchmarks, benchwright.bfcl; sys.exit('jinja2' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)

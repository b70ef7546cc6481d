"""Slices of a run: every figure equals an enumeration of the rows, and what cannot be sliced is said."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb, isclose
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.cli import main
from benchwright.core import NotFoundError, UsageError, encode_json, row_hash
from benchwright.results._slices import MOST_SLICES, slices_of
from benchwright.server import serving
from benchwright.stats import holm
from benchwright.stats._groups import fisher_exact
from benchwright.store import Workspace
from waiting import PATIENCE_S


class Samples:
    """Samples given as their row and their score, None for one that failed."""

    def __init__(self, samples: list[tuple[Any, float | None]]) -> None:
        self._samples = samples

    def rows_scored(self) -> Iterator[tuple[bytes, bytes | None, bytes]]:
        for row, score in self._samples:
            text = encode_json(row)
            failed = {"o": "request_failed", "e": "late"}
            yield (
                row_hash(text),
                text,
                encode_json(failed if score is None else {"o": "scored", "s": {"m": score}}),
            )


TOPICS = st.sampled_from(["a", "b", "c", None, "", 3, True, ["a", "c"], ["b", "b"], "absent"])


@st.composite
def designs(draw: st.DrawFn) -> list[tuple[Any, float | None]]:
    """Rows with any value of a column, some of them copies, with graded or right-or-wrong scores, some failed."""
    scores = (
        st.sampled_from([0, 1, True, False])
        if draw(st.booleans())
        else st.floats(0, 1).map(lambda x: round(x, 3))
    )
    samples: list[tuple[Any, float | None]] = []
    for number in range(draw(st.integers(1, 12))):
        topic = draw(TOPICS)
        row = {"q": number, **({} if topic == "absent" else {"topic": topic})}
        repeats = st.lists(st.one_of(st.none(), scores, scores, scores), min_size=1, max_size=3)
        samples += [(row, score) for score in draw(repeats)]
    return draw(st.permutations(samples))


def slices_in(row: dict[str, Any]) -> set[str | None]:
    value = row.get("topic")
    values = value if isinstance(value, list) else [value]
    return {None if each in (None, "") else str(each) for each in values}


@given(designs())
@settings(max_examples=60, deadline=None)
def test_figures_are_those_of_an_enumeration(samples: list[tuple[Any, float | None]]) -> None:
    if not any("topic" in row for row, _ in samples):
        return
    found = slices_of(Samples(samples), "topic", "m", run_id=1)
    names = set().union(*(slices_in(row) for row, _ in samples))
    assert {each.value for each in found.slices} == names
    assert len(found.slices) == len(names)
    all_scores = [Fraction(float(score)) for _, score in samples if score is not None]
    for each in (*found.slices, found.whole):
        mine = [(row, score) for row, score in samples if each is found.whole or each.value in slices_in(row)]
        scores = [Fraction(float(score)) for _, score in mine if score is not None]
        assert (each.n, each.failed) == (len(scores), len(mine) - len(scores))
        assert each.rows == len({row["q"] for row, score in mine if score is not None})
        assert each.small == (each.rows < 20)
        if not scores:
            assert (each.mean, each.difference, each.p_value) == (None, None, None)
            continue
        mean = sum(scores) / len(scores)
        assert each.mean is not None
        assert isclose(each.mean, mean, abs_tol=1e-12)
        assert each.ci_low is None or each.ci_low - 1e-9 <= each.mean
        if each is not found.whole:
            whole = sum(all_scores) / len(all_scores)
            assert isclose(each.difference or 0.0, mean - whole, abs_tol=1e-12)
    differences = [each.difference for each in found.slices if each.difference is not None]
    assert differences == sorted(differences)
    p_values = [each.p_value for each in found.slices if each.p_value is not None]
    assert found.tests in (len(p_values), 1)
    if found.tests == len(p_values):
        expected = holm(p_values)
        assert [each.p_adjusted for each in found.slices if each.p_value is not None] == expected


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.integers(0, 5))
@settings(deadline=None)
def test_the_exact_test_counts_every_choice(a: int, b: int, c: int, d: int) -> None:
    """Of all ways to choose the rows of a slice, how many have at least, and at most, so many right answers."""
    rows = [1] * (a + c) + [0] * (b + d)
    total = comb(len(rows), a + b)
    ways = {k: comb(a + c, k) * comb(b + d, a + b - k) for k in range(a + b + 1)}
    if total < 300:
        assert {k: n for k, n in ways.items() if n} == Counter(map(sum, combinations(rows, a + b)))
    tails = sum(n for k, n in ways.items() if k >= a), sum(n for k, n in ways.items() if k <= a)
    assert isclose(fisher_exact(a, b, c, d), min(1.0, 2 * min(tails) / total), rel_tol=1e-9)


def test_many_numbers_are_sliced_in_ranges_of_about_equal_size() -> None:
    samples: list[tuple[Any, float | None]] = [({"q": n, "length": n * 3}, n % 2) for n in range(500)]
    samples.append(({"q": "none"}, 1))
    found = slices_of(Samples(samples), "length", "m", run_id=1)
    assert found.binned
    assert {each.value: each.rows for each in found.slices} == {
        "0 to 297": 100, "300 to 597": 100, "600 to 897": 100, "900 to 1197": 100, "1200 to 1497": 100, None: 1,
    }  # fmt: skip


def test_many_texts_are_refused_with_the_cure() -> None:
    samples: list[tuple[Any, float | None]] = [({"q": f"text {n}"}, 1) for n in range(MOST_SLICES + 1)]
    with pytest.raises(UsageError, match=r"'q' has more than 200 values that are not all numbers.*has fewer"):
        slices_of(Samples(samples), "q", "m", run_id=1)


def test_an_unknown_column_names_those_that_exist() -> None:
    samples: list[tuple[Any, float | None]] = [({"topic": "a", "meta": {"level": 1}}, 1)]
    with pytest.raises(
        NotFoundError, match=r"no column|'topci'.*Did you mean 'topic'.*Columns: meta\.level, topic"
    ):
        slices_of(Samples(samples), "topci", "m", run_id=1)
    assert slices_of(Samples(samples), "meta.level", "m", run_id=1).slices[0].value == "1"


def test_large_differences_are_found_and_two_slices_are_one_test() -> None:
    samples: list[tuple[Any, float | None]] = [({"q": n, "topic": "ab"[n % 2]}, n % 2) for n in range(60)]
    found = slices_of(Samples(samples), "topic", "m", run_id=1)
    assert [each.value for each in found.slices] == ["a", "b"]
    assert all(each.significant for each in found.slices)
    assert found.tests == 1
    graded = [(row, 0.2 + 0.6 * (score or 0) + row["q"] % 7 / 100) for row, score in samples]
    found = slices_of(Samples(graded), "topic", "m", run_id=1, less=True)
    assert (found.test, [each.value for each in found.slices]) == ("welch", ["b", "a"])
    assert all(each.significant for each in found.slices)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sliced")
    rows = "".join(f"{n}+0,{2 if n % 3 else 5},{'rest' if n % 3 else '<b>thirds</b>'}\n" for n in range(60))
    (place / "q.csv").write_text("question,answer,topic\n" + rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        benchwright.run("q.csv", endpoint=ScriptedEndpoint(lambda request: "2"))
    return place


def test_commands_and_rest_say_the_same(
    workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import http.client

    monkeypatch.chdir(workspace)
    assert main(["show", "1", "--by", "topic", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [(each["value"], each["n"]) for each in shown["slices"]] == [("<b>thirds</b>", 20), ("rest", 40)]
    assert main(["show", "1", "--by", "topic"]) == 0
    printed = capsys.readouterr().out
    assert "worse than the rest: <b>thirds</b>" in printed
    assert main(["show", "1", "--by", "topics"]) == 4
    assert "Columns: answer, question, topic" in capsys.readouterr().err
    with serving(Workspace(workspace)) as (address, _):
        connection = http.client.HTTPConnection(address.url.removeprefix("http://"), timeout=PATIENCE_S)
        answers = []
        for _ in range(2):
            connection.request(
                "GET", "/api/runs/1/slices?by=topic", headers={"Authorization": f"Bearer {address.token}"}
            )
            answers.append(json.loads(connection.getresponse().read()))
        connection.request("GET", "/api/runs/1/slices", headers={"Authorization": f"Bearer {address.token}"})
        assert connection.getresponse().status == 422
        connection.close()
    assert answers == [shown, shown]


def test_a_run_prints_its_slices(
    workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    assert main(["run", "q.csv", "--model", "demo", "--by", "topic", "--json", "-q"]) == 0
    result = json.loads(capsys.readouterr().out)["results"][0]
    assert {each["value"] for each in result["slices"]["slices"]} == {"<b>thirds</b>", "rest"}
    assert main(["run", "q.csv", "--model", "demo", "--by", "nothing", "--json", "-q"]) == 4
    told = capsys.readouterr()
    assert json.loads(told.out)["results"][0]["status"] == "completed"
    assert "cannot be sliced" in told.err
    assert "Columns: answer, question, topic" in told.err


_FEW_DIGITS = st.integers(-300, 300).map(lambda number: number / 100)
_ROWS = st.lists(_FEW_DIGITS, min_size=1, max_size=4)


@given(_ROWS, _ROWS, st.integers(20, 40), st.integers(20, 40))
def test_groups_without_a_spread_are_not_tested_however_sums_round(
    one: list[float], other: list[float], rows: int, more: int
) -> None:
    """All rows of a group have the same values, in any order, so that their means are equal."""
    samples: list[tuple[Any, float | None]] = [
        ({"group": group, "row": row}, value)
        for group, values, count in (("one", one, rows), ("other", other, more))
        for row in range(count)
        for value in (*values[row % len(values) :], *values[: row % len(values)])
    ]
    found = slices_of(Samples(samples), "group", "m", run_id=1)
    if found.test == "welch":
        assert [each.p_value for each in found.slices] == [None, None]


@pytest.mark.parametrize("column", ['a"b', "a\\b", "a\nb", "ü", ""])
def test_a_column_with_any_name_can_be_sliced(column: str) -> None:
    found = slices_of(Samples([({column: "x"}, 1.0), ({column: "y"}, 0.0)]), column, "m", run_id=1)
    assert [each.value for each in found.slices] == ["y", "x"]

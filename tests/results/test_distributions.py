"""Distributions over the samples of a run: every value is in exactly one bin, and repeats are counted row by row."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import pvariance
from typing import Any

import pytest
from hypothesis import given, strategies as st

import benchwright
from benchwright import ScriptedEndpoint, UsageError
from benchwright.cli import main
from benchwright.core import ModelRequest
from benchwright.results import run_distributions
from benchwright.results._distributions import MOST_BINS, _Rows, histogram
from benchwright.store import Workspace, open_store
from browser import page_data

NUMBERS = st.one_of(
    st.integers(0, 10**7).map(float), st.floats(-1e9, 1e9, allow_subnormal=False), st.floats(1e-7, 1e-3)
)


@given(st.lists(NUMBERS, min_size=1, max_size=80))
def test_every_value_is_in_one_bin(values: list[float]) -> None:
    found: Any = histogram("x", "s", values)
    assert 1 <= len(found["bins"]) <= MOST_BINS
    assert sum(found["bins"]) + found["above"] == found["count"] == len(values)
    assert (found["min"], found["max"]) == (min(values), max(values))
    slack = 1e-6 * (found["step"] + abs(found["first"]))
    assert found["first"] <= min(values) + slack
    end = found["first"] + found["step"] * len(found["bins"])
    assert sum(each > end + slack for each in values) <= found["above"]


def test_whole_numbers_have_bins_of_their_own() -> None:
    assert histogram("score", "acc", [0, 1, 1, 1])["bins"] == [1, 3]
    assert histogram("tokens", "tokens", [7, 7])["bins"] == [2]
    found = histogram("tokens", "tokens", list(range(21)))
    assert (found["step"], found["bins"]) == (2.0, [*[2] * 10, 1])


def test_values_far_beyond_the_others_are_counted_apart() -> None:
    found: Any = histogram("latency_s", "s", [*[0.1 + n / 1000 for n in range(200)], 60.0])
    assert (found["above"], found["max"]) == (1, 60.0)
    assert sum(each > 0 for each in found["bins"]) > 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose rows are right in 0 to 4 of 4 repeats, one without repeats, and one of a model with a price."""
    place = tmp_path_factory.mktemp("spread")
    rows = [{"question": f"{n}?", "answer": "yes"} for n in range(5)]
    (place / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    seen: dict[int, int] = {}

    def reply(request: ModelRequest) -> str:
        asked = re.search(rb"(\d+)\?", request.payload)
        row = int(asked[1]) if asked else 0
        seen[row] = seen.get(row, 0) + 1
        return "yes" if seen[row] <= row else "no" * row

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        benchwright.run("q.jsonl", endpoint=ScriptedEndpoint(reply), repeats=4, parallelism=1)
        benchwright.run("q.jsonl", endpoint=ScriptedEndpoint(lambda request: "yes"))
        (place / "prices.toml").write_text(
            '[[price]]\nmodel = "*"\ninput = 2.0\noutput = 8.0\ncurrency = "EUR"\nas_of = 2026-11-01\n'
        )
        benchwright.run("q.jsonl", model="demo")
    return place


def test_repeats_are_counted_row_by_row(folder: Path) -> None:
    with open_store(Workspace(folder)) as store:
        found: Any = run_distributions(store, store.run(1))
        plain: Any = run_distributions(store, store.run(2))
    repeats = found["repeats"]
    assert (repeats["stable"], repeats["changing"], repeats["unscored"]) == (2, 3, 0)
    assert repeats["right"] == [1, 1, 1, 1, 1]
    assert [row["sample_id"] for row in repeats["rows"]] == [2, 1, 3]
    assert sorted(repeats["rows"][0]["scores"]) == [0, 0, 1, 1]
    figures = {each["name"]: each for each in found["figures"]}
    assert figures["score"]["bins"] == [10, 10]
    assert figures["reply_length"]["count"] == 20
    assert plain["repeats"] is None


@given(st.lists(st.lists(st.integers(-5, 10), min_size=3, max_size=3), min_size=1, max_size=30))
def test_the_rows_that_vary_most_come_first_in_any_scale(grades: list[list[int]]) -> None:
    rows = _Rows()
    for number, row in enumerate(grades):
        rows.add([number] * len(row), row)
    found: Any = rows.to_json("grade", 3)
    shown = [pvariance(grades[each["sample_id"]]) for each in found["rows"]]
    least_stable = sorted((pvariance(row) for row in grades if len({*row}) > 1), reverse=True)
    assert shown == pytest.approx(least_stable[: len(shown)])
    assert bool(shown) == bool(least_stable)


def test_a_run_without_a_result_has_none(tmp_path: Path) -> None:
    with open_store(Workspace(tmp_path)) as store:
        run = store.create_run(kind="benchmark", name="q", target="q", model="m", folder=None, settings={}, manifest={})  # fmt: skip
        with pytest.raises(UsageError, match="no result yet"):
            run_distributions(store, run)


def test_the_costs_of_samples_add_up_to_the_cost_of_the_run(folder: Path) -> None:
    with open_store(Workspace(folder)) as store:
        run = store.run(3)
        found: Any = run_distributions(store, run)
    [cost] = [each for each in found["figures"] if each["name"] == "cost"]
    known: Any = (run.summary or {})["cost"]
    assert (cost["unit"], cost["count"]) == (known["currency"], 5) == ("EUR", 5)
    assert cost["mean"] * cost["count"] == pytest.approx(known["amount"])


def test_the_json_and_the_report_of_a_run_have_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 2, 3):
        with open_store(Workspace(folder)) as store:
            run = store.run(number)
            known = json.loads(json.dumps(run_distributions(store, run)))
        capsys.readouterr()
        assert main(["show", str(number), "--json", "--workspace", str(folder)]) == 0
        assert json.loads(capsys.readouterr().out)["distributions"] == known
        assert run.folder is not None
        assert page_data((run.folder / "report.html").read_text())["distributions"] == known


def kept(folder: Path, number: int) -> Any:
    with open_store(Workspace(folder)) as store:
        return store.overview(store.run(number))


def shown(folder: Path, number: int, capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    assert main(["show", str(number), "--json", "--workspace", str(folder)]) == 0
    return json.loads(capsys.readouterr().out)["distributions"]


def test_a_run_of_many_samples_keeps_its_overview_until_it_ends_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\n1?,yes\n2?,no\n")
    few = benchwright.run("q.csv", endpoint=ScriptedEndpoint(lambda request: "yes"))
    assert kept(tmp_path, few.run_id) is None, "a short run is read as quickly"
    known = shown(tmp_path, few.run_id, capsys)
    monkeypatch.setattr("benchwright.results._distributions.MOST_READ", 1)
    monkeypatch.setattr("benchwright.results._run_page.MOST_READ", 1)
    assert shown(tmp_path, few.run_id, capsys) is None, "too many samples to read, and nothing kept"
    many = benchwright.run("q.csv", endpoint=ScriptedEndpoint(lambda request: "yes"))
    overview = kept(tmp_path, many.run_id)
    assert overview["counts"] == {"right": 1, "wrong": 1}
    assert shown(tmp_path, many.run_id, capsys) == overview["distributions"]
    alike = [{**figure, "count": 2} for figure in known["figures"] if figure["name"] != "latency_s"]
    assert [each for each in overview["distributions"]["figures"] if each["name"] != "latency_s"] == alike
    with open_store(Workspace(tmp_path)) as store:
        assert run_distributions(store, store.run(few.run_id)) == known, "asked for alone, they are found"
    assert kept(tmp_path, few.run_id) == {"counts": {"right": 1, "wrong": 1}, "distributions": known}
    with open_store(Workspace(tmp_path)) as store:
        store.claim_run(many.run_id, start=True)
        assert store.overview(store.run(many.run_id)) is None, "it is at work again"
        store.finish_run(many.run_id, "completed", summary=many.summary.to_json())
        assert store.overview(store.run(many.run_id)) is None, "another end"

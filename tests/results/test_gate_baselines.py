"""Baselines by name and as portable files: only bless moves a name, and a changed file is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from gate_runs import gate_run

import benchwright
from benchwright import BenchwrightError, ConfigError, UsageError, benchmark, bless
from benchwright.cli import main
from benchwright.core import encode_json
from benchwright.results._gates.baselines import _checksum

REGRESSION: dict[str, Any] = {"regression": [{"metric": "correct", "bound": "upper"}]}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def test_only_bless_moves_a_name_and_its_history_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    first = gate_run(range(10))
    assert bless(first, name="main").source == "run 1"
    second = gate_run(range(60))
    verdict = benchwright.gate(second, policy=REGRESSION, baseline="main")
    assert verdict.verdict == "NO-GO"
    assert str(verdict.baseline).startswith("main (run 1, blessed ")
    bless(second, name="main")
    bless(second, name="main")
    assert benchwright.gate(gate_run(range(60)), policy=REGRESSION, baseline="main").verdict == "GO"
    assert main(["bless", "--list", "--json"]) == 0
    history = json.loads(capsys.readouterr().out)["baselines"]["main"]
    assert [move["source"] for move in history] == ["run 1", "run 2"]
    assert main(["bless", "--list"]) == 0
    assert "run 1: graded_rows on" in capsys.readouterr().out


def test_a_name_outlives_the_run_and_is_found_by_the_benchmarks_name() -> None:
    bless(gate_run(range(10)))
    second = gate_run(range(60))
    assert main(["rm", "1", "--yes"]) == 0
    found = benchwright.gate(second, policy=REGRESSION)
    assert found.verdict == "NO-GO"
    assert str(found.baseline).startswith("graded_rows (run 1")


@pytest.mark.parametrize("place", ["base", "base.jsonl"])
def test_a_portable_baseline_says_the_same_on_another_machine(
    here: Path, place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    baseline, worse = gate_run(range(10)), gate_run(range(60))
    at_home = benchwright.gate(worse, policy=REGRESSION, baseline=baseline)
    portable = here.parent / place
    assert main(["export", "1", "--baseline", str(portable), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["samples"] == 200
    assert Path(written["file"]).is_file()
    away = here.parent / "away"
    away.mkdir()
    monkeypatch.chdir(away)
    again = gate_run(range(60))
    found = benchwright.gate(again, policy=REGRESSION, baseline=portable)
    assert [(row.observed, row.p, row.verdict) for row in found.rows] == [
        (row.observed, row.p, row.verdict) for row in at_home.rows
    ]
    bless(str(portable), name="main")
    assert benchwright.gate(again, policy=REGRESSION, baseline="main").verdict == "NO-GO"


def test_a_portable_baseline_holds_no_texts_places_or_secrets(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATE_KEY", "sk-very-secret-value")
    gate_run(range(10), api_key_name="GATE_KEY")
    assert main(["export", "1", "--baseline", "b.jsonl"]) == 0
    text = (here / "b.jsonl").read_text(encoding="utf-8")
    for hidden in ("question 7", str(here), "sk-very-secret-value", "yes"):
        assert hidden not in text


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_of_another_system_change_nothing(here: Path, mark: bytes) -> None:
    baseline, worse = gate_run(range(10)), gate_run(range(60))
    assert main(["export", "1", "--baseline", "b.jsonl"]) == 0
    file = here / "b.jsonl"
    file.write_bytes(mark + file.read_bytes().replace(b"\n", b"\r\n"))
    found = benchwright.gate(worse, policy=REGRESSION, baseline="b.jsonl")
    assert found.rows == benchwright.gate(worse, policy=REGRESSION, baseline=baseline).rows


def test_a_changed_cut_or_foreign_file_is_refused(here: Path) -> None:
    run = gate_run(range(10))
    assert main(["export", "1", "--baseline", "b.jsonl"]) == 0
    file = here / "b.jsonl"
    text = file.read_text(encoding="utf-8")
    for changed, told in (
        (text.replace('"scored"', '"skipped"', 1), "checksum"),
        (text.replace('"name":"graded_rows"', '"name":"other_rows1"', 1), "checksum"),
        (text[: len(text) // 2], "checksum"),
        (text.replace('"version":2', '"version":3', 1), "a baseline of version 3"),
        ("{}\n", "this is not a baseline"),
        ("", "this is not a baseline"),
        ("a,b\n1,2\n", "this is not a baseline"),
    ):
        file.write_text(changed, encoding="utf-8")
        with pytest.raises(ConfigError, match=told):
            benchwright.gate(run, policy=REGRESSION, baseline="b.jsonl")


@pytest.mark.parametrize(
    ("header", "lines"),
    [
        ({"settings": "x"}, []),
        ({"manifest": []}, []),
        ({"run": None}, []),
        ({"summary": {"x": 1}}, []),
        ({"count": 3}, []),
        ({"count": 201}, ["[0, 0]"]),
        ({"count": 201}, ['"x"']),
        ({"count": 201}, ["null"]),
        ({"count": 201}, ['[0, 0, "zz", "scored", {}]']),
        ({"count": 201}, ['["a", 0, "00", "scored", {}]']),
        ({"count": 201}, ['[0, 0, "00", "scored", [1]]']),
        ({"count": 201}, ['[0, 0, "00", "danced", {}]']),
    ],
)
def test_a_file_that_another_version_wrote_differently_is_refused(
    here: Path, header: dict[str, Any], lines: list[str]
) -> None:
    run = gate_run(range(10))
    assert main(["export", "1", "--baseline", "b.jsonl"]) == 0
    first, _, rest = (here / "b.jsonl").read_bytes().partition(b"\n")
    known = {**json.loads(first), **header}
    del known["sha256"]
    head, body = encode_json(known), b"".join(line.encode() + b"\n" for line in lines) + rest
    stamp = encode_json({"sha256": _checksum(head, [body])})[:-1] + b","
    (here / "b.jsonl").write_bytes(stamp + head[1:] + b"\n" + body)
    with pytest.raises(BenchwrightError, match=r"can read: .*wrote it: update|newer benchwright wrote it"):
        benchwright.gate(run, policy=REGRESSION, baseline="b.jsonl")


def test_an_empty_argument_is_not_the_current_folder(here: Path) -> None:
    """As from an unset variable of a script."""
    for _ in range(2):
        gate_run(cache=False)
    (here / "p.toml").write_text('[[regression]]\nmetric = "correct"\nbound = "value"\n')
    assert main(["export", "1", "--baseline", "."]) == 0
    for words in (
        ["gate", "2", "--policy", "p.toml", "--baseline", ""],
        ["compare", "2", ""],
        ["export", "2", "--baseline", ""],
        ["bless", "", "--as", "main"],
        ["bless", "1", "--as", ""],
    ):
        assert main(words) in (2, 4), words
    assert main(["gate", "2", "--policy", "p.toml", "--baseline", "."]) == 0


def test_runs_that_failed_and_odd_names_are_not_blessed(capsys: pytest.CaptureFixture[str]) -> None:
    run = gate_run(failing=range(60, 180))
    with pytest.raises(UsageError, match="not comparable"):
        bless(run)
    assert bless(run, force=True).name == "graded_rows"
    assert main(["export", str(run.run_id), "--baseline", "b.jsonl"]) == 2
    assert "not comparable" in capsys.readouterr().err
    assert not Path("b.jsonl").exists()
    assert main(["export", str(run.run_id), "--baseline", "b.jsonl", "--force"]) == 0
    assert main(["export", str(run.run_id), "--force"]) == 2  # it would do nothing
    for name in ("3", "last", "../up", "a b", ""):
        with pytest.raises(UsageError, match="cannot be called"):
            bless(gate_run(), name=name)


def test_compare_takes_blessed_names_and_portable_baselines(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = gate_run(range(10)), gate_run(range(60), output_dir="kept")
    plain = benchwright.compare(*runs).to_json()["metrics"]
    bless(runs[0], name="main")
    portable = here.parent / "base.jsonl"
    assert main(["export", "1", "--baseline", str(portable)]) == 0
    for baseline in ("main", portable):
        found = benchwright.compare(baseline, runs[1])
        assert found.to_json()["metrics"] == plain
        assert (found.regressed, found.only_a, found.only_b, found.inputs["same"]) == (True, 0, 0, True)
    assert found.run_a.title == f"{portable.parent.name}/base.jsonl"
    assert benchwright.compare("main", portable).differs is False
    assert main(["rm", "1", "--yes"]) == 0
    capsys.readouterr()
    assert main(["compare", "main", "last", "--fail-on", "regression"]) == 1
    assert "baselines/main" in capsys.readouterr().out
    elsewhere = here.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert main(["compare", str(portable), str(here / "kept"), "--fail-on", "regression"]) == 1
    capsys.readouterr()
    assert main(["compare", "mian", "1", "--workspace", str(here)]) == 4
    assert "Did you mean 'main'? Baselines: main" in capsys.readouterr().err


def test_the_rows_of_a_baseline_are_known_by_content_whatever_the_order_of_keys() -> None:
    @benchmark(
        name="straight", dataset=[{"q": f"question {k}", "target": "yes"} for k in range(20)], prompt="{q}"
    )
    def one(sample: Any) -> dict[str, float]:
        return {"correct": sample.response == sample.target}

    first = gate_run(range(2), spec=one)
    bless(first, name="main")

    @benchmark(
        name="turned", dataset=[{"target": "yes", "q": f"question {k}"} for k in range(20)], prompt="{q}"
    )
    def other(sample: Any) -> dict[str, float]:
        return {"correct": sample.response == sample.target}

    found = benchwright.compare("main", gate_run(range(4), spec=other), force=True)
    assert (found.both, found.only_a, found.only_b) == (20, 0, 0)


def test_a_baseline_of_another_kind_is_not_replaced_unasked(capsys: pytest.CaptureFixture[str]) -> None:
    def of_kind(kind: str) -> Any:
        return gate_run() if kind == "benchmark" else _load_test()

    for first, second, title in (("benchmark", "load", "a benchmark"), ("load", "benchmark", "a load test")):
        for name in (None, f"held-{first}"):  # by default and as asked
            assert bless(of_kind(first), name=name, force=True).kind == first
            with pytest.raises(UsageError, match=rf"is {title}, .*--as [\w-]+-{second}, or .* force=True"):
                bless(of_kind(second), name=name)
        other = of_kind(second)
        rule = (
            {"metric": "correct", "bound": "value"}
            if second == "benchmark"
            else {"metric": "e2e.mean", "bound": "value"}
        )
        verdict = benchwright.gate(other, policy={"regression": [rule]}, baseline=f"held-{first}")
        assert f"the baseline is {title}" in verdict.rows[1].reason
        assert "--baseline; benchwright bless --list shows the kinds" in verdict.rows[1].reason
    assert main(["bless", "--list"]) == 0
    shown = capsys.readouterr().out
    assert "(a load test)" in shown
    assert "(a benchmark)" in shown


def _load_test() -> Any:
    from gate_runs import graded_rows

    return benchwright.perf(graded_rows, model="demo", requests=8, concurrency=2)


def test_a_number_that_no_run_has_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    gate_run()
    assert main(["bless", "77"]) == 4
    told = capsys.readouterr().err
    assert "no run '77'" in told
    assert "no baseline" not in told

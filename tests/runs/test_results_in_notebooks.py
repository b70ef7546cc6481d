"""What a result offers in Python: its samples as rows and as a table, and a view for notebooks."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.core import NotFoundError


def test_samples_as_rows_and_as_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\n1+1,2\n1+2,3\n")
    result = benchwright.run("q.csv", endpoint=ScriptedEndpoint(lambda request: "2"))
    rows = result.samples()
    assert [(row["sample_id"], row["response"], row["target"], row["outcome"]) for row in rows] == [
        (0, "2", "2", "scored"),
        (1, "2", "3", "scored"),
    ]
    assert rows[0]["metadata"] == {"question": "1+1", "answer": "2"}
    assert isinstance(rows[0]["scores"], dict)
    assert result.arrow().num_rows == 2
    assert result.arrow().column("response").to_pylist() == ["2", "2"]
    (result.folder / "samples.parquet").unlink()
    with pytest.raises(NotFoundError, match=f"benchwright export {result.run_id}"):
        result.samples()


def test_a_notebook_shows_numbers_and_no_markup_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\n1+1,2\n")
    result = benchwright.run("q.csv", endpoint=ScriptedEndpoint(lambda request: "2"))
    shown = result._repr_html_()
    assert shown.startswith(f"<p><b>{result.sentence}</b>")
    assert "<table>" in shown
    assert "1.0000" in shown
    assert "<td>0.2065 – 1.0000</td>" in shown
    assert "With fewer than 20 rows, the 95 % intervals are unreliable." in shown
    evil = "<script>alert(1)</script>"
    from msgspec.structs import replace

    marked = replace(result, run=replace(result.run, model=evil), first_failure=evil)._repr_html_()
    assert "<script>" not in marked
    assert "&lt;script&gt;" in marked


def test_a_suite_is_shown_in_short_and_as_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\n1+1,2\n1+2,3\n")
    models = 'models = ["demo", {name = "<b>x</b>", type = "demo", skill = 0.2}]'
    (tmp_path / "suite.toml").write_text(f'{models}\ndatasets = ["q.csv"]\n')
    result = benchwright.run("suite.toml")
    assert repr(result) == "<SuiteResult suite: 2 pairs, exit code 0>"
    first, *pairs = str(result).splitlines()
    assert first == "suite suite: 2 pairs"
    assert [line.split(":")[0] for line in pairs] == ["  demo, q", "  <b>x</b>, q"]
    assert all("normalised_exact" in line and "n = 2)" in line for line in pairs)
    assert all(len(line) < 200 for line in [repr(result["demo", "q"]), *pairs])
    assert "q on demo, 1 row: normalised_exact " in str(benchwright.run("q.csv", limit=1))
    shown = result._repr_html_()
    assert "<th>demo</th><th>&lt;b&gt;x&lt;/b&gt;</th>" in shown
    assert "<b>x</b>" not in shown
    assert f"{result['demo', 'q']['normalised_exact']:.4f} (" in shown


def test_a_result_stands_for_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\n1+1,2\n1+2,3\n")
    stopped = benchwright.run("q.csv", model="demo", max_requests=1, cache=False)
    done = benchwright.resume(stopped)
    assert (done.run_id, done.status) == (stopped.run_id, "completed")
    again = benchwright.rescore(done)
    assert again.run_id != done.run_id
    assert benchwright.compare(done, again).run_a.id == done.run_id
    other = tmp_path / "other"
    other.mkdir()
    benchwright.run("q.csv", model="demo", workspace=other)
    for call in (
        lambda: benchwright.rescore(done, workspace=other),
        lambda: benchwright.compare(done, done, workspace=other),
        lambda: benchwright.resume(done, workspace=other),
    ):
        with pytest.raises(NotFoundError, match="Name the workspace of the result"):
            call()


def test_comparisons_verdicts_and_checks_are_shown_in_short_and_as_html(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"<b>{k}</b>,{k}\n" for k in range(30))
    (tmp_path / "q.csv").write_text(f"question,answer\n{rows}")
    runs = [
        benchwright.run("q.csv", endpoint=ScriptedEndpoint(lambda request, text=text: text)) for text in "12"
    ]
    compared = benchwright.compare(*runs)
    judged = benchwright.gate(
        runs[1], baseline=runs[0], policy={"regression": [{"metric": "normalised_exact", "bound": "upper"}]}
    )
    checked = benchwright.check("q.csv")
    for shown, words in (
        (compared, "2 of 30 samples changed"),
        (judged, "normalised_exact"),
        (checked, "30"),
    ):
        assert len(repr(shown)) < 300
        html = shown._repr_html_()
        assert words in html
        assert "<b>1</b>" not in html, "texts of others are escaped"
    assert "Comparison run 2 vs. run 1: 2 of 30 samples changed; no significant difference" in repr(compared)
    assert repr(judged).startswith("<Verdict GO: run 2")

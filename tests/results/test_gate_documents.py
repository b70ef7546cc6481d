"""A verdict for machines: JUnit XML that parses, Markdown that stays a table, JSON alone on standard output."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from gate_runs import gate_run
from msgspec import structs
from rich.console import Console

from benchwright.cli import main
from benchwright.core import Note
from benchwright.reports import drawn
from benchwright.reports.files.verdict_documents import junit, markdown
from benchwright.results import RuleRow, Verdict
from benchwright.results._gates.verdict import Word

NASTY = "a<b>&\"c'|d\x00\x1b[2J\n]]>\ud800 @you `x` *y*"


def verdict(*rows: RuleRow) -> Verdict:
    return Verdict(
        verdict=Word.NO_GO, run=NASTY, run_id=1, name=NASTY, baseline=NASTY, policy=NASTY, alpha=0.05, power=0.8, tests=1,
        rows=rows, notes=(Note.of(NASTY),),
    )  # fmt: skip


def row(word: Word, *, evaluated: bool = True) -> RuleRow:
    return RuleRow(
        rule=NASTY, kind="threshold", where=NASTY, needed=NASTY, verdict=word, reason=NASTY, evaluated=evaluated,
        observed=0.5, interval=(0.4, 0.6), p=0.01, p_holm=0.02, test="t",
    )  # fmt: skip


ALL = verdict(row(Word.GO), row(Word.NO_GO), row(Word.INCONCLUSIVE), row(Word.INCONCLUSIVE, evaluated=False))


def test_junit_has_a_case_for_each_rule_and_holds_any_text() -> None:
    tree = ElementTree.fromstring(junit(ALL).encode("utf-8", "surrogatepass"))
    suite = tree.find("testsuite")
    assert suite is not None
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"]
    found = [[child.tag for child in case] for case in suite.iter("testcase")]
    assert found == [["system-out"], ["failure"], ["skipped", "system-out"], ["error"]]
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert str(failure.get("message")).startswith("a<b>&\"c'|d")


def test_markdown_stays_one_table_without_mark_up_of_others() -> None:
    text = markdown(ALL)
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 4
    assert {line.replace("\\|", "").count("|") for line in table} == {7}
    assert "❌ NO-GO" in table[2]
    assert "<b>" not in text
    assert "\\@you" in text


@pytest.mark.parametrize("p", [0.0, 1e-300, 1e-7, 0.00049, 0.00099999])
def test_no_view_of_a_verdict_shows_a_p_value_as_0(p: float) -> None:
    small = structs.replace(row(Word.NO_GO), p=p, p_holm=p)
    console = Console(width=120, file=StringIO(), color_system=None)
    console.print(drawn(verdict(small)))
    table = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    for text, times in (
        (table, 2),
        (markdown(verdict(small)), 1),
        (junit(verdict(small)).replace("&lt;", "<"), 2),
    ):
        assert text.count("< 0.001") == times
        assert not re.search(r"0\.000|e-\d|\bp = 0\b", text)


def test_documents_go_to_files_or_to_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    gate_run(range(40))
    (tmp_path / "p.toml").write_text('[[threshold]]\nmetric = "correct"\nmin = 0.9\nbound = "lower"\n')
    start = ["gate", "last", "--policy", "p.toml"]
    assert main([*start, "--junit", "out/gate.xml", "--markdown", "gate.md", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["exit_code"]) == ("NO-GO", 1)
    assert {"rule", "observed", "interval", "needed", "p", "p_holm", "verdict", "reason"} <= found["rows"][
        1
    ].keys()
    assert ElementTree.parse(tmp_path / "out/gate.xml").getroot().tag == "testsuites"
    assert (tmp_path / "gate.md").read_text(encoding="utf-8").startswith("## ❌ NO-GO: graded\\_rows")
    assert main([*start, "--junit", "-"]) == 1
    assert ElementTree.fromstring(capsys.readouterr().out.encode()).get("failures") == "1"
    assert main([*start, "--markdown", "-"]) == 1
    assert capsys.readouterr().out.startswith("## ❌")
    assert main([*start, "--markdown", "-", "--junit", "-"]) == 2
    assert main([*start, "--junit", str(tmp_path)]) == 2


POLICY = '[[threshold]]\nmetric = "correct"\nmin = 0.5\nbound = "lower"\n'


def gate(*more: str) -> int:
    return main(["gate", "last", "--policy", "p.toml", "--junit", "gate.xml", "--markdown", "gate.md", *more])


def has_no_verdict(folder: Path, reason: str) -> bool:
    root = ElementTree.parse(folder / "gate.xml").getroot()
    error = root.find("testsuite/testcase/error")
    text = (folder / "gate.md").read_text(encoding="utf-8")
    return (
        (root.get("tests"), root.get("errors")) == ("1", "1")
        and error is not None
        and reason in str(error.get("message"))
        and text.startswith("## ⚠️ No verdict")
        and reason in text
        and "GO" not in text
    )


def test_a_gate_that_does_not_finish_leaves_no_verdict_of_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    gate_run(range(40))
    (tmp_path / "p.toml").write_text(POLICY)
    assert gate() == 0

    class Killed(BaseException):
        """Ends the gate at once, as a signal would."""

    def killed(*_: object, **__: object) -> None:
        assert has_no_verdict(tmp_path, "the gate has not finished")  # what kill -9 would leave
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("benchwright.runs.gate", killed)
        with pytest.raises(Killed):
            gate()
    assert has_no_verdict(tmp_path, "the gate has not finished")
    assert gate() == 0
    (tmp_path / "p.toml").write_text(POLICY.replace("min", "mni"))
    assert gate() == 2
    assert has_no_verdict(tmp_path, "Did you mean 'min'")
    (tmp_path / "p.toml").write_text(POLICY)
    assert gate("--baseline", "nowhere") == 4
    assert has_no_verdict(tmp_path, "no baseline 'nowhere'")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".benchwright",
        "gate.md",
        "gate.xml",
        "p.toml",
    ]


def test_a_verdict_is_not_written_over_what_the_gate_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    gate_run()
    (tmp_path / "p.toml").write_text(POLICY)
    assert main(["export", "last", "--baseline", "b.jsonl"]) == 0
    before = (tmp_path / "b.jsonl").read_bytes()
    start = ["gate", "last", "--policy", "p.toml", "--baseline", "b.jsonl"]
    for flags, named in (
        (["--junit", "./p.toml"], "--policy"),
        (["--markdown", "b.jsonl"], "--baseline"),
        (["--junit", "x", "--markdown", str(tmp_path / "x")], "--junit"),
    ):
        assert main([*start, *flags]) == 2
        assert f"this is also the file of {named}" in " ".join(capsys.readouterr().err.split())
    assert (tmp_path / "p.toml").read_text() == POLICY
    assert (tmp_path / "b.jsonl").read_bytes() == before

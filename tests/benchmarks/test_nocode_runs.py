"""Described evaluations as benchmarks: checks, scores, failures, few-shot, messages, resume from the frozen copy."""

from __future__ import annotations

import json
import shlex
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.cli import main
from benchwright.config import RunOptions
from benchwright.core import BenchwrightError, ConfigError, DatasetError, UsageError
from benchwright.results import RunResult
from benchwright.runs import check, rescore, resume, run

ROWS = [
    {"id": f"r{k}", "q": f"{k}?", "a": str(k), "wrong": str(k + 1), "label": "BA"[k % 2]} for k in range(6)
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, ROWS)
    return tmp_path


def write(folder: Path, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "rows.jsonl").write_text(text, encoding="utf-8")


def table(folder: Path, style: str = 'type = "exact_match", golden_column = "a"', more: str = "",
          prompt: str = 'prompt = "{{ row.q }}"') -> None:  # fmt: skip
    (folder / "benchwright.toml").write_text(
        f'[benchmarks.x]\ntype = "custom_nocode"\ndataset = "rows.jsonl"\n{prompt}\n{more}\nstyle = {{ {style} }}\n',
        encoding="utf-8",
    )


def answered(replies: Any, **options: Any) -> Any:
    return benchwright.run("x", endpoint=ScriptedEndpoint(replies), **options)


def echo(request: Any) -> str:
    """Repeats the number of the question."""
    return str(request.body["messages"][-1]["content"]).removesuffix("?")


CHOICE = (
    'type = "multiple_choice", choices = { columns = ["a", "wrong"] }, choice_labels = ["A", "B"], '
    'answer = { correct_choice_column = "a" }'
)


def test_exact_match_compares_trimmed_texts_with_case(folder: Path) -> None:
    write(folder, [{"q": "1?", "a": " Yes "}, {"q": "2?", "a": "yes"}, {"q": "3?", "a": True}])
    table(folder)
    assert answered(lambda request: " Yes\n")["accuracy"] == pytest.approx(1 / 3)
    assert answered(lambda request: "true", max_tokens=9)["accuracy"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("style", "golden", "right", "wrong"),
    [
        ('type = "exact_match", normalize = true', "The Cat!", "a cat", "cats"),
        ('type = "exact_match", normalize = ["casefold"]', "Cat", "CAT", "cat!"),
        ('type = "contains"', "5", "It is 5.", "It is 15."),
        ('type = "contains", normalize = { casefold = true }', "Paris", "in PARIS, of course", "Lyon"),
        ('type = "regex"', "^a+$", "aaa", "ab"),
        ('type = "regex", pattern = "[0-9]{2}"', "unused", "42", "4"),
        ('type = "numeric"', "5", "The answer is 5.0", "6"),
        ('type = "numeric", tolerance = 0.1', "100", "about 95", "80"),
        ('type = "levenshtein", threshold = 0.8', "Amsterdam", "Amsterdm", "Berlin"),
        ('type = "leading_label", labels = ["yes", "no"]', "yes", "Yes, it does", "It is hard to say, but yes"),
        ('type = "python", function = "g.py:grade"', "x", "golden x", "y"),
        ('type = "python", function = "g.py:whole"', "x", "x", "y"),
        ('type = "python", function = "g.py:by_row"', "x", "1?", "y"),
    ],
)  # fmt: skip
def test_graders(folder: Path, style: str, golden: str, right: str, wrong: str) -> None:
    (folder / "g.py").write_text(
        "def grade(response, golden):\n    return golden in response\n"
        "def whole(sample):\n    return {'accuracy': sample.response == sample.target}\n"
        "def by_row(response, golden, row):\n    return response == row['q']\n",
        encoding="utf-8",
    )
    write(folder, [{"q": "1?", "a": golden}])
    table(folder, f'{style}, golden_column = "a"')
    assert answered(lambda request: right)["accuracy"] == 1
    assert answered(lambda request: wrong)["accuracy"] == 0


def test_similarity_without_a_threshold_is_the_headline(folder: Path) -> None:
    table(folder, 'type = "levenshtein", golden_column = "a"')
    result = answered(echo)
    assert result.summary.headline == "similarity"
    assert result.summary.derived["mean_similarity"] == 1.0


def test_multiple_choice_keeps_labels_and_tells_unparsed_replies(folder: Path) -> None:
    table(folder, CHOICE, more='metrics = [{ name = "confusion", show = "all" }, "f1"]')
    replies = iter(["A", "B", "(a)", "none of them", "A", "A"])
    result = answered(lambda request: next(replies), parallelism=1)
    assert result["accuracy"] == pytest.approx(4 / 6)
    assert result["response_parsed"] == pytest.approx(5 / 6)
    assert result.summary.outcomes["unparsed"] == 1
    assert result.summary.derived["confusion_matrix_0_unparsed"] == 1
    assert any("unparsed 1" in note for note in result.summary.notes)


def test_a_check_tries_the_right_answers_after_the_shuffle(folder: Path) -> None:
    shuffled = CHOICE + ', shuffle = { seed_column = "id", algorithm = "siphash13" }'
    prompt = 'prompt = "{{ row.q }} {% for c in choices %}{{ c.label }}{{ c.text }} {% endfor %}"'
    table(folder, shuffled, prompt=prompt)
    (report,) = check("x")
    assert report.ok
    assert report.gold is not None
    assert (report.gold.right, report.gold.checked) == (6, 6)
    assert report.template_fields == ("a", "q", "wrong")


def test_bad_rows_are_listed_before_anything_is_sent(folder: Path) -> None:
    write(folder, [*ROWS[:2], {"q": "x?"}, {"q": "y?", "a": None}, {"q": "z?", "a": ["l"]}, {"a": "1"}])
    table(folder)
    (report,) = check("x")
    assert [bad.line for bad in report.bad_rows] == [3, 4, 5, 6]
    with pytest.raises(DatasetError, match='golden_column "a" is missing'):
        answered(echo)


def test_answers_that_no_reply_could_match_are_bad_rows(folder: Path) -> None:
    write(folder, [{"q": "1?", "a": "none"}])
    table(folder, 'type = "numeric", golden_column = "a"')
    with pytest.raises(DatasetError, match="contains no number"):
        answered(echo)
    write(folder, [{"q": "1?", "a": "("}])
    table(folder, 'type = "regex", golden_column = "a"')
    with pytest.raises(DatasetError, match="not a valid regular expression"):
        answered(echo)


def test_a_column_that_no_row_has_is_told_once_with_the_near_name(folder: Path) -> None:
    table(folder, 'type = "exact_match", golden_column = "anser"')
    write(folder, [{"q": "1?", "answer": "1"}])
    (report,) = check("x")
    assert any('Did you mean "answer"?' in error and "[benchmarks.x]" in error for error in report.errors)


@pytest.mark.parametrize("policy", ["skip", "count_wrong"])
def test_bad_rows_can_be_left_out_or_counted_as_wrong(folder: Path, policy: str) -> None:
    write(folder, [*ROWS[:3], {"q": "x?"}])
    table(folder, more=f'on_row_error = "{policy}"')
    result = answered(echo, failure_threshold=1.0)
    assert result["accuracy"] == 1.0
    assert result.summary.metrics["accuracy"].with_failures == 0.75
    told = any("with failed rows as wrong (on_row_error): 0.7500" in note for note in result.summary.notes)
    assert told == (policy == "count_wrong")


def test_the_first_failure_stops_a_run_that_shall_fail_and_it_can_go_on(folder: Path) -> None:
    (folder / "g.py").write_text(
        "from pathlib import Path\ndef grade(response, golden):\n"
        "    assert response != '1' or Path('mended').exists()\n    return True\n", encoding="utf-8"
    )  # fmt: skip
    table(
        folder, 'type = "python", function = "g.py:grade", golden_column = "a"', more='on_row_error = "fail"'
    )
    result = answered(echo, parallelism=1)
    assert result.summary.failed == 1
    assert result.summary.evaluated == 2
    assert "max_failures is 0" in result.stopped_because
    (folder / "mended").touch()
    again = resume(result.run_id, retry_failed=True, endpoint=ScriptedEndpoint(echo))
    assert (again.summary.evaluated, again.summary.failed) == (6, 0)


def test_messages_system_and_history_are_sent_in_order(folder: Path) -> None:
    messages = (
        'messages = [{ role = "system", content = "Row {{ row.id }}." }, { role = "user", content = "hi" }, '
        '{ role = "assistant", content = "ho" }, { role = "user", content = "{{ row.q }}" }]'
    )
    table(folder, prompt=messages)
    seen: list[Any] = []

    def reply(request: Any) -> str:
        seen.append(request.body["messages"])
        return echo(request)

    assert answered(reply, limit=1)["accuracy"] == 1
    assert [(m["role"], m["content"]) for m in seen[0]] == [
        ("system", "Row r0."), ("user", "hi"), ("assistant", "ho"), ("user", "0?")
    ]  # fmt: skip
    (report,) = check("x")
    assert len(report.samples[0].messages) == 4
    with pytest.raises(UsageError, match="needs model_type='chat'"):
        answered(reply, model_type="completions")


def test_system_templates_come_from_files_too(folder: Path) -> None:
    (folder / "s.j2").write_text("Answer {{ row.id }}", encoding="utf-8")
    table(folder, more='system_template_file = "s.j2"')
    seen: list[Any] = []
    answered(lambda request: seen.append(request.body["messages"][0]) or "x", limit=1)
    assert seen == [{"role": "system", "content": "Answer r0"}]


@pytest.mark.parametrize(
    ("fewshot", "shown"),
    [
        ('{ rows = [{ q = "8?", a = "8" }] }', "8?\n8\n\n0?"),
        ('{ rows = [{ q = "8?", a = "8" }], template = "{{ row.q }} = {{ answer }}", separator = " | " }', "8? = 8 | 0?"),
        ('{ dataset = "shots.jsonl", count = 1, prefix = "Like so: " }', "Like so: 9?\n9\n\n0?"),
    ],
)  # fmt: skip
def test_few_shot_rows_stand_before_the_prompt(folder: Path, fewshot: str, shown: str) -> None:
    (folder / "shots.jsonl").write_text('{"q": "9?", "a": 9}\n', encoding="utf-8")
    table(folder, more=f"fewshot = {fewshot}")
    seen: list[str] = []
    answered(lambda request: seen.append(request.body["messages"][0]["content"]) or "x", limit=1)
    assert seen == [shown]


def test_examples_of_multiple_choice_end_with_the_label(folder: Path) -> None:
    table(folder, CHOICE, more='fewshot = { rows = [{ q = "8?", a = "8", wrong = "9" }] }')
    seen: list[str] = []
    answered(lambda request: seen.append(request.body["messages"][0]["content"]) or "A", limit=1)
    assert seen == ["8?\nA\n\n0?"]


def test_a_resume_uses_the_frozen_template_and_table(folder: Path) -> None:
    (folder / "p.j2").write_text("\ufeff{{ row.q }}", encoding="utf-8")
    table(folder, prompt='prompt_template_file = "p.j2"')
    first = answered(echo, max_requests=3, parallelism=1)
    assert first.summary.partial
    (folder / "p.j2").write_text("Changed {{ row.q }}", encoding="utf-8")
    (folder / "benchwright.toml").unlink()
    seen: list[str] = []

    def reply(request: Any) -> str:
        seen.append(request.body["messages"][0]["content"])
        return echo(request)

    done = resume(first.run_id, endpoint=ScriptedEndpoint(reply))
    assert done.summary.evaluated == 6
    assert done["accuracy"] == 1
    assert seen == ["3?", "4?", "5?"]
    assert rescore(done.run_id)["accuracy"] == 1


def test_input_may_change_model_limit_and_prompt_only(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "other.j2").write_text("{{ row.wrong }}?", encoding="utf-8")
    table(folder)
    result = answered(echo, input={"limit": 2, "prompt_template_file": "other.j2"})
    assert (result.summary.rows, result["accuracy"]) == (2, 0)
    for given, part in [
        ({"style": 1}, "cannot be changed"),
        ({"limt": 1}, "Did you mean 'limit'?"),
        ({"limit": 0}, "expected a whole number of 1 or more"),
        ({"model": 3}, "is not a name of a model"),
    ]:
        with pytest.raises(UsageError, match=part):
            answered(echo, input=given)
    with pytest.raises(UsageError, match="keep one of them"):
        answered(echo, input={"limit": 1}, limit=2)


@pytest.mark.parametrize("name", ["x", "simpleqa-verified"])
def test_the_recorded_command_and_configuration_have_the_input(folder: Path, name: str) -> None:
    (folder / "other.j2").write_text("{{ row.wrong }}?", encoding="utf-8")
    given: dict[str, Any] = {"limit": 2, "prompt_template_file": "other.j2"}
    if name != "x":
        write(folder, [{"problem": f"{k}?", "answer": str(k)} for k in range(5)])
        given = {"samples": 2, "dataset": "rows.jsonl"}
    table(folder)
    benchwright.run(name, model="demo", input=given, output_dir=folder / "first")
    first = yaml.safe_load((folder / "first" / "run_config.yml").read_text(encoding="utf-8"))
    commands = {
        "command": shlex.split(first["command"])[1:],
        "file": ["run", "--config", str(folder / "first" / "run_config.yml")],
    }
    for place, words in commands.items():
        assert main([*words, "--quiet", "--output-dir", place]) in (0, 3)
        again = yaml.safe_load((folder / place / "run_config.yml").read_text(encoding="utf-8"))
        assert again["settings"]["definition"] == first["settings"]["definition"], place
        assert again["config"]["params"]["limit_samples"] == 2, place


def test_input_is_refused_where_nothing_takes_it(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"^input: "):
        benchwright.run("rows.jsonl", input={"limit": 1}, input_columns="q", output_column="a")


def test_templates_that_are_not_there_or_no_templates_are_told_at_the_start(folder: Path) -> None:
    table(folder, prompt='prompt_template_file = "gone.j2"')
    with pytest.raises(ConfigError, match=r"there is no file .*gone\.j2"):
        check("x")
    table(folder, prompt='prompt = "{{ row.q"')
    with pytest.raises(ConfigError, match="line 1"):
        check("x")
    table(folder, 'type = "python", golden_column = "a", function = "g.py:f"')
    with pytest.raises(ConfigError, match="there is no file"):
        check("x")


def test_a_judge_is_asked_about_the_prompt(folder: Path) -> None:
    table(
        folder,
        'type = "llm_judge", golden_column = "a", judge_model = "j"',
        more="",
    )
    with (folder / "benchwright.toml").open("a", encoding="utf-8") as file:
        file.write('[models.j]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "judge"\n')
    (report,) = check("x")
    assert report.judge_requests == 6
    (folder / "benchwright.toml").write_text(
        (folder / "benchwright.toml")
        .read_text(encoding="utf-8")
        .replace('judge_model = "j"', 'judge_model = "k"'),
        encoding="utf-8",
    )
    with pytest.raises(BenchwrightError, match="no model named 'k' can be a judge"):
        check("x")


def test_built_in_evaluations_run_by_name_and_on_other_data(folder: Path) -> None:
    rows = [{"question": "Does it?", "context": {"contexts": ["One.", "Two."]}, "final_decision": "yes"},
            {"question": "Is it?", "context": "Plain.", "final_decision": "maybe"}]  # fmt: skip
    write(folder, rows)
    seen: list[str] = []

    def reply(request: Any) -> str:
        seen.append(request.body["messages"][0]["content"])
        return "Yes, clearly."

    result: RunResult = run(
        "pubmedqa",
        RunOptions(input={"dataset": "rows.jsonl"}, parallelism=1),
        endpoint=ScriptedEndpoint(reply),
    )
    assert result["accuracy"] == 0.5
    assert result.summary.derived == {"correct_count": 1.0, "total_count": 2.0}
    assert seen[0].startswith("Context:\nOne.\nTwo.\n\nQuestion: Does it?")
    assert seen[1].startswith("Context:\nPlain.")


def test_built_in_tables_take_samples_and_other_names(folder: Path) -> None:
    write(folder, [{"problem": f"{k}?", "answer": str(k)} for k in range(5)])
    (folder / "benchwright.toml").write_text(
        '[benchmarks.facts]\ntype = "builtin"\nbenchmark = "simpleqa-verified"\ndataset = "rows.jsonl"\nsamples = 3\n'
        '[benchmarks.odd]\ntype = "builtin"\n', encoding="utf-8",
    )  # fmt: skip
    result = benchwright.run("facts", endpoint=ScriptedEndpoint(echo))
    assert (result.summary.rows, result["similarity"]) == (3, 1.0)
    with pytest.raises(UsageError, match="no built-in evaluation 'odd'"):
        benchwright.run("odd", endpoint=ScriptedEndpoint(echo))
    with pytest.raises(ConfigError, match="no embedding model"):
        benchwright.run("facts", endpoint=ScriptedEndpoint(echo), input={"metric": "cosine"})


def test_a_judges_grade_is_the_score(folder: Path) -> None:
    asked: list[str] = []

    class Judge(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body["messages"][-1]["content"])
            grade = "C" if "3" in asked[-1] else "I"
            reply = {"choices": [{"message": {"content": f"GRADE: {grade}"}, "finish_reason": "stop"}]}
            data = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Judge) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        judge = f'judge = {{ url = "{url}", model_id = "j" }}, criteria = "Be strict."'
        table(folder, f'type = "llm_judge", golden_column = "a", {judge}')
        result = answered(echo)
        server.shutdown()
    assert (result.summary.headline, result["judge_score"]) == ("judge_score", pytest.approx(1 / 6))
    assert all("Be strict." in text for text in asked)
    assert any("3?" in text for text in asked), "the judge sees the prompt"

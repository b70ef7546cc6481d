"""The examples of the published page on datasets, letter by letter: benchmarks over the hub, and what a run overrides."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from hub_content import jsonl
from hub_server import LoopbackHub

from benchwright import ScriptedEndpoint, check, run
from benchwright.cli import main
from recording_server import recording

MEDMCQA = r"""
@benchmark(
name="medmcqa",
dataset="hf://openlifescienceai/medmcqa?split=validation",
prompt="Q: {question}\nA: {a}\nB: {b}\nC: {c}\nD: {d}\nAnswer:",
target_field="cop",
field_mapping={"opa": "a", "opb": "b", "opc": "c", "opd": "d"},
)
"""
BOOLQ = r"""
@benchmark(
name="boolq",
dataset="hf://google/boolq?split=validation",
prompt="Passage: {passage}\nQuestion: {question}\nAnswer (true/false):",
target_field="answer",
)
"""
BOOLQ_HI = r"""
@benchmark(
name="boolq-hi",
dataset="hf://sarvamai/boolq-indic?split=validation&filter_field=language&filter_value=hi",
prompt="Passage: {passage}\nQuestion: {question}\nAnswer:",
target_field="answer",
num_fewshot=4,
fewshot_dataset="hf://sarvamai/boolq-indic?split=train&filter_field=language&filter_value=hi",
)
"""
FLORES_HI = r"""
@benchmark(
name="flores-hi",
dataset="hf://google/IndicGenBench_flores_in?split=test&data_files=flores_en_hi_test.json&field=examples",
prompt="Translate to Hindi: {source}",
target_field="target",
)
"""
MMLU_MINI = r"""
@benchmark(
name="mmlu-mini",
dataset="hf://my-org/mmlu?split=test",
prompt="Question: {question}\nAnswer:",
target_field="answer",
num_fewshot=5,
fewshot_split="dev",
)
"""
INDOMMLU = r"""
@benchmark(
name="indommlu",
dataset="hf://indolem/IndoMMLU?split=test&trust_remote_code=true",
prompt="{question}\n\n{options}\n\nAnswer:",
target_field="answer",
num_fewshot=5,
fewshot_split="train",
fewshot_prefix="The following are multiple-choice questions. Choose the best answer.\n\n",
)
"""
HEAD = "from benchwright import ScorerInput, benchmark, scorer\n"
SCORER = "@scorer\ndef score(sample: ScorerInput) -> dict:\n    return {'correct': sample.response == str(sample.target)}\n"


def passages(kind: str, *languages: str) -> str:
    rows = [{"passage": f"{kind} p{n}", "question": "q", "answer": n % 2 == 0, "language": each} for n in range(5) for each in languages]  # fmt: skip
    return jsonl(rows)


def questions(kind: str) -> str:
    return jsonl([{"question": f"{kind} {n}", "options": "A or B", "answer": "A"} for n in range(6)])


def fill(hub: LoopbackHub) -> None:
    medical = {"question": "q", "opa": "1", "opb": "2", "opc": "3", "opd": "4", "cop": 1}
    hub.repo("openlifescienceai/medmcqa").commit(
        {"train.jsonl": "", "validation.jsonl": jsonl([medical] * 2)}
    )
    hub.repo("google/boolq").commit({"validation.jsonl": passages("v", "en")})
    hub.repo("sarvamai/boolq-indic").commit(
        {"train.jsonl": passages("train", "hi", "en"), "validation.jsonl": passages("v", "hi", "en")}
    )
    pairs = {"canary": "x", "examples": [{"source": "good day", "target": "namaste"}]}
    hub.repo("google/IndicGenBench_flores_in").commit(
        {"flores_en_hi_test.json": json.dumps(pairs), "flores_en_bn_test.json": "{}"}
    )
    card = "---\nconfigs:\n- {config_name: default, data_files: [{split: dev, path: d.jsonl}, {split: test, path: t.jsonl}]}\n---\n"
    hub.repo("my-org/mmlu").commit(
        {"README.md": card, "d.jsonl": questions("dev"), "t.jsonl": questions("test")}
    )
    hub.repo("indolem/IndoMMLU").commit({"train.jsonl": questions("train"), "test.jsonl": questions("test")})


@pytest.mark.parametrize(
    ("text", "rows", "prompt"),
    [
        (MEDMCQA, 2, "Q: q\nA: 1\nB: 2\nC: 3\nD: 4\nAnswer:"),
        (BOOLQ, 5, "Passage: v p0\nQuestion: q\nAnswer (true/false):"),
        (BOOLQ_HI, 5, "Passage: v p0\nQuestion: q\nAnswer:"),
        (FLORES_HI, 1, "Translate to Hindi: good day"),
        (MMLU_MINI, 6, "Question: test 0\nAnswer:"),
        (INDOMMLU, 6, "test 0\n\nA or B\n\nAnswer:"),
    ],
)  # fmt: skip
def test_benchmarks(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, rows: int, prompt: str
) -> None:
    monkeypatch.chdir(tmp_path)
    fill(hub)
    Path("bench.py").write_text(HEAD + text + SCORER, encoding="utf-8")
    (report,) = check("bench.py")
    assert report.ok, report.errors
    endpoint = ScriptedEndpoint("x")
    result = run("bench.py", endpoint=endpoint, parallelism=1)
    assert result.summary.rows == rows
    sent = str(endpoint.requests[0].body["messages"][-1]["content"])  # type: ignore[index,call-overload]
    assert sent.endswith(prompt)
    shots = {BOOLQ_HI: 4, MMLU_MINI: 5, INDOMMLU: 5}.get(text, 0)
    assert sent.count("Answer:" if shots else prompt) == shots + 1
    assert "train" in sent or "dev" in sent or not shots
    assert sent.startswith("The following are") == (text is INDOMMLU)


OVERRIDES = r"""
benchwright run --config my_config.yaml \
-o 'evaluation.tasks.<task_name>.nemo_evaluator_config.config.params.extra.dataset.path=hf://other/foo?split=test' \
-o 'evaluation.tasks.<task_name>.nemo_evaluator_config.config.params.extra.dataset.num_fewshot=0'
"""
FILE = """
evaluation:
  tasks:
    - name: <task_name>
      nemo_evaluator_config:
        config:
          params:
            extra:
              dataset:
                path: hf://other/foo?split=test
                num_fewshot: 5
"""
"""As on the page, with the indentation that the page's copy lost."""


def test_overrides_of_a_run(hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fill(hub)
    hub.repo("other/foo").commit({"test.jsonl": questions("other")})
    Path("bench.py").write_text(HEAD + MMLU_MINI + SCORER, encoding="utf-8")
    Path("benchwright.toml").write_text('[benchmarks.mmlu_mini]\nfile = "bench.py"\n', encoding="utf-8")
    Path("my_config.yaml").write_text(FILE.replace("<task_name>", "mmlu_mini"), encoding="utf-8")
    with recording("A") as server:
        model = ["--model-url", server.url, "--model-id", "m", "--no-cache"]

        def contents(words: list[str]) -> list[Any]:
            assert main([*words, *model]) == 0
            found = [str(received.body["messages"][-1]["content"]) for received in server.take()]
            assert len(found) == 6
            return found

        given = contents(["run", "--config", "my_config.yaml"])
        assert all(content.count("Question: ") == 6 and "other" in content for content in given)
        typed = shlex.split(OVERRIDES.replace("\\\n", " ").replace("<task_name>", "mmlu_mini"))[1:]
        assert sorted(contents(typed)) == [f"Question: other {n}\nAnswer:" for n in range(6)]
        words = ["run_eval", "--eval_type", "mmlu_mini", "--model_type", "chat", "--output_dir", "out", "--num-fewshot", "0"]  # fmt: skip
        assert main([*words, "--model_url", server.url, "--model_id", "m"]) == 0
        assert sorted(server.contents) == [f"Question: test {n}\nAnswer:" for n in range(6)]

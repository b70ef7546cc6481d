"""lm_eval on the same files: one task definition per measurement, run through its own command line.

Nothing here slows it down: no cache, no few-shot, its quickest tokenizer setting, a warm dataset cache.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from benchmarks import data
from benchmarks.processes import BenchError, Command, StubAddress, Usage, fresh_folder, measure

QA_TASK = """\
task: bench_qa
dataset_path: json
dataset_kwargs:
  data_files:
    test: {rows}
test_split: test
output_type: generate_until
doc_to_text: {prompt}
doc_to_target: "{{{{answer}}}}"
generation_kwargs:
  until: []
  max_gen_toks: 256
  temperature: 0.0
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
"""
CHOICE_TASK = """\
task: bench_choice
dataset_path: json
dataset_kwargs:
  data_files:
    test: {rows}
test_split: test
output_type: multiple_choice
doc_to_text: {prompt}
doc_to_target: label
doc_to_choice: choices
target_delimiter: ""
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
"""
WITHOUT_INDEX = """\
from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

tracker = EvaluationTracker(output_path="out")
results = simple_evaluate(
    model="local-chat-completions",
    model_args={model!r},
    tasks=["bench_qa"],
    task_manager=TaskManager(include_path=".", include_defaults=False),
    apply_chat_template=True,
    log_samples=True,
    evaluation_tracker=tracker,
)
samples = results.pop("samples")
tracker.save_results_aggregated(results=results, samples=samples)
for name, rows in samples.items():
    tracker.save_results_samples(task_name=name, samples=rows)
"""


@dataclass(frozen=True, slots=True)
class LmEval:
    """lm_eval, ready to be run."""

    python: Path
    """The Python that has it."""
    work: Path
    """Where its runs and its dataset cache live."""

    def qa(self, rows: Path, stub: StubAddress, *, in_flight: int) -> Usage:
        """Generation over the chat route."""
        folder = self._task("qa", QA_TASK, rows, data.QA_PROMPT)
        model = ["--model", "local-chat-completions", "--model_args", _chat_model(stub, in_flight)]
        used = self._command(folder, "bench_qa", [*model, "--apply_chat_template"])
        self._expect(folder, "exact_match,none")
        return used

    def qa_without_index(self, rows: Path, stub: StubAddress, *, in_flight: int) -> Usage:
        """The same through its Python API, which can leave out reading the built-in tasks; its command cannot."""
        folder = self._task("api", QA_TASK, rows, data.QA_PROMPT)
        script = WITHOUT_INDEX.format(model=_chat_model(stub, in_flight))
        (folder / "evaluate_it.py").write_text(script, encoding="utf-8")
        used = self._measure([self.python, "evaluate_it.py"], folder)
        self._expect(folder, "exact_match,none")
        return used

    def choices(self, rows: Path, stub: StubAddress, tokenizer: Path, *, in_flight: int) -> Usage:
        """Log-likelihood of every choice over the completions route.

        It insists on a tokenizer to count the context's tokens; `tokenized_requests=False` sends text all the same.
        """
        folder = self._task("choice", CHOICE_TASK, rows, data.CHOICE_PROMPT)
        model = f"model=stub,base_url={stub.base_url}/completions,num_concurrent={in_flight}"
        model += f",tokenizer={tokenizer},tokenizer_backend=huggingface,tokenized_requests=False"
        used = self._command(folder, "bench_choice", ["--model", "local-completions", "--model_args", model])
        self._expect(folder, "acc,none")
        return used

    def _task(self, name: str, text: str, rows: Path, prompt: str) -> Path:
        folder = fresh_folder(self.work, f"lm_eval-{name}")
        quoted = json.dumps(prompt.replace("{question}", "{{question}}"))
        (folder / "task.yaml").write_text(
            text.format(rows=json.dumps(str(rows)), prompt=quoted), encoding="utf-8"
        )
        return folder

    def _command(self, folder: Path, task: str, arguments: list[str]) -> Usage:
        command: Command = [
            self.python,
            "-m",
            "lm_eval",
            "run",
            "--include_path",
            folder,
            "--tasks",
            task,
            *arguments,
        ]
        command += ["--batch_size", "1", "--output_path", folder / "out", "--log_samples"]
        return self._measure(command, folder)

    def _measure(self, command: Command, folder: Path) -> Usage:
        return measure(command, cwd=folder, extra={"HF_HOME": str(self.work / "hf"), "TQDM_DISABLE": "1"})

    def _expect(self, folder: Path, metric: str) -> None:
        found = list((folder / "out").rglob("results_*.json"))
        if not found:
            raise BenchError(f"lm_eval wrote no results into {folder}")
        (scores,) = json.loads(found[0].read_text(encoding="utf-8"))["results"].values()
        if abs(scores[metric] - data.ACCURACY) > 1e-9:
            raise BenchError(f"lm_eval: {metric} is {scores[metric]}, not {data.ACCURACY}; see {folder}")


def _chat_model(stub: StubAddress, in_flight: int) -> str:
    return f"model=stub,base_url={stub.base_url}/chat/completions,num_concurrent={in_flight}"

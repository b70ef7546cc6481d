"""`ls`: what can be run from here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchwright.benchmarks import (
    BENCHMARK_PLUGINS,
    BUILTIN_EVALUATIONS,
    is_question_file,
    load_benchmarks,
)
from benchwright.config import BenchmarkConfig, ConfigFile, find_config
from benchwright.core import BenchwrightError, refuse_foreign
from benchwright.datasets import open_dataset
from benchwright.workflows import find_script

_MARKS = ("from benchwright", "import benchwright")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Something that `benchwright run` takes."""

    name: str
    """What to type after `benchwright run`."""
    kind: Literal["config", "installed", "file", "builtin"]
    """Where it comes from: benchwright.toml, an installed package, a file of this folder, or benchwright itself."""
    source: str
    """File or package."""
    description: str
    """Display name and dataset, as far as known."""
    problem: str | None = None
    """Why it cannot be run, if it cannot."""


def list_evaluations(cwd: Path | None = None) -> list[Evaluation]:
    """Evaluations of the configuration, of installed packages, of the files of this folder (benchmarks and workflows
    in Python, and data whose first row has a question), and the built-in ones."""
    cwd = cwd or Path.cwd()
    config = find_config(cwd)
    found = _configured(config) if config is not None else []
    for plugin in BENCHMARK_PLUGINS.installed():
        names = ", ".join(spec.name for spec in plugin.value or ())
        found.append(Evaluation(plugin.entry.name, "installed", plugin.entry.package, names, plugin.problem))
    for path in sorted(cwd.glob("*.py")):
        if _mentions_benchmarks(path):
            found += _of_file(path.name, cwd)
        elif (script := find_script(path.name, cwd)) is not None:
            names = ", ".join(script[0].names) or path.stem
            found.append(Evaluation(path.name, "file", path.name, f"workflow {names}"))
    for path in sorted(cwd.iterdir()):
        if is_question_file(path.name) and path.is_file() and (columns := _columns_of(path)):
            found.append(Evaluation(path.name, "file", path.name, f"questions ({', '.join(columns)})"))
    taken = {evaluation.name for evaluation in found if evaluation.kind != "installed"}
    for name, known in BUILTIN_EVALUATIONS.items():
        if name not in taken:
            found.append(Evaluation(name, "builtin", "benchwright", f"{known.description} ({known.dataset})"))
    return found


def _configured(config: ConfigFile) -> list[Evaluation]:
    evaluations = []
    for name, entry in config.benchmarks.items():
        problem = None
        description = entry.file
        if entry.type != "file":
            evaluations.append(
                Evaluation(name, "config", config.path.name, entry.description or _about(entry))
            )
            continue
        try:
            if is_question_file(entry.file):
                shown = entry.description or f"questions ({Path(entry.file).name})"
                evaluations.append(Evaluation(name, "config", config.path.name, shown))
                continue
            specs = load_benchmarks(entry.file, cwd=config.path.parent)
            description = ", ".join(f"{spec.name} ({_dataset(spec.dataset)})" for spec in specs)
        except BenchwrightError as error:
            problem = str(error)
        shown = entry.description or description
        evaluations.append(Evaluation(name, "config", config.path.name, shown, problem))
    return evaluations


def _about(entry: BenchmarkConfig) -> str:
    """What a table without a file is, in a few words."""
    if entry.code is not None:
        return f"program: {' '.join(entry.code.command)}"
    if entry.nocode is not None:
        style = "multiple_choice" if entry.nocode.grader is None else entry.nocode.grader.type
        dataset = entry.nocode.dataset
        return f"{style} ({dataset if '://' in dataset else Path(dataset).name})"
    known = BUILTIN_EVALUATIONS.get(entry.builtin.benchmark) if entry.builtin is not None else None
    return "built-in" if known is None else known.description


def _of_file(name: str, cwd: Path) -> list[Evaluation]:
    try:
        refuse_foreign(cwd / name, "benchmark", cwd)  # nobody has named it: a listing runs no stranger's code
        specs = load_benchmarks(name, cwd=cwd)
    except BenchwrightError as error:
        return [Evaluation(name, "file", name, "", str(error))]
    return [
        Evaluation(f"{name}:{spec.key}", "file", name, f"{spec.name} ({_dataset(spec.dataset)})")
        for spec in specs
    ]


_LISTED_COLUMNS = 8


def _columns_of(path: Path) -> list[str]:
    """The columns of a data file whose first row has a question; nothing for any other file."""
    try:
        first = open_dataset(str(path)).head(1, on_bad=lambda bad: None)
    except BenchwrightError:
        return []
    columns = [name for _, row in first for name in row]
    if "question" not in columns:
        return []
    return [*columns[:_LISTED_COLUMNS], "…"] if len(columns) > _LISTED_COLUMNS else columns


def _mentions_benchmarks(path: Path) -> bool:
    """Only files that could hold benchmarks are imported: listing must not run a folder's every script."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return "@benchmark" in text and any(mark in text for mark in _MARKS)


def _dataset(dataset: object) -> str:
    return dataset if isinstance(dataset, str) else getattr(dataset, "__name__", type(dataset).__name__)

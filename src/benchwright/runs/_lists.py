"""The evaluations, models and plugins that `benchwright ls` lists."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct

from benchwright.benchmarks import BENCHMARK_PLUGINS, BUILTIN_EVALUATIONS, load_benchmarks, written_as
from benchwright.bfcl import EVALUATIONS, evaluation_of
from benchwright.config import PROFILES, BenchmarkConfig, ConfigFile, ModelConfig, Profile, find_config
from benchwright.core import BenchwrightError, public_url, refuse_foreign
from benchwright.datasets import open_dataset
from benchwright.runs._programs import find_script

_MARKS = ("from benchwright", "import benchwright")


class Evaluation(Struct, frozen=True):
    """A target of `benchwright run`."""

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
    in Python, data whose first row has a question, and suites), and the built-in ones."""
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
        if written_as(path.name) == "questions" and path.is_file() and (columns := _columns_of(path)):
            found.append(Evaluation(path.name, "file", path.name, f"questions ({', '.join(columns)})"))
    found += _suites(cwd)
    taken = {evaluation.name for evaluation in found if evaluation.kind != "installed"}
    for name, (description, dataset, *_) in BUILTIN_EVALUATIONS.items():
        if name not in taken:
            found.append(Evaluation(name, "builtin", "benchwright", f"{description} ({dataset})"))
    found += [
        Evaluation(name, "builtin", "benchwright", known.summary)
        for name, known in EVALUATIONS.items()
        if name not in taken
    ]
    return found


def _suites(cwd: Path) -> list[Evaluation]:
    """Files of suites, except those in Python. Only files that mention datasets are read, and those that turn out not to be
    suites are left out."""
    found = []
    for path in sorted(cwd.iterdir()):
        if written_as(path.name) != "suite" or path.name in ConfigFile.names or not path.is_file():
            continue
        if "datasets" not in path.read_text(encoding="utf-8", errors="replace"):
            continue
        from benchwright.runs._suites.suite import load_suite

        try:
            load_suite(path.name, cwd=cwd)
        except BenchwrightError:
            continue
        found.append(Evaluation(path.name, "file", path.name, "suite of models and datasets"))
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
        if (known := evaluation_of(entry.file)) is not None:
            shown = entry.description or known.summary
            evaluations.append(Evaluation(name, "config", config.path.name, shown))
            continue
        try:
            if written_as(entry.file) == "questions":
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
    """Describe a table without a file in a few words."""
    if entry.command:
        return f"program: {' '.join(entry.command)}"
    if entry.nocode is not None:
        style = "multiple_choice" if entry.nocode.grader is None else entry.nocode.grader.type
        dataset = entry.nocode.dataset
        return f"{style} ({dataset if '://' in dataset else Path(dataset).name})"
    known = BUILTIN_EVALUATIONS.get(entry.builtin.benchmark) if entry.builtin is not None else None
    return "built-in" if known is None else known[0]


def _of_file(name: str, cwd: Path) -> list[Evaluation]:
    try:
        refuse_foreign(cwd / name, "benchmark", cwd)  # a listing must not run other people's code
        specs = load_benchmarks(name, cwd=cwd)
    except BenchwrightError as error:
        return [Evaluation(name, "file", name, "", str(error))]
    return [
        Evaluation(f"{name}:{spec.key}", "file", name, f"{spec.name} ({_dataset(spec.dataset)})")
        for spec in specs
    ]


_LISTED_COLUMNS = 8


def _columns_of(path: Path) -> list[str]:
    """The columns of a data file whose first row has a question; empty for any other file."""
    try:
        first = open_dataset(str(path)).head(1)
    except BenchwrightError:
        return []
    columns = [name for row in first for name in row]
    if "question" not in columns:
        return []
    return [*columns[:_LISTED_COLUMNS], "…"] if len(columns) > _LISTED_COLUMNS else columns


def _mentions_benchmarks(path: Path) -> bool:
    """Whether a file may contain benchmarks. Only such files are imported, because listing must not run every script."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return "@benchmark" in text and any(mark in text for mark in _MARKS)


def _dataset(dataset: object) -> str:
    return dataset if isinstance(dataset, str) else getattr(dataset, "__name__", type(dataset).__name__)


class KnownModel(Struct, frozen=True):
    """A name that `--model` takes."""

    name: str
    """What to type."""
    kind: Literal["config", "profile", "demo"]
    """A model of benchwright.toml, a profile that still needs an address, or the embedded stand-in."""
    api: str | None
    """Wire format; None for demo models."""
    type: str | None
    """chat, completions or completions_logprob; None: as the benchmark declares."""
    stream: bool
    """Whether replies are streamed by default."""
    url: str | None
    """Its address; for a profile, the address that is used if none is given."""
    model: str | None
    """The model's name at the server; None: the first that the server lists."""
    description: str
    """One line for people."""


def list_models() -> list[KnownModel]:
    """Models of the configuration, the demo model, and the profiles. No server is called."""
    config = find_config(Path.cwd())
    configured = {} if config is None else config.models
    found = [_configured_model(model) for model in configured.values()]
    if "demo" not in configured:
        found.append(
            KnownModel("demo", "demo", None, None, False, None, "demo", "embedded stand-in, no server")
        )
    found += [_of_profile(profile) for profile in PROFILES.values() if profile.name not in configured]
    return found


def _of_profile(profile: Profile) -> KnownModel:
    return KnownModel(
        profile.name, "profile", profile.api, profile.type, profile.stream, profile.url, None,
        profile.description,
    )  # fmt: skip


def _configured_model(model: ModelConfig) -> KnownModel:
    if model.type == "demo":
        character = ", ".join(f"{name} {value}" for name, value in model.demo.items())
        return KnownModel(
            model.name, "config", None, None, False, None, "demo", f"demo model {character}".strip()
        )
    served = model.model or "first model listed"
    url = None if model.base_url is None else public_url(model.base_url)
    if model.provider is not None:
        return KnownModel(
            model.name, "config", model.api, model.type, bool(model.generation.get("stream")), url, model.model,
            f"{served} of {model.provider}",
        )  # fmt: skip
    return KnownModel(
        model.name, "config", model.api, model.type, bool(model.generation.get("stream")), url, model.model,
        f"{served} at {url}",
    )  # fmt: skip

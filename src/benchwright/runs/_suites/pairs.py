"""Plan every pair of a model and a dataset: resolve names, drop duplicate pairs, and read only the first rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from benchwright.benchmarks import BenchmarkSpec, QuestionOptions, load_questions, written_as
from benchwright.config import ConfigFile, RunOptions, layered
from benchwright.core import (
    QUESTIONS,
    BenchwrightError,
    ConfigError,
    JsonObject,
    UsageError,
    artifacts_place,
    as_json,
    canonical_json,
)
from benchwright.endpoints import OpenEndpoint
from benchwright.engine import ChosenModel
from benchwright.results import Pair
from benchwright.runs._origins import brought_by, given_in, with_origins
from benchwright.runs._questions import ONLY_MCQ, QUESTION_SETTINGS, question_options, refuse_idle
from benchwright.runs._run import Plan, run_settings
from benchwright.runs._suites.entries import SuiteDataset, SuiteModel
from benchwright.runs._suites.suite import Suite
from benchwright.runs._targets import Target, find_targets
from benchwright.runs._targets.questions import question_target


class PairTask(Pair, frozen=True):
    """One model on one dataset: a run to start, to resume, or to score again."""

    plan: Plan | None = None
    """Its plan; None for the plan of the work folder's run."""
    run_id: int | None = None
    """The run of this pair in a work folder, if there is one."""

    @property
    def planned(self) -> Plan:
        """The plan of a pair that was planned now."""
        assert self.plan is not None
        return self.plan


class Pairs(Struct, frozen=True):
    """All pairs of a suite."""

    pairs: tuple[PairTask, ...]
    """In the order of the models, then of the datasets."""
    notes: tuple[str, ...]
    """Notes for the user before the pairs run."""
    suite: str | None
    """The name that the runs record; None for one target on one model, which is no suite."""


def plan_pairs(
    suite: Suite,
    options: RunOptions,
    config: ConfigFile | None,
    *,
    cwd: Path,
    ask_server: bool = True,
    endpoint: OpenEndpoint | None = None,
) -> Pairs:
    """Plan every pair without sending anything. Raises if a pair cannot run.

    `options` override the suite's settings for all pairs. A model named in them replaces the suite's models; so does
    an address, unless the suite's models were chosen together with it. `ask_server` as for `ChosenModel.of`.
    """
    if not suite.datasets:
        raise ConfigError(f'{suite.path} has no datasets. Add one: datasets = [{{path = "questions.csv"}}]')
    notes = list(suite.notes)
    labels: dict[str, bytes] = {}
    datasets = [
        [_named(*found, labels, notes) for found in _found(suite, entry, options, config, cwd)]
        for entry in suite.datasets
    ]
    models, matched = _models(suite, options, notes)
    name = _suite_name(suite, list(labels))
    pairs: dict[bytes, PairTask] = {}
    for number, (label, model) in enumerate(models):
        for place, found in enumerate(datasets):
            if matched and suite.pairs is not None and (number, place) not in suite.pairs:
                continue
            for dataset, target in found:
                plan = _plan(
                    label, model, dataset, target, suite, options, config,
                    called=name, scripted=endpoint is not None, ask_server=ask_server,
                )  # fmt: skip
                pairs.setdefault(_same(plan), PairTask(plan[0], dataset.name or "", plan[1]))
    if not pairs:
        raise ConfigError(
            f"{suite.path}: no model is paired with a dataset; correct model_dataset_combinations"
        )
    return Pairs(tuple(pairs.values()), tuple(notes), name)


_MOST_NAMES = 3
"""Datasets in the name of a suite that no file names."""


def _suite_name(suite: Suite, datasets: Sequence[str]) -> str | None:
    """The name by which the runs of a suite are found: its file's, or that of the datasets which a command line names."""
    if suite.path.is_file():
        return suite.name
    if not suite.chosen and len(datasets) < 2:
        return None
    others = len(datasets) - _MOST_NAMES
    return "+".join([*datasets[:_MOST_NAMES], *([f"{others} more"] if others > 0 else [])])


def _models(
    suite: Suite, options: RunOptions, notes: list[str]
) -> tuple[list[tuple[str | None, SuiteModel | None]], bool]:
    """Return the models with their labels, and whether they are the suite's, so that its combinations apply."""
    described = options.model_url or options.host_ip or options.host_port
    if options.model is not None or (described and not suite.chosen):
        label = options.model or options.model_id
        if left_out := [model.name for model in suite.models if model.name != label]:
            notes.append(
                f"{label or described} was named for this call: the models of {suite.path.name} are left out "
                f"({', '.join(left_out)})"
            )
        return [(label, None)], False
    if not suite.models:
        return [(None, None)], False
    labels: dict[str, bytes] = {}
    return [
        (_unique(m.name, canonical_json(_identity(m)), labels, m.where, notes, "model"), m)
        for m in suite.models
    ], True


def _identity(model: SuiteModel) -> Any:
    return model.name if model.config is None else as_json(model.config)


def _found(
    suite: Suite, entry: SuiteDataset, options: RunOptions, config: ConfigFile | None, cwd: Path
) -> list[tuple[SuiteDataset, Target]]:
    """Load the benchmarks that one entry names, each with an entry of its own. Errors name the entry."""
    try:
        targets = _targets(suite, entry, options, config, cwd)
    except BenchwrightError as error:
        raise type(error)(f"{entry.where}: {error}") from error
    folder = entry.folder if targets[0].definition["kind"] == QUESTIONS else cwd
    several = len(targets) > 1
    return [
        (
            replace(
                entry,
                name=target.spec.key
                if entry.name is None
                else f"{entry.name}-{target.spec.key}"
                if several
                else entry.name,
                folder=folder,
                run={**entry.run, **_system_turn(entry, options)},
            ),
            target,
        )
        for target in targets
    ]


def _targets(
    suite: Suite, entry: SuiteDataset, options: RunOptions, config: ConfigFile | None, cwd: Path
) -> list[Target]:
    configured = (
        config.benchmarks.get(entry.target) if config is not None and isinstance(entry.target, str) else None
    )
    base = configured.file if configured is not None else entry.target
    if not isinstance(base, str) or written_as(base) != "questions":
        # Settings for all runs are passed only to benchmarks that take them; the entry's settings always are.
        common = layered(suite.run, options.given())
        shared = {name: value for name, value in common.items() if name not in QUESTION_SETTINGS}
        return find_targets(entry.target, config, cwd, RunOptions.from_keywords(layered(entry.run, shared)))
    defaults: dict[str, Any] = dict(config.run) if config is not None else {}
    if configured is not None:
        defaults = layered(defaults, configured.run)
    effective = options.over(layered(defaults, suite.run, entry.run))
    if effective.dataset is not None:
        raise UsageError(f"dataset: {base} is already the data; give the other file as path")
    questions = _questions(entry, effective, options, config)
    if questions.name is None and configured is not None:
        questions = replace(questions, name=str(entry.target))
    spec, questions = _loaded(base, questions, entry)
    refuse_idle(entry.run, spec)
    return [question_target(spec, _written(base, cwd), base, questions, entry.folder, defaults)]


def _loaded(
    base: str, questions: QuestionOptions, entry: SuiteDataset
) -> tuple[BenchmarkSpec, QuestionOptions]:
    """Load the benchmark of a file. Suite-wide settings about answer options are passed only to datasets with options."""
    try:
        return load_questions(base, questions, cwd=entry.folder), questions
    except UsageError:
        usual = QuestionOptions()
        own = {*entry.run, *(entry.questions or {})}
        common = {name: getattr(usual, name) for name in ONLY_MCQ if name not in own}
        without = replace(questions, **common)
        if without == questions:
            raise
        spec = load_questions(base, without, cwd=entry.folder)
        if spec.family != "qa":
            raise
        return spec, without


def _questions(
    entry: SuiteDataset, effective: RunOptions, options: RunOptions, config: ConfigFile | None
) -> QuestionOptions:
    """Return the file's prompts and scores, from the settings of the run and the keys that only a suite has."""
    further = dict(entry.questions or {})
    if (
        options.template is not None
    ):  # a prompt on the command line replaces the entry's, under any of its keys
        further = {key: value for key, value in further.items() if key == "judge"}
    known = question_options(effective, config)
    usual = QuestionOptions().to_json()
    given = {name: value for name, value in known.to_json().items() if value != usual[name]}
    chosen = QuestionOptions.of({**given, **further, "name": entry.name}, "datasets")
    return replace(chosen, system=None)  # a setting of the run, whoever gives it


def _system_turn(entry: SuiteDataset, options: RunOptions) -> JsonObject:
    """The SYSTEM turn of a template that is a dict of rounds, as the setting `system`."""
    template = (entry.questions or {}).get("template")
    if options.template is not None or not isinstance(template, Mapping):
        return {}
    said = QuestionOptions.of({"template": template}, "datasets").system
    if said is not None and "system" in entry.run:
        raise ConfigError(f"{entry.where} has a SYSTEM turn and system; keep one of them")
    return {} if said is None else {"system": said}


def _named(
    entry: SuiteDataset, target: Target, labels: dict[str, bytes], notes: list[str]
) -> tuple[SuiteDataset, Target]:
    same = canonical_json([target.definition, target.spec.key, dict(entry.run), str(entry.folder)])
    name = _unique(entry.name or "", same, labels, entry.where, notes, "dataset")
    return replace(entry, name=name), target


def _unique(
    label: str, identity: bytes, labels: dict[str, bytes], where: str, notes: list[str], what: str
) -> str:
    """Return the label, with a number appended if it is already taken."""
    chosen, number = label, 1
    while labels.setdefault(chosen, identity) != identity:
        number += 1
        chosen = f"{label}-{number}"
    if chosen != label:
        note = f"{where}: another {what} is called {label}; this one is {chosen} in tables and folders"
        if note not in notes:
            notes.append(note)
    return chosen


def _plan(
    label: str | None,
    model: SuiteModel | None,
    dataset: SuiteDataset,
    target: Target,
    suite: Suite,
    options: RunOptions,
    config: ConfigFile | None,
    *,
    called: str | None,
    scripted: bool,
    ask_server: bool,
) -> tuple[str, Plan]:
    layers = layered(target.defaults, suite.run, dataset.run)
    places = [
        given_in(options),
        {} if model is None else {"model": model.where},
        dict.fromkeys(dataset.run, dataset.where),
        dict.fromkeys(suite.run, f"{suite.path.name} [run]"),
        brought_by(target, config, options),
    ]
    if model is not None:
        options = replace(options, model=model.name)
        if model.config is not None:
            known = config if config is not None else ConfigFile(suite.path)
            config = replace(known, models={**known.models, model.name: model.config})
    effective = options.over(layers)
    try:
        chosen = (
            ChosenModel.scripted(effective)
            if scripted
            else ChosenModel.of(effective, config, ask_server=ask_server)
        )
    except BenchwrightError as error:
        raise type(error)(str(error) if model is None else f"{model.where}: {error}") from error
    name = label or effective.model or effective.model_id or chosen.endpoint.model_id
    settings = run_settings(target, effective, chosen)
    folder = effective.output_dir
    if folder is not None:
        folder = artifacts_place(folder / _folder_name(name) / _folder_name(dataset.name or ""))
        settings = replace(settings, output_dir=str(folder))
    described = None if model is None or model.config is None else model.where
    settings = with_origins(settings, effective, places, config, described=described)
    settings = replace(settings, cwd=str(dataset.folder), model_name=name)
    if called is not None:
        settings = replace(settings, suite=called, dataset_name=dataset.name)
    plan = Plan(target.spec, settings, folder, f"{dataset.name} on {name}")
    return name, replace(plan, overwrite=bool(effective.overwrite), model=chosen)


def _same(plan: tuple[str, Plan]) -> bytes:
    """Return a key that is equal for plans that measure the same. It includes the folder, on which relative names depend."""
    settings = plan[1].settings
    return canonical_json(
        replace(
            settings, asked="", output_dir=None, model_name=None, dataset_name=None, origins=None
        ).to_json()
    )


def _folder_name(name: str) -> str:
    return name.replace("/", "_").replace("\\", "_").strip(". ") or "_"


def _written(path: str, cwd: Path) -> str:
    """Return the path as a user in `cwd` would type it."""
    if "://" in path or not Path(path).is_relative_to(cwd):
        return path
    return str(Path(path).relative_to(cwd))

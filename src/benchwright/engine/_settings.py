"""The settings of one run: everything that decides its results, fixed at the start and stored with the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import field

from benchwright.benchmarks import Generation, RowSettings
from benchwright.config import BY_NAME, HARMLESS, Decides
from benchwright.core import JsonObject, as_json
from benchwright.demo import DemoSettings
from benchwright.endpoints import EndpointSettings, ScriptedSettings
from benchwright.engine._stop import Budget

if TYPE_CHECKING:
    from benchwright.config import PipelineSettings

AnyModel: TypeAlias = EndpointSettings | DemoSettings | ScriptedSettings
"""Any model that a run can evaluate."""

MODEL_KINDS: dict[str, Any] = {each.kind: each for each in (EndpointSettings, DemoSettings, ScriptedSettings)}
"""The kinds of models by the names in records."""


class RunSettings(RowSettings, frozen=True, kw_only=True):
    """One run of one benchmark against one model. Contains names of secrets, never secrets.

    What a field decides is declared with the option of the same name, or here if there is none. A field without a
    declaration decides everything, so that a new field is never left out of a comparison.
    """

    asked: str
    """The target as the user wrote it."""
    definition: JsonObject
    """The benchmark, as a value from which any process makes it again."""
    cwd: str
    """Working directory of the first start; modules are looked for from here."""
    benchmark: str
    """Normalised benchmark name."""
    eval_type: str
    """`byob_<name>.<name>`; of a file of questions `mcq.<name>` or `qa.<name>`."""
    endpoint: AnyModel
    """The model under test."""
    generation: Generation
    """What goes into every request body."""
    output_dir: str | None = None
    """Folder for the run's files as the user wrote it; None: a folder in the workspace."""
    parallelism: int = 16
    """Samples in flight at once."""
    model_notes: tuple[str, ...] = ()
    """Notes on model settings that have no effect."""
    judge_retries: int | None = None
    """Further attempts of judges without a number of their own; None: their default."""
    budget: Budget = field(default_factory=Budget)
    """What the run may spend."""
    failure_threshold: float = 0.05
    """Share of failed samples above which the run is not comparable."""
    cache: bool = True
    """Reuse replies to equal requests of earlier runs."""
    input: JsonObject | None = None
    """What `--input` changed in that evaluation; settings of the run in it are recorded as such."""
    max_failures: int | None = None
    """Stop once more samples than this have failed; None: only a hopeless start stops a run."""
    pass_k: tuple[int, ...] | None = None
    """Each k of `pass@k`, `pass^k` and `cons@k`; None: the repeats."""
    prices: str | None = None
    """File of prices; None: the files found from the working directory upwards, and the user's file."""
    rescored_from: int | None = None
    """The run whose replies are scored again. The model is then never called."""
    retargeted: bool = False
    """Whether another benchmark than that run's scores them."""
    labels: tuple[tuple[str | None, ...], ...] | None = None
    """The labels that its scores take into account: row, kind, reply and value of each; None: labels change nothing."""
    num_warmups: int = 0
    """Requests before the first that counts."""
    steps: PipelineSettings | None = None
    """The pipeline between the run and the model. `changing_steps` says which of its steps affect results."""
    changing_steps: list[JsonObject] | None = None
    """The steps that replies can depend on, in recorded form."""
    model_name: str | None = None
    """The model's name in the suite, or that of a demo model which differs from the usual one."""
    suite: str | None = None
    """The suite that the run is part of."""
    dataset_name: str | None = None
    """The dataset's name in the suite."""
    variables: JsonObject | None = None
    """Environment variables that the run configuration set, each `host:NAME` or `lit:VALUE`; no secrets."""
    configured: tuple[str, ...] | None = None
    """Settings that benchwright.toml has for the run. They are recorded even at their defaults: a run started again
    from the records would otherwise get the values of the file."""

    origins: dict[str, str] | None = None
    """Where each setting comes from that has not its default, by the name of its option; None: not recorded."""
    reports: tuple[str, ...] | None = None
    """Reports to write with the files of the run, or when it ends."""
    trackers: tuple[str, ...] | None = None
    """Trackers that follow the run while it runs."""
    metadata: JsonObject | None = None
    """The user's labels, such as versions."""
    save_predictions: bool = True
    """Whether the run's folder gets a file of the samples."""

    def deciding(self, *ignored: Decides) -> dict[str, Any]:
        """All settings by name, except those that decide only `ignored` aspects."""
        return {name: getattr(self, name) for name, what in DECIDES.items() if what not in ignored}

    def rows_and_prompts(self) -> dict[str, Any]:
        """The settings that decide, for one loaded benchmark, which rows there are, what they send and how they are checked.
        If these and the model type are equal, rows need to be read only once."""
        return self.deciding(*HARMLESS, "replies", "source", "summary")

    def call_fingerprint(self) -> str:
        """Identifies the endpoint, and the changes that a pipeline makes to requests and replies, in the key of each call."""
        return self.endpoint.fingerprint() + ("" if self.steps is None else self.steps.identity())

    def to_json(self) -> JsonObject:
        """The stored form."""
        record: dict[str, Any] = as_json(self)
        endpoint = record.pop("endpoint")
        record["model"] = {"kind": self.endpoint.kind, **endpoint}
        record["generation"] = self.generation.to_json()
        record["steps"] = None if self.steps is None else self.steps.to_json()
        return record

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> RunSettings:
        """The reverse of `to_json`."""
        values = dict(record)
        model = dict(values.pop("model"))
        kind = model.pop("kind")
        endpoint = MODEL_KINDS[kind](**model)
        steps = values.get("steps")
        # JSON has lists where the settings have tuples.
        lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(
            **{
                **values,
                **lists,
                "endpoint": endpoint,
                "filters": tuple((field, value) for field, value in values.get("filters", ())),
                "generation": Generation.of(**values["generation"]),
                "budget": Budget(**values["budget"]),
                "labels": None if values.get("labels") is None else tuple(map(tuple, values["labels"])),
                "steps": None if steps is None else _steps(steps),
            }
        )


def _steps(record: JsonObject) -> PipelineSettings:
    from benchwright.config import pipeline_settings  # its classes take 5 ms, and few runs need them

    return pipeline_settings(record)


_NO_OPTION: dict[str, Decides] = {
    **dict.fromkeys(
        ("asked", "cwd", "model_name", "suite", "dataset_name", "configured", "origins"), "place"
    ),
    **dict.fromkeys(("eval_type", "definition"), "questions"),
    **dict.fromkeys(("endpoint", "generation", "changing_steps"), "replies"),
    **dict.fromkeys(("model_notes", "judge_retries", "steps"), "effort"),
    **dict.fromkeys(("budget",), "budget"),
}
"""What the fields decide that no option sets."""

DECIDES: dict[str, Decides] = {
    name: _NO_OPTION.get(name) or (name in BY_NAME and BY_NAME[name].decides) or "everything"
    for name in RunSettings.__struct_fields__
}
"""What each field of `RunSettings` decides."""

"""The settings of a bare file of questions, each with a default, and the meta file next to it."""

# defaults are declared with the settings
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from benchwright.config import BY_NAME
from benchwright.core import DatasetError, JsonObject, UsageError, as_json, expand_home, suggest
from benchwright.datasets import Sampling

DataType: TypeAlias = Literal["mcq", "mcq_multi", "qa"]
"""Multiple choice with one right option, with any number of right ones, or a question with a free answer."""

PromptStyle: TypeAlias = Literal["benchwright", "cot", "aisbench"]
"""The built-in prompts: our instruction, reasoning first, or the prompts of AISBench."""

McqFallback: TypeAlias = Literal["none", "levenshtein", "aisbench"]
"""What counts if no answer can be read: nothing, the nearest option within limits, or AISBench's guess."""

InferMethod: TypeAlias = Literal["gen", "logprob", "logprob_text"]
"""Generate a reply, or rank the letters or the texts of the options by log-probability."""

MediaForm: TypeAlias = Literal["base64", "path", "url"]
"""How files reach the server: inside the request, as file:// paths, or unchanged (http:// addresses)."""

AudioStyle: TypeAlias = Literal["audio_url", "input_audio"]
"""Which content part carries audio: vLLM's `audio_url` or OpenAI's `input_audio`."""

_SETTINGS = {name: setting for name, setting in BY_NAME.items() if setting.group == "questions"}
"""The declarations of the fields below: choices, ranges and defaults come from there."""
_CHOICES = {
    name: setting.choices for name, setting in _SETTINGS.items() if setting.choices and name != "compat"
}
_LISTS = tuple(name for name, setting in _SETTINGS.items() if setting.kind == "texts")
_NUMBERS = tuple(name for name, setting in _SETTINGS.items() if setting.kind == "number")
_ALIASES = {"abbr": "name", "qa_metric": "qa_metrics", "few_shot": "fewshot_dataset"}
_ROLES = {"HUMAN": "human_prompt", "BOT": "bot_prompt", "SYSTEM": "system"}


def _declared(name: str) -> Any:
    """The declared default of a setting."""
    return _SETTINGS[name].default


class QuestionOptions(Struct, frozen=True, kw_only=True):
    """How a file of questions is sent and scored. Recorded with the run, so that a resumed run is the same."""

    name: str | None = None
    """Name of the benchmark; None: the file's, without its known suffixes. Also `abbr`."""
    data_type: DataType | None = None
    """None: detected from the rows."""
    infer_method: InferMethod = _declared("infer_method")
    """How rows are sent."""
    prompt_style: PromptStyle = _declared("prompt_style")
    """Which built-in prompt to use."""
    template: str | None = None
    """Template text or file instead of a built-in prompt; columns in braces, `{options}` for the lettered list."""
    human_prompt: str | None = None
    """The same under the name that AISBench's configuration files use."""
    bot_prompt: str | None = None
    """How an answer begins, on a separate line below the template; `{answer}` in it stays empty."""
    system: str | None = None
    """System prompt as a template: the SYSTEM turn of a template that is written as rounds. `--system` is a setting of the run."""
    input_columns: tuple[str, ...] = ()
    """Columns with the question, if it is not `question`; single capital letters among them are options."""
    output_column: str | None = None
    """Column with the expected answer, if it is not `answer`."""
    options: tuple[str, ...] = ()
    """Columns with the options, in order, if they are not all of A, B, C, …; or the one column that contains a list."""
    answer_index: int | None = None
    """Whether numbers in the answer column count the options from 0 or from 1; None: detected, or they are texts."""
    fewshot_dataset: str | None = None
    """File of solved examples; the number is a setting of the run."""
    meta_path: str | None = None
    """File with sampling and lengths; None: `<file>.meta.json`, if it exists."""
    mcq_fallback: McqFallback = _declared("mcq_fallback")
    """What counts in `accuracy` if no answer can be read; `accuracy_strict` never guesses."""
    qa_metrics: tuple[str, ...] = ()
    """The requested metrics, the headline first; empty: normalised exact match, with the other standard ones next to it."""
    qa_pattern: str | None = None
    """Regular expression of the metric `regex`; None: the answer column contains one per row."""
    numeric_tolerance: float = _declared("numeric_tolerance")
    """How far numbers may differ and still count as equal, as a share of the expected one."""
    evaluator: str | None = None
    """A scorer by name instead of the default of the type: a built-in one, `mcq`, or a metric of qa."""
    evaluator_kwargs: JsonObject = field(default_factory=dict)
    """Settings of that scorer."""
    judge: JsonObject = field(default_factory=dict)
    """Settings of the judge, as `JudgeConfig` takes them; needed by the metric `judge`."""
    media: MediaForm = _declared("media")
    """How files of multimodal rows reach the server."""
    audio_style: AudioStyle = _declared("audio_style")
    """Which content part carries audio."""
    max_media_mb: float = _declared("max_media_mb")
    """Larger files are refused before the run."""
    compat: bool = False
    """Sample and round as AISBench does."""
    test_range: str | None = None
    """Rows to take: `[10:20]` as a slice, a whole number or a share below 1 as a seeded random subset."""
    encoding: str | None = None
    """Encoding of the file; None: UTF-8."""
    sheet: str | None = None
    """Sheets of a workbook; None: the first with a table."""
    header_row: int | None = None
    """Row of a sheet that names the columns; None: found by the reader."""

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in known:
                near = suggest(str(value), known)
                raise UsageError(f"{name} is {value!r}; expected {' or '.join(known)}.{near}")
        if self.template is not None and self.human_prompt is not None:
            raise UsageError("template and human_prompt are the same thing; give one of them")
        if self.answer_index not in (None, 0, 1) or isinstance(self.answer_index, bool):
            raise UsageError(
                f"answer_index is {self.answer_index!r}; expected 0 or 1, the position of the first option"
            )
        self._check_ranking()
        for name in _NUMBERS:
            value = getattr(self, name)
            try:
                _SETTINGS[name].check(value)
            except ValueError:
                raise UsageError(f"{name} is {value!r}; expected {_SETTINGS[name].expected}") from None
        for name in _LISTS:
            value = getattr(self, name)
            if not isinstance(value, tuple) or not all(isinstance(text, str) and text for text in value):
                raise UsageError(f"{name} is {value!r}; expected a list of texts")
            if len(set(value)) != len(value):
                raise UsageError(f"{name} names something twice: {', '.join(value)}")

    def _check_ranking(self) -> None:
        """Ranked options have no replies, so settings about replies would have no effect."""
        if self.infer_method == "gen":
            return
        given = [
            name for name in ("prompt_style", "mcq_fallback") if getattr(self, name) != _declared(name)
        ] + ["bot_prompt"] * (self.bot_prompt is not None)
        if given:
            raise UsageError(
                f"infer_method {self.infer_method} ranks options, and {', '.join(given)} is about replies; leave it out"
            )

    def to_json(self) -> JsonObject:
        """The recorded form."""
        record: JsonObject = as_json(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in record.items()}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> QuestionOptions:
        """Read the recorded form; keys of other versions are ignored."""
        return cls.of({name: value for name, value in record.items() if name in cls.__struct_fields__})

    @classmethod
    def of(cls, values: Mapping[str, Any], where: str = "options") -> QuestionOptions:
        """Read a user's settings in a suite or in Python. An unknown key is refused, with similar names.

        Names of AISBench's configuration files are understood: `abbr`, and a `template` that is a dict with
        `round`. Nulls are left out. A string stands for a list of one, or of several separated by commas.
        """
        known = cls.__struct_fields__
        checked: dict[str, Any] = {}
        for key, value in values.items():
            name = _ALIASES.get(key, key)
            if name not in known:
                near = suggest(key, [*known, *_ALIASES])
                raise UsageError(f"{where}: {key!r} is not known.{near} Known: {', '.join(known)}")
            if value is None:
                continue
            if name in checked:
                raise UsageError(f"{where}: {name} is set twice, once as {key}; keep one of them")
            if name == "template" and isinstance(value, Mapping):
                checked.update(_rounds(value, where))
                continue
            checked[name] = _value(name, value)
        return cls(**checked)


def _value(name: str, value: Any) -> Any:
    if name in _LISTS:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return tuple(value) if isinstance(value, list | tuple) else value
    if name == "compat":
        if value not in (True, False, "aisbench"):
            raise UsageError(f"compat is {value!r}; expected aisbench")
        return value in (True, "aisbench")
    if name == "test_range" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _rounds(template: Mapping[str, Any], where: str) -> dict[str, str]:
    """The texts of a template that is written as rounds: `{"round": [{"role": "HUMAN", "prompt": …}, …]}`."""
    turns = [*(template.get("begin") or ()), *(template.get("round") or ())]
    found: dict[str, str] = {}
    for turn in turns:
        role = _ROLES.get(str(turn.get("role")).upper()) if isinstance(turn, Mapping) else None
        prompt = turn.get("prompt") if isinstance(turn, Mapping) else None
        if role is None or role in found or not isinstance(prompt, str):
            raise UsageError(
                f"{where}: a template as a dict has one HUMAN turn, and may have a BOT and a SYSTEM turn, as in "
                '{"round": [{"role": "HUMAN", "prompt": "…"}, {"role": "BOT", "prompt": "…"}]}; '
                f"this one has {turn!r}"
            )
        found[role] = prompt
    if "human_prompt" not in found:
        raise UsageError(f'{where}: the template has no turn with the role "HUMAN"')
    return found


META_SUFFIX = ".meta.json"
"""The suffix after the full name of the data file: `qa.csv.meta.json`."""


def sampling_for(path: Path | None, options: QuestionOptions, *, cwd: Path | None = None) -> Sampling | None:
    """The plan in the meta file, or None without one.

    Args:
        path: The data file; None if the data are not a local file.
        options: `meta_path` names the meta file, relative to `cwd`; `compat` samples as AISBench does.
        cwd: Where a relative `meta_path` starts; None: the current folder.

    Raises:
        DatasetError: a named file does not exist or has mistakes; the error lists all of them.
    """
    base = Path.cwd() if cwd is None else cwd
    if options.meta_path is not None:
        meta = base / expand_home(options.meta_path)
        if not meta.is_file():
            raise DatasetError(_not_there(options.meta_path, meta))
        return Sampling.read(meta, name=options.meta_path, compat=options.compat)
    if path is None:
        return None
    meta = path.with_name(path.name + META_SUFFIX)
    if not meta.is_file():
        return None
    name = str(meta.relative_to(base)) if meta.is_relative_to(base) else str(meta)
    return Sampling.read(meta, name=name, compat=options.compat)


def _not_there(written: str, meta: Path) -> str:
    if meta.is_dir():
        return f"the meta file {written} is a folder; name the file in it"
    if not meta.parent.is_dir():
        return f"there is no meta file {written}: there is no folder {meta.parent}"
    near = suggest(meta.name, [file.name for file in meta.parent.glob("*.json")])
    return f"there is no meta file {written}.{near}"

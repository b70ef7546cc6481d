"""`type = "custom_nocode"`: an evaluation that the table describes, with the place of its rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct

from benchwright.config._nocode_style import ChoiceStyle, GraderStyle, read_style
from benchwright.config._run_settings import RUN_SETTINGS
from benchwright.config._setting import Setting
from benchwright.config._values import read_values
from benchwright.core import ConfigError, JsonObject, as_json, expand_home, is_data_file, is_hub_uri, suggest

_SETTINGS = (
    Setting("name", "text", "dataset of the hub, or a file"),
    Setting("config_name", "text", "configuration (subset)", aliases=("config",)),
    Setting("split", "text", "split"),
    Setting("revision", "text", "branch, tag or commit"),
)
_KEYS = {"config_name": "config", "split": "split", "revision": "revision"}
_NAME = re.compile(r"[\w][\w.-]*(/[\w][\w.-]*)?")


def read_source(where: str, value: object, folder: Path) -> str:
    """Read a path or URI from a text or a table. Relative paths start at `folder`."""
    if isinstance(value, str):
        value = {"name": value}
    if not isinstance(value, Mapping):
        raise ConfigError(f'{where} is {value!r}; expected a table, such as {{ name = "org/data" }}')
    checked = read_values(where, value, _SETTINGS, hints={})
    name = checked.pop("name", None)
    if not isinstance(name, str):
        raise ConfigError(f'{where} has no name. Add it: {{ name = "org/data", split = "test" }}')
    parameters = {_KEYS[key]: str(entry) for key, entry in checked.items()}
    place = local_path(name, folder)
    if place is None and is_hub_uri(name):
        return _hub(where, name, parameters)
    if place is None and "://" not in name:
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"{where}: {name!r} is neither a file in {folder} nor the name of a hub dataset; expected "
                '"org/data", "hf://org/data" or a path'
            )
        return _hub(where, f"hf://{name}", parameters)
    if checked:
        raise ConfigError(
            f"{where}: only datasets of the hub have {', '.join(checked)}, and {name} is not one; leave it out"
        )
    return place or name


def local_path(name: str, folder: Path) -> str | None:
    """The absolute path of the file that a name means; None for anything else."""
    if "://" in name:
        return None
    path = folder / expand_home(name)
    try:
        there = path.exists()
    except (OSError, ValueError):
        there = False
    means_file = name.startswith((".", "/", "~")) or is_data_file(name)
    return str(path) if there or means_file else None


def _hub(where: str, uri: str, parameters: Mapping[str, str]) -> str:
    base, _, query = uri.partition("?")
    there = parse_qsl(query, keep_blank_values=True)
    for key in parameters:
        if key in dict(there):
            raise ConfigError(f"{where}: {key} is already in {uri}; keep one of them")
    pairs = [*there, *parameters.items()]
    return f"{base}?{urlencode(pairs)}" if pairs else base


ROW_ERRORS = ("fail", "skip", "count_wrong")
"""The treatments of failed rows."""

_METRICS = ("f1", "confusion")
_SHOWS = ("json", "all")
_ROLES = ("system", "user", "assistant")
_OWN = (
    Setting("type", "text", "custom_nocode"),
    Setting("description", "text", "one line for listings"),
    Setting("prompt_template_file", "text", "file of the prompt"),
    Setting("prompt", "text", "the prompt itself", aliases=("prompt_template",)),
    Setting("system_template_file", "text", "file of the system prompt"),
    Setting("system_template", "text", "the system prompt itself"),
    Setting("on_row_error", "text", "what to do with rows that fail", choices=ROW_ERRORS),
)
_TABLES = ("dataset", "style", "grader", "normalize", "messages", "fewshot", "metrics", "model")
_FEWSHOT = (
    Setting("count", "int", "how many", least=0),
    Setting("template", "text", "one solved example"),
    Setting("template_file", "text", "file of one solved example"),
    Setting("prefix", "text", "before the first"),
    Setting("separator", "text", "between them"),
)


def nocode_settings(hints: Mapping[str, str]) -> tuple[Setting, ...]:
    """The settings of such a table, except for `max_workers`, which is `parallelism`."""
    apart = {*hints, *_TABLES}
    run = [s for s in RUN_SETTINGS if s.name not in apart and s.group != "questions"]
    return (*_OWN, *(Setting(name, "table", "") for name in _TABLES), *run)


class FewShotTable(Struct, frozen=True, kw_only=True):
    """Solved examples before each prompt."""

    count: int
    """How many."""
    rows: tuple[JsonObject, ...] = ()
    """The examples themselves, as rows."""
    dataset: str | None = None
    """Path or URI to take them from; None, without `rows`: the evaluated data."""
    template: str | None = None
    """One solved example; None: the prompt and its answer below."""
    template_file: str | None = None
    """Its file, until it is read."""
    prefix: str = ""
    """Before the first."""
    separator: str = "\n\n"
    """Between them, and before the prompt."""


class NoCodeBenchmark(Struct, frozen=True, kw_only=True):
    """A described evaluation. With its template files read, it contains everything that a later process needs."""

    name: str
    """Name of the table."""
    dataset: str
    """Path or URI of the rows."""
    prompt: str | None = None
    """Template text; None until its file is read, and if there are `messages`."""
    prompt_file: str | None = None
    """Absolute path of the file it comes from."""
    system: str | None = None
    """Template text of the system message."""
    system_file: str | None = None
    """Absolute path of the file it comes from."""
    messages: tuple[tuple[str, str], ...] = ()
    """Role and template text of each message, instead of a prompt; the last is the user's."""
    choices: ChoiceStyle | None = None
    """Multiple choice; None: free replies."""
    grader: GraderStyle | None = None
    """How free replies are compared."""
    fewshot: FewShotTable | None = None
    """Solved examples."""
    metrics: tuple[tuple[str, str], ...] = ()
    """Further figures of multiple choice, each with the views that show it: `json` or `all`."""
    on_row_error: str | None = None
    """The treatment of failed rows; None: both means are reported, as for every benchmark."""
    folder: str = "."
    """Folder of the configuration file; relative paths start here."""

    def to_json(self) -> JsonObject:
        """The recorded form."""
        found: JsonObject = as_json(self)
        return found

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> NoCodeBenchmark:
        """Read the recorded form."""
        values = dict(record)
        values["messages"] = tuple((role, text) for role, text in values["messages"])
        values["metrics"] = tuple((name, show) for name, show in values["metrics"])
        if values["choices"] is not None:
            values["choices"] = ChoiceStyle(**_tuples(values["choices"], "columns", "labels"))
        if values["grader"] is not None:
            values["grader"] = GraderStyle(**_tuples(values["grader"], "normalize", "labels"))
        if values["fewshot"] is not None:
            values["fewshot"] = FewShotTable(**_tuples(values["fewshot"], "rows"))
        return cls(**values)


def read_nocode(
    file: Path, name: str, where: str, values: Mapping[str, object], hints: Mapping[str, str]
) -> tuple[NoCodeBenchmark, JsonObject]:
    """Read the evaluation that a table describes, and the run settings in it."""
    written = {key.replace("-", "_"): value for key, value in values.items()}
    if "max_workers" in written:
        if "parallelism" in written:
            raise ConfigError(f"{where} sets parallelism twice, once as max_workers; keep one of them")
        written["parallelism"] = written.pop("max_workers")
    apart: dict[str, object] = {key: written.pop(key, None) for key in _TABLES if key != "model"}
    written.pop("model", None)  # models are read elsewhere
    checked = read_values(
        where, written, nocode_settings(hints), hints={**hints, "samples": "write it as limit"}
    )
    if apart["dataset"] is None:
        raise ConfigError(f'{where} has no dataset. Add, for example: dataset = {{ name = "org/data" }}')
    choices, grader = read_style(where, apart["style"], apart["grader"], apart["normalize"])
    if grader is not None and grader.function is not None:
        grader = _with_function(file, grader)
    texts = {key: _taken(checked, key) for key in ("prompt", "system_template")}
    files = {key: _file(file, checked, key) for key in ("prompt_template_file", "system_template_file")}
    messages = _messages(where, apart["messages"])
    ways = [key for key, given in (("prompt", texts["prompt"]), ("prompt_template_file", files["prompt_template_file"]),
                                   ("messages", messages)) if given]  # fmt: skip
    if len(ways) != 1:
        found = "none of" if not ways else " and ".join(ways) + " of"
        raise ConfigError(
            f"{where} has {found} prompt_template_file, prompt and messages; expected exactly one of them"
        )
    if (texts["system_template"] or files["system_template_file"]) and any(
        r == "system" for r, _ in messages
    ):
        raise ConfigError(f"{where} has system_template and a system message; keep one of them")
    if texts["system_template"] and files["system_template_file"]:
        raise ConfigError(f"{where} has system_template and system_template_file; keep one of them")
    policy = _taken(checked, "on_row_error")
    if policy == "fail":
        checked.setdefault("max_failures", 0)
    elif policy is not None:
        checked.setdefault("skip_bad_rows", True)
    metrics = _metrics(where, apart["metrics"])
    if metrics and choices is None:
        raise ConfigError(f"{where} metrics: {metrics[0][0]} is for multiple choice; leave it out")
    fewshot = (
        None if apart["fewshot"] is None else _fewshot(f"{where} fewshot", apart["fewshot"], file.parent)
    )
    nocode = NoCodeBenchmark(
        name=name,
        dataset=read_source(f"{where} dataset", apart["dataset"], file.parent),
        prompt=texts["prompt"],
        prompt_file=files["prompt_template_file"],
        system=texts["system_template"],
        system_file=files["system_template_file"],
        messages=messages,
        choices=choices,
        grader=grader,
        fewshot=fewshot,
        metrics=metrics,
        on_row_error=policy,
        folder=str(file.parent),
    )
    return nocode, checked


def _messages(where: str, value: object) -> tuple[tuple[str, str], ...]:
    if value is None:
        return ()
    shape = (
        'messages = [{ role = "system", content = "…" }, { role = "user", content = "{{ row.question }}" }]'
    )
    if not isinstance(value, list) or not value:
        raise ConfigError(f"{where} messages is {value!r}; expected a list: {shape}")
    found: list[tuple[str, str]] = []
    for number, entry in enumerate(value, 1):
        role = entry.get("role") if isinstance(entry, Mapping) else None
        content = entry.get("content") if isinstance(entry, Mapping) else None
        if role not in _ROLES or not isinstance(content, str) or set(entry) != {"role", "content"}:
            raise ConfigError(
                f"{where} messages, entry {number}: expected role ({', '.join(_ROLES)}) and content: {shape}"
            )
        if role == "system" and number > 1:
            raise ConfigError(f"{where} messages, entry {number}: a system message comes first")
        found.append((str(role), content))
    if found[-1][0] != "user":
        raise ConfigError(f"{where} messages: the last is the {found[-1][0]}'s; expected the user's")
    return tuple(found)


def _metrics(where: str, value: object) -> tuple[tuple[str, str], ...]:
    entries = [value] if isinstance(value, str) else value
    if entries is None:
        return ()
    if not isinstance(entries, list):
        raise ConfigError(f'{where} metrics is {value!r}; expected a list: metrics = ["f1", "confusion"]')
    found: dict[str, str] = {}
    for entry in entries:
        table = {"name": entry} if isinstance(entry, str) else entry
        if not isinstance(table, Mapping) or not set(table) <= {"name", "show"}:
            raise ConfigError(
                f'{where} metrics: {entry!r} is not a metric; expected a name, or {{ name = "f1", show = "all" }}'
            )
        name, show = str(table.get("name")), str(table.get("show", "json"))
        if name not in _METRICS:
            raise ConfigError(
                f"{where} metrics: {name!r} is not known.{suggest(name, _METRICS)} Known: {', '.join(_METRICS)}"
            )
        if show not in _SHOWS:
            raise ConfigError(f"{where} metrics, {name}: show is {show!r}; expected json or all")
        if name in found:
            raise ConfigError(f"{where} metrics names {name} twice")
        found[name] = show
    return tuple(found.items())


def _fewshot(where: str, value: object, folder: Path) -> FewShotTable:
    if not isinstance(value, Mapping):
        raise ConfigError(
            f'{where} is {value!r}; expected a table: fewshot = {{ dataset = "train.jsonl", count = 3 }}'
        )
    written: dict[str, object] = {str(key): entry for key, entry in value.items()}
    rows, dataset = written.pop("rows", None), written.pop("dataset", None)
    apart = (Setting("rows", "table", ""), Setting("dataset", "table", ""))
    checked: dict[str, Any] = dict(read_values(where, written, (*_FEWSHOT, *apart), hints={}))
    if rows is not None and (
        not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows)
    ):
        raise ConfigError(f"{where} rows is {rows!r}; expected a list of tables, one for each example")
    if rows is not None and dataset is not None:
        raise ConfigError(f"{where} has rows and dataset; keep one of them")
    examples = tuple(rows) if isinstance(rows, list) else ()
    if "count" not in checked and not examples:
        raise ConfigError(f"{where} has no count. Add, for example: count = 3")
    if "template" in checked and "template_file" in checked:
        raise ConfigError(f"{where} has template and template_file; keep one of them")
    if "template_file" in checked:
        checked["template_file"] = str(folder / expand_home(checked["template_file"]))
    return FewShotTable(
        count=checked.pop("count", len(examples)),
        rows=examples,
        dataset=None if dataset is None else read_source(f"{where} dataset", dataset, folder),
        **checked,
    )


def _with_function(file: Path, grader: GraderStyle) -> GraderStyle:
    from msgspec.structs import replace

    place, _, name = (grader.function or "").partition(":")
    if place.endswith(".py"):
        place = str(file.parent / expand_home(place))
    return replace(grader, function=f"{place}:{name}" if name else place)


def _taken(checked: JsonObject, key: str) -> str | None:
    value = checked.pop(key, None)
    return None if value is None else str(value)


def _file(file: Path, checked: JsonObject, key: str) -> str | None:
    value = _taken(checked, key)
    return None if value is None else str(file.parent / expand_home(value))


def _tuples(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: tuple(value) if name in names else value for name, value in record.items()}

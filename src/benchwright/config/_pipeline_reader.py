"""Reads a request pipeline: short flags, a list of steps, or Python values. It is checked here, before anything is sent;
`benchwright.endpoints` runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from benchwright.config._pipeline import OwnStep, PipelineSettings, StepEntry
from benchwright.config._pipeline_checks import refuse_secrets
from benchwright.config._pipeline_steps import BUILT_IN, STEP_SETTINGS, STEPS, UNLIMITED, PipelineStep
from benchwright.config._values import as_switch, read_values
from benchwright.core import ConfigError, JsonObject, JsonValue, Registry, suggest

_SHORT: Mapping[str, tuple[str, str]] = {
    flag: (step.name, setting) for step in BUILT_IN for flag, setting in step.short.items()
}
"""Short flags, with the step and setting of each. Steps run in the order of `BUILT_IN`."""
_SWITCHES = {step: flag for flag, (step, setting) in reversed(list(_SHORT.items())) if not setting}
_NEITHER = {
    "mode": "requests pass no proxy",
    "endpoint_type": "the benchmark says how the model is asked, or --model-type",
    "output_dir": "logs are in the run's folder",
    "logging_aggregated_stats_interval": "statistics are computed when the run ends",
}
"""Settings that the older package needs and this one does not, and why."""
_BESIDE_LIST = ("interceptors", "post_eval_hooks", "log_failed_requests", *_NEITHER)
_UNSUPPORTED = {
    "use_nvcf": "functions of NVCF are not called; give the URL of an OpenAI-compatible server",
    "use_omni_info": "there is no such step; write one as a plugin",
    "discovery": "steps are not looked for in folders; install them as a plugin, and give their names",
}
_NOT_NEEDED = ("endpoint",)
"""Entries of a list that only mark the place of the request."""
_OLDER_NAMES = {"logging": "request_logging", "failed_requests": "log_failed_requests"}


def pipeline_settings(value: object, where: str = "pipeline") -> PipelineSettings:
    """Read a pipeline from a table of short flags, a table with `interceptors`, or a list of steps. Raises ConfigError with
    `where` and the key.

    >>> pipeline_settings({"params_to_add": {"top_k": 5}}).steps[0].to_json()
    {'name': 'payload_modifier', 'config': {'params_to_add': {'top_k': 5}}}
    """
    if isinstance(value, PipelineSettings):
        return value
    reader = _StepReader(where)
    if isinstance(value, Mapping):
        reader.read_table(value)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        reader.read_list(value, "")
    else:
        raise ConfigError(f"{where} is {value!r}; expected a table of settings, or a list of steps")
    return PipelineSettings(tuple(reader.entries), tuple(dict.fromkeys(reader.notes)))


class _StepReader:
    """Reads one description."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.entries: list[StepEntry] = []
        self.notes: list[str] = []

    def read_table(self, table: Mapping[Any, object]) -> None:
        """Read short flags, or a list and the keys next to it."""
        given = {str(key).replace("-", "_"): value for key, value in table.items() if value is not None}
        for name, why in _UNSUPPORTED.items():
            if _holds_something(given.pop(name, None)):
                raise ConfigError(f"{self._where}: {name}: {why}")
        known = [*_SHORT, *_BESIDE_LIST]
        for name in given:
            if name not in known:
                raise ConfigError(
                    f"{self._where}: {name} is not known.{suggest(name, known)} Known: {', '.join(dict.fromkeys(known))}"
                )
        self._note_neither(given)
        if "interceptors" not in given and "post_eval_hooks" not in given:
            self._read_short(given)
            return
        mixed = sorted(given.keys() - {*_BESIDE_LIST})
        if mixed:
            listed = "interceptors" if "interceptors" in given else "post_eval_hooks"
            raise ConfigError(
                f"{self._where}: {', '.join(mixed)} and {listed} are two ways to say the same, and a mix of both is "
                f"refused. Write these settings into the config of an entry of {listed}"
            )
        self.read_list(given.get("interceptors", []), "interceptors")
        if self._switch("log_failed_requests", given):
            self._add("log_failed_requests", {}, f"{self._where}: log_failed_requests")
        self.read_list(given.get("post_eval_hooks", []), "post_eval_hooks")

    def read_list(self, entries: object, name: str) -> None:
        """Read names, tables with `name`, `enabled` and `config`, and Python values."""
        if not isinstance(entries, Sequence) or isinstance(entries, str):
            raise ConfigError(f"{self._where}: {name} is {entries!r}; expected a list of steps")
        for number, entry in enumerate(entries):
            self._read_entry(
                entry, f"{self._where}: {name}[{number}]" if name else f"{self._where}[{number}]"
            )

    def _note_neither(self, given: dict[str, object]) -> None:
        for name, why in _NEITHER.items():
            if given.pop(name, None) is not None:
                self.notes.append(f"{self._where}: {name} has no effect here: {why}")

    def _read_entry(self, entry: object, where: str) -> None:
        if isinstance(entry, PipelineStep):
            self._add(entry.name, entry.given(), where)
        elif isinstance(entry, str):
            self._add(entry, {}, where)
        elif isinstance(entry, Mapping):
            known = ("name", "enabled", "config", "package")
            for key in entry:
                if key not in known:
                    raise ConfigError(
                        f"{where}: {key} is not known.{suggest(str(key), known)} Known: {', '.join(known)}"
                    )
            name, config = entry.get("name"), entry.get("config")
            if not isinstance(name, str) or not name:
                raise ConfigError(
                    f"{where} has no name; expected one of {', '.join(STEPS)}, or that of a plugin"
                )
            if config is not None and not isinstance(config, Mapping):
                raise ConfigError(f"{where}: config is {config!r}; expected a table")
            if self._switch("enabled", entry, default=True, where=where):
                self._add(name, dict(config or {}), where, str(entry.get("package") or ""))
        elif hasattr(entry, "on_request") or hasattr(entry, "on_reply"):
            self._add_own(entry, where)
        else:
            raise ConfigError(f"{where} is {entry!r}; expected the name of a step, a table, or a step")

    def _read_short(self, given: dict[str, object]) -> None:
        configs: dict[str, dict[str, object]] = {}
        switched: dict[str, bool] = {}
        for flag, (step, setting) in _SHORT.items():
            if flag not in given:
                continue
            if setting:
                configs.setdefault(step, {})[setting] = self._short_value(flag, given[flag])
            else:
                switched[step] = switched.get(step, False) or self._switch(flag, given)
        for step in dict.fromkeys(step for step, _ in _SHORT.values()):
            config = configs.get(step, {})
            if step in _SWITCHES and step not in switched and config:
                flags = [flag for flag, (of, _) in _SHORT.items() if of == step and flag in given]
                self.notes.append(
                    f"{self._where}: {', '.join(flags)} has no effect without {_SWITCHES[step]}: true"
                )
            elif switched.get(step) or (step not in _SWITCHES and config):
                self._add(step, config, self._where, short=True)

    def _short_value(self, flag: str, value: object) -> object:
        if flag == "include_json":
            return ["html", "json"] if self._switch(flag, {flag: value}) else ["html"]
        return value

    def _switch(
        self, name: str, given: Mapping[Any, object], *, default: bool = False, where: str | None = None
    ) -> bool:
        value = as_switch(given.get(name, default))
        if not isinstance(value, bool):
            raise ConfigError(f"{where or self._where}: {name} is {value!r}; expected true or false")
        return value

    def _add(
        self, name: str, config: dict[str, Any], where: str, package: str = "", *, short: bool = False
    ) -> None:
        if name in _NOT_NEEDED:
            return
        name = _OLDER_NAMES.get(name, name)
        form = STEPS.get(name)
        if form is None:
            self.entries.append(_plugin(name, config, where, package))
            return
        if form.decides != "replies" and any(entry.name == name for entry in self.entries):
            raise ConfigError(f"{where}: {name} appears twice; keep one of them")
        config = {key: list(value) if isinstance(value, tuple) else value for key, value in config.items()}
        for idle in form.idle:
            if config.pop(idle, None) is not None:
                self.notes.append(f"{where}: {idle} has no effect here: every reply is recorded with the run")
        if form.unlimited in config and config[form.unlimited] is None:
            config[form.unlimited] = UNLIMITED
        for implied, value in form.implied(config, short=short).items():
            config.setdefault(implied, value)
        given = {key: value for key, value in config.items() if value is not None}
        place = where if short else f"{where} ({name})"
        flags = {setting: flag for flag, (of, setting) in _SHORT.items() if of == name} if short else {}
        checked = read_values(place, given, STEP_SETTINGS[form], hints={}, written=flags, lenient=True)
        if form.required and form.required not in checked:
            raise ConfigError(f"{place} needs {flags.get(form.required, form.required)}")
        form.check(checked, place)
        self.notes += [
            f"{place}: {flags.get(setting, setting)} has no effect without {' or '.join(switches)}: true. Replies are kept in "
            "the workspace, whatever is saved"
            for setting, switches in form.needs.items()
            if checked.get(setting) and not any(checked.get(each) for each in switches)
        ]
        self.entries += [StepEntry(name, each) for each in _in_order(checked)]

    def _add_own(self, step: Any, where: str) -> None:
        name = getattr(step, "name", None) or type(step).__name__
        if name in STEPS or not isinstance(name, str):
            raise ConfigError(
                f"{where}: a step of your own cannot be called {name!r}; a built-in step has that name"
            )
        config: JsonObject = {"version": str(getattr(step, "version", ""))}
        self.entries.append(StepEntry(name, config, f"python:{type(step).__module__}", OwnStep(step)))


def _in_order(config: JsonObject) -> list[JsonObject]:
    """The settings of a step, or of several if the order of its new names matters, because a recorded table has no order."""
    renamed = config.get("params_to_rename")
    parts: list[dict[str, JsonValue]] = [{}]
    for old, new in renamed.items() if isinstance(renamed, dict) else ():
        part = parts[-1]
        if old in part.values() or new in part or new in part.values():
            parts.append({})
        parts[-1][old] = new
    if len(parts) == 1:
        return [config]
    first: JsonObject = {**config, "params_to_rename": parts[0]}
    return [first, *[cast("JsonObject", {"params_to_rename": part}) for part in parts[1:]]]


def _holds_something(value: object) -> bool:
    """Whether a switch is on, or a table has an entry at any depth. Rendered configurations have empty tables."""
    if isinstance(value, Mapping):
        return any(_holds_something(each) for each in value.values())
    return bool(as_switch(value))


def _plugin(name: str, config: dict[str, Any], where: str, package: str) -> StepEntry:
    """A step of an installed package. A recorded one is accepted even if the package is gone, and refused when opened."""
    found = [entry for entry in Registry.entries_of("steps") if entry.name == name]
    if not found and not package:
        names = [*STEPS, *(entry.name for entry in Registry.entries_of("steps"))]
        raise ConfigError(
            f"{where}: step {name!r} is not known.{suggest(name, names)} Known: {', '.join(names)}"
        )
    refuse_secrets(config, f"{where} ({name})")
    if found:
        package = f"{found[0].package} {found[0].version}".strip()
    return StepEntry(name, config, package)

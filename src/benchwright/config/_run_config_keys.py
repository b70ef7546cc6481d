"""The keys of a run configuration, and the settings of each.

A setting has the key in the table here, or else its name below `target.api_endpoint` (settings of the model) or
`config.params.extra`. Unknown keys are refused, except keys below `extra` that a benchmark declares.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from benchwright.config._config_layers import Path
from benchwright.config._run_settings import BY_NAME, RUN_SETTINGS
from benchwright.config._setting import Setting, sendable
from benchwright.config._values import in_kind
from benchwright.core import MODEL_TYPES, ConfigError, finite_number, is_secret_name, nearest, suggest

TYPE: Final = ("config", "type")
EXTRA: Final = ("config", "params", "extra")
ADAPTER: Final = ("target", "api_endpoint", "adapter_config")
METADATA: Final = ("metadata",)
MODULE: Final = (*EXTRA, "benchmark_module")
FAIL_ON_SKIP: Final = (*EXTRA, "fail_on_skip")

_NAMED: Mapping[str, str] = {
    "config.output_dir": "output_dir",
    "config.params.limit_samples": "limit",
    "config.params.max_new_tokens": "max_tokens",
    "config.params.max_retries": "max_retries",
    "config.params.parallelism": "parallelism",
    "config.params.request_timeout": "request_timeout",
    "config.params.temperature": "temperature",
    "config.params.top_p": "top_p",
    "config.params.task": "task",
    "config.params.extra.n_repeats": "repeats",
    "config.params.extra.custom_dataset.path": "tool_data",
    "config.params.extra.custom_dataset.format": "tool_data_format",
    "config.params.extra.custom_dataset.data_template_path": "tool_data_template",
    "config.params.extra.dataset.path": "dataset",
    "config.params.extra.dataset.num_fewshot": "num_fewshot",
    "config.params.extra.dataset.fewshot_seed": "fewshot_seed",
    "config.params.extra.dataset.fewshot_strict": "fewshot_strict",
    "config.params.extra.dataset.skip_bad_rows": "skip_bad_rows",
    "target.api_endpoint.url": "model_url",
    "target.api_endpoint.type": "model_type",
    "target.api_endpoint.stream": "stream",
    "metadata": "metadata",
    "target.api_endpoint.adapter_config": "pipeline",
}
"""Keys of settings with other names in run configurations."""

BAKED_IN: Mapping[Path, str] = {
    **{
        (*EXTRA, "dataset", name): name
        for name in (
            "field_mapping",
            "choices",
            "choices_field",
            "fewshot_dataset",
            "fewshot_prefix",
            "fewshot_split",
        )
    },
    (*EXTRA, "requirements"): "requirements",
    (*EXTRA, "judge_support"): "",
}
"""Keys in configurations of older tools, with the field of the benchmark that they repeat; a run cannot change them."""

RECORDS: tuple[Path, ...] = (
    ("command",), ("framework_name",), ("pkg_name",), ("git_hash",), ("settings",), ("config", "supported_endpoint_types"),
    ("config", "required_capabilities"),
)  # fmt: skip
"""Other keys of a `run_config.yml`, which describe an earlier run and set nothing."""


def _place(setting: Setting) -> str:
    table = "target.api_endpoint" if setting.group == "model" else ".".join(EXTRA)
    return f"{table}.{setting.name}"


_OPTION_KEYS: Mapping[str, str] = {
    **{_place(each): each.name for each in RUN_SETTINGS if each.name not in (*_NAMED.values(), "extra")},
    **_NAMED,
}
KEY_OF: Mapping[str, Path] = {name: tuple(key.split(".")) for key, name in _OPTION_KEYS.items()}
"""The key of each option of a run, except `extra`: settings that a benchmark declares are directly below
`config.params.extra`."""
SHOWN_KEYS: tuple[Path, ...] = (
    *(KEY_OF[name] for name in _NAMED.values() if KEY_OF[name][:3] != EXTRA and KEY_OF[name] not in (ADAPTER, METADATA)),
    KEY_OF["model_id"],
    KEY_OF["api_key_name"],
)  # fmt: skip
"""Keys that a rendered configuration always has; null if not set."""
RUN_CONFIG_KEYS: Mapping[Path, str] = {
    **{path: name for name, path in KEY_OF.items()},
    **dict.fromkeys((TYPE, MODULE, FAIL_ON_SKIP, *BAKED_IN), ""),
}
"""All keys, with the options of a run that they set; empty for keys that set none."""
_OTHER_NAMES: Mapping[Path, Path] = {
    ("config", "params", "timeout"): KEY_OF["request_timeout"],
    **{
        (*EXTRA, name): KEY_OF[each.name]
        for each in RUN_SETTINGS
        for name in (each.name, *each.aliases)
        if KEY_OF.get(each.name, ())[:3] == EXTRA
        and (*EXTRA, name) not in (*RUN_CONFIG_KEYS, (*EXTRA, "dataset"))
    },
}
EXTRA_NAMES = sorted({path[-1] for path in (*RUN_CONFIG_KEYS, *_OTHER_NAMES) if path[:-1] == EXTRA})
"""Keys that may be directly below `extra` for any target."""
_TABLES = {
    ADAPTER,
    METADATA,
    KEY_OF["headers"],
    *BAKED_IN,
    *(path for name, path in KEY_OF.items() if BY_NAME[name].kind in ("table", "steps")),
}
"""Keys whose values may be tables, which are not checked here."""
_INNER = {key[:length] for key in RUN_CONFIG_KEYS for length in range(1, len(key))} - {TYPE}
"""Tables that contain keys."""
_OWN_TABLES = ((*EXTRA, "dataset"), (*EXTRA, "custom_dataset"))
"""Tables below `extra` that no benchmark declares."""


def check_key(where: str, path: Path) -> Path:
    """The key under its usual name. Raises ConfigError, with similar names, if it is unknown."""
    path = tuple(".".join(path).split(".")) if any("." in word for word in path[:4]) else path
    for length in range(len(path), 0, -1):
        key = _OTHER_NAMES.get(path[:length], path[:length])
        if key not in RUN_CONFIG_KEYS:
            continue
        if length == len(path) or key in _TABLES:
            return (*key, *path[length:])
        raise ConfigError(f"{where}: {'.'.join(key)} takes one value, and {'.'.join(path)} is below it")
    if path[:3] == EXTRA and len(path) > 3 and path[:4] not in _OWN_TABLES:
        return path  # the benchmark may declare it
    raise _unknown(where, path)


def _unknown(where: str, path: Path) -> ConfigError:
    key, last = ".".join(path), path[-1]
    if is_secret_name(last):  # the value is not repeated, because messages end up in logs
        return ConfigError(
            f"{where}: {key}: keys are not kept in files. Put it in an environment variable and name that: "
            "target.api_endpoint.api_key_name: MY_KEY"
        )
    table = path[:-1]
    while table and table not in _INNER:
        table = table[:-1]
    wrong = path[len(table)]
    siblings = list(
        dict.fromkeys(known[len(table)] for known in RUN_CONFIG_KEYS if known[: len(table)] == table)
    )
    elsewhere = {known[-1]: ".".join(known) for known in RUN_CONFIG_KEYS}
    near = suggest(wrong, siblings)
    if not near:
        known = wrong if wrong in elsewhere else nearest(last, elsewhere)
        near = "" if known is None else f" Did you mean {elsewhere[known]!r}?"
    listed = ", ".join(siblings) if len(siblings) <= _LISTED else f"see the manual ({len(siblings)} keys)"
    return ConfigError(
        f"{where}: {key} is not known.{near} Known in {'.'.join(table) or 'a run configuration'}: {listed}"
    )


_LISTED = 40


def is_table(path: Path) -> bool:
    """Whether the key is a table of keys; a null there resets all of them."""
    return path in _INNER or path == EXTRA


def option_of(path: Path) -> str:
    """The option that a key sets; empty for one that sets none."""
    return RUN_CONFIG_KEYS.get(path, "")


def takes_text(path: Path) -> bool:
    """Whether the value of a key can only be a text, or null. In files of a launcher, other words come before the key.

    >>> takes_text(("target", "api_endpoint", "model_id")), takes_text(("config", "params", "temperature"))
    (True, False)
    """
    for key in (path[start:] for start in range(len(path))):
        key = _OTHER_NAMES.get(key, key)
        if key in RUN_CONFIG_KEYS:
            name = RUN_CONFIG_KEYS[key]
            return key in (TYPE, MODULE) or (name in BY_NAME and BY_NAME[name].kind in ("text", "texts"))
    return path[-4:-1] == KEY_OF["headers"]


def checked_value(where: str, path: Path, value: Any) -> Any:
    """The value of a key in its proper type. Raises ConfigError with the place, the value, and what is expected."""
    key = ".".join(path)
    name = option_of(path)
    if path in (TYPE, MODULE) and not (isinstance(value, str) and value.strip()):
        raise ConfigError(f"{where}: {key} is {value!r}; expected a text")
    if path == FAIL_ON_SKIP and not isinstance(value, bool):
        raise ConfigError(f"{where}: {key} is {value!r}; expected true or false")
    if not name:
        return _in_table(where, path, value)
    if name == "limit":
        return _limit(where, key, value)
    if name == "model_type" and value == "embedding":
        raise ConfigError(
            f"{where}: {key} is embedding: such a model returns vectors and no text that could be scored; expected one of "
            f"{', '.join(MODEL_TYPES)}"
        )
    if name == "model_type" and value == "vlm":
        value = "chat"  # the older name for chats with images
    if name == "task" and isinstance(value, list):
        value = ",".join(map(str, value))
    setting = BY_NAME[name]
    try:
        return setting.check(in_kind(setting, value))
    except ValueError as error:
        plain = setting.kind == "text" and not isinstance(value, str | list | dict)
        raise ConfigError(f"{where}: {key}: {error}{'. Put it in quotes' if plain else ''}") from None


def _in_table(where: str, path: Path, value: Any) -> Any:
    """A value below the key of a table. Most are sent in requests or given to scorers, which must get the same value when the
    run is resumed, so they must be JSON."""
    if path[:-1] == KEY_OF["headers"] and not isinstance(value, str):
        raise ConfigError(f"{where}: {'.'.join(path)} is not a text; put it in quotes")
    if path[:3] == EXTRA or any(option_of(path[:length]) in _SENT for length in range(1, len(path))):
        try:
            return sendable(value)
        except ValueError as error:
            raise ConfigError(f"{where}: {'.'.join(path)}: {error}") from None
    return value


_SENT = {setting.name for setting in RUN_SETTINGS if setting.kind in ("table", "steps")} - {"metadata"}


def _limit(where: str, key: str, value: Any) -> int | float:
    """A number of rows, or a share of them."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = float(value) if "." in value else int(value)
    if isinstance(value, int | float) and finite_number(value) is not None:
        if value == 0:
            raise ConfigError(
                f"{where}: {key} is 0, which would evaluate nothing; leave it out, or give null, for all rows"
            )
        if isinstance(value, int) and value > 0:
            return value
        if 0 < value < 1:
            return value
    raise ConfigError(
        f"{where}: {key} is {value!r}; expected a number of rows (1 or more), or a share of them between 0 and 1"
    )

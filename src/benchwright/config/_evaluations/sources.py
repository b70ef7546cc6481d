"""Where the rows of a described evaluation are: a dataset of the hub, or a file next to the configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from benchwright.config._setting import Setting
from benchwright.config._values import read_values
from benchwright.core import ConfigError, is_data_file, is_hub_uri

_SETTINGS = (
    Setting("name", "text", "dataset of the hub, or a file"),
    Setting("config_name", "text", "configuration (subset)", aliases=("config",)),
    Setting("split", "text", "split"),
    Setting("revision", "text", "branch, tag or commit"),
)
_KEYS = {"config_name": "config", "split": "split", "revision": "revision"}
_NAME = re.compile(r"[\w][\w.-]*(/[\w][\w.-]*)?")


def read_source(where: str, value: object, folder: Path) -> str:
    """A path or URI from a text or a table. Relative paths start at `folder`."""
    if isinstance(value, str):
        value = {"name": value}
    if not isinstance(value, Mapping):
        raise ConfigError(f'{where} is {value!r}; expected a table, such as {{ name = "org/data" }}')
    checked = read_values(where, value, _SETTINGS, hints={})
    name = checked.pop("name", None)
    if not isinstance(name, str):
        raise ConfigError(f'{where} has no name. Add it: {{ name = "org/data", split = "test" }}')
    wanted = {_KEYS[key]: str(entry) for key, entry in checked.items()}
    place = local_path(name, folder)
    if place is None and is_hub_uri(name):
        return _hub(where, name, wanted)
    if place is None and "://" not in name:
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"{where}: {name!r} is no file in {folder} and no name of a hub dataset; expected "
                '"org/data", "hf://org/data" or a path'
            )
        return _hub(where, f"hf://{name}", wanted)
    if checked:
        raise ConfigError(
            f"{where}: only datasets of the hub have {', '.join(checked)}, and {name} is none; leave it out"
        )
    return place or name


def local_path(name: str, folder: Path) -> str | None:
    """The file that a name means, absolute; None for anything else."""
    if "://" in name:
        return None
    path = folder / Path(name).expanduser()
    try:
        there = path.exists()
    except (OSError, ValueError):
        there = False
    means_file = name.startswith((".", "/", "~")) or is_data_file(name)
    return str(path) if there or means_file else None


def _hub(where: str, uri: str, wanted: Mapping[str, str]) -> str:
    base, _, query = uri.partition("?")
    there = parse_qsl(query, keep_blank_values=True)
    for key in wanted:
        if key in dict(there):
            raise ConfigError(f"{where}: {key} stands in {uri} already; keep one of them")
    pairs = [*there, *wanted.items()]
    return f"{base}?{urlencode(pairs)}" if pairs else base

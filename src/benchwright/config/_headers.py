"""Request headers that users add: no secret in plain words, values from the environment when they are sent."""

from __future__ import annotations

import re
from collections.abc import Mapping

from benchwright.core import ConfigError, environment_secret, is_secret_name

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def resolve_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers with each `${VARIABLE}` replaced from the environment. The result may hold secrets.

    >>> resolve_headers({"X-Team": "search"})
    {'X-Team': 'search'}
    """

    def value_of(found: re.Match[str]) -> str:
        variable = found.group(1)
        value = environment_secret(variable)
        if not value:
            raise ConfigError(
                f"a request header needs the environment variable {variable}, which is not set; nothing was sent. "
                f"Set it (export {variable}=…)"
            )
        return value

    return {name: _REFERENCE.sub(value_of, value) for name, value in headers.items()}


def header_variables(headers: Mapping[str, str]) -> list[str]:
    """Names of the environment variables that headers refer to.

    >>> header_variables({"X-Api-Key": "${MY_KEY}", "X-Team": "search"})
    ['MY_KEY']
    """
    return [name for value in headers.values() for name in _REFERENCE.findall(value)]


def check_headers(where: str, headers: Mapping[str, object]) -> dict[str, str]:
    """Headers as they were written: texts, and no secret in plain words."""
    checked: dict[str, str] = {}
    for name, value in headers.items():
        if not isinstance(value, str):
            raise ConfigError(f"{where}: {name} is {value!r}; expected a text")
        if is_secret_name(name) and _REFERENCE.search(value) is None:
            raise ConfigError(
                f"{where}: {name} looks like a secret, and keys are not kept in files. "
                f'Name an environment variable: {name} = "${{MY_KEY}}"'
            )
        checked[name] = value
    return checked

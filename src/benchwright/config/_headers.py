"""Request headers that users add: no secret in plain words, values from the environment when they are sent."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from benchwright.core import ConfigError

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_HEADER = re.compile(r"auth|key|token|secret|password|cookie", re.IGNORECASE)


def resolve_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers with each `${VARIABLE}` replaced from the environment. The result may hold secrets.

    >>> resolve_headers({"X-Team": "search"})
    {'X-Team': 'search'}
    """

    def value_of(found: re.Match[str]) -> str:
        variable = found.group(1)
        if not os.environ.get(variable):
            raise ConfigError(
                f"a request header needs the environment variable {variable}, which is not set; nothing was sent. "
                f"Set it (export {variable}=…)"
            )
        return os.environ[variable]

    return {name: _REFERENCE.sub(value_of, value) for name, value in headers.items()}


def check_headers(where: str, headers: Mapping[str, object]) -> dict[str, str]:
    """Headers as they were written: texts, and no secret in plain words."""
    checked: dict[str, str] = {}
    for name, value in headers.items():
        if not isinstance(value, str):
            raise ConfigError(f"{where}: {name} is {value!r}; expected a text")
        if _SECRET_HEADER.search(name) and _REFERENCE.search(value) is None:
            raise ConfigError(
                f"{where}: {name} looks like a secret, and keys are not kept in files. "
                f'Name an environment variable: {name} = "${{MY_KEY}}"'
            )
        checked[name] = value
    return checked

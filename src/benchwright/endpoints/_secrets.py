"""The API key: read from the environment when it is needed, and kept in no settings."""

from __future__ import annotations

import os

from benchwright.core import ConfigError, environment_secret


def read_api_key(variable: str, setting: str = "--api-key-name") -> str:
    """The key in an environment variable; an error naming the variable if there is none to be had."""
    value = environment_secret(variable).strip()
    if not value:
        state = "is empty" if variable in os.environ else "is not set"
        raise ConfigError(
            f"the API key's environment variable {variable} {state}; nothing was sent. "
            f"Set it (export {variable}=…), or leave {setting} out if the server needs no key"
        )
    if not value.isascii() or not value.isprintable():
        raise ConfigError(
            f"the API key in {variable} holds a character that cannot be sent in a header; copy it again"
        )
    return value

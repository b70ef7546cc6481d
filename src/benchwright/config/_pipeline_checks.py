"""Rules for the settings of pipeline steps that the types of values do not cover. Settings are recorded as written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.config._servers import check_headers, without_references
from benchwright.core import ConfigError, is_secret_name, public_url, url_owner

HOP_BY_HOP = frozenset((
    "host", "content-length", "connection", "transfer-encoding", "keep-alive", "te", "trailer", "upgrade",
    "proxy-authorization", "proxy-authenticate", "proxy-connection",
))  # fmt: skip
"""Headers of the connection, which the transport sets."""


def check_payload_change(config: Mapping[str, Any], where: str) -> None:
    """Raise for parameters and headers that cannot be sent, or that may not be recorded."""
    refuse_secrets(config.get("params_to_add", {}), f"{where} params_to_add")
    _refuse_references(config.get("params_to_add", {}), f"{where} params_to_add")
    check_headers(f"{where} headers_to_add", config.get("headers_to_add", {}))
    for table in ("params_to_rename", "headers_to_rename"):
        for old, new in config.get(table, {}).items():
            if not isinstance(new, str) or not new:
                raise ConfigError(f"{where} {table}: {old} is {new!r}; expected its new name")
    _check_header_names(config, where)


def check_progress_url(url: str, where: str) -> None:
    """Raise for a URL with a user name, a password, or a parameter that looks like a secret."""
    plain = without_references(url)
    if not (url_owner(plain) or ":").endswith(":") or "…" in public_url(plain):
        raise ConfigError(
            f"{where}: the progress URL carries a password or a key, which would be recorded. Put the URL into the "
            'environment, and write progress_tracking_url: "${MY_URL}"'
        )


def _check_header_names(config: Mapping[str, Any], where: str) -> None:
    added = config.get("headers_to_add", {})
    renamed = config.get("headers_to_rename", {})
    for name in (*added, *renamed, *renamed.values(), *config.get("headers_to_remove", ())):
        if name.lower() in HOP_BY_HOP:
            raise ConfigError(
                f"{where}: header {name} belongs to the connection, and the client sets it itself; leave it out"
            )
        if not name.isascii() or not name or any(mark in name for mark in " :\t\r\n"):
            raise ConfigError(f"{where}: header name {name!r} cannot be sent; use letters, digits and '-'")
    for name, value in added.items():
        if not value.isascii() or any(mark in value for mark in "\r\n\0"):
            raise ConfigError(
                f"{where}: the value of header {name} has a line break or a character outside ASCII"
            )


def refuse_secrets(value: Any, where: str) -> None:
    """Raise for secrets, at any depth."""
    if isinstance(value, Mapping):
        for name, entry in value.items():
            if isinstance(entry, str) and is_secret_name(str(name)) and "${" not in entry:
                raise ConfigError(
                    f"{where}: {name} looks like a secret, and pipelines are recorded. Export it, and send it as a header: "
                    'headers_to_add: {X-Api-Key: "${MY_KEY}"}'
                )
            refuse_secrets(entry, where)


def _refuse_references(value: Any, where: str, name: str = "") -> None:
    """Raise for a parameter that is a variable, or a secret with one inside. Bodies are recorded, so it would be sent as written."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            _refuse_references(entry, where, str(key))
    elif isinstance(value, list | tuple):
        for entry in value:
            _refuse_references(entry, where, name)
    elif isinstance(value, str):
        rest = without_references(value)
        if rest != value and (not rest or is_secret_name(name)):
            raise ConfigError(
                f"{where}: {name} is {value}, and variables are replaced in headers only, because bodies are recorded. Send "
                f'it as a header: headers_to_add: {{X-Api-Key: "{value}"}}'
            )

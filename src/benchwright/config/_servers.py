"""Where a model's server is and of which kind: profiles applied, addresses put together, headers, certificates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchwright.config._profiles import PROFILES, find_profile
from benchwright.core import ConfigError, environment_secret, is_secret_name, suggest

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


def host_url(host: str | None, port: int | None, *, ssl: bool = False) -> str:
    """The URL of a host and a port; an IPv6 address gets its brackets.

    >>> host_url("::1", 8000), host_url(None, 8000, ssl=True)
    ('http://[::1]:8000', 'https://localhost:8000')
    """
    host = (host or "localhost").strip()
    if "/" in host:
        raise ConfigError(f"host {host!r} is a URL; give it as base_url, or the bare name of the host here")
    if host.count(":") > 1 and not host.startswith("["):
        host = f"[{host}]"
    return f"{'https' if ssl else 'http'}://{host}:{port or 8080}"


def trusted_certificates(verify: bool | None, ca_file: str | None) -> bool | str | None:
    """Which certificates are trusted: any (False), those of the system (True), or these and one file's; None: not given.

    >>> trusted_certificates(None, "/certs/own.pem"), trusted_certificates(False, None)
    ('/certs/own.pem', False)
    """
    if ca_file is None:
        return verify
    if verify is False:
        raise ConfigError(
            "verify = false checks no certificate, so ca_file has no effect; leave one of them out"
        )
    return str(Path(ca_file).expanduser().absolute())


def apply_profile(where: str, checked: dict[str, Any]) -> None:
    """What the profile says, for all that the table does not."""
    name = checked.get("profile")
    if name is None:
        return
    profile = find_profile(name)
    if profile is None:
        raise ConfigError(
            f"{where} profile: {name!r} is not known.{suggest(name, PROFILES)} Known: {', '.join(PROFILES)}"
        )
    if checked.setdefault("api", profile.api) != profile.api:
        raise ConfigError(
            f"{where}: profile {name} speaks {profile.api}, and api is {checked['api']!r}; leave api out"
        )
    checked.setdefault("type", profile.type)
    checked.setdefault("stream", profile.stream)


def set_address(where: str, checked: dict[str, Any]) -> None:
    """One base URL, however the address was written, and whether the server must have a single model."""
    parts = [key for key in ("host_ip", "host_port", "enable_ssl") if key in checked]
    host, port, ssl = (checked.pop(key, None) for key in ("host_ip", "host_port", "enable_ssl"))
    url = checked.get("base_url")
    known_kind = "profile" in checked or "api" in checked
    if "provider" in checked:
        if parts or known_kind:
            raise ConfigError(
                f"{where}: the provider says where its models are; leave host, profile and api out"
            )
        if "model" not in checked:
            raise ConfigError(f'{where} has no model. Write type = "{checked["provider"]}:MODEL"')
        return
    for key in ("account_id", "gateway_id"):
        if key in checked:
            raise ConfigError(
                f'{where} {key}: only a provider has this; add type = "cloudflare_ai_gateway:MODEL"'
            )
    if url is not None:
        if host not in (None, "localhost") or port not in (None, 8080):  # what their templates leave in
            raise ConfigError(f"{where} has base_url and host_ip or host_port; keep one of them")
        if "://" not in url and "profile" in checked:
            checked["base_url"] = f"{'https' if ssl else 'http'}://{url}"
    elif parts or "profile" in checked:
        checked["base_url"] = host_url(host, port, ssl=bool(ssl))
    else:
        raise ConfigError(f'{where} has no base_url. Add, for example: base_url = "http://localhost:8000/v1"')
    checked["only_model"] = "model" not in checked and not known_kind

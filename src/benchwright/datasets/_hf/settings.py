"""Settings of the hub from the environment, read at every use, so that variables set after the import count."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from benchwright.core import (
    ConfigError,
    HidesFields,
    expand_home,
    key_in_url,
    public_url,
    remember_secret,
    url_owner,
)

PUBLIC_HUB = "https://huggingface.co"
"""The hub if `HF_ENDPOINT` is not set."""
PUBLIC_VIEWER = "https://datasets-server.huggingface.co"
"""The dataset viewer of the public hub."""

_YES = {"1", "ON", "YES", "TRUE"}
_TOKEN_VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_OFFLINE_VARIABLES = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE")


class HubSettings(HidesFields, Struct, frozen=True):
    """Where the hub is, which token to send, and where rows are kept."""

    hidden = ("token",)

    endpoint: str
    """Base of all hub addresses, without a slash at the end."""
    viewer: str
    """Base of the dataset viewer."""
    token: str | None
    """Bearer token, or None for an anonymous reader. Never printed."""
    token_source: str | None
    """Where the token was found: a variable's name or a file."""
    token_path: Path | None
    """Where `hf auth login` keeps the token; None if a variable contains it, or forbids sending one."""
    offline: str | None
    """The variable that forbids network access, if one does."""
    cache: Path
    """benchwright's cache folder."""
    hub_cache: Path
    """The cache of the `huggingface_hub` library, which is read and never written."""
    timeout_s: int
    """How long to wait for a silent connection."""

    def page(self, repo: str) -> str:
        """Address of a dataset's page."""
        return f"{self.endpoint}/datasets/{repo}"


def hub_settings(environ: Mapping[str, str] | None = None) -> HubSettings:
    """The current settings from the environment. Raises ConfigError for values that cannot be used."""
    env = os.environ if environ is None else environ
    endpoint = _address(env, "HF_ENDPOINT") or PUBLIC_HUB
    home = _folder(env.get("HF_HOME")) or _cache_home(env) / "huggingface"
    token, source, path = _token(env, home)
    # A private hub is never mixed with the public viewer, which shows other data and must not get its token.
    viewer = PUBLIC_VIEWER if endpoint == PUBLIC_HUB else endpoint
    return HubSettings(
        endpoint=endpoint,
        viewer=_address(env, "BENCHWRIGHT_VIEWER_URL") or _address(env, "HF_DATASETS_SERVER") or viewer,
        token=token,
        token_source=source,
        token_path=path,
        offline=next((name for name in _OFFLINE_VARIABLES if env.get(name, "").upper() in _YES), None),
        cache=cache_folder(env),
        hub_cache=_folder(env.get("HF_HUB_CACHE")) or home / "hub",
        timeout_s=_seconds(env, "HF_HUB_DOWNLOAD_TIMEOUT", 10),
    )


def _address(env: Mapping[str, str], name: str) -> str | None:
    value = env.get(name, "").strip().rstrip("/")
    if not value:
        return None
    if not value.lower().startswith(("http://", "https://")) or any(c.isspace() for c in value):
        raise ConfigError(f"{name} is {public_url(value)!r}; expected an address such as {PUBLIC_HUB}")
    if url_owner(value) is not None or key_in_url(value) is not None:
        raise ConfigError(
            f"{name} contains a password or a key, and addresses are recorded with a run. Write the address alone, such as "
            f"{PUBLIC_HUB}, and give a token in HF_TOKEN"
        )
    return value


def _token(env: Mapping[str, str], home: Path) -> tuple[str | None, str | None, Path | None]:
    """The token, where it was found, and the file of `hf auth login` if that file decides."""
    if env.get("HF_HUB_DISABLE_IMPLICIT_TOKEN", "").upper() in _YES:
        return None, None, None
    for name in _TOKEN_VARIABLES:
        if found := env.get(name, "").strip():
            return checked_token(found, name), name, None
    path = _folder(env.get("HF_TOKEN_PATH")) or home / "token"
    try:
        found = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        found = ""
    return (checked_token(found, str(path)), str(path), path) if found else (None, None, path)


def checked_token(token: str, source: str) -> str:
    """Refuse an invalid token without showing it. The HTTP library would print a header that it cannot send."""
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(
            f"the token in {source} contains spaces, line breaks or other characters no token has. "
            "Copy it again from https://huggingface.co/settings/tokens"
        )
    remember_secret(token, source)
    return token


def _seconds(env: Mapping[str, str], name: str, default: int) -> int:
    """A whole number of seconds; with anything else `huggingface_hub` cannot be imported."""
    text = env.get(name, "").strip()
    if not text:
        return default
    if not text.isdecimal() or int(text) < 1:
        raise ConfigError(f"{name} is {text!r}; expected a whole number of seconds above 0")
    return int(text)


def cache_folder(env: Mapping[str, str] | None = None) -> Path:
    """The folder for everything that can be fetched again."""
    env = os.environ if env is None else env
    return _folder(env.get("BENCHWRIGHT_CACHE")) or _cache_home(env) / "benchwright"


def _cache_home(env: Mapping[str, str]) -> Path:
    return _folder(env.get("XDG_CACHE_HOME")) or _folder("~/.cache") or Path(".cache")


def _folder(text: str | None) -> Path | None:
    if not text:
        return None
    return Path(os.path.abspath(expand_home(text)))

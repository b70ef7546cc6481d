"""Where runs are recorded: the store that a flag, a variable or `benchwright.toml` names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchwright.config._files import ConfigFile
from benchwright.core import ConfigError, expand_home

VARIABLE = "BENCHWRIGHT_STORE"
_flag: list[str] = []
"""What `--store` named, for all that a command does."""


@contextmanager
def using_store(named: str | None) -> Iterator[None]:
    """Record runs in this store, unless another one is named, while the block runs."""
    if named is None:
        yield
        return
    _flag.append(named)
    try:
        yield
    finally:
        _flag.pop()


def named_store(root: Path, given: str | None = None) -> str | None:
    """The URL of the store that is named: by a keyword, a flag, the environment, or the configuration file of the workspace; None: the
    workspace has its own."""
    named = given or (_flag[-1] if _flag else None) or os.environ.get(VARIABLE)
    if named:
        return _url(named, Path.cwd())
    for path in (root / name for name in ConfigFile.names):
        if path.is_file() and (written := _in_file(path)) is not None:
            return _url(written, root)
    return None


def _in_file(path: Path) -> str | None:
    try:
        text = path.read_text(encoding="utf-8-sig")
        if "store" not in text:  # most have none, and need not be parsed for it
            return None
        import tomllib

        named = tomllib.loads(text).get("store")
    except (OSError, ValueError):
        return None  # who reads the whole file says what is wrong with it
    if named is not None and (not isinstance(named, str) or not named):
        raise ConfigError(
            f'{path}: store is {named!r}; expected a file or a URL, such as store = "results.db"'
        )
    return named


def _url(named: str, folder: Path) -> str:
    """
    >>> _url("results.db", Path("/srv/evals")), _url("memory:///tmp/evals", Path("/srv"))
    ('sqlite:////srv/evals/results.db', 'memory:///tmp/evals')
    """
    if "://" not in named:
        return f"sqlite:///{folder / expand_home(named)}"
    scheme, _, place = named.partition(":///")
    if scheme == "sqlite" and place and not place.startswith(("/", "~")):
        return f"sqlite:///{folder / place}"
    return named

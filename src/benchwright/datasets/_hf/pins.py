"""One commit per revision for everything that a run reads.

Within `hub_commits()` every revision is looked up at most once: the rows, the examples and the checks of a run see the same
commit, even if the branch moves in the meantime. A run records the commits, and passes them in again when it resumes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar


class Commits:
    """Commits by `org/name@revision`. Nested ones share what they look up."""

    def __init__(self, recorded: Mapping[str, str], outer: Commits | None) -> None:
        self._recorded = recorded
        self._outer = outer
        self.used: dict[str, str] = {}
        """Those that were used here."""

    def get(self, key: str) -> str | None:
        """The commit, if it was looked up before."""
        found = self.used.get(key) or self._recorded.get(key)
        if found is None and self._outer is not None:
            found = self._outer.get(key)
        if found is not None:
            self.used[key] = found
        return found

    def keep(self, key: str, commit: str) -> None:
        """Keeps a commit that was just looked up."""
        self.used[key] = commit
        if self._outer is not None:
            self._outer.keep(key, commit)


pinned_commits: ContextVar[Commits | None] = ContextVar("hub_commits", default=None)
"""The innermost one; None outside `hub_commits()`."""


def recorded_pins(manifest: Mapping[str, object]) -> dict[str, str]:
    """What a recorded run read: its commits, and the split where the URI named none, since the rule that chose it may have
    changed. For `hub_commits`."""
    commits, dataset = manifest.get("hub"), manifest.get("dataset")
    pins = {str(key): str(value) for key, value in commits.items()} if isinstance(commits, Mapping) else {}
    source = dataset.get("source") if isinstance(dataset, Mapping) else None
    if isinstance(dataset, Mapping) and isinstance(source, Mapping) and isinstance(source.get("split"), str):
        pins[_split_key(str(dataset.get("name")))] = source["split"]
    return pins


def recorded_split(uri: str) -> str | None:
    """The split that a recorded run read of a URI without one."""
    pins = pinned_commits.get()
    return None if pins is None else pins.get(_split_key(uri))


def _split_key(uri: str) -> str:
    return f"split of {uri}"


@contextmanager
def hub_commits(recorded: object = None) -> Iterator[dict[str, str]]:
    """Inside, every revision of a hub dataset is one commit. Yields the dictionary of the commits used.

    Also a decorator: `@hub_commits()`.

    Args:
        recorded: the commits of an earlier run, from its record; these revisions are not looked up again.
    """
    known = recorded if isinstance(recorded, Mapping) else {}
    commits = Commits({str(key): str(value) for key, value in known.items()}, pinned_commits.get())
    token = pinned_commits.set(commits)
    try:
        yield commits.used
    finally:
        pinned_commits.reset(token)

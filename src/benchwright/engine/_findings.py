"""What a run learns about its servers: settings they refuse, and model names they reply with. The run's manifest keeps it,
so that a resumed run sends the same bodies and keeps the notes on its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchwright.core import DEMO_NOTE, JsonObject, redact
from benchwright.endpoints import SERVED_BY_DEMO, RequestAdapter
from benchwright.store import RunRecord, Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchwright.engine._group import RunGroup

_KEY = "servers"
_SHOWN_NAMES = 3
_KEPT_NAMES = 16
_LONGEST_NAME = 200
"""A server may reply to every request with another model name of any length, so names are cut and only a few are kept."""


class EndpointFindings:
    """What is known about one endpoint."""

    def __init__(self, known: dict[str, Any], changed: Callable[[], None], shared: set[str]) -> None:
        self.adapter = RequestAdapter(known.get("refused"), learned=changed, shared=shared)
        """Settings that the server refuses."""
        self.served: list[str] = list(known.get("served") or ())
        """Model names it replied with, other than the requested one."""
        self._changed = changed
        self._seen = set(self.served)

    def saw(self, name: str) -> None:
        """Record that a reply had another model name than the requested one."""
        if name in self._seen or len(self._seen) >= _KEPT_NAMES:
            return
        self._seen.add(name)
        kept = redact(name)  # before it is cut, because cutting would leave part of a secret
        kept = kept if len(kept) <= _LONGEST_NAME else kept[:_LONGEST_NAME] + "…"
        if kept not in self.served:
            self.served.append(kept)
            self._changed()

    def to_json(self) -> JsonObject:
        """Return the findings for the manifest; empty if there are none."""
        found: dict[str, Any] = {"refused": self.adapter.refused, "served": self.served}
        return {name: value for name, value in found.items() if value}


class ServerFindings:
    """What is known about all endpoints of a run, including its judges."""

    def __init__(
        self,
        known: object = None,
        *,
        group: RunGroup | None = None,
        changed: Callable[[JsonObject], None] | None = None,
    ) -> None:
        """`known` comes from the manifest of a run. `changed` is called with the new findings before they are applied."""
        self._known: dict[str, Any] = known if isinstance(known, dict) else {}
        self._report = changed
        self._group = group
        self._endpoints: dict[str, EndpointFindings] = {}
        for fingerprint in self._known:
            self.of(fingerprint)

    @classmethod
    def of_run(
        cls, store: Store, run: RunRecord, group: RunGroup, source: int | None = None
    ) -> ServerFindings:
        """Return the findings of a recorded run; `source` is the run whose replies are scored again."""
        known = run.manifest.get(_KEY)
        if known is None and source is not None:  # send the same requests, to find its replies
            known = store.run(source).manifest.get(_KEY)

        def changed(servers: JsonObject) -> None:
            store.update_run(run.id, manifest={**store.run(run.id).manifest, _KEY: servers})

        return cls(known, group=group, changed=changed)

    def of(self, fingerprint: str) -> EndpointFindings:
        """The findings about one endpoint."""
        found = self._endpoints.get(fingerprint)
        if found is None:
            shared = set() if self._group is None else self._group.refused_settings(fingerprint)
            known = self._known.get(fingerprint) or {}
            found = self._endpoints[fingerprint] = EndpointFindings(known, self._keep, shared)
        return found

    def notes(self, fingerprint: str, model: str) -> list[str]:
        """Notes on the numbers; `fingerprint` and `model` are those of the model under test."""
        notes: list[str] = []
        for each, found in self._endpoints.items():
            own = each == fingerprint
            judge = each.split()[1] if " " in each else each  # a fingerprint is the URL and the model's name
            notes += found.adapter.notes("the server" if own else f"the server of {judge}")
            if SERVED_BY_DEMO in found.served:
                notes.append(DEMO_NOTE if own else demo_judge_note(judge))
            others = [name for name in found.served if name != SERVED_BY_DEMO]
            if others:
                listed = ", ".join(others[:_SHOWN_NAMES]) + (", …" if len(others) > _SHOWN_NAMES else "")
                notes.append(
                    f"the requested model is {model if own else judge}; the server answered as {listed}"
                )
        return notes

    def _keep(self) -> None:
        """Record the findings before they are applied, so that a killed process leaves no reply without its rule."""
        servers: JsonObject = {
            name: found.to_json() for name, found in self._endpoints.items() if found.to_json()
        }
        if self._report is not None:
            self._report(servers)


def demo_judge_note(judge: str) -> str:
    """The note on a judge that is the demo model."""
    return f'the judge "{judge}" is the demo model; its grades don\'t describe a real judge'

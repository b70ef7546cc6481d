"""Why a workflow's record was refused. Each class has a `code`, which is what the REST API calls it (status 409)."""

from __future__ import annotations

from itertools import islice
from typing import ClassVar

from benchwright.core import BenchwrightError, JsonValue, json_differences

_SHOWN = 8
"""Differences listed in a message."""


class RecordRefusedError(BenchwrightError):
    """The store knows better: the record contradicts what is there."""

    code: ClassVar[str] = "conflict"


class InputChangedError(RecordRefusedError):
    """A step of this key is recorded with another input."""

    code = "input_changed"

    def __init__(
        self, key: str, old_hash: str, new_hash: str, old_input: JsonValue = None, new_input: JsonValue = None
    ) -> None:
        self.key = key
        self.old_hash = old_hash
        self.new_hash = new_hash
        self.old_input = old_input
        self.new_input = new_input
        super().__init__(
            f"step {key!r} is recorded with another input (hash {old_hash[:12]}…, now {new_hash[:12]}…):"
            f"{_listed(old_input, new_input)}\n"
            "Undo the change, give the step another key, start a new run, "
            'or replace the recorded step with on_input_change="rerun".'
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.key, self.old_hash, self.new_hash, self.old_input, self.new_input)


class StepHeldError(RecordRefusedError):
    """A live process is executing the step already."""

    code = "step_held"


class StaleAttemptError(RecordRefusedError):
    """The attempt is not the current one, or has ended already: somebody else's word counts."""

    code = "stale_attempt"


class RunClosedError(RecordRefusedError):
    """The run has ended; nothing is added to it any more."""

    code = "run_closed"


def _listed(old: JsonValue, new: JsonValue) -> str:
    found = list(islice(json_differences(old, new), _SHOWN + 1))
    lines = [f"\n  {difference}" for difference in found[:_SHOWN]]
    if len(found) > _SHOWN:
        lines.append("\n  …")
    return "".join(lines) or " the recorded input itself is not known."

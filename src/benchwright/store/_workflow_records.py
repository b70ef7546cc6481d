"""Records of workflows (leases, steps, metric points, pages), and the pure rules for a step that begins or ends.

Every writer follows the same rules:

| recorded | same input | other input |
|---|---|---|
| nothing | run, attempt 1 | |
| completed | reuse; without cache, or stored without a secret, a new generation | refuse, or a new generation on `rerun` |
| running, by this lease | refuse: it is being executed | refuse: it is being executed |
| running, by an older lease | run, attempt + 1 | as completed |
| failed, interrupted | run, attempt + 1 | as completed |
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct, ValidationError, convert, field

from benchwright.core import (
    BenchwrightError,
    DamagedRecordError,
    JsonObject,
    JsonValue,
    StepStatus,
    json_differences,
    ready,
)
from benchwright.store._records import is_withheld, load_json, storable, storable_json

T = TypeVar("T")

InputChange: TypeAlias = Literal["fail", "rerun"]
"""What to do if a step's input differs from the recorded one: refuse, or supersede the old step and keep it."""


class WorkflowStep(Struct, frozen=True):
    """One step as recorded."""

    id: int
    """Number in the workspace, growing in the order in which steps were first begun."""
    run_id: int
    key: str
    """The user's name for it, unique in its run."""
    generation: int
    """1, or more if an earlier one was superseded."""
    attempt: int
    """How often this generation was begun."""
    input_hash: str
    """SHA-256 of the input's canonical JSON, 64 hexadecimal digits."""
    input: bytes | None
    """That JSON; None if only its hash is known."""
    status: StepStatus
    output: bytes | None
    """Its output (JSON), if completed."""
    error: str | None
    """Why the last attempt failed or was interrupted."""
    started_at: float
    """Wall clock of the last attempt's start."""
    finished_at: float | None
    """Wall clock of its end."""


class BeginDecision(NamedTuple):
    """Whether to execute a step or use the recorded output. A named tuple, because one is made per step."""

    kind: Literal["run", "reuse"]
    """`run`: execute, then complete or fail with this attempt number. `reuse`: use `output`."""
    step_id: int
    """Number of the step."""
    attempt: int
    """Attempt that was begun, or that completed the step."""
    output: bytes | None = None
    """Recorded output (JSON); None if the step is to be executed."""
    generation: int = 1
    """Above 1 if older records of the step were superseded."""
    failures: int = 0
    """Earlier attempts of this generation that failed, including those before a kill."""


class MetricPoint(Struct, frozen=True):
    """One emitted value of a metric."""

    id: int
    """Number in the workspace, growing."""
    run_id: int
    step_id: int | None
    """The step that emitted it; None: the run as a whole."""
    name: str
    """What was measured."""
    value: float
    """A finite number."""
    unit: str | None
    """The unit, if given."""
    tags: JsonObject | None
    """The user's labels."""
    created_at: float
    """Wall clock."""


class MetricTotals(Struct, frozen=True):
    """All points of one metric of a run, summed up."""

    count: int
    """Points."""
    mean: float
    last: float
    """The newest."""
    min: float
    """Smallest."""
    max: float
    """Largest."""
    unit: str | None
    """The unit of the newest."""

    def to_json(self) -> JsonObject:
        """The form in the summary of a run: the mean is its `value`."""
        return {
            "value": self.mean,
            "count": self.count,
            "last": self.last,
            "min": self.min,
            "max": self.max,
            "unit": self.unit,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> MetricTotals:
        """Read the form in the summary of a run."""
        try:
            return convert({"mean" if name == "value" else name: record[name] for name in record}, ready(cls))
        except (ValidationError, TypeError) as error:
            raise DamagedRecordError(f"the metrics of the run cannot be read: {error}") from None


class Page(Generic[T], Struct, frozen=True):
    """Part of a list."""

    items: list[T] = field(default_factory=list)
    """In order of their numbers."""
    next: int | None = None
    """The `after` of the next page; None on the last page."""
    looked: int | None = None
    """How many entries were looked at, one by one, to find these; None: an index led to them."""
    indexed: tuple[int, int] | None = None
    """The list must be indexed first, and the patience for that has ended: how many entries are, and how many there are. Asked again, it
    goes on from there."""


class StepState(NamedTuple):
    """The newest generation of a step, with the fields that decisions need."""

    id: int
    """Number of the step."""
    generation: int
    attempt: int
    input_hash: str
    status: str
    output: bytes | None
    """Recorded output."""
    owner: str
    """Lease and holder of the attempt."""
    failures: int = 0
    """Attempts of this generation that failed. Interrupted ones are not the step's fault."""


class StepRequest(NamedTuple):
    """A request to execute a step. A named tuple, because one is made per step."""

    key: str
    """Its name."""
    input_hash: str
    """SHA-256 of the input's canonical JSON."""
    input: bytes | None = None
    """That JSON, if it should be kept."""
    on_input_change: InputChange = "fail"
    """What to do if the recorded input differs."""
    cache: bool = True
    """Whether a recorded output may be used."""
    holder: str = ""
    """Identifies the call: the same request twice, as after a lost answer, is one request."""
    take_over: bool = False
    """Whether the caller knows that no process executes the step, although its record says so."""

    def storable(self) -> StepRequest:
        """The request with a key and an input that the database can store; the hash stays that of the original input."""
        request = self if self.key.isascii() else self._replace(key=storable(self.key))
        if self.input is None or (kept := storable_json(self.input)) is self.input:
            return request
        return request._replace(input=kept)


Planned: TypeAlias = tuple[Literal["reuse", "same", "again", "new"], int, int]
"""The effect of a decision on the record: use the output, continue the same attempt, begin the next attempt, or begin a new
generation; then which generation, and which attempt."""


def owner_text(token: str, holder: str) -> str:
    """The recorded text for the owner of an attempt."""
    return f"{token}/{holder}" if holder else token


def plan_begin(state: StepState | None, request: StepRequest, token: str) -> Planned:
    """Decide about a step. Raises `InputChangedError` (`with_inputs` adds the inputs) and `StepHeldError`."""
    if state is None:
        return "new", 1, 1
    if state.status == "running" and state.owner.partition("/")[0] == token and not request.take_over:
        if request.holder and state.owner == owner_text(token, request.holder):
            return "same", state.generation, state.attempt
        raise StepHeldError(
            f"step {request.key!r} is being executed (attempt {state.attempt}). Keys are unique in a run: "
            "give each step its own, or await the first before the second begins."
        )
    if state.input_hash != request.input_hash:
        if request.on_input_change == "rerun":
            return "new", state.generation + 1, 1
        raise InputChangedError(request.key, state.input_hash, request.input_hash)
    if state.status == "completed":
        if request.cache and not is_withheld(state.output):
            return "reuse", state.generation, state.attempt
        return "new", state.generation + 1, 1
    return "again", state.generation, state.attempt + 1


def with_inputs(error: InputChangedError, old: bytes | None, new: bytes | None) -> InputChangedError:
    """The same error with both inputs, if both are known."""
    if old is None or new is None:
        return error
    return InputChangedError(error.key, error.old_hash, error.new_hash, load_json(old), load_json(new))


def check_end(
    key: str, state: StepState, attempt: int | None, outcome: str, output: bytes | None
) -> Literal["write", "done"]:
    """Whether the end of an attempt may be recorded: `done` if it already is; raises `StaleAttemptError` if it may not.

    An interrupted attempt may still end: a process that takes over a run marks open steps before they are executed again,
    and work that was finished anyway is not lost.
    """
    if attempt is not None and attempt != state.attempt:
        raise StaleAttemptError(
            f"attempt {attempt} of step {key!r} is over: attempt {state.attempt} has begun since. Its result is not recorded."
        )
    if state.status in ("running", "interrupted"):
        return "write"
    if state.status == outcome and (outcome != "completed" or state.output == output):
        return "done"
    raise StaleAttemptError(
        f"step {key!r} has ended already ({state.status}, attempt {state.attempt}) with another result, which stays."
    )


_SHOWN = 8
"""The most differences that a message lists."""
_LONGEST = 80
"""The most characters of a value that a message shows."""


class RecordRefusedError(BenchwrightError):
    """The record contradicts the store."""

    code: ClassVar[str] = "conflict"


class InputChangedError(RecordRefusedError):
    """A step with this key is recorded with another input."""

    __module__ = "benchwright"

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
    """A live process is already executing the step."""

    __module__ = "benchwright"

    code = "step_held"


class StaleAttemptError(RecordRefusedError):
    """The attempt is not the current one, or has already ended; the record of the other attempt stays."""

    __module__ = "benchwright"

    code = "stale_attempt"


class RunClosedError(RecordRefusedError):
    """The run has ended; it takes no more records."""

    __module__ = "benchwright"

    code = "run_closed"


def _listed(old: JsonValue, new: JsonValue) -> str:
    found = list(islice(json_differences(old, new), _SHOWN + 1))
    lines = [f"\n  {_difference(*each)}" for each in found[:_SHOWN]]
    if len(found) > _SHOWN:
        lines.append("\n  …")
    return "".join(lines) or " the recorded input itself is not known."


def _difference(path: str, kind: str, old: JsonValue, new: JsonValue) -> str:
    """A difference in words.

    >>> _difference("$.b[1]", "changed", 2, 3), _difference("$.c", "added", None, None)
    ('$.b[1]: 2 → 3', '$.c: added null')
    """
    if kind == "added":
        return f"{path}: added {_short(new)}"
    if kind == "removed":
        return f"{path}: removed, was {_short(old)}"
    return f"{path}: {_short(old)} → {_short(new)}"


def _short(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

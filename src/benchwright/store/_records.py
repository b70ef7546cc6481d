"""The values that the store returns (runs, steps, events), and the conversion of texts for the database."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, overload

from msgspec import Struct

from benchwright.core import (
    REDACTED,
    BenchwrightError,
    JsonObject,
    JsonValue,
    RunKind,
    RunProgress,
    RunStatus,
    UsageError,
    encode_json,
    known_secrets,
    load_exact_json,
    redact,
    secret_within,
)
from benchwright.store._owner import Owner


@overload
def storable(text: str) -> str: ...
@overload
def storable(text: str | None) -> str | None: ...
def storable(text: str | None) -> str | None:
    """Replace lone surrogates, which UTF-8 cannot represent, by question marks; users' texts may contain them."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


@overload
def storable_message(text: str) -> str: ...
@overload
def storable_message(text: str | None) -> str | None: ...
def storable_message(text: str | None) -> str | None:
    """Prepare a message for storage: it may quote anything, so secrets are removed."""
    return None if text is None else storable(redact(text))


def storable_json(value: bytes) -> bytes:
    """Remove secrets from encoded JSON for storage."""
    return known_secrets().clean_json(value)


def storable_settings(settings: JsonObject) -> bytes:
    """Encode a run's settings as JSON. A resumed run needs the exact settings, so a secret in them is refused, not removed."""
    if (found := secret_within(settings)) is not None:
        place, variable = found
        raise UsageError(
            f"{place}: this contains the value of the environment variable {variable}, and settings are recorded; nothing was "
            "sent. Take it out. A header may name the variable, in single quotes: "
            f"--header 'X-Name=${{{variable}}}'"
        )
    return encode_json(settings)


def storable_input(value: JsonValue) -> bytes:
    """Encode a run's input as JSON. A resumed run needs the exact input, so a secret in it is refused, not removed."""
    return checked_input(encode_json(value))


def checked_input(encoded: bytes) -> bytes:
    """A run's encoded input, refused if it contains a secret."""
    if storable_json(encoded) is not encoded:
        raise UsageError(
            "the run's input contains a secret, and inputs are recorded. Give the name of the environment variable "
            "instead, and read it in the workflow"
        )
    return encoded


def encoded_progress(progress: RunProgress | None) -> bytes | None:
    """The progress of a run as JSON."""
    return None if progress is None else encode_json(progress.to_json())


def is_withheld(value: bytes | None) -> bool:
    """Whether a part of a recorded output was removed, so that it cannot replace the computed value."""
    return value is not None and REDACTED.encode() in value


@overload
def load_json(text: bytes) -> JsonValue: ...
@overload
def load_json(text: bytes | None) -> JsonValue: ...
def load_json(text: bytes | None) -> JsonValue:
    """Decode a stored JSON value with every digit; None if there is none."""
    if text is None:
        return None
    return load_exact_json(text)


class StoreError(BenchwrightError):
    """The store cannot be used."""

    __module__ = "benchwright"

    def __init__(self, text: str, *, resume: str = "", cure: str = "") -> None:
        super().__init__(text + resume)
        self._text, self._resume, self._cure = text, resume, cure

    def for_load_test(self, run_id: int) -> StoreError:
        """Return this error for a load test, which cannot be resumed, with the other cure."""
        if not self._resume:
            return self
        again = f"{self._cure}, then start" if self._cure else "start"
        return StoreError(
            f"{self._text}. A load test cannot be resumed: {again} it again. Figures of the requests recorded so far: "
            f"benchwright show {run_id}"
        )


class Recovered(Struct, frozen=True):
    """The result of recovering a damaged store."""

    kept: Path
    """Where the damaged file is now."""
    rows: dict[str, int]
    """Rows that were read and copied, by table."""
    lost: int
    """Places in the file where rows could not be read."""


class RunRecord(Struct, frozen=True):
    id: int
    """Number in the workspace."""
    name: str
    """Normalised benchmark name."""
    target: str
    """What the user named as TARGET."""
    model: str
    """Model id."""
    status: RunStatus
    """The status of the run. A run whose owner died counts as `interrupted`."""
    folder: Path
    """Where its files are written."""
    settings: JsonObject
    """Everything needed to resume the run, recorded at the start, without secrets."""
    manifest: JsonObject
    """Hashes, fingerprints, versions, seed."""
    summary: JsonObject | None
    """The final numbers, or those of the partial run if it stopped."""
    error: str | None
    """Why it failed or stopped."""
    created_at: float
    """Wall clock, seconds since the epoch."""
    finished_at: float | None
    """Wall clock of the last end, if it ended."""
    kind: str = RunKind.BENCHMARK
    """What was run: a `RunKind`, or a kind that a newer version wrote. The summary of a workflow is `{steps: {status: count}, metrics: {name: {value, count, …}}}`."""
    input: JsonValue = None
    """The input of a workflow."""
    output: JsonValue = None
    """The result of a workflow's handler."""
    tags: JsonObject | None = None
    """The user's labels."""
    starts: int = 1
    """Times the run was started or resumed."""
    worked: float | None = None
    """Seconds that processes worked on it, over all starts that ended; None: not known."""
    progress: JsonObject | None = None
    """How far a live run has come, as a `RunProgress`; None: it is not live, or has not told yet."""
    lost: int = 0
    """Samples or requests that its summary counts and that are not on record any more."""
    owner: Owner | None = None
    """The live process that executes it."""
    damage: str = ""
    """What of its record cannot be read and what helps. Only lists have such a record, with empty values in place of what is damaged."""

    @property
    def loss(self) -> str:
        """What it has lost, in words, if it has: the last note of its summary."""
        note: Any = (self.summary or {})["notes"][-1]  # type: ignore[index]
        return str(note["text"] if isinstance(note, dict) else note)

    @property
    def incomplete(self) -> str:
        """What whoever uses a run that has lost records is told; empty, if it has lost none."""
        cure = "Restore them, if its files have them, with: benchwright doctor"
        return f"run {self.id} is not complete: {self.loss}. {cure}" if self.lost else ""

    def damaged(self, told: str) -> str:
        """What cannot be read of a self, and what helps, after the number of the self."""
        return (
            f"cannot be read ({told}). Its files, if any, are in {self.folder}. Another version of benchwright may read it; "
            f"if none does, delete it: benchwright rm {self.id}"
        )


class RecordedStep(NamedTuple):
    """A recorded call, score or other step, as resuming, caching and reports need it."""

    input_hash: bytes
    """Hash of what it was made from."""
    output: bytes
    """The result as JSON; of a call, the reply."""
    input: bytes | None = None
    """What it was made from; of a call, the request. None where it was not asked for."""


class SampleSteps(NamedTuple):
    """The recorded steps of one sample and repeat."""

    sample: int
    """0-based row number."""
    repeat: int
    """0-based repeat."""
    score_input: bytes | None
    """The row, as JSON."""
    score: bytes
    """The result, as JSON."""
    call_input: bytes | None
    """Body of the sample's first call, if it made one."""
    call_output: bytes | None
    """Reply to the sample's last call, if it made one."""


class Event(Struct, frozen=True):
    """An event of a run."""

    kind: str
    """`run.started`, `run.resumed`, `run.changed`, `run.stopped`, `run.finished`, `run.judged`, `warning`; of workflows also `run.completed`,
    `run.failed`, `run.interrupted`, `step.started`, `step.completed`, `step.failed`, `step.interrupted`, and the user's
    kinds."""
    message: str
    """In plain words."""
    created_at: float
    """Wall clock."""
    id: int = 0
    """Number in the workspace: the order in which events were recorded."""
    step_id: int | None = None
    """The workflow step that it belongs to, if any."""
    data: JsonValue = None
    """Further facts."""


def event_of(row: tuple[Any, ...]) -> Event:
    """An event from its columns."""
    kind, message, created_at, number, step_id, data = row
    return Event(kind, message, created_at, number, step_id, load_json(data))

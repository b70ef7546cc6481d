"""The outcomes of samples and the statuses of runs and steps. Every list of these words is derived from here."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal, TypeAlias, cast

from msgspec import Struct

from benchwright.core._errors import BenchwrightError


class Outcome(StrEnum):
    """How a sample ended. Every sample has exactly one outcome. All are counted, and none is turned into a score of zero."""

    SCORED = "scored"
    """The scorer returned numbers, or the row has no answer to score against and metrics leave it out."""
    UNPARSED = "unparsed"
    """The model answered, but the scorer found no answer in its text (`parsed` is false)."""
    EMPTY = "empty"
    """The model sent empty or null content."""
    TRUNCATED = "truncated"
    """The reply was cut short: a thought was not closed, or the token limit came before any answer."""
    REFUSED = "refused"
    """The server or the model declined (content filter, refusal field)."""
    REQUEST_FAILED = "request_failed"
    """No usable reply after all attempts."""
    SCORER_FAILED = "scorer_failed"
    """The scorer, or its judge, raised or returned something that is not a score."""
    SKIPPED = "skipped"
    """The row could not be sent: a field that the prompt needs is missing."""

    @classmethod
    def _missing_(cls, value: object) -> Outcome:
        raise _newer("a sample", "outcome", value)

    @property
    def has_reply(self) -> bool:
        """Whether the sample has a reply that can be scored."""
        return self not in (Outcome.REQUEST_FAILED, Outcome.SKIPPED)

    @property
    def style(self) -> str:
        """Its colour in terminals."""
        return "green" if self is Outcome.SCORED else "yellow"


RunStatus: TypeAlias = Literal["queued", "running", "interrupted", "completed", "failed", "canceled"]
StepStatus: TypeAlias = Literal["running", "completed", "failed", "interrupted"]
"""The status of a workflow step."""


class Status(Struct, frozen=True, kw_only=True):
    """What a status means."""

    live: bool = False
    """A process executes the run, or will. If that process is dead, the run counts as interrupted."""
    final: bool = False
    """The run was ended on purpose or failed. It can no longer be canceled."""
    troubled: bool = False
    """Whether a step with this status needs attention."""
    of_steps: bool = True
    """Whether steps have it too."""
    exit_code: int = 1
    """The exit code of a command whose run ended with this status."""
    style: str = ""
    """Its colour in terminals."""


RUN_STATUSES: Mapping[RunStatus, Status] = {
    "queued": Status(live=True, of_steps=False),
    "running": Status(live=True, style="cyan"),
    "interrupted": Status(troubled=True, exit_code=130, style="yellow"),
    "completed": Status(final=True, exit_code=0, style="green"),
    "failed": Status(final=True, troubled=True, style="red"),
    "canceled": Status(final=True, of_steps=False, exit_code=130),
}
"""All statuses of runs, in the order in which a run passes through them."""


def known_run_status(name: str, run_id: int) -> RunStatus:
    """The status of that name. `BenchwrightError` for one that a newer version recorded."""
    if name not in RUN_STATUSES:
        raise _newer(f"run {run_id}", "status", name)
    return cast(RunStatus, name)


def _newer(what: str, noun: str, name: object) -> BenchwrightError:
    return BenchwrightError(
        f"{what} is recorded with the {noun} {name!r}, which this version does not know. "
        "A newer benchwright wrote it: upgrade"
    )

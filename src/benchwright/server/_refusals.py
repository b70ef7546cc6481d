"""Refusals: every error becomes a body of one form, and a status that tells clients what to do."""

from __future__ import annotations

from dataclasses import dataclass

from benchwright.core import (
    BenchwrightError,
    DatasetError,
    JsonObject,
    NotFoundError,
    RunOwnedError,
    UsageError,
    redact,
)
from benchwright.datasets import HubError
from benchwright.store import RecordRefusedError, StoreError


@dataclass
class Refusal(Exception):
    """A request that the server refuses."""

    status: int
    """HTTP status."""
    code: str
    """Name of the reason, for programs."""
    message: str
    """The reason, for people."""
    hint: str | None = None
    """What to do about it."""
    retryable: bool = False
    """Whether the same request may succeed later."""

    def body(self) -> JsonObject:
        """The body of the response."""
        return {
            "error": {
                "code": self.code,
                "message": redact(self.message),
                "hint": self.hint,
                "retryable": self.retryable,
            }
        }


def refusal_of(error: Exception) -> Refusal:
    """The refusal that reports an error over HTTP."""
    text = str(error) or type(error).__name__
    match error:
        case Refusal():
            return error
        case RecordRefusedError():
            return Refusal(409, error.code, text)
        case RunOwnedError():
            return Refusal(409, "run_owned", text, "wait for that process, or stop it")
        case NotFoundError():
            return Refusal(404, "not_found", text)
        case StoreError():
            return Refusal(
                503, "store", text, "free disk space or repair the disk; the records so far are safe", True
            )
        case DatasetError():
            return _of_dataset(error, text)
        case UsageError():
            return Refusal(422, "invalid", text)
        case BenchwrightError():
            return Refusal(422, "refused", text)
    return Refusal(
        500, "internal", f"{type(error).__name__}: {text}", "this is a defect of the server; please report it"
    )


def _of_dataset(error: DatasetError, text: str) -> Refusal:
    """Distinguish failures of the hub from missing datasets and wrong names."""
    kind = error.kind if isinstance(error, HubError) else None
    if kind == "not_found":
        return Refusal(404, "dataset_not_found", text)
    if kind == "forbidden":
        return Refusal(
            403, "dataset_forbidden", text, "accept the dataset's conditions and set HF_TOKEN for the server"
        )
    if kind == "timeout":
        return Refusal(504, "hub_timeout", text, "the hub did not answer in time; try again", True)
    if kind == "unreachable":
        return Refusal(502, "hub_unreachable", text, "check the network, HF_ENDPOINT and HF_TOKEN", True)
    return Refusal(422, "dataset", text)

"""Errors of workflows, besides those that the store raises."""

from __future__ import annotations

from benchwright.core import BenchwrightError


class WorkflowError(BenchwrightError):
    """A workflow could not be run, or asked for something that cannot be done."""

    __module__ = "benchwright"


class ApiError(WorkflowError):
    """The server refused a request. The text is its message."""

    __module__ = "benchwright"

    def __init__(
        self, message: str, *, status: int | None = None, code: str | None = None, retryable: bool = False
    ) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status; None when there was no answer."""
        self.code = code
        """The server's name for it: `input_changed`, `step_held`, `stale_attempt`, `run_closed`, …"""
        self.retryable = retryable
        """Whether the same request may succeed later."""


class StepTimeoutError(WorkflowError, TimeoutError):
    """A step took longer than its `timeout`."""

    __module__ = "benchwright"


class MissingKeyError(WorkflowError, RuntimeError):
    """The environment variable that should hold an API key is not set."""

    __module__ = "benchwright"


def error_message(error: object) -> str:
    """What an error says, in one text; its class where it says nothing.

    >>> error_message(ValueError("no such row")), error_message(KeyError()), error_message("plain")
    ('no such row', 'KeyError', 'plain')
    """
    return str(error) or type(error).__name__

"""What a check of calls comes to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallVerdict:
    """Whether calls are right, and if not, the first thing that is wrong with them."""

    valid: bool
    """Whether the calls are right."""
    error_type: str | None = None
    """The published name of the fault, such as `value_error:string`; None when valid."""
    message: str | None = None
    """What was expected and what was found."""
    parameter: str | None = None
    """The parameter at fault, if it is one."""

    @property
    def fault(self) -> dict[str, str | None]:
        """The scores that say what is wrong."""
        return {"error_type": self.error_type, "error": self.message}


VALID = CallVerdict(True)
"""The verdict on calls that are right."""


def invalid(error_type: str, message: str, parameter: object = None) -> CallVerdict:
    """A verdict on calls that are wrong."""
    return CallVerdict(False, error_type, message, None if parameter is None else str(parameter))


def shown(value: object, limit: int = 200) -> str:
    """A value for a message, cut so that a table stays readable."""
    try:
        text = repr(value)
    except Exception:  # a foreign value may not even print
        text = f"a {type(value).__name__}"
    return text if len(text) <= limit else text[:limit] + "…"

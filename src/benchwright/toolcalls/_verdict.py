"""The verdict on calls."""

from __future__ import annotations

from typing import NamedTuple


class CallVerdict(NamedTuple):
    """Whether calls are right, and if not, the first fault."""

    valid: bool
    """Whether the calls are right."""
    error_type: str | None = None
    """The published name of the fault, such as `value_error:string`; None if valid."""
    wording: str | None = None
    """The text of `message`, with a place for each of `values`."""
    parameter: str | None = None
    """The parameter at fault, if it is one."""
    values: tuple[object, ...] = ()
    """The values that `message` shows. Most verdicts are counted and never read, so the message is built on demand."""

    @property
    def message(self) -> str | None:
        """What was expected and what was found."""
        if self.wording is None or not self.values:
            return self.wording
        return self.wording.format(*map(_Shown, self.values))

    @classmethod
    def unread(cls, fault: str, why: str | None) -> CallVerdict:
        """The verdict on a reply of which no calls were read."""
        said = (
            f"the reply contains no calls that can be read: {why}" if why else "the reply contains no calls"
        )
        return cls(False, f"ast_decoder:{fault}", said)

    @property
    def fault(self) -> dict[str, str | None]:
        """The scores that describe the fault."""
        return {"error_type": self.error_type, "error": self.message}


VALID = CallVerdict(True)
"""The verdict on calls that are right."""


_new = tuple.__new__  # the constructor of a named tuple takes three times as long


def invalid(error_type: str, wording: str, parameter: object = None, *values: object) -> CallVerdict:
    """A verdict on calls that are wrong. The wording takes names as `{}` and data as `{!r}`, which are cut."""
    name = None if parameter is None else str(parameter)
    return _new(CallVerdict, (False, error_type, wording, name, values))


def shown(value: object, limit: int = 200) -> str:
    """A value for a message, cut so that a table stays readable."""
    try:
        text = repr(value)
    except Exception:  # a foreign value may not even print
        text = f"a {type(value).__name__}"
    return text if len(text) <= limit else text[:limit] + "…"


class _Shown:
    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __str__(self) -> str:
        return str(self._value)

    def __repr__(self) -> str:
        return shown(self._value)

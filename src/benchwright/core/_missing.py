"""What a row lacks: the error, the columns that there are, the nearest name and the cure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from benchwright.core._errors import BenchwrightError
from benchwright.core._json import Row


class MissingFieldError(BenchwrightError):
    """A row does not hold what a template, or another part of the definition, needs from it.

    The text is put together when somebody reads it: a run over a million such rows lists twenty of them.
    """

    exit_code = 2

    def __init__(
        self, field: str, row: Row | None = None, *, reason: str | Callable[[], str] | None = None
    ) -> None:
        super().__init__(field)
        self.field = field
        """The field at fault as the template writes it, e.g. `question` or `meta[lang]`."""
        self._row = row
        self._reason = reason

    @property
    def message(self) -> str:
        """What is missing, what is there, the nearest name, and the mapping that would cure it."""
        if self._reason is not None:
            return self._reason if isinstance(self._reason, str) else self._reason()
        return describe_missing(self.field, self._row or {})

    def __str__(self) -> str:
        return self.message


def describe_missing(field: str, row: Iterable[object], *, of: str = "the row has") -> str:
    """One sentence or two on a field that a row (or a whole dataset) lacks, given the names it has.

    >>> describe_missing("question", {"id": 1, "questoin": "?"})
    'field "question" is missing; the row has: id, questoin. Did you mean "questoin"? Map it with field_mapping={"questoin": "question"}'
    """
    names = list(row)
    has = f"{of}: {listed(names)}" if names else f"{of} no fields"
    near = nearest(field, names)
    if near is None:
        return f'field "{field}" is missing; {has}'
    return (
        f'field "{field}" is missing; {has}. Did you mean "{near}"? '
        f'Map it with field_mapping={{"{near}": "{field}"}}'
    )


def nearest(name: str, known: Iterable[object]) -> str | None:
    """The known name closest to a mistyped one, if any is close."""
    from difflib import get_close_matches  # only on the way to an error

    names = [str(k) for k in known]
    lowered = {n.lower(): n for n in reversed(names)}
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    return close[0] if close else lowered.get(name.lower())


def listed(names: Iterable[object], limit: int = 12) -> str:
    """Names separated by commas, cut after `limit` so that wide tables stay readable."""
    all_names = [str(name) for name in names]
    shown = ", ".join(all_names[:limit])
    return f"{shown}, … ({len(all_names)} in all)" if len(all_names) > limit else shown

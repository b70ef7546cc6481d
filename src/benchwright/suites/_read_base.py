"""`read_base`, for suites that were written for AISBench: there its block marks imports of other configurations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def read_base() -> Iterator[None]:
    """Does nothing: what a Python suite imports is imported.

    >>> with read_base():
    ...     models = ["demo"]
    """
    yield

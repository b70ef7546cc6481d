"""A client of load tests that is never the limit: what else the machine does must not decide how a test ends.

On a busy machine a load test ends with exit code 3 and a note that the client was the limit, and rightly so. `conftest.py`
and `warm_origin.py` take these bounds away for all tests, in this process and in the commands that they start. Tests of the
bounds themselves put them back with the fixture `bounds_of_the_client`.
"""

from __future__ import annotations

import math

from benchwright.perf import _health

BOUNDS = {name: value for name, value in vars(_health).items() if name.startswith(("LIMIT_", "STRAINED_"))}
"""Names and values of the bounds above which the client was strained, or the limit."""


def calm() -> None:
    """Take the bounds away, for the rest of this process."""
    for name in BOUNDS:
        setattr(_health, name, math.inf)


def restored() -> list[tuple[object, str, float]]:
    """What to set where to have the bounds that users have."""
    return [(_health, name, value) for name, value in BOUNDS.items()]

"""When a load test sends its requests: the profiles, by name."""

from __future__ import annotations

from enum import StrEnum


class LoadProfile(StrEnum):
    """The ways to load a server."""

    SYNCHRONOUS = "synchronous"
    CONCURRENT = "concurrent"
    THROUGHPUT = "throughput"
    CONSTANT = "constant"
    POISSON = "poisson"
    GAMMA = "gamma"
    BURST = "burst"
    RAMP = "ramp"

    @property
    def open_loop(self) -> bool:
        """Whether a schedule, not the end of an earlier request, decides when a request is sent.

        >>> LoadProfile("poisson").open_loop, LoadProfile.CONCURRENT.open_loop
        (True, False)
        """
        return self not in (LoadProfile.SYNCHRONOUS, LoadProfile.CONCURRENT, LoadProfile.THROUGHPUT)

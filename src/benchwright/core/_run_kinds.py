"""The kinds of runs, the profiles of load tests, and the files that a run writes.

What each kind of run can do is in `RUN_KINDS` of `benchwright.results`.
"""

from __future__ import annotations

from enum import StrEnum


class RunKind(StrEnum):
    """What was run: a benchmark, a user's workflow, or a load test."""

    BENCHMARK = "benchmark"
    WORKFLOW = "workflow"
    LOAD = "load"


def kind_title(kind: str) -> str:
    """Return what messages call a run of this kind. A workspace of a newer version may contain kinds unknown here.

    >>> kind_title("workflow")
    'a workflow'
    >>> kind_title("load"), kind_title("siege")
    ('a load test', "of the kind 'siege', which a newer version of benchwright wrote and this one does not know")
    """
    if kind == RunKind.LOAD:
        return "a load test"
    if kind in tuple(RunKind):
        return f"a {kind}"
    return f"of the kind {kind!r}, which a newer version of benchwright wrote and this one does not know"


class LoadProfile(StrEnum):
    """The ways of putting load on a server."""

    SYNCHRONOUS = "synchronous"
    CONCURRENT = "concurrent"
    THROUGHPUT = "throughput"
    CONSTANT = "constant"
    POISSON = "poisson"
    GAMMA = "gamma"
    BURST = "burst"
    RAMP = "ramp"
    TRACE = "trace"

    @property
    def open_loop(self) -> bool:
        """Whether a schedule decides when a request is sent, and not the end of an earlier request.

        >>> LoadProfile("poisson").open_loop, LoadProfile.CONCURRENT.open_loop
        (True, False)
        """
        return self not in (LoadProfile.SYNCHRONOUS, LoadProfile.CONCURRENT, LoadProfile.THROUGHPUT)

    @property
    def steady(self) -> bool:
        """Whether the load stays about the same during a stage."""
        return self not in (LoadProfile.RAMP, LoadProfile.BURST)


class LengthLaw(StrEnum):
    """How the lengths of prompts or replies are distributed."""

    FIXED = "fixed"
    UNIFORM = "uniform"
    NORMAL = "normal"
    LOGNORMAL = "lognormal"
    ZIPF = "zipf"


class RunFile(StrEnum):
    """The files of a benchmark run."""

    RESULTS = "results.yml"
    CONFIG = "run_config.yml"
    SAMPLES = "samples.parquet"
    MANIFEST = "manifest.json"
    REPORT = "report.html"


class CallFolder(StrEnum):
    """The folders that an evaluation of function calls adds, each with one folder for the model."""

    RESULTS = "result"
    SCORES = "score"


class LoadFile(StrEnum):
    """The files of a load test."""

    REQUESTS = "requests.parquet"
    TABLE = "summary.csv"
    SUMMARY = "summary.json"
    REPORT = "report.html"


STREAM_FILES = {"stdout": "stdout.txt", "stderr": "stderr.txt"}
"""Where the folder of a program's run keeps what the program printed."""

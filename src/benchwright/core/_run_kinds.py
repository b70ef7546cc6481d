"""The kinds of runs, the profiles of load tests, the files that a run writes, and the definition that it records.

What each kind of run can do is in `RUN_KINDS` of `benchwright.results`. A definition is a JSON value from which any process makes the
same benchmark again. It has the keys `kind`, a row of `TARGET_KINDS` in `benchwright.runs`, and `settings`, what the user chose about
rows, prompts and scores. `target` and `folder` say where the benchmark is loaded from.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from benchwright.core._json import JsonObject


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


SAMPLE_STEP: Final = "sample/"
"""How the keys of steps begin that record a row of a workflow."""
QUESTIONS: Final = "questions"
"""The kind of a file of questions."""
FUNCTION_CALLING: Final = "function_calling"
"""The kind of a function-calling evaluation."""


def defined_settings(settings: Mapping[str, Any], kind: str) -> JsonObject | None:
    """The settings of a recorded definition of this kind; None for a run of any other kind."""
    definition = settings.get("definition")
    if not isinstance(definition, dict) or definition.get("kind") != kind:
        return None
    found = definition.get("settings")
    return found if isinstance(found, dict) else {}

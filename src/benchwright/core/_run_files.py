"""Names of the files in a run's folder."""

from __future__ import annotations

from enum import StrEnum


class RunFile(StrEnum):
    """The files of a benchmark run."""

    RESULTS = "results.yml"
    CONFIG = "run_config.yml"
    SAMPLES = "samples.parquet"
    MANIFEST = "manifest.json"


STREAM_FILES = {"stdout": "stdout.txt", "stderr": "stderr.txt"}
"""Where the folder of a program's run keeps what the program printed."""

"""Names of the files in a run's folder."""

from __future__ import annotations

from enum import StrEnum


class RunFile(StrEnum):
    """The files of a benchmark run."""

    RESULTS = "results.yml"
    CONFIG = "run_config.yml"
    SAMPLES = "samples.parquet"
    MANIFEST = "manifest.json"


class LoadFile(StrEnum):
    """The files of a load test."""

    REQUESTS = "requests.parquet"
    TABLE = "summary.csv"
    SUMMARY = "summary.json"
    REPORT = "report.html"


STREAM_FILES = {"stdout": "stdout.txt", "stderr": "stderr.txt"}
"""Where the folder of a program's run keeps what the program printed."""

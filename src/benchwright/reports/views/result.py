"""The result of a run that has just ended, or of one on record."""

from __future__ import annotations

from dataclasses import dataclass

from benchwright.core import JsonObject, RunSummary
from benchwright.reports.views.runs import RunDetails, RunView


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultView:
    """A run with its figures, and what its last start did."""

    run: RunView
    """The run, as in a list."""
    summary: RunSummary
    """The figures."""
    exit_code: int = 0
    """What a command that ran only this exits with."""
    stopped_because: str = ""
    """Why it stopped early."""
    first_failure: str = ""
    """The commonest failure in plain words."""
    requests_sent: int | None = None
    """Requests of the last start, retries included; None: not on record."""
    retries: int = 0
    """How many of them repeated a failed attempt."""
    from_cache: int = 0
    """Replies of the last start that came from earlier runs."""
    seconds: float | None = None
    """Time that the last start spent on requests; None: not on record."""
    samples_per_s: float = 0.0
    """Samples brought to an outcome per second of that time."""
    report_problems: tuple[str, ...] = ()
    """What went wrong with reports of installed packages."""

    def to_json(self) -> JsonObject:
        """A run as everywhere, and `run_id`, `exit_code`, `summary` and what its last start did."""
        return {
            **self.run.to_json(),
            "run_id": self.run.id,
            "exit_code": self.exit_code,
            "summary": self.summary.to_json(),
            "stopped_because": self.stopped_because,
            "first_failure": self.first_failure,
            "requests_sent": self.requests_sent or 0,
            "retries": self.retries,
            "from_cache": self.from_cache,
            "seconds": round(self.seconds or 0.0, 3),
            "samples_per_s": round(self.samples_per_s, 1),
            "report_problems": list(self.report_problems),
        }


def result_view(details: RunDetails) -> ResultView | None:
    """The result of a run on record; None while there is none. What its last start sent is not on record."""
    run = details.run
    if details.result is None:
        return None
    failed = run.status == "failed"
    return ResultView(
        run=run,
        summary=details.result,
        stopped_because="" if failed else run.error or "",
        first_failure=run.error or "" if failed else "",
    )

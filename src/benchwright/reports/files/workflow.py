"""The page of a workflow run in one file."""

from __future__ import annotations

from benchwright.reports.pages.report import report_page
from benchwright.results import WorkflowDetails


def workflow_report(view: WorkflowDetails) -> bytes:
    """The page."""
    run = view.run
    elsewhere = f"The same is printed by: benchwright show {run.id}"
    return report_page("workflow", view.page(), title=f"Workflow {run.name}", elsewhere=elsewhere)

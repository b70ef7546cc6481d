"""Recorded runs as views, and views on the terminal, as HTML and as files. Reads the store and never calls a model."""

from benchwright.core import printable
from benchwright.reports.files.export import TEXT_FORMATS, export_samples, exported_lines
from benchwright.reports.files.parquet import sample_rows
from benchwright.reports.files.plugins import REPORT_PLUGINS, find_report, write_reports
from benchwright.reports.files.run_files import results_document, write_run_config, write_run_files
from benchwright.reports.files.work_folder import write_work_folder
from benchwright.reports.files.work_tasks import (
    RUNS_FILE,
    WorkRuns,
    find_work_folder,
    make_work_folder,
    read_work_tasks,
    record_work_tasks,
)
from benchwright.reports.html.pages import result_fragment
from benchwright.reports.kinds import BENCHMARK_REPORTS, WORKFLOW_REPORTS, KindReports, View
from benchwright.reports.terminal.comparison import comparison_table
from benchwright.reports.terminal.result import result_table
from benchwright.reports.terminal.runs import RunTable
from benchwright.reports.terminal.side_by_side import SideBySideTable
from benchwright.reports.terminal.steps import event_table
from benchwright.reports.terminal.workflows import code_result
from benchwright.reports.views.benchmarks import benchmark_details
from benchwright.reports.views.comparing import compare_benchmarks
from benchwright.reports.views.comparing_workflows import compare_workflows
from benchwright.reports.views.comparison import Comparison, ComparisonOptions, MetricComparison
from benchwright.reports.views.figures import headline_of
from benchwright.reports.views.folder_samples import SamplesOf, steps_of_folder
from benchwright.reports.views.result import ResultView
from benchwright.reports.views.run_folders import as_filed, folder_run, is_run_folder, run_of_folder
from benchwright.reports.views.runs import EventList, PartsRequest, RunDetails, RunView, plain_view
from benchwright.reports.views.sample_columns import SampleView
from benchwright.reports.views.samples import RunSamples
from benchwright.reports.views.side_by_side import SideBySide, SideRun, side_by_side
from benchwright.reports.views.text import duration, plural
from benchwright.reports.views.work_table import WorkTask, work_runs
from benchwright.reports.views.workflows import recorded_events, step_views

__all__ = [
    "BENCHMARK_REPORTS",
    "REPORT_PLUGINS",
    "RUNS_FILE",
    "TEXT_FORMATS",
    "WORKFLOW_REPORTS",
    "Comparison",
    "ComparisonOptions",
    "EventList",
    "KindReports",
    "MetricComparison",
    "PartsRequest",
    "ResultView",
    "RunDetails",
    "RunSamples",
    "RunTable",
    "RunView",
    "SampleView",
    "SamplesOf",
    "SideBySide",
    "SideBySideTable",
    "SideRun",
    "View",
    "WorkRuns",
    "WorkTask",
    "as_filed",
    "benchmark_details",
    "code_result",
    "compare_benchmarks",
    "compare_workflows",
    "comparison_table",
    "duration",
    "event_table",
    "export_samples",
    "exported_lines",
    "find_report",
    "find_work_folder",
    "folder_run",
    "headline_of",
    "is_run_folder",
    "make_work_folder",
    "plain_view",
    "plural",
    "printable",
    "read_work_tasks",
    "record_work_tasks",
    "recorded_events",
    "result_fragment",
    "result_table",
    "results_document",
    "run_of_folder",
    "sample_rows",
    "side_by_side",
    "step_views",
    "steps_of_folder",
    "work_runs",
    "write_reports",
    "write_run_config",
    "write_run_files",
    "write_work_folder",
]

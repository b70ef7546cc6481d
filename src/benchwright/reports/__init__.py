"""Views of recorded runs: files, terminal tables, JSON. Reads the store and never calls a model."""

from benchwright.core import printable
from benchwright.reports.files.export import export_samples, exported_lines
from benchwright.reports.files.parquet import sample_rows
from benchwright.reports.files.plugins import REPORT_PLUGINS, find_report, write_reports
from benchwright.reports.files.results import results_document
from benchwright.reports.files.run_files import RUN_FILES, write_run_config, write_run_files
from benchwright.reports.files.work_folder import write_work_folder
from benchwright.reports.files.work_tasks import (
    RUNS_FILE,
    WorkRuns,
    WorkTask,
    find_work_folder,
    make_work_folder,
    read_work_tasks,
    record_work_tasks,
)
from benchwright.reports.terminal.comparison import comparison_view
from benchwright.reports.terminal.result import ResultView, result_table, result_view
from benchwright.reports.terminal.runs import RunTable
from benchwright.reports.terminal.show import (
    failed_samples,
    listed_samples,
    run_overview,
    sample_in_full,
)
from benchwright.reports.terminal.side_by_side import SideBySideTable
from benchwright.reports.terminal.workflows import code_result, workflow_overview
from benchwright.reports.views.comparing import compare_runs
from benchwright.reports.views.comparison import Comparison, MetricComparison
from benchwright.reports.views.copied_folders import SamplesOf, as_filed, folder_run, is_run_folder
from benchwright.reports.views.figures import headline_of, is_share
from benchwright.reports.views.run_folders import run_of_folder, steps_of_folder
from benchwright.reports.views.runs import results_json, run_json, sample_json
from benchwright.reports.views.samples import (
    JudgeView,
    SampleView,
    filtered_views,
    find_samples,
    judge_views,
    sample_views,
)
from benchwright.reports.views.side_by_side import SideBySide, SideRun, side_by_side
from benchwright.reports.views.steps import (
    StepView,
    all_points,
    event_json,
    event_table,
    find_step,
    step_in_full,
    step_json,
    step_table,
    step_views,
)
from benchwright.reports.views.text import duration, plural
from benchwright.reports.views.workflows import workflow_json

__all__ = [
    "REPORT_PLUGINS",
    "RUNS_FILE",
    "RUN_FILES",
    "Comparison",
    "JudgeView",
    "MetricComparison",
    "ResultView",
    "RunTable",
    "SampleView",
    "SamplesOf",
    "SideBySide",
    "SideBySideTable",
    "SideRun",
    "StepView",
    "WorkRuns",
    "WorkTask",
    "all_points",
    "as_filed",
    "code_result",
    "compare_runs",
    "comparison_view",
    "duration",
    "event_json",
    "event_table",
    "export_samples",
    "exported_lines",
    "failed_samples",
    "filtered_views",
    "find_report",
    "find_samples",
    "find_step",
    "find_work_folder",
    "folder_run",
    "headline_of",
    "is_run_folder",
    "is_share",
    "judge_views",
    "listed_samples",
    "make_work_folder",
    "plural",
    "printable",
    "read_work_tasks",
    "record_work_tasks",
    "result_table",
    "result_view",
    "results_document",
    "results_json",
    "run_json",
    "run_of_folder",
    "run_overview",
    "sample_in_full",
    "sample_json",
    "sample_rows",
    "sample_views",
    "side_by_side",
    "step_in_full",
    "step_json",
    "step_table",
    "step_views",
    "steps_of_folder",
    "workflow_json",
    "workflow_overview",
    "write_reports",
    "write_run_config",
    "write_run_files",
    "write_work_folder",
]

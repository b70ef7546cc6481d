"""Views of recorded runs: files, terminal tables, JSON. Reads the store and never calls a model."""

from benchwright.core import printable
from benchwright.reports._adopt import run_of_folder, steps_of_folder
from benchwright.reports._compare.compare import compare_runs
from benchwright.reports._compare.elsewhere import SamplesOf, as_filed, folder_run, is_run_folder
from benchwright.reports._compare.values import Comparison, MetricComparison
from benchwright.reports._compare.view import comparison_view
from benchwright.reports._export import export_samples, exported_lines
from benchwright.reports._files import RUN_FILES, write_run_config, write_run_files
from benchwright.reports._headline import headline_of, is_share
from benchwright.reports._listing import RunTable
from benchwright.reports._parquet import sample_rows
from benchwright.reports._plugins import REPORT_PLUGINS, find_report, write_reports
from benchwright.reports._result_view import ResultView, result_table, result_view
from benchwright.reports._results import results_document
from benchwright.reports._samples import (
    JudgeView,
    SampleView,
    filtered_views,
    find_samples,
    judge_views,
    sample_views,
)
from benchwright.reports._shapes import results_json, run_json, sample_json
from benchwright.reports._show import (
    failed_samples,
    listed_samples,
    run_overview,
    sample_in_full,
)
from benchwright.reports._side_by_side.table import SideBySideTable
from benchwright.reports._side_by_side.values import SideBySide, SideRun, side_by_side
from benchwright.reports._text import duration, plural
from benchwright.reports._work_folder.tasks import (
    RUNS_FILE,
    WorkRuns,
    WorkTask,
    find_work_folder,
    make_work_folder,
    read_work_tasks,
    record_work_tasks,
)
from benchwright.reports._work_folder.write import write_work_folder
from benchwright.reports._workflow_json import workflow_json
from benchwright.reports._workflow_steps import (
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
from benchwright.reports._workflows import code_result, workflow_overview

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

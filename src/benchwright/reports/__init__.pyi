from benchwright.core import printable as printable
from benchwright.reports.files.eval_folder import EVAL_FILES as EVAL_FILES
from benchwright.reports.files.eval_folder import EvalMark as EvalMark
from benchwright.reports.files.eval_folder import EvalRun as EvalRun
from benchwright.reports.files.eval_folder import mark_eval_folder as mark_eval_folder
from benchwright.reports.files.eval_folder import start_eval_folder as start_eval_folder
from benchwright.reports.files.eval_folder import write_eval_folder as write_eval_folder
from benchwright.reports.files.eval_folder import write_files_of_steps as write_files_of_steps
from benchwright.reports.files.export import (
    TEXT_FORMATS as TEXT_FORMATS,
)
from benchwright.reports.files.export import (
    export_samples as export_samples,
)
from benchwright.reports.files.export import (
    exported_lines as exported_lines,
)
from benchwright.reports.files.load import export_requests as export_requests
from benchwright.reports.files.load import request_lines as request_lines
from benchwright.reports.files.load import write_load_files as write_load_files
from benchwright.reports.files.parquet import sample_rows as sample_rows
from benchwright.reports.files.run_files import (
    EVAL_REPORT as EVAL_REPORT,
)
from benchwright.reports.files.run_files import (
    REPORT_PLUGINS as REPORT_PLUGINS,
)
from benchwright.reports.files.run_files import (
    check_report as check_report,
)
from benchwright.reports.files.run_files import (
    results_document as results_document,
)
from benchwright.reports.files.run_files import (
    write_reports as write_reports,
)
from benchwright.reports.files.run_files import (
    write_run_config as write_run_config,
)
from benchwright.reports.files.run_files import (
    write_run_files as write_run_files,
)
from benchwright.reports.files.work_folder import (
    RUNS_FILE as RUNS_FILE,
)
from benchwright.reports.files.work_folder import (
    WorkRuns as WorkRuns,
)
from benchwright.reports.files.work_folder import (
    find_work_folder as find_work_folder,
)
from benchwright.reports.files.work_folder import (
    make_work_folder as make_work_folder,
)
from benchwright.reports.files.work_folder import (
    read_work_tasks as read_work_tasks,
)
from benchwright.reports.files.work_folder import (
    record_work_tasks as record_work_tasks,
)
from benchwright.reports.files.work_folder import write_work_folder as write_work_folder
from benchwright.reports.html.load import load_page as load_page
from benchwright.reports.html.pages import result_fragment as result_fragment
from benchwright.reports.html.pages import suite_fragment as suite_fragment
from benchwright.reports.kinds import (
    BENCHMARK_REPORTS as BENCHMARK_REPORTS,
)
from benchwright.reports.kinds import LOAD_REPORTS as LOAD_REPORTS
from benchwright.reports.kinds import (
    WORKFLOW_REPORTS as WORKFLOW_REPORTS,
)
from benchwright.reports.kinds import (
    KindReports as KindReports,
)
from benchwright.reports.kinds import (
    View as View,
)
from benchwright.reports.terminal.calibration import calibration_table as calibration_table
from benchwright.reports.terminal.comparison import comparison_table as comparison_table
from benchwright.reports.terminal.load import load_table as load_table
from benchwright.reports.terminal.load_comparison import load_comparison_table as load_comparison_table
from benchwright.reports.terminal.plain_result import plain_result as plain_result
from benchwright.reports.terminal.result import result_table as result_table
from benchwright.reports.terminal.runs import RunTable as RunTable
from benchwright.reports.terminal.side_by_side import SideBySideTable as SideBySideTable
from benchwright.reports.terminal.tables import WholeTable as WholeTable
from benchwright.reports.terminal.workflows import code_result as code_result
from benchwright.reports.terminal.workflows import event_table as event_table
from benchwright.reports.trackers.tracking import TRACKER_PLUGINS as TRACKER_PLUGINS
from benchwright.reports.trackers.tracking import Tracker as Tracker
from benchwright.reports.trackers.tracking import Tracking as Tracking
from benchwright.reports.trackers.tracking import find_tracker as find_tracker
from benchwright.reports.views.benchmarks import ResultView as ResultView
from benchwright.reports.views.benchmarks import benchmark_details as benchmark_details
from benchwright.reports.views.benchmarks import benchmark_view as benchmark_view
from benchwright.reports.views.calibration import Calibration as Calibration
from benchwright.reports.views.calibration import JudgedRow as JudgedRow
from benchwright.reports.views.calibration import calibration as calibration
from benchwright.reports.views.comparing import compare_benchmarks as compare_benchmarks
from benchwright.reports.views.comparing import disagreements as disagreements
from benchwright.reports.views.comparing import setting_differences as setting_differences
from benchwright.reports.views.comparing_workflows import compare_workflows as compare_workflows
from benchwright.reports.views.comparison import Comparison as Comparison
from benchwright.reports.views.comparison import ComparisonOptions as ComparisonOptions
from benchwright.reports.views.comparison import title_of as title_of
from benchwright.reports.views.figures import cost_lines as cost_lines
from benchwright.reports.views.figures import duration as duration
from benchwright.reports.views.figures import headline_of as headline_of
from benchwright.reports.views.figures import judge_lines as judge_lines
from benchwright.reports.views.figures import money as money
from benchwright.reports.views.figures import plural as plural
from benchwright.reports.views.figures import rate as rate
from benchwright.reports.views.load import LoadView as LoadView
from benchwright.reports.views.load import load_details as load_details
from benchwright.reports.views.load import load_requests as load_requests
from benchwright.reports.views.load import load_view as load_view
from benchwright.reports.views.load import recorded_load as recorded_load
from benchwright.reports.views.load import recorded_summary as recorded_summary
from benchwright.reports.views.load import stages_of_interest as stages_of_interest
from benchwright.reports.views.load_comparison import LoadComparison as LoadComparison
from benchwright.reports.views.load_comparison import compare_loads as compare_loads
from benchwright.reports.views.load_comparison import load_data as load_data
from benchwright.reports.views.load_comparison import load_setting_differences as load_setting_differences
from benchwright.reports.views.load_comparison import matched_levels as matched_levels
from benchwright.reports.views.load_verdicts import limits_words as limits_words
from benchwright.reports.views.metric_comparison import MetricComparison as MetricComparison
from benchwright.reports.views.pairing import PairedSamples as PairedSamples
from benchwright.reports.views.pairing import Scored as Scored
from benchwright.reports.views.pairing import numbers_of as numbers_of
from benchwright.reports.views.pairing import pairs_of as pairs_of
from benchwright.reports.views.run_folders import (
    SamplesOf as SamplesOf,
)
from benchwright.reports.views.run_folders import (
    as_filed as as_filed,
)
from benchwright.reports.views.run_folders import (
    folder_run as folder_run,
)
from benchwright.reports.views.run_folders import (
    is_run_folder as is_run_folder,
)
from benchwright.reports.views.run_folders import (
    run_of_folder as run_of_folder,
)
from benchwright.reports.views.run_folders import (
    steps_of_folder as steps_of_folder,
)
from benchwright.reports.views.runs import (
    EventList as EventList,
)
from benchwright.reports.views.runs import (
    PartsRequest as PartsRequest,
)
from benchwright.reports.views.runs import (
    RunDetails as RunDetails,
)
from benchwright.reports.views.runs import (
    RunView as RunView,
)
from benchwright.reports.views.runs import (
    plain_view as plain_view,
)
from benchwright.reports.views.runs import (
    writer_of as writer_of,
)
from benchwright.reports.views.sample_columns import SampleView as SampleView
from benchwright.reports.views.samples import RunSamples as RunSamples
from benchwright.reports.views.side_by_side import (
    SideBySide as SideBySide,
)
from benchwright.reports.views.side_by_side import (
    SideRun as SideRun,
)
from benchwright.reports.views.side_by_side import (
    side_by_side as side_by_side,
)
from benchwright.reports.views.work_table import WorkTask as WorkTask
from benchwright.reports.views.work_table import work_runs as work_runs
from benchwright.reports.views.workflows import recorded_events as recorded_events
from benchwright.reports.views.workflows import step_views as step_views

from benchwright.core import printable as printable
from benchwright.reports.files.eval_folder import (
    EVAL_FILES as EVAL_FILES,
    EvalMark as EvalMark,
    EvalRun as EvalRun,
    mark_eval_folder as mark_eval_folder,
    start_eval_folder as start_eval_folder,
    write_eval_folder as write_eval_folder,
    write_files_of_steps as write_files_of_steps,
)
from benchwright.reports.files.export import (
    TEXT_FORMATS as TEXT_FORMATS,
    export_samples as export_samples,
    exported_lines as exported_lines,
)
from benchwright.reports.files.load import (
    export_requests as export_requests,
    request_lines as request_lines,
    write_load_files as write_load_files,
)
from benchwright.reports.files.parquet import sample_rows as sample_rows
from benchwright.reports.files.run_files import (
    EVAL_REPORT as EVAL_REPORT,
    REPORT_PLUGINS as REPORT_PLUGINS,
    check_report as check_report,
    results_document as results_document,
    write_reports as write_reports,
    write_run_config as write_run_config,
    write_run_files as write_run_files,
)
from benchwright.reports.files.work_folder import (
    WorkRuns as WorkRuns,
    find_work_folder as find_work_folder,
    make_work_folder as make_work_folder,
    read_work_tasks as read_work_tasks,
    record_work_tasks as record_work_tasks,
    write_work_folder as write_work_folder,
)
from benchwright.reports.html.load import load_page as load_page
from benchwright.reports.html.pages import (
    result_fragment as result_fragment,
    suite_fragment as suite_fragment,
)
from benchwright.reports.kinds import (
    BENCHMARK_REPORTS as BENCHMARK_REPORTS,
    LOAD_REPORTS as LOAD_REPORTS,
    WORKFLOW_REPORTS as WORKFLOW_REPORTS,
    KindReports as KindReports,
    View as View,
)
from benchwright.reports.terminal.calibration import calibration_table as calibration_table
from benchwright.reports.terminal.comparison import comparison_table as comparison_table
from benchwright.reports.terminal.load import load_table as load_table
from benchwright.reports.terminal.load_comparison import load_comparison_table as load_comparison_table
from benchwright.reports.terminal.notebook import notebook_html as notebook_html
from benchwright.reports.terminal.plain_result import plain_result as plain_result
from benchwright.reports.terminal.result import result_table as result_table
from benchwright.reports.terminal.runs import RunTable as RunTable
from benchwright.reports.terminal.side_by_side import SideBySideTable as SideBySideTable
from benchwright.reports.terminal.tables import WholeTable as WholeTable
from benchwright.reports.terminal.workflows import code_result as code_result, event_table as event_table
from benchwright.reports.trackers.tracking import (
    TRACKER_PLUGINS as TRACKER_PLUGINS,
    Tracker as Tracker,
    Tracking as Tracking,
    find_tracker as find_tracker,
)
from benchwright.reports.views.benchmarks import (
    ResultView as ResultView,
    benchmark_details as benchmark_details,
    benchmark_view as benchmark_view,
)
from benchwright.reports.views.calibration import (
    Calibration as Calibration,
    JudgedSample as JudgedSample,
    calibration as calibration,
)
from benchwright.reports.views.clusters import (
    Clusters as Clusters,
    PairedColumns as PairedColumns,
    ScoreColumns as ScoreColumns,
    Scored as Scored,
    row_identity as row_identity,
    unread_identity as unread_identity,
)
from benchwright.reports.views.comparing import (
    compare_benchmarks as compare_benchmarks,
    disagreements as disagreements,
    setting_differences as setting_differences,
)
from benchwright.reports.views.comparing_workflows import compare_workflows as compare_workflows
from benchwright.reports.views.comparison import (
    Comparison as Comparison,
    ComparisonOptions as ComparisonOptions,
    title_of as title_of,
)
from benchwright.reports.views.figures import (
    duration as duration,
    headline_of as headline_of,
    judge_lines as judge_lines,
    money as money,
    plural as plural,
    rate as rate,
)
from benchwright.reports.views.load import (
    LoadView as LoadView,
    load_details as load_details,
    load_requests as load_requests,
    load_view as load_view,
    recorded_load as recorded_load,
    stages_of_interest as stages_of_interest,
)
from benchwright.reports.views.load_comparison import (
    LoadComparison as LoadComparison,
    compare_loads as compare_loads,
    load_data as load_data,
    load_setting_differences as load_setting_differences,
    matched_levels as matched_levels,
)
from benchwright.reports.views.load_verdicts import limits_words as limits_words, low_scores as low_scores
from benchwright.reports.views.run_folders import (
    SamplesOf as SamplesOf,
    as_filed as as_filed,
    folder_run as folder_run,
    holds as holds,
    is_run_folder as is_run_folder,
    run_of_folder as run_of_folder,
    steps_of_folder as steps_of_folder,
)
from benchwright.reports.views.runs import (
    PartsRequest as PartsRequest,
    RunDetails as RunDetails,
    RunView as RunView,
    plain_view as plain_view,
    writer_of as writer_of,
)
from benchwright.reports.views.sample_columns import SampleView as SampleView
from benchwright.reports.views.samples import RunSamples as RunSamples
from benchwright.reports.views.side_by_side import (
    SideBySide as SideBySide,
    SideRun as SideRun,
    side_by_side as side_by_side,
)
from benchwright.reports.views.work_table import WorkTask as WorkTask, work_runs as work_runs
from benchwright.reports.views.workflows import recorded_events as recorded_events, step_views as step_views

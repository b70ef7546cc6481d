from benchwright.reports.blocks import (
    Block as Block,
    Divider as Divider,
    Lines as Lines,
    Table as Table,
    labelled as labelled,
    line as line,
)
from benchwright.reports.files.comparison import (
    COMPARISON_FORMATS as COMPARISON_FORMATS,
    write_comparison as write_comparison,
)
from benchwright.reports.files.export import (
    TEXT_FORMATS as TEXT_FORMATS,
    export_samples as export_samples,
    exported_lines as exported_lines,
    write_rows as write_rows,
)
from benchwright.reports.files.load import (
    export_requests as export_requests,
    load_report as load_report,
    request_lines as request_lines,
    write_load_files as write_load_files,
)
from benchwright.reports.files.run_files import (
    EVAL_REPORT as EVAL_REPORT,
    check_report as check_report,
    dump_yaml as dump_yaml,
    indented_json as indented_json,
    run_report as run_report,
    write_reports as write_reports,
    write_run_config as write_run_config,
    write_run_files as write_run_files,
)
from benchwright.reports.files.sheets import (
    export_load as export_load,
    export_suite as export_suite,
    export_workflow as export_workflow,
    step_rows as step_rows,
    suite_rows as suite_rows,
    table_lines as table_lines,
)
from benchwright.reports.files.verdict_documents import (
    VERDICT_DOCUMENTS as VERDICT_DOCUMENTS,
)
from benchwright.reports.files.work_folder import WorkFolder as WorkFolder, suite_report as suite_report
from benchwright.reports.files.workflow import workflow_report as workflow_report
from benchwright.reports.pages.report import APP as APP
from benchwright.reports.terminal.runs import run_list as run_list
from benchwright.reports.trackers.tracking import (
    Tracker as Tracker,
    Tracking as Tracking,
    find_tracker as find_tracker,
)
from benchwright.reports.views import (
    drawn as drawn,
    in_notebook as in_notebook,
    in_plain_text as in_plain_text,
)

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
from benchwright.reports.files.export import write_rows as write_rows
from benchwright.reports.files.exports import EXPORTS as EXPORTS, Export as Export
from benchwright.reports.files.load import write_load_files as write_load_files
from benchwright.reports.files.run_files import (
    EVAL_REPORT as EVAL_REPORT,
    check_report as check_report,
    dump_yaml as dump_yaml,
    indented_json as indented_json,
    write_reports as write_reports,
    write_run_config as write_run_config,
    write_run_files as write_run_files,
)
from benchwright.reports.files.verdict_documents import (
    VERDICT_DOCUMENTS as VERDICT_DOCUMENTS,
)
from benchwright.reports.files.work_folder import WorkFolder as WorkFolder
from benchwright.reports.pages.report import page_files as page_files
from benchwright.reports.terminal.runs import run_list as run_list
from benchwright.reports.trackers.tracking import (
    Tracker as Tracker,
    Tracking as Tracking,
)
from benchwright.reports.views import (
    drawn as drawn,
    in_notebook as in_notebook,
    in_plain_text as in_plain_text,
)

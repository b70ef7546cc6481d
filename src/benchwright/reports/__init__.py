"""Views of recorded runs: files, terminal tables, JSON. Reads the store and never calls a model."""

from benchwright.reports._files import RUN_FILES, write_run_config, write_run_files
from benchwright.reports._listing import run_table
from benchwright.reports._result_view import ResultView, result_table, result_view
from benchwright.reports._results import results_document
from benchwright.reports._samples import JudgeView, SampleView, find_samples, judge_views, sample_views
from benchwright.reports._shapes import results_json, run_json, sample_json
from benchwright.reports._show import failed_samples, is_wrong, run_overview, sample_in_full, wrong_samples
from benchwright.reports._text import duration, printable

__all__ = [
    "RUN_FILES",
    "JudgeView",
    "ResultView",
    "SampleView",
    "duration",
    "failed_samples",
    "find_samples",
    "is_wrong",
    "judge_views",
    "printable",
    "result_table",
    "result_view",
    "results_document",
    "results_json",
    "run_json",
    "run_overview",
    "run_table",
    "sample_in_full",
    "sample_json",
    "sample_views",
    "write_run_config",
    "write_run_files",
    "wrong_samples",
]

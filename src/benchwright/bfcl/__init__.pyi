from benchwright.bfcl._categories import (
    CATEGORIES as CATEGORIES,
    EVALUATIONS as EVALUATIONS,
    evaluation_of as evaluation_of,
)
from benchwright.bfcl._custom import without_files as without_files
from benchwright.bfcl._definition import Definition as Definition
from benchwright.bfcl._native import NativeFolder as NativeFolder
from benchwright.bfcl._packages import fetch_package as fetch_package
from benchwright.bfcl._stored_results import evaluate_results as evaluate_results
from benchwright.toolcalls import check_ast as check_ast, decode_calls as decode_calls

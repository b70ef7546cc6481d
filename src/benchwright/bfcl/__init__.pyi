from benchwright.bfcl._categories import (
    CATEGORIES as CATEGORIES,
    EVALUATIONS as EVALUATIONS,
    GROUPS as GROUPS,
    categories_of as categories_of,
    evaluation_of as evaluation_of,
)
from benchwright.bfcl._custom import read_custom as read_custom, without_files as without_files
from benchwright.bfcl._definition import Definition as Definition, define as define
from benchwright.bfcl._evaluation import load_evaluation as load_evaluation
from benchwright.bfcl._executable import check_executable as check_executable
from benchwright.bfcl._multi_turn import check_turns as check_turns
from benchwright.bfcl._native import NativeFolder as NativeFolder
from benchwright.bfcl._packages import fetch_package as fetch_package, find_provider as find_provider
from benchwright.bfcl._scores import Scoreboard as Scoreboard
from benchwright.bfcl._simulations import Simulation as Simulation, SimulationError as SimulationError
from benchwright.bfcl._stored_results import evaluate_results as evaluate_results
from benchwright.bfcl._verdicts import verdict_of as verdict_of
from benchwright.toolcalls import check_ast as check_ast, decode_calls as decode_calls

from benchwright.results._benchmarks import (
    RunResult as RunResult,
    benchmark_details as benchmark_details,
)
from benchwright.results._calibration import (
    Calibration as Calibration,
    Disagreement as Disagreement,
    JudgedSample as JudgedSample,
)
from benchwright.results._clusters import Clusters as Clusters, ScoreColumns as ScoreColumns
from benchwright.results._command import (
    versioning as versioning,
)
from benchwright.results._comparing import rules_key as rules_key
from benchwright.results._comparison import (
    Comparison as Comparison,
    ComparisonOptions as ComparisonOptions,
    Side as Side,
)
from benchwright.results._distributions import run_distributions as run_distributions
from benchwright.results._figures import (
    METRIC_NAMES as METRIC_NAMES,
    MetricFigures as MetricFigures,
    averaged as averaged,
    cost_lines as cost_lines,
    duration as duration,
    figures_of as figures_of,
    figures_to_show as figures_to_show,
    graded_notes as graded_notes,
    headline_of as headline_of,
    interval_of as interval_of,
    money as money,
    no_interval as no_interval,
    number as number,
    outcome_name as outcome_name,
    plural as plural,
    rate as rate,
    result_sentence as result_sentence,
    tokens as tokens,
    usage as usage,
    without_formula as without_formula,
)
from benchwright.results._found_runs import FoundRun as FoundRun
from benchwright.results._gates.baselines import (
    portable_baseline as portable_baseline,
    replace_file as replace_file,
    write_baseline as write_baseline,
)
from benchwright.results._gates.decide import figure as figure
from benchwright.results._gates.judge import (
    old_replies as old_replies,
)
from benchwright.results._gates.names import (
    Baselines as Baselines,
    Blessed as Blessed,
)
from benchwright.results._gates.policy import (
    Policy as Policy,
)
from benchwright.results._gates.verdict import RuleRow as RuleRow, Verdict as Verdict, Word as Word
from benchwright.results._history import History as History
from benchwright.results._kinds import (
    RUN_KINDS as RUN_KINDS,
    KindRow as KindRow,
    kind_of as kind_of,
    view_of as view_of,
)
from benchwright.results._labels import (
    LabelList as LabelList,
)
from benchwright.results._load import (
    LoadView as LoadView,
    short as short,
)
from benchwright.results._load_comparison import (
    LoadComparison as LoadComparison,
    SearchComparison as SearchComparison,
)
from benchwright.results._load_page import load_document as load_document
from benchwright.results._load_verdicts import (
    limits_words as limits_words,
    low_scores as low_scores,
    server_rows as server_rows,
)
from benchwright.results._many_runs import (
    ManyRuns as ManyRuns,
)
from benchwright.results._metric_comparison import (
    MetricComparison as MetricComparison,
    MetricSide as MetricSide,
)
from benchwright.results._number_columns import SMALL_BYTES as SMALL_BYTES, WRITER as WRITER
from benchwright.results._run_document import run_document as run_document
from benchwright.results._run_folders import (
    folder_run as folder_run,
    holds as holds,
    run_of_folder as run_of_folder,
    steps_of_folder as steps_of_folder,
)
from benchwright.results._run_page import ChosenSamples as ChosenSamples, run_page as run_page
from benchwright.results._runs import (
    EventView as EventView,
    RunDetails as RunDetails,
    RunView as RunView,
    View as View,
    writer_of as writer_of,
)
from benchwright.results._sample_columns import (
    COLUMNS as COLUMNS,
    SampleView as SampleView,
    dump_each as dump_each,
)
from benchwright.results._sample_document import sample_document as sample_document
from benchwright.results._samples import (
    RunSamples as RunSamples,
    SampleDetails as SampleDetails,
    SampleList as SampleList,
    StoreSamples as StoreSamples,
)
from benchwright.results._search import SearchPage as SearchPage
from benchwright.results._sent_requests import (
    RequestList as RequestList,
)
from benchwright.results._settings import table_of as table_of
from benchwright.results._side_by_side import (
    Pair as Pair,
    SideBySide as SideBySide,
    SideCell as SideCell,
    SideRow as SideRow,
    SideRun as SideRun,
)
from benchwright.results._slices import Slice as Slice, Slices as Slices
from benchwright.results._standings import RunPair as RunPair
from benchwright.results._suites import suite_document as suite_document, suite_table as suite_table
from benchwright.results._tool_calls import CallsView as CallsView
from benchwright.results._work_table import (
    WorkLine as WorkLine,
    WorkRun as WorkRun,
    WorkTable as WorkTable,
    WorkTask as WorkTask,
)
from benchwright.results._workflows import (
    EventList as EventList,
    StepList as StepList,
    StepView as StepView,
    WorkflowDetails as WorkflowDetails,
    value_of as value_of,
)
from benchwright.store import RecordedStep as RecordedStep

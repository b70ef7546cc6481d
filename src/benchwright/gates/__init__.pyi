from benchwright.gates._baselines import (
    Baseline as Baseline,
    baseline_file as baseline_file,
    read_baseline as read_baseline,
    replace_file as replace_file,
    write_baseline as write_baseline,
)
from benchwright.gates._documents import (
    junit as junit,
    junit_without_verdict as junit_without_verdict,
    markdown as markdown,
    markdown_without_verdict as markdown_without_verdict,
)
from benchwright.gates._judge import (
    baseline_of as baseline_of,
    judge_benchmark as judge_benchmark,
    judge_load as judge_load,
    old_replies as old_replies,
)
from benchwright.gates._load_claims import check_figures as check_figures
from benchwright.gates._names import (
    Blessed as Blessed,
    histories as histories,
    move_name as move_name,
    named_baseline as named_baseline,
    no_baseline as no_baseline,
)
from benchwright.gates._policy import (
    Policy as Policy,
    Rule as Rule,
    policy_of as policy_of,
    read_policy as read_policy,
)
from benchwright.gates._table import verdict_table as verdict_table
from benchwright.gates._verdict import RuleRow as RuleRow, Verdict as Verdict

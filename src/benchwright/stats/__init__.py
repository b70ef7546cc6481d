"""Means, spreads and intervals of scores. Numbers in, numbers out; no disk, no clock."""

from benchwright.stats._accumulator import ScoreAccumulator
from benchwright.stats._aggregator import Aggregator
from benchwright.stats._helpers import Classification, Statistics
from benchwright.stats._intervals import FEWEST, t_quantile, wilson_interval
from benchwright.stats._paired import PairedResult, compare_pairs, mcnemar_exact, wilcoxon_signed_rank
from benchwright.stats._repeats import RepeatSummary, RepeatTally, consensus_at_k, pass_at_k
from benchwright.stats._summary import ScoreSummary

__all__ = [
    "FEWEST",
    "Aggregator",
    "Classification",
    "PairedResult",
    "RepeatSummary",
    "RepeatTally",
    "ScoreAccumulator",
    "ScoreSummary",
    "Statistics",
    "compare_pairs",
    "consensus_at_k",
    "mcnemar_exact",
    "pass_at_k",
    "t_quantile",
    "wilcoxon_signed_rank",
    "wilson_interval",
]

from benchwright.stats._accumulator import ScoreAccumulator as ScoreAccumulator
from benchwright.stats._accumulator import ScoreSummary as ScoreSummary
from benchwright.stats._aggregator import Aggregator as Aggregator
from benchwright.stats._agreement import Agreement as Agreement
from benchwright.stats._agreement import PanelAgreement as PanelAgreement
from benchwright.stats._agreement import Weights as Weights
from benchwright.stats._agreement import agreement as agreement
from benchwright.stats._corrected import Corrected as Corrected
from benchwright.stats._corrected import prediction_powered as prediction_powered
from benchwright.stats._corrected import rogan_gladen as rogan_gladen
from benchwright.stats._helpers import Classification as Classification
from benchwright.stats._helpers import Statistics as Statistics
from benchwright.stats._intervals import (
    FEWEST as FEWEST,
)
from benchwright.stats._intervals import (
    t_quantile as t_quantile,
)
from benchwright.stats._intervals import (
    wilson_interval as wilson_interval,
)
from benchwright.stats._limits import LimitTest as LimitTest
from benchwright.stats._limits import binomial_tail as binomial_tail
from benchwright.stats._limits import gain_against as gain_against
from benchwright.stats._limits import holm as holm
from benchwright.stats._limits import interval_against as interval_against
from benchwright.stats._limits import mean_against as mean_against
from benchwright.stats._limits import share_against as share_against
from benchwright.stats._paired import (
    PairedResult as PairedResult,
)
from benchwright.stats._paired import (
    compare_pairs as compare_pairs,
)
from benchwright.stats._paired import (
    mcnemar_exact as mcnemar_exact,
)
from benchwright.stats._paired import (
    wilcoxon_signed_rank as wilcoxon_signed_rank,
)
from benchwright.stats._percentiles import percentile as percentile
from benchwright.stats._power import Spread as Spread
from benchwright.stats._power import rows_needed as rows_needed
from benchwright.stats._power import smallest_effect as smallest_effect
from benchwright.stats._repeats import (
    RepeatSummary as RepeatSummary,
)
from benchwright.stats._repeats import (
    RepeatTally as RepeatTally,
)
from benchwright.stats._repeats import (
    consensus_at_k as consensus_at_k,
)
from benchwright.stats._repeats import (
    pass_at_k as pass_at_k,
)

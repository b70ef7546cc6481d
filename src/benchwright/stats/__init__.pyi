from benchwright.stats._accumulator import (
    ScoreAccumulator as ScoreAccumulator,
)
from benchwright.stats._aggregator import Aggregator as Aggregator
from benchwright.stats._agreement import (
    Agreement as Agreement,
    PanelAgreement as PanelAgreement,
    Weights as Weights,
)
from benchwright.stats._corrected import (
    Corrected as Corrected,
)
from benchwright.stats._groups import (
    RowSums as RowSums,
)
from benchwright.stats._intervals import (
    FEWEST as FEWEST,
    t_quantile as t_quantile,
    wilson_interval as wilson_interval,
)
from benchwright.stats._limits import (
    LimitTest as LimitTest,
)
from benchwright.stats._paired import (
    PairedResult as PairedResult,
    same_score as same_score,
    without_noise as without_noise,
)
from benchwright.stats._percentiles import percentile as percentile
from benchwright.stats._power import Spread as Spread
from benchwright.stats._repeats import (
    RepeatTally as RepeatTally,
    all_of_k as all_of_k,
    consensus_at_k as consensus_at_k,
    pass_at_k as pass_at_k,
)
from benchwright.stats._singles import Singles as Singles
from benchwright.stats._tails import binomial_tail as binomial_tail, holm as holm

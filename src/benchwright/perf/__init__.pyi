from benchwright.perf._bootstrap import fewest_for as fewest_for
from benchwright.perf._breakdowns import GroupSummary as GroupSummary
from benchwright.perf._columns import compute as compute
from benchwright.perf._columns import ones as ones
from benchwright.perf._comparison import Difference as Difference
from benchwright.perf._comparison import StageComparison as StageComparison
from benchwright.perf._comparison import adjusted as adjusted
from benchwright.perf._comparison import compare_stages as compare_stages
from benchwright.perf._conversations import MOST_TURNS as MOST_TURNS
from benchwright.perf._conversations import check_conversation as check_conversation
from benchwright.perf._conversations import conversation_column as conversation_column
from benchwright.perf._conversations import parse_think_time as parse_think_time
from benchwright.perf._conversations import with_messages as with_messages
from benchwright.perf._crew import Crew as Crew
from benchwright.perf._crew import open_crew as open_crew
from benchwright.perf._distributions import FIGURES as FIGURES
from benchwright.perf._distributions import PERCENTILES as PERCENTILES
from benchwright.perf._distributions import Distribution as Distribution
from benchwright.perf._distributions import enough_values as enough_values
from benchwright.perf._distributions import percentile_key as percentile_key
from benchwright.perf._figures import interval_at as interval_at
from benchwright.perf._figures import sorted_values as sorted_values
from benchwright.perf._flight import InFlight as InFlight
from benchwright.perf._flight import flight_of as flight_of
from benchwright.perf._flight import sums_per_slice as sums_per_slice
from benchwright.perf._flight import token_arrivals as token_arrivals
from benchwright.perf._health import STRAINED_LAG_S as STRAINED_LAG_S
from benchwright.perf._health import STRAINED_LATE_S as STRAINED_LATE_S
from benchwright.perf._health import judged as judged
from benchwright.perf._limits import check_files as check_files
from benchwright.perf._limits import most_connections as most_connections
from benchwright.perf._metrics import GAP_PERCENTILE as GAP_PERCENTILE
from benchwright.perf._metrics import LATENCIES as LATENCIES
from benchwright.perf._metrics import LIMITS as LIMITS
from benchwright.perf._metrics import METRICS as METRICS
from benchwright.perf._metrics import PER_REQUEST as PER_REQUEST
from benchwright.perf._metrics import PER_STAGE as PER_STAGE
from benchwright.perf._metrics import Metric as Metric
from benchwright.perf._metrics import explain as explain
from benchwright.perf._notes import Note as Note
from benchwright.perf._plan import PlannedRequest as PlannedRequest
from benchwright.perf._plan import RequestPlan as RequestPlan
from benchwright.perf._plan import build_plan as build_plan
from benchwright.perf._plan import planned_request as planned_request
from benchwright.perf._progress import LoadProgress as LoadProgress
from benchwright.perf._progress import LoadWatcher as LoadWatcher
from benchwright.perf._quality import Grade as Grade
from benchwright.perf._quality import ScoreDifference as ScoreDifference
from benchwright.perf._quality import StageScores as StageScores
from benchwright.perf._quality import grade_step as grade_step
from benchwright.perf._quality import plain_scores as plain_scores
from benchwright.perf._quality import score_differences as score_differences
from benchwright.perf._records import BatchThread as BatchThread
from benchwright.perf._records import StoreSink as StoreSink
from benchwright.perf._records import recorded_requests as recorded_requests
from benchwright.perf._records import recorded_stages as recorded_stages
from benchwright.perf._records import request_step as request_step
from benchwright.perf._records import stage_step as stage_step
from benchwright.perf._request_files import file_table as file_table
from benchwright.perf._request_files import write_request_file as write_request_file
from benchwright.perf._requests import Requests as Requests
from benchwright.perf._schedule import arrivals as arrivals
from benchwright.perf._schedule import check_schedule as check_schedule
from benchwright.perf._search import Probe as Probe
from benchwright.perf._search import SearchResult as SearchResult
from benchwright.perf._search import next_level as next_level
from benchwright.perf._search import search_result as search_result
from benchwright.perf._self_test import SelfTest as SelfTest
from benchwright.perf._self_test import self_test as self_test
from benchwright.perf._server_figures import ServerFigures as ServerFigures
from benchwright.perf._server_figures import SpecDecode as SpecDecode
from benchwright.perf._server_figures import figures_between as figures_between
from benchwright.perf._server_figures import parse_metrics as parse_metrics
from benchwright.perf._server_watch import ServerWatch as ServerWatch
from benchwright.perf._slo import SloResult as SloResult
from benchwright.perf._slo import parse_slo as parse_slo
from benchwright.perf._stage_summary import StageSummary as StageSummary
from benchwright.perf._stage_summary import level_label as level_label
from benchwright.perf._steady import SteadyWindow as SteadyWindow
from benchwright.perf._summary import MAX_ERROR_SHARE as MAX_ERROR_SHARE
from benchwright.perf._summary import LoadSummary as LoadSummary
from benchwright.perf._summary import QualityChange as QualityChange
from benchwright.perf._summary import summarise as summarise
from benchwright.perf._synthetic import USUAL_PROMPTS as USUAL_PROMPTS
from benchwright.perf._synthetic import parse_synthetic as parse_synthetic
from benchwright.perf._synthetic import synthetic_rows as synthetic_rows
from benchwright.perf._test import LoadTest as LoadTest
from benchwright.perf._test import slots_of as slots_of
from benchwright.perf._texts import TextMaker as TextMaker
from benchwright.perf._texts import open_text_maker as open_text_maker
from benchwright.perf._trace import TracePrompts as TracePrompts
from benchwright.perf._trace import TraceStamps as TraceStamps
from benchwright.perf._trace import is_length_trace as is_length_trace
from benchwright.perf._values import (
    Health as Health,
)
from benchwright.perf._values import (
    LoadSearch as LoadSearch,
)
from benchwright.perf._values import (
    LoadSettings as LoadSettings,
)
from benchwright.perf._values import (
    PhaseName as PhaseName,
)
from benchwright.perf._values import (
    RequestOutcome as RequestOutcome,
)
from benchwright.perf._values import (
    RequestRecord as RequestRecord,
)
from benchwright.perf._values import (
    Spread as Spread,
)
from benchwright.perf._values import (
    StageRecord as StageRecord,
)
from benchwright.perf._values import (
    TokenSource as TokenSource,
)
from benchwright.perf._values import (
    TurnMode as TurnMode,
)
from benchwright.perf._values import (
    decode_record as decode_record,
)
from benchwright.perf._values import (
    decode_stage as decode_stage,
)
from benchwright.perf._values import (
    encode_record as encode_record,
)
from benchwright.perf._values import (
    encode_stage as encode_stage,
)

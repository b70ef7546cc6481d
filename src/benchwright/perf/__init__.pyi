from benchwright.perf._bootstrap import fewest_for as fewest_for
from benchwright.perf._breakdowns import GroupSummary as GroupSummary
from benchwright.perf._columns import compute as compute
from benchwright.perf._comparison import (
    Difference as Difference,
    StageComparison as StageComparison,
)
from benchwright.perf._conversations import (
    MOST_TURNS as MOST_TURNS,
    check_conversation as check_conversation,
    conversation_column as conversation_column,
    parse_think_time as parse_think_time,
    with_messages as with_messages,
)
from benchwright.perf._crew import open_crew as open_crew
from benchwright.perf._distributions import (
    Distribution as Distribution,
)
from benchwright.perf._figures import (
    interval_at as interval_at,
    latencies_of as latencies_of,
    sorted_values as sorted_values,
)
from benchwright.perf._flight import (
    InFlight as InFlight,
    sums_per_slice as sums_per_slice,
    token_arrivals as token_arrivals,
)
from benchwright.perf._health import (
    delay_words as delay_words,
)
from benchwright.perf._journal import Journals as Journals
from benchwright.perf._limits import check_files as check_files, most_connections as most_connections
from benchwright.perf._metrics import (
    LATENCIES as LATENCIES,
    METRICS as METRICS,
    PER_REQUEST as PER_REQUEST,
    PER_STAGE as PER_STAGE,
    Metric as Metric,
)
from benchwright.perf._plan import RequestPlan as RequestPlan
from benchwright.perf._progress import LoadProgress as LoadProgress, LoadWatcher as LoadWatcher
from benchwright.perf._quality import (
    Grade as Grade,
    ScoreDifference as ScoreDifference,
)
from benchwright.perf._records import (
    BatchThread as BatchThread,
    EndedRequest as EndedRequest,
    StoreSink as StoreSink,
    count_requests as count_requests,
    recorded_requests as recorded_requests,
    recorded_stages as recorded_stages,
    stage_step as stage_step,
)
from benchwright.perf._request_files import (
    file_table as file_table,
    read_request_file as read_request_file,
    write_request_file as write_request_file,
)
from benchwright.perf._requests import Requests as Requests
from benchwright.perf._schedule import arrivals as arrivals, check_schedule as check_schedule
from benchwright.perf._search import (
    SearchResult as SearchResult,
    next_probe as next_probe,
)
from benchwright.perf._self_test import self_test as self_test
from benchwright.perf._server_watch import ServerWatch as ServerWatch
from benchwright.perf._slo import parse_slo as parse_slo
from benchwright.perf._stage_summary import StageSummary as StageSummary
from benchwright.perf._summary import (
    MAX_ERROR_SHARE as MAX_ERROR_SHARE,
    LoadSummary as LoadSummary,
    summarise as summarise,
)
from benchwright.perf._synthetic import (
    USUAL_PROMPTS as USUAL_PROMPTS,
    synthetic_rows as synthetic_rows,
)
from benchwright.perf._test import LoadTest as LoadTest
from benchwright.perf._trace import (
    TracePrompts as TracePrompts,
    TraceStamps as TraceStamps,
)
from benchwright.perf._values import (
    LoadSearch as LoadSearch,
    LoadSettings as LoadSettings,
    RequestOutcome as RequestOutcome,
    RequestRecord as RequestRecord,
    TurnMode as TurnMode,
)

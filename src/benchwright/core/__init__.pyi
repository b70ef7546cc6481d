from benchwright.core._artifacts import (
    Artifacts as Artifacts,
    artifacts_place as artifacts_place,
    open_artifacts as open_artifacts,
)
from benchwright.core._braces import BraceTemplate as BraceTemplate
from benchwright.core._bridges import bridge as bridge
from benchwright.core._data_names import (
    DATA_FORMATS as DATA_FORMATS,
    DataFormat as DataFormat,
    data_endings as data_endings,
    data_format as data_format,
    is_data_file as is_data_file,
    is_hub_uri as is_hub_uri,
    split_data_name as split_data_name,
)
from benchwright.core._errors import (
    FLAGS_TYPED as FLAGS_TYPED,
    BadRow as BadRow,
    BenchmarkError as BenchmarkError,
    BenchwrightError as BenchwrightError,
    ConfigError as ConfigError,
    DamagedRecordError as DamagedRecordError,
    DatasetError as DatasetError,
    NotFoundError as NotFoundError,
    RunFailedError as RunFailedError,
    RunOwnedError as RunOwnedError,
    UsageError as UsageError,
    worst_exit_code as worst_exit_code,
)
from benchwright.core._failure_tally import FailureTally as FailureTally
from benchwright.core._fast_paths import FAST_PATHS as FAST_PATHS
from benchwright.core._fronts import lazy_front as lazy_front
from benchwright.core._home import expand_home as expand_home
from benchwright.core._json import (
    MAX_DEPTH as MAX_DEPTH,
    JsonObject as JsonObject,
    JsonValue as JsonValue,
    Row as Row,
    TooDeepError as TooDeepError,
    as_json as as_json,
    beyond_64_bits as beyond_64_bits,
    canonical_json as canonical_json,
    check_depth as check_depth,
    content_hash as content_hash,
    encode_json as encode_json,
    exact_json as exact_json,
    finite_json as finite_json,
    finite_number as finite_number,
    json_differences as json_differences,
    load_data_json as load_data_json,
    load_each as load_each,
    load_exact_json as load_exact_json,
    load_json as load_json,
    ready as ready,
)
from benchwright.core._late_patterns import late_pattern as late_pattern
from benchwright.core._plugins import Registry as Registry
from benchwright.core._progress import RunProgress as RunProgress
from benchwright.core._redactor import (
    REDACTED as REDACTED,
    Redactor as Redactor,
)
from benchwright.core._requests import (
    LEFT_OUT as LEFT_OUT,
    LENGTH_LIMITS as LENGTH_LIMITS,
    ROUTE_PATHS as ROUTE_PATHS,
    CallTimes as CallTimes,
    Copied as Copied,
    EchoedTokens as EchoedTokens,
    FailureKind as FailureKind,
    ModelReply as ModelReply,
    ModelRequest as ModelRequest,
    ReplyStatus as ReplyStatus,
    RequestFailure as RequestFailure,
    Route as Route,
    TokenUsage as TokenUsage,
    completions_body as completions_body,
)
from benchwright.core._run_kinds import (
    FUNCTION_CALLING as FUNCTION_CALLING,
    QUESTIONS as QUESTIONS,
    SAMPLE_STEP as SAMPLE_STEP,
    STREAM_FILES as STREAM_FILES,
    CallFolder as CallFolder,
    LengthLaw as LengthLaw,
    LoadFile as LoadFile,
    LoadProfile as LoadProfile,
    RunFile as RunFile,
    RunKind as RunKind,
    defined_settings as defined_settings,
    kind_title as kind_title,
)
from benchwright.core._sample_record import (
    MAX_TOKENS_FIELD as MAX_TOKENS_FIELD,
    OWN_WORDS as OWN_WORDS,
    UNANSWERED as UNANSWERED,
    CallRecord as CallRecord,
    RecordColumns as RecordColumns,
    SampleRecord as SampleRecord,
    StepValues as StepValues,
    is_redacted as is_redacted,
    is_unanswered as is_unanswered,
    marked_as_redacted as marked_as_redacted,
    row_hash as row_hash,
    sample_of as sample_of,
    step_key as step_key,
)
from benchwright.core._secrets import (
    HidesFields as HidesFields,
    doubtful_secrets as doubtful_secrets,
    environment_secret as environment_secret,
    is_secret_name as is_secret_name,
    key_in_url as key_in_url,
    known_secrets as known_secrets,
    public_url as public_url,
    redact as redact,
    remember_secret as remember_secret,
    secret_within as secret_within,
    url_owner as url_owner,
)
from benchwright.core._statuses import (
    RUN_STATUSES as RUN_STATUSES,
    Outcome as Outcome,
    RunStatus as RunStatus,
    StepStatus as StepStatus,
    known_run_status as known_run_status,
)
from benchwright.core._strategies import (
    STRATEGIES as STRATEGIES,
    StrategyFacts as StrategyFacts,
)
from benchwright.core._summary import (
    DATA_SCORES as DATA_SCORES,
    DEMO_KIND as DEMO_KIND,
    DEMO_NOTE as DEMO_NOTE,
    DEMO_REPLIES_NOTE as DEMO_REPLIES_NOTE,
    SECONDS_OF as SECONDS_OF,
    Information as Information,
    MetricSummary as MetricSummary,
    Note as Note,
    NoteGrade as NoteGrade,
    RunSummary as RunSummary,
    is_share as is_share,
    is_time as is_time,
    lower_is_better as lower_is_better,
    reused_span as reused_span,
)
from benchwright.core._texts import (
    MissingFieldError as MissingFieldError,
    clause as clause,
    judge_question_cure as judge_question_cure,
    listed as listed,
    nearest as nearest,
    normalise_name as normalise_name,
    p_text as p_text,
    percent as percent,
    printable as printable,
    printable_json as printable_json,
    rfc3339 as rfc3339,
    safe_name as safe_name,
    shown as shown,
    suggest as suggest,
)
from benchwright.core._trust import (
    loading_code as loading_code,
    make_private as make_private,
    own_ancestors as own_ancestors,
    refuse_foreign as refuse_foreign,
    refuse_while_loading as refuse_while_loading,
    replacing as replacing,
    write_whole as write_whole,
)
from benchwright.core._verdicts import (
    is_verdict_format as is_verdict_format,
    verdict_format as verdict_format,
)
from benchwright.core._version import VERSION as VERSION
from benchwright.core._wire_formats import (
    MODEL_TYPES as MODEL_TYPES,
    WIRE_FORMATS as WIRE_FORMATS,
    ModelType as ModelType,
    WireFormat as WireFormat,
)

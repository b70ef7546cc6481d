"""Values shared by all rooms. Imports nothing of ours and reads no files."""

from benchwright.core._data_names import (
    DATA_FORMATS,
    PACKED_ENDINGS,
    DataFormat,
    data_endings,
    data_format,
    is_data_file,
    is_hub_uri,
    split_data_name,
)
from benchwright.core._differences import DifferenceKind, JsonDifference, json_differences
from benchwright.core._errors import (
    BenchmarkError,
    BenchwrightError,
    ConfigError,
    DatasetError,
    NotFoundError,
    RunFailedError,
    RunOwnedError,
    UsageError,
)
from benchwright.core._exact import exact_json
from benchwright.core._exit_codes import WORST_FIRST, worst_exit_code
from benchwright.core._folders import own_ancestors
from benchwright.core._hashing import canonical_json, content_hash, encode_json
from benchwright.core._json import (
    MAX_DEPTH,
    JsonObject,
    JsonValue,
    Row,
    TooDeepError,
    check_depth,
    load_exact_json,
    load_json,
)
from benchwright.core._json_lists import load_each
from benchwright.core._loading import loading_code, refuse_while_loading
from benchwright.core._names import normalise_name, suggest
from benchwright.core._outcomes import OUTCOMES, Outcome
from benchwright.core._requests import (
    ADAPTER_VERSION,
    APIS,
    LEFT_OUT,
    Api,
    EchoedTokens,
    FailureKind,
    LeftOut,
    ModelReply,
    ModelRequest,
    ReplyStatus,
    RequestFailure,
    Route,
    TokenUsage,
    reply_from_json,
    reply_to_json,
)
from benchwright.core._rows import BadRow
from benchwright.core._summary import MetricSummary, RunSummary
from benchwright.core._times import rfc3339
from benchwright.core._version import VERSION

__all__ = [
    "ADAPTER_VERSION",
    "APIS",
    "DATA_FORMATS",
    "LEFT_OUT",
    "MAX_DEPTH",
    "OUTCOMES",
    "PACKED_ENDINGS",
    "VERSION",
    "WORST_FIRST",
    "Api",
    "BadRow",
    "BenchmarkError",
    "BenchwrightError",
    "ConfigError",
    "DataFormat",
    "DatasetError",
    "DifferenceKind",
    "EchoedTokens",
    "FailureKind",
    "JsonDifference",
    "JsonObject",
    "JsonValue",
    "LeftOut",
    "MetricSummary",
    "ModelReply",
    "ModelRequest",
    "NotFoundError",
    "Outcome",
    "ReplyStatus",
    "RequestFailure",
    "Route",
    "Row",
    "RunFailedError",
    "RunOwnedError",
    "RunSummary",
    "TokenUsage",
    "TooDeepError",
    "UsageError",
    "canonical_json",
    "check_depth",
    "content_hash",
    "data_endings",
    "data_format",
    "encode_json",
    "exact_json",
    "is_data_file",
    "is_hub_uri",
    "json_differences",
    "load_each",
    "load_exact_json",
    "load_json",
    "loading_code",
    "normalise_name",
    "own_ancestors",
    "refuse_while_loading",
    "reply_from_json",
    "reply_to_json",
    "rfc3339",
    "split_data_name",
    "suggest",
    "worst_exit_code",
]

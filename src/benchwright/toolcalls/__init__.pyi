from benchwright.toolcalls._call import (
    READABLE as READABLE,
    Call as Call,
    CallDecodeError as CallDecodeError,
    Calls as Calls,
    Language as Language,
    is_calls as is_calls,
)
from benchwright.toolcalls._checker import check_ast as check_ast
from benchwright.toolcalls._decode import decode_calls as decode_calls
from benchwright.toolcalls._documents import (
    hinted as hinted,
    prompting_messages as prompting_messages,
    tools_of as tools_of,
)
from benchwright.toolcalls._expected import (
    expected_calls_verdict as expected_calls_verdict,
    ground_truth_of as ground_truth_of,
    parsed_json as parsed_json,
)
from benchwright.toolcalls._mistyped import (
    mistyped_value as mistyped_value,
    unwritable_value as unwritable_value,
)
from benchwright.toolcalls._native import read_tool_calls as read_tool_calls
from benchwright.toolcalls._python import (
    dotted_name as dotted_name,
    parse_calls as parse_calls,
    value_of as value_of,
)
from benchwright.toolcalls._schema_types import (
    JSON_TYPES as JSON_TYPES,
    language_of as language_of,
)
from benchwright.toolcalls._verdict import (
    CallVerdict as CallVerdict,
)

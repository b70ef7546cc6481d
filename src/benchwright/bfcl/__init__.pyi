from benchwright.toolcalls import check_ast as check_ast
from benchwright.toolcalls import decode_calls as decode_calls

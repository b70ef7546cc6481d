"""The verdict on one sample, by the category of its row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchwright.bfcl._categories import CATEGORIES
from benchwright.bfcl._multi_turn import check_turns
from benchwright.bfcl._simulations import Simulation
from benchwright.toolcalls import CallVerdict, check_ast, is_calls


def verdict_of(
    row: Mapping[str, Any],
    calls: Any,
    *,
    error: str | None = None,
    why: str | None = None,
    native: bool = False,
    turns: Any = None,
    stopped: bool = False,
    open_simulation: Callable[[], Simulation] | None = None,
) -> CallVerdict:
    """Whether a sample is right. `calls` are those of the reply; None, with the reason in `error` as a word and in `why` as a
    sentence, if none were read."""
    category = CATEGORIES[row["category"]]
    if category.check == "multi_turn":
        assert open_simulation is not None  # rows of several turns have one
        return check_turns(turns, row["ground_truth"], open_simulation, stopped=stopped)
    if category.check == "irrelevance":
        if calls and is_calls(calls):
            return CallVerdict(
                False, "irrelevance_error:decoder_success", "no function fits, and one was called"
            )
        return CallVerdict(True)
    if category.check == "relevance":
        if calls and is_calls(calls):
            return CallVerdict(True)
        return CallVerdict(False, "relevance_error:decoder_failed", "a function fits, and none was called")
    if calls is None:
        kind = "wrong_output_format" if error == "no_call" else "failed"
        return CallVerdict.unread(f"decoder_{kind}", why)
    if not is_calls(calls):
        return CallVerdict(
            False,
            "ast_decoder:decoder_wrong_output_format",
            "the reply is not a list of calls with arguments",
        )
    return check_ast(row["function"], calls, row["ground_truth"], category.name, underscore_names=native)

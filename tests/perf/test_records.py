"""Records of requests have what replies and sendings have, each value in its field."""

from __future__ import annotations

from typing import Any

from benchwright.core import CallTimes, ModelReply, ModelRequest, RequestFailure, TokenUsage
from benchwright.perf._plan import PlannedRequest
from benchwright.perf._records import Sending, record_of
from benchwright.perf._values import RequestOutcome, RequestRecord

TIMES = CallTimes(10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 20.0, (14.0, 16.0, 18.0), None)
REPLY = ModelReply(
    "answered", "a b c", finish_reason="stop", usage=TokenUsage(31, 3, "server", 32, 2), attempts=4, times=TIMES,
    served="other", reply_id="reply", request_id="request",
)  # fmt: skip


def sending() -> Sending:
    entry = PlannedRequest(ModelRequest("chat", {}, b"{}"), 21, "hash", 22)
    found = Sending(23, 24, "cooldown", entry, 10.5, 25, 26)
    found.conversation, found.turn, found.delayed_s = 27, 28, 0.25
    return found


def test_each_value_is_in_its_field() -> None:
    """The record is built by position; a field that moves must not take another's value."""
    assert record_of(sending(), REPLY, 1.0, wall=100.0) == RequestRecord(
        number=23, stage=24, phase="cooldown", row=21, conversation=27, turn=28, worker=25, url=26, planned=9.5, sent=10.0,
        first_byte=11.0, first_event=12.0, first_token=13.0, first_answer=14.0, last_content=17.0, ended=19.0,
        arrivals=(3.0, 5.0, 7.0), outcome=RequestOutcome.OK, http_status=200, input_tokens=31, output_tokens=3,
        cached_tokens=32, reasoning_tokens=2, token_source="usage", requested_tokens=22, finish_reason="stop",
        prompt_hash="hash", delayed_s=0.25, attempts=4, served="other", sent_at=111.0, reply_id="reply",
        request_id="request",
    )  # fmt: skip


def test_the_rest_are_set_by_those_who_know_them() -> None:
    """Every field is the reply's, or has its default: a new one must be placed."""
    kept = record_of(sending(), REPLY, 1.0, keep_reply=True)
    assert "a b c" in (kept.reply or "")
    later = {"event_tokens", "scores", "score_outcome", "score_error"}
    failed = ModelReply(
        "failed",
        failure=RequestFailure("server_error", "busy", 503),
        times=CallTimes(10.0, 11.0, failed=12.0),
    )
    impossible: Any = ModelReply("answered", "a", usage=TokenUsage(1, 0), times=TIMES)
    records = [kept, record_of(sending(), failed, 1.0), record_of(sending(), impossible, 1.0)]
    fresh = RequestRecord(0)
    for name in RequestRecord.__struct_fields__:
        differs = any(getattr(record, name) != getattr(fresh, name) for record in records)
        assert differs == (name not in later), name

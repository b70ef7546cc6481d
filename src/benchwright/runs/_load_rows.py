"""The rows of a load test that are not questions: conversations, synthetic prompts, and traces, whose rows have the times
of sending and sometimes only the lengths of prompts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from msgspec.structs import replace

from benchwright.benchmarks import BenchmarkSpec, names_media
from benchwright.config import LoadOptions
from benchwright.core import JsonObject, Row, UsageError
from benchwright.datasets import DatasetReader
from benchwright.engine import Prepared, RunSettings
from benchwright.perf import (
    MOST_TURNS,
    USUAL_PROMPTS,
    TracePrompts,
    TraceStamps,
    check_conversation,
    conversation_column,
    synthetic_rows,
    with_messages,
)
from benchwright.runs._load_options import profile_of
from benchwright.runs._targets import Target

SYNTHETIC = "synthetic"
"""Name of synthetic data."""
_USUAL_REQUESTS = 200
"""The default number of requests if neither a number nor a duration is given."""


_PromptLengths: TypeAlias = Literal["exact", "approximate"] | None


def rows_for_load(
    spec: BenchmarkSpec, options: LoadOptions, settings: RunSettings
) -> tuple[BenchmarkSpec, TraceStamps | None, _PromptLengths, JsonObject | None]:
    """The benchmark with the rows of a load test; the column of timestamps, if rows are sent by them; how exact the lengths of prompts are that
    were made for the rows; and facts about prompts that were made without data.

    Rows without a stamp are refused with all other bad rows, by file and line.
    """
    if options.synthetic is not None:
        facts = spec.config[SYNTHETIC]
        return spec, None, "exact" if facts["exact"] else "approximate", facts
    first = _first_row(spec, settings) if spec.family == "qa" else {}
    asks_nothing = bool(first) and first.get("question") in (None, "")
    if asks_nothing and conversation_column(first) is not None:
        spec = _conversations(spec, settings)
    if spec.converses:
        spec = _checked_turns(spec, options.turn_mode or "every")
    stamps = None
    if profile_of(options) == "trace":
        stamps = _stamps(spec, options, settings)
        spec = replace(spec, check_row=_both(stamps.seconds, spec.check_row))
    if asks_nothing and TracePrompts.apply_to(first) and not spec.converses:
        prompts = TracePrompts.of(options.tokenizer, options.schedule_seed or 0, stamps)
        return _made_prompts(spec, prompts), stamps, prompts.lengths, None
    if options.tokenizer is not None:
        raise UsageError(
            "--tokenizer: the rows have prompts of their own; only prompts that are made take it"
        )
    return spec, stamps, None, None


def on_chat_route(spec: BenchmarkSpec, settings: RunSettings) -> RunSettings:
    """The settings with the chat route of the same server, if rows have media and the model's profile sends texts. Servers of
    such profiles have both routes."""
    endpoint = settings.endpoint
    if spec.media is None or not endpoint.by_http or settings.model_type in (None, "chat"):
        return settings
    if not any(names_media(set(row)) for row in _opened(spec, settings).head(100)):
        return settings
    note = f"rows with media were sent to the chat route, not to {settings.model_type} of the model's profile"
    chat = endpoint.at_server(api="openai", model_type="chat")
    return replace(settings, model_type="chat", endpoint=chat, model_notes=(*settings.model_notes, note))


def _stamps(spec: BenchmarkSpec, options: LoadOptions, settings: RunSettings) -> TraceStamps:
    """The column of the timestamps, and the start of the trace."""
    stamps = TraceStamps(
        options.trace_field or "timestamp",
        options.trace_unit or "ms",
        start=options.trace_start or 0.0,
        end=options.trace_end,
    )
    reader = _opened(spec, settings)
    every = reader.good_rows()
    return stamps.beginning(every, reader.name)


def _first_row(spec: BenchmarkSpec, settings: RunSettings) -> Row:
    return next(iter(_opened(spec, settings).head(1)), {})


def _conversations(spec: BenchmarkSpec, settings: RunSettings) -> BenchmarkSpec:
    """The benchmark of a file whose rows are conversations."""
    shape = with_messages if spec.shape is None else _after(spec.shape, with_messages)
    spec = replace(
        spec, shape=shape, turns_field="turns", prompt="", template=None, example=None, check_row=None, media=None,
        max_turns=MOST_TURNS, doubts=(),
    )  # fmt: skip
    if any(row.get("system") for row in _opened(spec, settings).head(1000)):
        spec = replace(spec, system=_SystemOfRow())
    return spec


class _SystemOfRow:
    """The system message of a row, as a template."""

    text = "{system}"
    engine: Literal["code"] = "code"
    fields: frozenset[str] = frozenset()

    def render(self, row: Row) -> str:
        """Empty if the row has none."""
        return str(row.get("system") or "")


def _checked_turns(spec: BenchmarkSpec, mode: str) -> BenchmarkSpec:
    """The benchmark with a check that its conversations can be sent in this mode."""
    field = spec.turns_field
    if field is None:
        if mode != "every":
            raise UsageError(
                f"--turn-mode {mode}: the user's turns depend on the replies (next_turn); leave it out"
            )
        return spec
    has_prompt = bool(spec.prompt)
    check = _both(lambda row: check_conversation(row, field, mode, prompt=has_prompt), spec.check_row)
    return replace(spec, check_row=check, rules=f"{spec.rules} {mode}")


def _after(first: Callable[[Row], Row], second: Callable[[Row], Row]) -> Callable[[Row], Row]:
    return lambda row: second(first(row))


def _made_prompts(spec: BenchmarkSpec, prompts: TracePrompts) -> BenchmarkSpec:
    """The benchmark of a file with prompts of the lengths that its rows give."""
    shape = spec.shape
    return replace(
        spec,
        shape=prompts.shape if shape is None else _after(shape, prompts.shape),
        check_row=_both(prompts.check, spec.check_row),
        doubts=(),  # they concern columns of questions, which such a file need not have
        rules=f"{spec.rules} prompts by length, {prompts.lengths}",
    )


def _opened(spec: BenchmarkSpec, settings: RunSettings) -> DatasetReader:
    spec = Prepared.row_settings(spec, settings).applied_to(spec)
    return spec.open(settings.limit)


def _both(first: Callable[[Row], object], second: Callable[[Row], None] | None) -> Callable[[Row], None]:
    def check(row: Row) -> None:
        first(row)
        if second is not None:
            second(row)

    return check


def synthetic_target(load: LoadOptions) -> Target:
    """The benchmark that `--synthetic` describes. Raises UsageError for prompts that cannot be made."""
    assert load.synthetic is not None
    if load.profile == "trace":
        raise UsageError(
            "--synthetic makes prompts without timestamps; --profile trace sends those of a file"
        )
    rows, facts = synthetic_rows(
        load.synthetic, load.tokenizer, load.schedule_seed or 0, _prompts_needed(load)
    )
    spec = BenchmarkSpec(
        name=SYNTHETIC,
        key=SYNTHETIC,
        dataset=rows,
        prompt="{prompt}",
        scorer=_unscored,
        max_tokens_field="max_tokens",
        unscored="synthetic prompts have no right answers",
        config={SYNTHETIC: facts},
    )
    return Target(spec, SYNTHETIC, {"kind": SYNTHETIC, "settings": {}})


def _prompts_needed(load: LoadOptions) -> int:
    """The most prompts that a test needs, so that none is sent twice."""
    if load.requests is None or load.find_max_load:
        return USUAL_PROMPTS if load.seconds or load.find_max_load else _USUAL_REQUESTS
    levels = max(1, len(load.rate or load.concurrency or ()))
    return (load.warmup or 0) + levels * (load.requests + (load.cooldown or 0))


def _unscored(sample: Any) -> dict[str, Any]:
    raise AssertionError("synthetic prompts have no right answers")

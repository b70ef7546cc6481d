"""The keywords of `run`, `check`, `rescore` and `resume`, with their types, for editors and type checkers.

`RunOptions` explains each of them and checks its value; a test holds the two lists against each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TypedDict

from benchwright.core import JsonValue, LeftOut


class RunKeywords(TypedDict, total=False):
    """What `run`, `check` and `rescore` take by name."""

    model: str | None
    model_url: str | None
    host_ip: str | None
    host_port: int | None
    enable_ssl: bool | None
    model_id: str | None
    model_type: str | None
    api: str | None
    api_key_name: str | None
    headers: Mapping[str, str] | str | Sequence[str] | None
    verify: bool | None
    ca_file: str | None
    demo_skill: float | None
    dataset: str | None
    input: Mapping[str, JsonValue] | None
    filters: str | Sequence[str] | None
    limit: int | None
    repeats: int | None
    parallelism: int | None
    temperature: float | LeftOut | None
    top_p: float | LeftOut | None
    max_tokens: int | LeftOut | None
    stop: str | Sequence[str] | None
    seed: int | LeftOut | None
    stream: bool | None
    extra_body: Mapping[str, JsonValue] | None
    num_fewshot: int | None
    fewshot_seed: int | None
    fewshot_strict: bool | None
    request_timeout: float | None
    timeout_per_sample: float | None
    max_retries: int | None
    retry_backoff: float | None
    max_event_bytes: int | None
    max_requests: int | None
    max_tokens_total: int | None
    max_minutes: float | None
    max_failures: int | None
    failure_threshold: float | None
    cache: bool | None
    skip_bad_rows: bool | None
    pass_k: int | None
    num_warmups: int | None
    infer_only: bool | None
    data_type: str | None
    infer_method: str | None
    meta_path: str | None
    prompt_style: str | None
    template: str | None
    system: str | None
    fewshot_dataset: str | None
    input_columns: str | Sequence[str] | None
    output_column: str | None
    answer_index: int | None
    options: str | Sequence[str] | None
    mcq_fallback: str | None
    qa_metrics: str | Sequence[str] | None
    qa_pattern: str | None
    numeric_tolerance: float | None
    evaluator: str | None
    evaluator_kwargs: Mapping[str, JsonValue] | None
    judge_url: str | None
    judge_id: str | None
    judge_key_name: str | None
    judge_model: str | None
    media: str | None
    audio_style: str | None
    max_media_mb: float | None
    compat: str | bool | None
    test_range: str | int | float | None
    encoding: str | None
    sheet: str | None
    workspace: str | PathLike[str] | None
    output_dir: str | PathLike[str] | None
    overwrite: bool | None
    reports: str | Sequence[str] | None


class ResumeOverrides(TypedDict, total=False):
    """What a resumed run may change: how fast it goes, and what it may spend."""

    parallelism: int | None
    max_requests: int | None
    max_tokens_total: int | None
    max_minutes: float | None


RESUME_OVERRIDES = tuple(ResumeOverrides.__annotations__)
"""The names of `ResumeOverrides`."""

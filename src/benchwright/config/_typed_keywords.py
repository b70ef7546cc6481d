"""The keywords of Python functions with their types, for editors and type checkers.

No command loads this: Python compiles every annotation of such a class, which took a fiftieth of a run of one row. Tests compare
the names with the fields of the options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Literal, TypedDict

from benchwright.core import JsonValue


class SharedKeywords(TypedDict, total=False):
    """The keywords that evaluations and load tests share."""

    model: str | None
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
    pipeline: Mapping[str, JsonValue] | Sequence[object] | None
    demo_skill: float | None
    dataset: str | None
    input: Mapping[str, JsonValue] | None
    filters: str | Sequence[str] | None
    limit: int | None
    repeats: int | None
    pass_k: int | Sequence[int] | None
    num_fewshot: int | None
    fewshot_seed: int | None
    fewshot_strict: bool | None
    skip_bad_rows: bool | None
    native_calling: bool | None
    lenient_calls: bool | None
    extra: Mapping[str, JsonValue] | None
    judge: Mapping[str, JsonValue] | None
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
    options: str | Sequence[str] | None
    answer_index: int | None
    mcq_fallback: str | None
    qa_metrics: str | Sequence[str] | None
    qa_pattern: str | None
    numeric_tolerance: float | None
    evaluator: str | None
    evaluator_kwargs: Mapping[str, JsonValue] | None
    judge_url: str | None
    judge_id: str | None
    judge_key_name: str | None
    judge_verify: bool | None
    judge_ca_file: str | None
    judge_model: str | None
    media: str | None
    audio_style: str | None
    max_media_mb: float | None
    compat: str | bool | None
    test_range: str | int | float | None
    encoding: str | None
    sheet: str | None
    header_row: int | None
    task: str | None
    tool_data: str | None
    tool_data_format: str | None
    tool_data_template: str | None
    limit_share: float | None
    temperature: float | Literal["none"] | None
    max_tokens: int | Literal["none"] | None
    top_p: float | Literal["none"] | None
    stop: str | Sequence[str] | None
    seed: int | Literal["none"] | None
    stream: bool | None
    extra_body: Mapping[str, JsonValue] | None
    parallelism: int | None
    request_timeout: float | None
    timeout_per_sample: float | None
    max_retries: int | None
    retry_backoff: float | None
    max_event_bytes: int | None
    cache: bool | None
    num_warmups: int | None
    max_requests: int | None
    max_tokens_total: int | None
    max_minutes: float | None
    max_cost: float | None
    prices: str | None
    max_failures: int | None
    failure_threshold: float | None
    workspace: str | PathLike[str] | None
    store: str | PathLike[str] | None
    output_dir: str | PathLike[str] | None
    overwrite: bool | None
    reports: str | Sequence[str] | None
    trackers: str | Sequence[str] | None
    metadata: Mapping[str, JsonValue] | None
    save_predictions: bool | None
    mode: str | None
    work_dir: str | PathLike[str] | None
    max_num_workers: int | None
    merge_ds: bool | None
    summarizer: str | None
    dump_eval_details: bool | None
    dump_extract_rate: bool | None
    models: str | Sequence[str] | None
    reuse: str | None


class RunKeywords(SharedKeywords, total=False):
    """The keywords of `run`, `check`, `resume` and `rescore`, for editors and type checkers: the fields of `RunOptions` and of
    `SuiteOptions`."""

    model_url: str | None


class LoadKeywords(SharedKeywords, total=False):
    """The keywords of `perf`, for editors and type checkers."""

    model_url: str | Sequence[str] | None
    profile: str | None
    concurrency: int | Sequence[int] | str | None
    rate: float | Sequence[float] | str | None
    burstiness: float | None
    burst_size: int | None
    ramp: str | None
    trace_field: str | None
    trace_unit: str | None
    trace_speed: float | Sequence[float] | str | None
    trace_start: float | None
    trace_end: float | None
    max_concurrency: int | None
    synthetic: str | None
    exact_output: bool | None
    tokenizer: str | None
    cache_bust: bool | None
    turn_mode: str | None
    think_time: str | None
    schedule_seed: int | None
    requests: int | None
    conversations: int | None
    seconds: float | None
    stop_error_share: float | None
    max_error_share: float | None
    warmup: int | None
    cooldown: int | None
    slo: str | None
    slo_share: float | None
    score: bool | None
    min_score: float | None
    find_max_load: bool | None
    probe_repeats: int | None
    max_probes: int | None
    search_seconds: float | None
    more_urls: Sequence[str] | str | None
    workers: int | None
    server_metrics: bool | None
    drain: float | None
    format: str | None

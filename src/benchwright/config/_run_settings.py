"""The knobs of a run, once: command line flags and `[run]` tables are both made from this list."""

from __future__ import annotations

from benchwright.config._setting import Setting

MODEL_TYPES = ("chat", "completions", "completions_logprob")
"""How a model is asked over HTTP."""

RUN_SETTINGS: tuple[Setting, ...] = (
    Setting("model", "text", "model from benchwright.toml, or 'demo'", group="model"),
    Setting("model_url", "text", "URL of an OpenAI-compatible endpoint", group="model"),
    Setting("model_id", "text", "the model's name, as that server knows it", group="model"),
    Setting("model_type", "text", "how it is asked (default: as the benchmark says)", choices=MODEL_TYPES, group="model"),
    Setting("api_key_name", "text", "environment variable that holds the API key", group="model"),
    Setting("demo_skill", "number", "how good the demo model is", least=0, most=1, group="model"),
    Setting("dataset", "text", "use this data instead of the benchmark's own", group="data"),
    Setting("filters", "texts", "only rows whose column has this value: FIELD=VALUE; may be given again",
            aliases=("filter",), group="data"),
    Setting("limit", "int", "evaluate the first N rows", least=1, aliases=("limit_samples",), group="data"),
    Setting("repeats", "int", "ask each row N times", least=1, aliases=("n_repeats",), group="data"),
    Setting("num_fewshot", "int", "solved examples in front of each prompt", least=0, group="data"),
    Setting("fewshot_seed", "int", "seed for drawing the examples (default: 42)", group="data"),
    Setting("fewshot_strict", "bool", "refuse examples drawn from the evaluated rows", group="data"),
    Setting("skip_bad_rows", "bool", "leave unreadable rows out instead of refusing the file", group="data"),
    Setting("temperature", "number", "sampling temperature (default: 0)", least=0, group="generation"),
    Setting("top_p", "number", "nucleus sampling (default: 1)", above=0, most=1, group="generation"),
    Setting(
        "max_tokens", "int", "longest reply, in tokens (default: 4096)", least=1, aliases=("max_new_tokens",),
        group="generation",
    ),
    Setting("stop", "texts", "end the reply at this text; may be given again", group="generation"),
    Setting("seed", "int", "sampling seed, sent with each request", group="generation"),
    Setting("stream", "bool", "ask for streamed replies (gives times to the first token)", group="generation"),
    Setting("extra_body", "table", "further fields of each request body, as JSON", group="generation"),
    Setting(
        "parallelism", "int", "most requests at a time (default: 16)", least=1, aliases=("concurrency",),
        group="requests",
    ),
    Setting("request_timeout", "number", "seconds for one attempt (default: 120)", above=0, group="requests"),
    Setting("timeout_per_sample", "number", "seconds for all attempts of one request", above=0, group="requests"),
    Setting("max_retries", "int", "further attempts after a failure (default: 3)", least=0, group="requests"),
    Setting("retry_backoff", "number", "first pause in seconds, then doubled (default: 0.5)", least=0, group="requests"),
    Setting("cache", "bool", "take replies to equal requests from earlier runs (default: on)", group="requests"),
    Setting("max_requests", "int", "stop after N requests, retries included", least=1, group="budget"),
    Setting("max_tokens_total", "int", "stop after N tokens, prompts included", least=1, group="budget"),
    Setting("max_minutes", "number", "stop after this time", above=0, group="budget"),
    Setting(
        "failure_threshold", "number", "share of failed samples above which a run is not comparable (default: 0.05)",
        least=0, most=1, group="budget",
    ),
    Setting("workspace", "text", "folder that holds .benchwright/ (default: found upwards from here)", group="files"),
    Setting("output_dir", "text", "write the run's files here", group="files"),
)  # fmt: skip
"""Every knob, in the order of the help text."""

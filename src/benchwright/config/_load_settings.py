"""The settings of a load test, each declared once: flags, keys of `[perf]`, keywords of Python, the manual's table.

What a load test shares with a run (model, data, bodies of requests, files) is in `_run_settings`.
"""

# every row makes a field
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchwright.config._run_settings import BY_NAME, RunOptions
from benchwright.config._setting import Setting, Table, row, settings_in
from benchwright.config._values import GivenOptions, from_python, read_table
from benchwright.core import JsonObject, LoadProfile, UsageError, suggest

PROFILE_NAMES = tuple(profile.value for profile in LoadProfile)
"""When requests are sent."""

OPEN_PROFILE_NAMES = tuple(profile.value for profile in LoadProfile if profile.open_loop)
"""Profiles that send by a schedule."""

_PERF: tuple[Table, ...] = ("perf",)
_shape = partial(row, decides="everything", group="load", tables=_PERF)
_stop = partial(row, decides="everything", group="end", tables=_PERF)
_search = partial(row, decides="everything", group="search", tables=_PERF)
_client = partial(row, decides="effort", group="client", tables=_PERF)


class LoadOptions(GivenOptions, frozen=True, kw_only=True):
    """The settings of a load test. None: not given; then `[perf]` of benchwright.toml counts, then the default."""

    # fmt: off
    profile: str | None = _shape("when requests are sent", choices=PROFILE_NAMES, metavar="NAME", see="load.md#profiles",
        otherwise="poisson with --rate, else concurrent", frequent=True)
    concurrency: tuple[str, ...] | None = _shape("requests in flight; several numbers are a sweep: 1,2,4,8", commas=True,
        aliases=("parallelism",), metavar="N,…", otherwise="the model's limit, else 16", frequent=True)
    rate: tuple[str, ...] | None = _shape("requests per second; several numbers are a sweep, or the start and end of a ramp",
        commas=True, aliases=("request_rate",), metavar="X,…", frequent=True)
    burstiness: float | None = _shape("shape of the gamma distribution of gaps: 1 is Poisson, less is burstier, more is smoother", above=0, default=1.0,
        more="On its own, it selects the profile gamma")
    burst_size: int | None = _shape("number of requests in a burst", least=1, otherwise="the requests of one second")
    ramp: str | None = _shape("how a ramp rises", choices=("linear", "exponential"), default="linear", metavar="LAW")
    trace_field: str | None = _shape("column with the timestamps of a trace", default="timestamp", metavar="COLUMN",
        see="load.md#traces", more="Every trace flag selects the profile trace")
    trace_unit: str | None = _shape("unit of the timestamps; iso is a date and a time", choices=("ms", "s", "us", "ns", "iso"),
        default="ms", metavar="UNIT")
    trace_speed: tuple[str, ...] | None = _shape("how much faster than recorded a trace is sent; several numbers are a sweep",
        commas=True, default=("1",), metavar="X,…")
    trace_start: float | None = _shape("skip this many seconds at the start of the trace", least=0, default=0.0, metavar="SECONDS")
    trace_end: float | None = _shape("stop at this second of the trace", above=0, metavar="SECONDS", otherwise="its end")
    max_concurrency: int | None = _shape("maximum number of requests in flight, even if more are due", least=1, otherwise="no limit",
        more="The results say how many requests it delayed, and for how long")
    cache_bust: bool | None = _shape("start every prompt with unique words, so that the server's prefix cache never contains it",
        more="The words are new in every test, so prompts of earlier tests are not repeated either")
    synthetic: str | None = _shape("generate prompts instead of reading a target: input=512,output=128,law=lognormal,prefixes=4x256", tables=(),
        metavar="LENGTHS", see="load.md#synthetic-prompts", frequent=True)
    exact_output: bool | None = _shape("request replies of exactly max_tokens: adds ignore_eos and min_tokens to requests",
        more="Servers such as vLLM and SGLang obey; others refuse the keys, or ignore them")
    tokenizer: str | None = _shape("tokenizer.json, or a model's folder, to give generated prompts their exact length",
        metavar="PATH", otherwise="one word per token, so lengths are approximate")
    turn_mode: str | None = _shape("what conversations send: every turn with the model's own replies, every turn with the replies "
        "in the data, or only the last turn", choices=("every", "every_with_gt", "last"), default="every",
        aliases=("infer_mode",), metavar="MODE", see="load.md#conversations")
    think_time: str | None = _shape("how long users think between turns: 2s, exponential:2s, uniform:1s,3s, lognormal:2s,1s",
        default="0", metavar="TIME")
    schedule_seed: int | None = _shape("seed for arrival times, think times and generated prompts", default=0)

    requests: int | None = _stop("measured requests per level; if there are fewer rows, sending starts over from the first row", least=1,
        otherwise="each row once; with --seconds, as many as there is time for", frequent=True)
    conversations: int | None = _stop("measured conversations per level, instead of requests", least=1,
        otherwise="each row once")
    seconds: float | None = _stop("how long each level sends", above=0, aliases=("duration", "pressure_time"), metavar="SECONDS",
        frequent=True)
    stop_error_share: float | None = _stop("stop once more than this share of requests has failed", least=0, most=1, metavar="SHARE",
        more="Without it, a test stops early only if its first 32 requests all fail")
    max_error_share: float | None = _stop("share of failed requests above which the test is not comparable and exits with 3", least=0,
        most=1, default=0.05, metavar="SHARE")
    warmup: int | None = _stop("warm-up requests before the measured ones", least=0, default=0, aliases=("num_warmups",),
        more="They are recorded but count in no figure. If all of them fail, nothing is measured", frequent=True)
    cooldown: int | None = _stop("requests after the measured ones, which keep the load up while the last of those finish", least=0, default=0)
    slo: str | None = _stop("service-level objective, the limits that a good request meets: ttft=200ms (time to first token), itl=30ms (between tokens), e2e=2s (in all)", metavar="LIMITS", frequent=True)
    slo_share: float | None = _stop("share of requests that must meet all limits of --slo", above=0, most=1, default=0.99, metavar="SHARE")

    score: bool | None = _stop("score the replies with the benchmark's scorer, to see whether they get worse when the server is busy", decides="scores",
        more="Scoring begins after the last request, so it does not affect the times", see="load.md#quality-under-load")
    min_score: float | None = _stop("lowest mean of the first score that every level must reach; else the test exits with 1. Needs --score",
        metavar="SCORE", see="load.md#quality-under-load")

    find_max_load: bool | None = _search("search for the largest rate or concurrency that meets the limits of --slo", frequent=True,
        see="load.md#the-largest-load")
    probe_repeats: int | None = _search("number of probes at the load that is the answer", least=1, most=100, default=3)
    max_probes: int | None = _search("maximum number of probes in a search", least=1, most=1000, default=40)
    search_seconds: float | None = _search("maximum duration of a search; a probe that does not fit is not begun", above=0, default=600.0, metavar="SECONDS")

    more_urls: tuple[str, ...] | None = _shape("additional servers of the same model; requests go to all of them in turn", commas=True,
        metavar="URL,…", see="load.md#several-servers", more="The same as giving `--model-url` several times")
    workers: int | None = _client("number of processes that send requests", least=1, most=256, default=1)
    server_metrics: bool | None = _client("read the server's own counters at /metrics before and after each level", default=True,
        see="load_figures.md#what-the-server-counts")
    drain: float | None = _client("how long to wait for requests in flight after Ctrl-C", least=0, default=30.0, metavar="SECONDS")
    format: str | None = _client("also write files in the format of this tool", choices=("aisbench",), metavar="TOOL", decides="place")
    # fmt: on

    @classmethod
    def from_keywords(cls, keywords: Mapping[str, Any], caller: str = "perf") -> LoadOptions:
        """Read Python keywords or a table. An unknown one is refused, with similar names. Numbers may replace texts."""
        for name in keywords:
            if name not in LOAD_BY_NAME:
                raise UsageError(f"{caller}() has no option {name!r}.{suggest(name, LOAD_BY_NAME)}")
        return cls(**{name: _value(LOAD_BY_NAME[name], value) for name, value in keywords.items()})

    def over_model(self, load: Mapping[str, Any]) -> LoadOptions:
        """These options, with the load that the model's settings describe, unless these options describe one."""
        given = self.given()
        if not load or any(map(_shapes, given)):
            return self
        return LoadOptions.from_keywords({**load, **given})

    def over(self, defaults: Mapping[str, Any]) -> LoadOptions:
        """These options, with `defaults` for missing ones. Defaults of a closed loop do not apply to an open one, nor the other
        way round."""
        given = self.given()
        is_trace = any(name.startswith("trace_") for name in given)
        is_open = is_trace or "rate" in given or given.get("profile") in OPEN_PROFILE_NAMES
        if is_open or "concurrency" in given or "profile" in given:
            useless: tuple[str, ...] = ("concurrency",) if is_open else _OF_OPEN_LOOPS
            if is_trace or given.get("profile") == LoadProfile.TRACE:
                useless = ("concurrency", "profile", *_OF_RATES)
            defaults = {
                name: value
                for name, value in defaults.items()
                if name not in useless and (name != "profile" or (value in OPEN_PROFILE_NAMES) == is_open)
            }
        return LoadOptions.from_keywords({**defaults, **given})

    @classmethod
    def split(cls, keywords: Mapping[str, Any]) -> tuple[RunOptions, LoadOptions]:
        """Split the keywords of `perf` into those of runs and those of load tests. Raises UsageError, with similar names, for an
        unknown one."""
        known = (*SHARED_WITH_RUNS, *LOAD_BY_NAME)
        for name in keywords:
            if name not in known:
                raise UsageError(f"perf() has no option {name!r}.{suggest(name, known)}")
        keywords = _with_urls(keywords)
        own = {name: value for name, value in keywords.items() if name in LOAD_BY_NAME}
        rest = {name: value for name, value in keywords.items() if name not in LOAD_BY_NAME}
        return RunOptions.from_keywords(rest, "perf"), cls.from_keywords(own)


def _shapes(name: str) -> bool:
    """Whether a setting describes the shape of the load."""
    return name in ("profile", "concurrency", "find_max_load") or name in _OF_OPEN_LOOPS


_OF_RATES = ("rate", "burstiness", "burst_size", "ramp")
_OF_OPEN_LOOPS = (*_OF_RATES, "trace_field", "trace_unit", "trace_speed", "trace_start", "trace_end")


def _value(setting: Setting, value: Any) -> Any:
    """Convert a value. Lists of numbers are texts until they are used: the flag takes `1,2,4`, Python `[1, 2, 4]` and `4`."""
    if setting.commas and isinstance(value, int | float) and not isinstance(value, bool):
        value = [value]
    if setting.commas and isinstance(value, Sequence) and not isinstance(value, str):
        value = [f"{each:g}" if isinstance(each, float) else str(each) for each in value]
    return from_python(setting, value)


LOAD_OPTIONS = settings_in(LoadOptions)
"""Every setting that only load tests have, in the order of the help text."""

LOAD_BY_NAME = {setting.name: setting for setting in LOAD_OPTIONS}
"""The settings of load tests by name."""
LoadOptions.settings = LOAD_BY_NAME

_OF_SCORED_RUNS = frozenset(
    {
        "parallelism", "repeats", "pass_k", "cache", "num_warmups", "max_retries", "retry_backoff", "timeout_per_sample",
        "max_requests", "max_tokens_total", "max_minutes", "max_cost", "max_failures", "failure_threshold",
        "infer_only", "reports", "metadata", "save_predictions",
    }
)  # fmt: skip
"""Settings of a run without meaning for a load test, which sends each request once, and as many as requested."""

SHARED_WITH_RUNS = tuple(name for name in BY_NAME if name not in _OF_SCORED_RUNS)
"""Settings of a run that a load test also has. A new one is included by default."""


def _with_urls(keywords: Mapping[str, Any]) -> Mapping[str, Any]:
    """Split several addresses in `model_url`: the first stays, the others become further servers."""
    urls = keywords.get("model_url")
    if urls is None or isinstance(urls, str) or not isinstance(urls, Sequence) or not urls:
        return keywords
    more = keywords.get("more_urls") or ()
    others = [*urls[1:], *([more] if isinstance(more, str) else more)]
    return {**keywords, "model_url": urls[0], "more_urls": others or None}


def read_load_defaults(path: Path, table: dict[str, object]) -> JsonObject:
    """The `[perf]` table of a configuration file, under canonical names."""
    as_texts = {
        key: [
            f"{each:g}" if isinstance(each, float) else str(each)
            for each in (value if isinstance(value, list) else [value])
        ]
        if key in ("concurrency", "parallelism", "rate", "request_rate", "trace_speed")
        and not isinstance(value, str)
        else value
        for key, value in table.items()
    }
    return read_table(path, "perf", as_texts, LOAD_OPTIONS, hints={})

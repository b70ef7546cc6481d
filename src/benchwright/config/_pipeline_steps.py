"""The steps of a request pipeline, each declared once: a class whose fields are its settings.

The names of steps and settings are those that users of NeMo Evaluator know. A class is what Python users write, what keys of
files are checked against, and what the manual's tables are made from.
"""

# every row makes a field
from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from msgspec import Struct, structs

from benchwright.config._pipeline_checks import check_payload_change, check_progress_url
from benchwright.config._setting import Decides, Setting, row, settings_in
from benchwright.core import ConfigError, JsonObject, JsonValue

_changes = partial(row, decides="replies")
_watches = partial(row, decides="effort")
_limit = partial(_watches, least=0)


class PipelineStep(Struct, frozen=True):
    """A built-in step. Two equal ones do the same."""

    name: ClassVar[str]
    """The step's name in files."""
    decides: ClassVar[Decides] = "effort"
    """`replies` where a reply can depend on it; then it is part of the key of every recorded call."""
    required: ClassVar[str] = ""
    """The setting that it cannot do without."""
    idle: ClassVar[tuple[str, ...]] = ()
    """Settings of the older package that are accepted, and need nothing to be done here."""
    unlimited: ClassVar[str] = ""
    """The limit that a null takes away."""
    short: ClassVar[Mapping[str, str]] = {}
    """Its short flags, with the setting of each; one without a setting switches the step on."""
    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Settings that have no effect unless one of others is true."""

    @classmethod
    def implied(cls, config: Mapping[str, Any], *, short: bool) -> dict[str, Any]:
        """Settings that the given ones imply, by short flags or in a list."""
        return {}

    @classmethod
    def check(cls, config: Mapping[str, Any], where: str) -> None:
        """Raise ConfigError for what the types of values do not cover."""

    def given(self) -> JsonObject:
        """The settings that are given, by name."""
        return {name: _plain(value) for name, value in structs.asdict(self).items() if value is not None}

    def value(self, name: str) -> Any:
        """A setting, or what holds without it. Any: the type is that of the field."""
        found = getattr(self, name)
        return DEFAULTS[type(self)][name] if found is None else found

    def load_problem(self) -> str:
        """Why a load test cannot have it; empty if it can."""
        return ""


def _plain(value: Any) -> JsonValue:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


# fmt: off
class SystemMessage(PipelineStep, frozen=True):
    """Adds a system message, before or after the one that a request has, or in its place."""

    name = "system_message"
    decides = "replies"
    required = "system_message"
    short: ClassVar = {"use_system_prompt": "", "custom_system_prompt": "system_message"}
    system_message: str | None = _changes("the text")
    strategy: str | None = _changes("where it goes if there is a system message already", choices=("prepend", "append", "replace"),
        default="prepend")


class PayloadModifier(PipelineStep, frozen=True):
    """Changes request bodies (remove everywhere, add, rename) and headers (remove, rename, add)."""

    name = "payload_modifier"
    decides = "replies"
    short: ClassVar = {
        name: name
        for name in ("params_to_add", "params_to_remove", "params_to_rename", "headers_to_add", "headers_to_remove", "headers_to_rename")
    }
    params_to_add: Mapping[str, JsonValue] | None = _changes("fields that are added to every body")
    params_to_remove: tuple[str, ...] | None = _changes("fields that are removed from every body, at any depth")
    params_to_rename: Mapping[str, str] | None = _changes("new names of fields, by the old ones")
    headers_to_add: Mapping[str, str] | None = _changes("headers that are added to every request; write secrets as `${VARIABLE}`")
    headers_to_remove: tuple[str, ...] | None = _changes("headers that are removed")
    headers_to_rename: Mapping[str, str] | None = _changes("new names of headers, by the old ones")

    @classmethod
    def check(cls, config: Mapping[str, Any], where: str) -> None:
        check_payload_change(config, where)


class RequestLogging(PipelineStep, frozen=True):
    """Writes the first requests to the log of the run, as they were sent."""

    name = "request_logging"
    idle = ("output_dir",)
    unlimited = "max_requests"
    short: ClassVar = {"use_request_logging": "", "max_logged_requests": "max_requests"}
    max_requests: int | None = _limit("how many", default=2)
    log_request_body: bool | None = _watches("their bodies", default=True)
    log_request_headers: bool | None = _watches("their headers", default=True)


class ResponseLogging(PipelineStep, frozen=True):
    """Writes the first replies to the log of the run, as they came."""

    name = "response_logging"
    idle = ("output_dir",)
    short: ClassVar = {"use_response_logging": "", "max_logged_responses": "max_responses"}
    max_responses: int | None = _limit("how many", otherwise="all")
    log_response_body: bool | None = _watches("their bodies", default=True)
    log_response_headers: bool | None = _watches("their headers", default=True)


class FailedRequests(PipelineStep, frozen=True):
    """Writes every request that got no good reply to the log of the run, with what came instead."""

    name = "log_failed_requests"
    short: ClassVar = {"log_failed_requests": ""}


class Caching(PipelineStep, frozen=True):
    """Takes replies to equal requests from earlier runs, and saves exchanges as files."""

    name = "caching"
    short: ClassVar = {
        "use_caching": "reuse_cached_responses", "caching_dir": "cache_dir", "save_requests": "save_requests",
        "save_responses": "save_responses", "max_saved_requests": "max_saved_requests", "max_saved_responses": "max_saved_responses",
    }
    needs: ClassVar = {
        "cache_dir": ("save_requests", "save_responses"), "max_saved_requests": ("save_requests",),
        "max_saved_responses": ("save_responses",),
    }
    reuse_cached_responses: bool | None = row("reuse recorded replies", "source", otherwise="as `--cache` says")
    cache_dir: str | None = row("folder of the saved files", "place", otherwise="`cache` in the run's folder")
    save_requests: bool | None = _watches("save requests", default=False)
    save_responses: bool | None = _watches("save replies", default=False)
    max_saved_requests: int | None = _limit("maximum number of requests to save", otherwise="all")
    max_saved_responses: int | None = _limit("maximum number of replies to save", otherwise="all")

    @classmethod
    def implied(cls, config: Mapping[str, Any], *, short: bool) -> dict[str, Any]:
        """A list with a folder saves replies there."""
        return {"save_responses": not short} if config.get("cache_dir") else {}

    def load_problem(self) -> str:
        if not self.reuse_cached_responses:
            return ""
        return "the pipeline takes replies from a cache, and a load test sends every request"


class Reasoning(PipelineStep, frozen=True):
    """Takes the model's thinking off its answers, by tokens of your choice."""

    name = "reasoning"
    decides = "replies"
    short: ClassVar = {
        "process_reasoning_traces": "", "use_reasoning": "", "start_reasoning_token": "start_reasoning_token",
        "end_reasoning_token": "end_reasoning_token", "include_if_reasoning_not_finished": "include_if_not_finished",
        "track_reasoning": "enable_reasoning_tracking",
    }
    idle = ("add_reasoning", "stats_file_saving_interval", "enable_caching", "cache_dir", "save_individuals",
        "logging_aggregated_stats_interval")
    start_reasoning_token: str | None = _changes("text that starts the thinking", default="<think>")
    end_reasoning_token: str | None = _changes("text that ends it", default="</think>")
    include_if_not_finished: bool | None = _changes("if the thinking never ends, use it as the answer", default=True,
        aliases=("include_if_reasoning_not_finished",))
    migrate_reasoning_content: bool | None = _changes("put a separate `reasoning_content` in front of the answer",
        default=False)
    enable_reasoning_tracking: bool | None = _watches("add statistics of the thinking to the metrics file", default=True,
        aliases=("track_reasoning",))


class ResponseStats(PipelineStep, frozen=True):
    """Statistics of replies in the metrics file: tokens, latencies, finish reasons, status codes."""

    name = "response_stats"
    short: ClassVar = {"tracking_requests_stats": "enabled"}
    idle = ("collect_token_stats", "collect_finish_reasons", "collect_tool_calls", "stats_file_saving_interval",
        "save_individuals", "cache_dir", "logging_aggregated_stats_interval")
    enabled: bool | None = _watches("whether the file has them", default=True)


class ProgressTracking(PipelineStep, frozen=True):
    """Posts the number of finished samples to a URL."""

    name = "progress_tracking"
    required = "progress_tracking_url"
    idle = ("output_dir",)
    short: ClassVar = {
        "use_progress_tracking": "", "progress_tracking_url": "progress_tracking_url",
        "progress_tracking_interval": "progress_tracking_interval",
    }
    progress_tracking_url: str | None = _watches("the URL; write secrets as `${VARIABLE}`")
    progress_tracking_interval: int | None = _watches("post after this many samples", least=1, default=1)
    progress_tracking_interval_seconds: float | None = _watches("and after this many seconds", above=0)
    request_method: str | None = _watches("HTTP method", choices=("POST", "PATCH", "PUT"), default="PATCH")

    @classmethod
    def implied(cls, config: Mapping[str, Any], *, short: bool) -> dict[str, Any]:
        return {"request_method": "POST"} if short else {}

    @classmethod
    def check(cls, config: Mapping[str, Any], where: str) -> None:
        check_progress_url(config["progress_tracking_url"], where)

    def load_problem(self) -> str:
        return "progress_tracking counts samples, and a load test has requests"


class RaiseClientErrors(PipelineStep, frozen=True):
    """Stops the run at the first reply that says that the request is wrong."""

    name = "raise_client_errors"
    short: ClassVar = {"use_raise_client_errors": ""}
    status_codes: tuple[int, ...] | None = _watches("statuses that stop the run", otherwise="the range")
    exclude_status_codes: tuple[int, ...] | None = _watches("statuses of the range that do not stop it", otherwise="408, 429")
    status_code_range_start: int | None = _watches("first status of the range", default=400, least=100, most=599)
    status_code_range_end: int | None = _watches("last status of the range", default=499, least=100, most=599)

    def load_problem(self) -> str:
        return "raise_client_errors stops at an error, and a load test counts errors"

    def stops(self, status: int | None) -> bool:
        """Whether a failure with this HTTP status ends the run."""
        if status is None:
            return False
        if self.status_codes is not None and status in self.status_codes:
            return True
        if self.status_codes is not None and self.status_code_range_start is None is self.status_code_range_end:
            return False
        excluded = (408, 429) if self.exclude_status_codes is None else self.exclude_status_codes
        first, last = self.value("status_code_range_start"), self.value("status_code_range_end")
        return first <= status <= last and status not in excluded


class ExchangeReport(PipelineStep, frozen=True):
    """A page, or JSON, of a few requests and replies, in the run's folder."""

    name = "post_eval_report"
    unlimited = "html_report_size"
    short: ClassVar = {"generate_html_report": "enabled", "html_report_size": "html_report_size", "include_json": "report_types"}
    enabled: bool | None = row("whether to write it", "place", default=True)
    report_types: tuple[str, ...] | None = row("which: html, json", "place", otherwise="html, json")
    html_report_size: int | None = row("how many exchanges", "place", least=1, default=5)

    @classmethod
    def check(cls, config: Mapping[str, Any], where: str) -> None:
        if wrong := set(config.get("report_types", ())) - {"html", "json"}:
            raise ConfigError(f"{where} report_types: {', '.join(sorted(wrong))} is not known; expected html or json")
# fmt: on


UNLIMITED = 10**9
"""Stands for no limit where a limit is the default."""

BUILT_IN: tuple[type[PipelineStep], ...] = (
    SystemMessage, PayloadModifier, RequestLogging, Caching, ResponseStats, ResponseLogging, Reasoning, ProgressTracking,
    RaiseClientErrors, FailedRequests, ExchangeReport,
)  # fmt: skip
"""All built-in steps, in the order in which short flags put them."""

STEPS = {step.name: step for step in BUILT_IN}
"""The built-in steps by name."""

STEP_SETTINGS: dict[type[PipelineStep], tuple[Setting, ...]] = {step: settings_in(step) for step in BUILT_IN}

DEFAULTS: dict[type[PipelineStep], dict[str, JsonValue]] = {
    step: {setting.name: setting.default for setting in settings} for step, settings in STEP_SETTINGS.items()
}
"""The default values of each step's settings."""

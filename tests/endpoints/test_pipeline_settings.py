"""Descriptions of pipelines: what each way to write one means, and what is refused with its cure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchwright.config import (
    STEPS,
    Caching,
    ModelConfig,
    PipelineSettings,
    ProgressTracking,
    RaiseClientErrors,
    RunOptions,
    SystemMessage,
    pipeline_settings,
)
from benchwright.config._pipeline_steps import STEP_SETTINGS
from benchwright.core import ConfigError


def entries(description: object) -> list[Any]:
    return [(entry.name, entry.config) for entry in pipeline_settings(description).steps]


def test_short_flags_are_steps_in_a_fixed_order() -> None:
    flags = {
        "use_raise_client_errors": True,
        "log_failed_requests": True,
        "use_progress_tracking": True,
        "progress_tracking_url": "http://127.0.0.1:9/x",
        "progress_tracking_interval": 5,
        "process_reasoning_traces": True,
        "start_reasoning_token": "<r>",
        "include_if_reasoning_not_finished": False,
        "track_reasoning": False,
        "use_response_logging": True,
        "max_logged_responses": 3,
        "tracking_requests_stats": True,
        "use_caching": False,
        "caching_dir": "kept here",
        "max_saved_requests": 4,
        "use_request_logging": True,
        "headers_to_add": {"X-A": "1"},
        "params_to_remove": ["seed"],
        "use_system_prompt": True,
        "custom_system_prompt": "Be brief.",
        "generate_html_report": True,
        "html_report_size": 7,
        "include_json": True,
    }
    assert entries(flags) == [
        ("system_message", {"system_message": "Be brief."}),
        ("payload_modifier", {"params_to_remove": ["seed"], "headers_to_add": {"X-A": "1"}}),
        ("request_logging", {}),
        ("caching", {"reuse_cached_responses": False, "cache_dir": "kept here", "max_saved_requests": 4, "save_responses": False}),
        ("response_stats", {"enabled": True}),
        ("response_logging", {"max_responses": 3}),
        ("reasoning", {"start_reasoning_token": "<r>", "include_if_not_finished": False, "enable_reasoning_tracking": False}),
        ("progress_tracking", {"progress_tracking_url": "http://127.0.0.1:9/x", "progress_tracking_interval": 5, "request_method": "POST"}),
        ("raise_client_errors", {}),
        ("log_failed_requests", {}),
        ("post_eval_report", {"enabled": True, "html_report_size": 7, "report_types": ["html", "json"]}),
    ]  # fmt: skip


def test_names_that_change_one_after_the_other_keep_their_order_where_tables_have_none() -> None:
    """What is recorded is sorted, and so is what keys of calls are made from."""
    chain = {
        "params_to_add": {"k": 1},
        "params_to_rename": {"max_tokens": "a", "a": "b", "top_p": "c", "seed": "c"},
    }
    assert entries(chain) == [
        ("payload_modifier", {"params_to_add": {"k": 1}, "params_to_rename": {"max_tokens": "a"}}),
        ("payload_modifier", {"params_to_rename": {"a": "b", "top_p": "c"}}),
        ("payload_modifier", {"params_to_rename": {"seed": "c"}}),
    ]
    other = {"params_to_rename": {"a": "b", "max_tokens": "a"}}
    forth = {"params_to_rename": {"max_tokens": "a", "a": "b"}}
    assert pipeline_settings(other).identity() != pipeline_settings(forth).identity()


def test_a_null_takes_away_a_limit_and_lists_have_defaults_of_their_own() -> None:
    listed = [
        {"name": "request_logging", "config": {"max_requests": None}},
        {"name": "caching", "config": {"cache_dir": "c"}},
        {"name": "progress_tracking", "config": {"progress_tracking_url": "http://h/"}},
        {"name": "post_eval_report", "config": {"html_report_size": None}},
    ]
    steps = dict(entries({"interceptors": listed}))
    assert steps["request_logging"]["max_requests"] > 10**6
    assert steps["caching"]["save_responses"] is True
    assert ProgressTracking(**steps["progress_tracking"]).value("request_method") == "PATCH"
    assert steps["post_eval_report"]["html_report_size"] > 10**6
    assert entries({"use_request_logging": "yes", "max_logged_requests": None}) == [("request_logging", {})]


def test_a_list_keeps_its_order_and_leaves_out_what_is_disabled() -> None:
    listed = {
        "interceptors": [
            "request_logging",
            {"name": "endpoint"},
            {"name": "reasoning", "enabled": False},
            {"name": "system_message", "config": {"system_message": "S", "strategy": None}},
        ],
        "log_failed_requests": True,
        "post_eval_hooks": [{"name": "post_eval_report", "config": {"report_types": ["html"]}}],
    }
    names = ["request_logging", "system_message", "log_failed_requests", "post_eval_report"]
    assert [name for name, _ in entries(listed)] == names
    again = pipeline_settings(pipeline_settings(listed).to_json())
    assert again == pipeline_settings(listed)


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ({"use_sytem_prompt": True}, r"where: use_sytem_prompt is not known. Did you mean 'use_system_prompt'"),
        ({"interceptors": ["system_mesage"]}, r"where: interceptors\[0\]: step 'system_mesage' is not known. Did you mean 'system_message'\?"),
        ({"interceptors": ["reasoning"], "use_caching": True, "params_to_add": {}}, r"params_to_add, use_caching and interceptors .* a mix of both is refused"),
        ({"interceptors": [{"name": "reasoning", "config": {"ending": "x"}}]}, r"\(reasoning\): ending is not known"),
        ({"interceptors": [{"name": "reasoning", "cnfig": {}}]}, r"cnfig is not known. Did you mean 'config'\?"),
        ({"interceptors": [{"config": {}}]}, r"interceptors\[0\] has no name"),
        ({"interceptors": "reasoning"}, "expected a list of steps"),
        ({"interceptors": ["caching", "caching"]}, "caching appears twice"),
        ({"use_system_prompt": True}, "needs custom_system_prompt"),
        ({"use_system_prompt": "maybe"}, "use_system_prompt is 'maybe'; expected true or false"),
        ({"use_progress_tracking": True}, "needs progress_tracking_url"),
        ({"use_request_logging": True, "max_logged_requests": -1}, "where max_logged_requests: -1 is too small"),
        ({"interceptors": [{"name": "request_logging", "config": {"max_requests": -1}}]}, "max_requests: -1 is too small"),
        ({"params_to_rename": {"a": 1}}, "a is 1; expected its new name"),
        ({"params_to_add": {"api_key": "sk-1"}}, "api_key looks like a secret"),
        ({"params_to_add": {"api_key": "${MY_KEY}"}}, r"api_key is \${MY_KEY}, and variables are replaced in headers only"),
        ({"params_to_add": {"api_key": "Bearer ${MY_KEY}"}}, r"api_key is Bearer \${MY_KEY}, and variables are replaced in headers only"),
        ({"params_to_add": {"users": ["${ME}"]}}, r"users is \${ME}, and variables are replaced in headers only"),
        ({"params_to_add": {"extra": {"user": "${ME}"}}}, r"user is \${ME}, and variables are replaced in headers only"),
        ({"params_to_add": ["a"]}, "is not a table"),
        ({"headers_to_add": {"Authorization": "Bearer x"}}, "looks like a secret, and keys are not kept in files"),
        ({"headers_to_add": {"Content-Length": "1"}}, "header Content-Length belongs to the connection"),
        ({"headers_to_remove": ["HOST"]}, "header HOST belongs to the connection"),
        ({"headers_to_rename": {"X-A": "transfer-encoding"}}, "transfer-encoding belongs to the connection"),
        ({"headers_to_add": {"X-A": "a\r\nX-B: c"}}, "has a line break"),
        ({"use_progress_tracking": True, "progress_tracking_url": "http://me:word@h/"}, "carries a password or a key"),
        ({"use_progress_tracking": True, "progress_tracking_url": "http://h/?token=word"}, "carries a password or a key"),
        ({"use_nvcf": True}, "use_nvcf: functions of NVCF are not called"),
        ({"discovery": {"dirs": ["x"]}}, "install them as a plugin"),
        ("reasoning", "expected a table of settings, or a list of steps"),
        ([3], r"where\[0\] is 3"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_with_its_place(description: object, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as refused:
        pipeline_settings(description, "where")
    assert "Bearer x" not in str(refused.value)


def test_what_has_no_effect_is_noted() -> None:
    given = {"custom_system_prompt": "S", "mode": "server", "max_logged_requests": 1}
    settings = pipeline_settings(given, "where")
    assert settings.steps == ()
    assert settings.notes == (
        "where: mode has no effect here: requests pass no proxy",
        "where: custom_system_prompt has no effect without use_system_prompt: true",
        "where: max_logged_requests has no effect without use_request_logging: true",
    )
    listed = pipeline_settings(
        {"interceptors": [{"name": "reasoning", "config": {"cache_dir": "x"}}]}, "where"
    )
    assert listed.notes == (
        "where: interceptors[0]: cache_dir has no effect here: every reply is recorded with the run",
    )
    assert pipeline_settings({"use_system_prompt": False, "custom_system_prompt": "S"}).notes == ()


def test_only_steps_that_replies_depend_on_are_part_of_the_key() -> None:
    plain = pipeline_settings([SystemMessage("S")])
    watched = pipeline_settings(
        [SystemMessage("S"), "request_logging", Caching(save_requests=True), RaiseClientErrors()]
    )
    assert plain.identity() == watched.identity() != ""
    assert pipeline_settings(["request_logging"]).identity() == ""
    assert pipeline_settings([SystemMessage("T")]).identity() != plain.identity()

    class Own:
        name, version = "own", "1"

        def on_reply(self, request: object, reply: object) -> object:
            return reply

    class Newer(Own):
        version = "2"

    assert pipeline_settings([Own()]).identity() != pipeline_settings([Newer()]).identity() != ""


def test_every_place_that_takes_a_pipeline_checks_it(tmp_path: Path) -> None:
    options = RunOptions.from_keywords({"pipeline": {"params_to_add": {"top_k": 1}}})
    assert isinstance(options.pipeline, PipelineSettings)
    table = {"name": "local", "base_url": "http://h:1", "model": "m", "adapter_config": {"use_cachng": True}}
    with pytest.raises(
        ConfigError, match=r"models\[0\].*use_cachng is not known. Did you mean 'use_caching'"
    ):
        ModelConfig.from_entry("suite.toml: models[0]", table)
    with pytest.raises(ConfigError, match="pipeline: tp is not known"):
        RunOptions.from_keywords({"pipeline": {"tp": 1}})


def test_fatal_statuses() -> None:
    assert [status for status in (None, 200, 400, 401, 404, 408, 422, 429, 500) if RaiseClientErrors().stops(status)] == [400, 401, 404, 422]  # fmt: skip
    assert [s for s in (400, 500, 503) if RaiseClientErrors(status_codes=(500,)).stops(s)] == [500]
    ranged = RaiseClientErrors(status_code_range_end=599, exclude_status_codes=(503,))
    assert [status for status in (400, 429, 500, 503) if ranged.stops(status)] == [400, 429, 500]


def test_every_setting_of_a_step_is_declared_with_what_holds_without_it() -> None:
    for form in STEPS.values():
        assert form.__doc__
        for setting in STEP_SETTINGS[form]:
            assert setting.meaning
            assert setting.default_known or setting.name == form.required or setting.kind in ("table", "texts", "number"), (form, setting.name)  # fmt: skip


def test_settings_of_saved_exchanges_say_when_nothing_is_saved() -> None:
    flags = {"use_caching": True, "caching_dir": "kept", "max_saved_requests": 4}
    notes = pipeline_settings(flags, "where").notes
    assert [note.partition(" true.")[0] for note in notes] == [
        "where: caching_dir has no effect without save_requests or save_responses:",
        "where: max_saved_requests has no effect without save_requests:",
    ]
    assert pipeline_settings({**flags, "save_requests": True}).notes == ()
    assert (
        pipeline_settings({"interceptors": [{"name": "caching", "config": {"cache_dir": "kept"}}]}).notes
        == ()
    )

"""How to reach a judge: its settings, one question to it, and how the question can fail."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from msgspec import Struct, structs

from benchwright.core import (
    BenchwrightError,
    ConfigError,
    JsonObject,
    judge_question_cure,
    suggest,
)

_ALIASES = {"api_key_name": "api_key", "max_tokens": "max_new_tokens"}
_NUMBERED = re.compile(r"judge(_?\d+)?")
_MAY_BE_NONE = ("temperature", "top_p")
_DEMO = "demo"
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class JudgeFailedError(BenchwrightError):
    """The judge gave no usable grade. The sample then counts as failed in scoring, never as 0."""

    reason = "judge_failed"
    """The reason under which a run counts the sample."""
    grade = "CALL_ERROR"
    """The grade that is recorded if failures count as 0."""


class UnreadableVerdictError(JudgeFailedError):
    """The judge's reply contains no grade that has a score."""

    reason = "judge_unparsed"
    grade = "PARSE_ERROR"


class JudgeConfig(Struct, frozen=True):
    """Settings of one judge, as given by `judge=` in `@benchmark`."""

    url: str
    """Base URL of an OpenAI-compatible server, with or without `/chat/completions`; or `demo`, the demo model."""
    model_id: str
    """Model to ask."""
    api_key: str | None = None
    """Name of the environment variable that contains the key; never the key. Also `api_key_name`."""
    temperature: float | None = 0.0
    """Sampling temperature; None leaves it out of the request."""
    top_p: float | None = 1.0
    """Nucleus sampling; None leaves it out of the request."""
    max_new_tokens: int = 4096
    """Longest reply, in tokens. Also `max_tokens`."""
    parallelism: int | None = None
    """Maximum number of judge requests in flight; None leaves it to the run."""
    max_retries: int | None = None
    """Further attempts after a retryable failure; None: those of the run (`--max-retries`), or else 16."""
    request_timeout: float = 600
    """Seconds for one attempt."""
    verify: bool = True
    """Whether the server's TLS certificate is checked."""
    ca_file: str | None = None
    """PEM file of a further certificate to trust."""
    parse_retries: int = 2
    """How often the judge is asked again if its reply contains no readable grade."""
    structured: bool = False
    """Whether the server constrains the reply to a JSON schema of the grades. If it refuses, the schema is left out."""

    def __post_init__(self) -> None:
        for name in ("url", "model_id"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise ConfigError(f'judge: "{name}" is {value!r}; expected text that is not empty')
        key = self.api_key
        if key is not None and not (isinstance(key, str) and _VARIABLE_NAME.fullmatch(key)):
            # The value is not shown: it is probably the secret itself.
            raise ConfigError(
                'judge: "api_key" must be the name of an environment variable, such as JUDGE_API_KEY, '
                "not the key itself: export JUDGE_API_KEY=… and name the variable here"
            )
        self._check_number("temperature", at_least=0, optional=True)
        self._check_number("top_p", at_least=0, optional=True)
        self._check_number("max_new_tokens", at_least=1, whole=True)
        self._check_number("parallelism", at_least=1, whole=True, optional=True)
        self._check_number("max_retries", at_least=0, whole=True, optional=True)
        self._check_number("parse_retries", at_least=0, whole=True)
        self._check_number("request_timeout", above=0)
        for name in ("verify", "structured"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f'judge: "{name}" is {getattr(self, name)!r}; expected true or false')
        if self.ca_file is not None and (not isinstance(self.ca_file, str) or not self.verify):
            raise ConfigError(
                f'judge: "ca_file" is {self.ca_file!r}; expected the path of a PEM file, and no verify = false'
            )

    @property
    def is_demo(self) -> bool:
        """Whether the judge is the demo model in this process."""
        return self.url == _DEMO

    @property
    def api_key_name(self) -> str | None:
        """`api_key` under the name that endpoints use."""
        return self.api_key

    @property
    def max_tokens(self) -> int:
        """`max_new_tokens` under the name that requests use."""
        return self.max_new_tokens

    @classmethod
    def of(cls, value: object, key: str = "judge") -> JudgeConfig:
        """Settings from a mapping or ready-made; `key` is their place in the benchmark, for messages.

        >>> JudgeConfig.of({"url": "http://localhost:8000/v1", "model_id": "j", "max_tokens": 64}).max_new_tokens
        64
        """
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping):
            raise ConfigError(
                f'"{key}" is {type(value).__name__}; expected a mapping with url and model_id, or a JudgeConfig'
            )
        known = cls.__struct_fields__
        settings: dict[str, object] = {}
        for name, setting in value.items():
            field_name = _ALIASES.get(name, name)
            if field_name not in known:
                near = _of_the_question(str(name)) or suggest(str(name), [*known, *_ALIASES])
                raise ConfigError(f'"{key}": unknown setting {name!r}.{near} Known: {", ".join(known)}')
            if field_name in settings and settings[field_name] != setting:
                raise ConfigError(
                    f'"{key}": {name!r} and {field_name!r} are the same setting but differ; keep one'
                )
            settings[field_name] = setting
        if settings.get("url") == _DEMO:
            settings.setdefault("model_id", _DEMO)
        missing = [name for name in ("url", "model_id") if name not in settings]
        if missing:
            raise ConfigError(
                f'"{key}" lacks {" and ".join(missing)}; a judge needs at least url and model_id, or url "demo": the demo model'
            )
        try:
            return cls(**settings)  # type: ignore[arg-type]  # checked in __post_init__
        except ConfigError as error:  # its text does not have the key
            raise ConfigError(str(error).replace("judge:", f'"{key}":', 1)) from None

    @staticmethod
    def is_key(key: object) -> bool:
        """Whether settings of a benchmark under this name are a judge's: `judge`, `judge_1`, `judge_2`, …"""
        return isinstance(key, str) and _NUMBERED.fullmatch(key) is not None

    @staticmethod
    def over(settings: Mapping[str, object], given: Mapping[str, object]) -> dict[str, object]:
        """The settings of a benchmark with those that a run gives for its judges.

        `given` has the settings of `judge`, or a table for each judge by its key. A null resets a setting, except for
        temperature and top_p: requests then leave these out.

        >>> JudgeConfig.over({"judge": {"url": "http://a", "model_id": "m", "max_tokens": 9}}, {"model_id": "n", "max_tokens": None})
        {'judge': {'url': 'http://a', 'model_id': 'n'}}
        """
        tables = given if given and all(map(JudgeConfig.is_key, given)) else {"judge": given}
        changed = dict(settings)
        for key, table in tables.items():
            if not isinstance(table, Mapping):
                raise ConfigError(f'"{key}" is {table!r}; expected a table with settings of the judge')
            known = settings.get(key) or {}
            if isinstance(known, JudgeConfig):
                known = structs.asdict(known)
            merged = {_ALIASES.get(name, name): value for name, value in dict(known).items()}  # type: ignore[call-overload]  # checked by `of`
            merged |= {_ALIASES.get(name, name): value for name, value in table.items()}
            changed[key] = {
                name: value for name, value in merged.items() if value is not None or name in _MAY_BE_NONE
            }
        return changed

    def _check_number(
        self,
        name: str,
        *,
        at_least: float = 0,
        above: float | None = None,
        whole: bool = False,
        optional: bool = False,
    ) -> None:
        value = getattr(self, name)
        if value is None and optional:
            return
        kinds = int if whole else (int, float)
        is_number = isinstance(value, kinds) and not isinstance(value, bool)
        # NaN compares false with everything, so this refuses it too.
        if is_number and value >= at_least and (above is None or value > above):
            return
        kind = "a whole number" if whole else "a number"
        limit = f"at least {at_least}" if above is None else f"more than {above}"
        raise ConfigError(f'judge: "{name}" is {value!r}; expected {kind} of {limit}')


class JudgeCall(Struct, frozen=True):
    """One complete question to a judge."""

    config: JudgeConfig
    body: JsonObject
    """The chat request's body."""


class CutReply(str):
    """The text of a judge that reached `max_new_tokens`. Its last word is missing."""

    __slots__ = ()


Ask: TypeAlias = Callable[[JudgeCall], str]
"""Sends one question and returns the judge's text, a `CutReply` if it was cut off; raises `JudgeFailedError` if there is none."""


def _of_the_question(name: str) -> str:
    """The cure for a setting of the question to a judge, which is not one of the judge itself."""
    from inspect import signature

    from benchwright.scorers._judge import judge_score

    plain = name.removeprefix("judge_")
    plain = {"prompt": "template", "rubric": "template"}.get(plain, plain)
    if plain not in signature(judge_score).parameters:
        return ""
    return f" {judge_question_cure(plain)}"

"""Scoring by another model: `judge_score` renders a question, has it sent, and reads the grade."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from benchwright.core import ConfigError, JsonObject, UsageError, redact, suggest
from benchwright.scorers._judge_config import JudgeCall, JudgeConfig, JudgeFailedError
from benchwright.scorers._judge_templates import (
    JudgeTemplate,
    is_number,
    json_grade,
    named_template,
    pattern_grade,
    render,
    same_number,
    stated_grade,
    stated_words,
)
from benchwright.scorers._scorer import ScorerInput, Scores

_SHOWN_CHARS = 200
_GRADE_CHARS = 40


def judge_score(
    sample: ScorerInput,
    template: str = "binary_qa",
    criteria: str = "",
    grade_pattern: str | None = None,
    score_mapping: Mapping[str, float] | None = None,
    judge_key: str = "judge",
    response_format: JsonObject | None = None,
    judge_output_parser: Callable[[str], object] | None = None,
    **template_kwargs: Any,
) -> Scores:
    """`judge_score`, `judge_grade`: what another model thinks of the response.

    Args:
        sample: what to judge. `sample.config[judge_key]` says which model to ask (`JudgeConfig` or a dict).
        template: `binary_qa` (C, I), `binary_qa_partial` (C, P, I), `likert_5` (1 to 5), `safety` (SAFE,
            UNSAFE), or your own text with `{question}`, `{response}`, `{reference}`, `{criteria}` and the
            names in `template_kwargs`.
        criteria: further instructions; rendered as `Evaluation criteria: …`.
        grade_pattern: a regular expression whose group 1 is the grade; the last match counts.
        score_mapping: grade → score; replaces the built-in one. A grade that is a number and not listed
            is its own score; of built-in templates only within their scale.
        judge_key: where the settings stand in `sample.config`; `judge_1`, `judge_2`, … for several judges.
        response_format: handed to the judge's server; the whole reply is then read as JSON first.
        judge_output_parser: replaces all reading of the reply; returns the grade.
        template_kwargs: further template values; they override the standard ones.

    The grade is read, in this order, from the whole reply as JSON (with `response_format`), from
    `grade_pattern` or else the last readable `GRADE: …`, and from the last JSON object in the text that has
    a `grade`, `score`, `rating` or `verdict`.

    Raises:
        JudgeFailedError: the judge could not be reached, or gave no grade that has a score.
        ConfigError: there are no usable settings under `judge_key`.
        JudgeTemplateError: the template needs a value that is not there. Also a KeyError.
    """
    named = named_template(template)
    config = _config(sample, judge_key)
    prompt = render(named.text if named else template, _values(sample, criteria, template_kwargs))
    mapping = _mapping(score_mapping, named)
    spellings = _spellings(mapping, named)
    pattern = _compiled(grade_pattern)

    reply = _ask(sample, JudgeCall(config, _body(config, prompt, response_format)))
    if judge_output_parser is not None:
        grade = _parsed(judge_output_parser, reply)
    else:
        grade = json_grade(reply, whole=True) if response_format else None
        if grade is None:
            grade = (
                pattern_grade(reply, pattern)
                if pattern
                else stated_grade(reply, spellings, closed=named is not None)
            )
        if grade is None:
            grade = json_grade(reply, whole=False)
    own_reading = pattern is not None or judge_output_parser is not None
    if grade is None:
        raise _no_grade(reply, {} if own_reading else mapping)
    return _scores(grade, mapping, spellings, reply, closed=named is not None and not own_reading)


def _config(sample: ScorerInput, key: str) -> JudgeConfig:
    settings = sample.config.get(key)
    if settings is None:
        raise ConfigError(
            f'no judge settings under "{key}".{suggest(key, map(str, sample.config))} Give them to @benchmark: '
            f'{key}={{"url": "http://…/v1", "model_id": "…"}}'
        )
    return JudgeConfig.of(settings, key)


def _values(sample: ScorerInput, criteria: str, more: Mapping[str, Any]) -> dict[str, Any]:
    row = sample.metadata or {}
    return {
        "question": row.get("question", row.get("prompt", "")),
        "response": sample.response,
        "reference": sample.target,
        "criteria": f"Evaluation criteria: {criteria}" if criteria else "",
        **more,
    }


def _body(config: JudgeConfig, prompt: str, response_format: JsonObject | None) -> JsonObject:
    body: JsonObject = {"model": config.model_id, "messages": [{"role": "user", "content": prompt}]}
    if config.temperature is not None:
        body["temperature"] = config.temperature
    if config.top_p is not None:
        body["top_p"] = config.top_p
    body["max_tokens"] = config.max_new_tokens
    if response_format:
        body["response_format"] = response_format
    return body


def _mapping(given: Mapping[str, float] | None, named: JudgeTemplate | None) -> dict[str, float]:
    if given is None:
        return dict(named.scores) if named else {}
    return {str(grade): float(score) for grade, score in given.items()}  # 1 and "1" are the same grade


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern) if pattern is not None else None
    except re.error as error:
        raise UsageError(f"grade_pattern {pattern!r} is not a valid regular expression: {error}") from None


def _spellings(mapping: Mapping[str, float], named: JudgeTemplate | None) -> dict[str, str]:
    """Upper-case spelling → grade, for the grades that have a score."""
    spellings = {" ".join(grade.upper().split()): grade for grade in mapping}
    if named:
        for word, grade in named.words.items():
            if grade in mapping:
                spellings.setdefault(word, grade)
    spellings.pop("", None)
    return spellings


def _ask(sample: ScorerInput, call: JudgeCall) -> str:
    if sample.ask is None:
        raise JudgeFailedError(
            "there is nobody to ask the judge: judge_score works inside a run (benchwright run …), or with "
            "ScorerInput(…, ask=function) where the function takes a JudgeCall and returns the judge's text"
        )
    reply = sample.ask(call)
    if not reply or not reply.strip():
        raise JudgeFailedError(f"the judge {call.config.model_id!r} answered nothing")
    return reply


def _parsed(parser: Callable[[str], object], reply: str) -> str | None:
    try:
        grade = parser(reply)
    except Exception as error:
        raise JudgeFailedError(
            f"judge_output_parser raised {type(error).__name__}: {error}; the reply was {_shown(reply)}"
        ) from error
    return None if grade is None else str(grade)


def _no_grade(reply: str, mapping: Mapping[str, float]) -> JudgeFailedError:
    stated = stated_words(reply) if mapping else ""
    if not stated:
        return JudgeFailedError(
            f"the judge's reply holds no grade: {_shown(reply)}. Ask for a last line 'GRADE: …', "
            "or pass grade_pattern= or judge_output_parser="
        )
    return _not_listed(stated if len(stated) <= _GRADE_CHARS else f"{stated[:_GRADE_CHARS]}…", mapping, reply)


def _not_listed(grade: str, mapping: Mapping[str, float], reply: str) -> JudgeFailedError:
    return JudgeFailedError(
        f"the judge's grade {grade!r} is not one of {', '.join(mapping)}; the reply was {_shown(reply)}. "
        "Make the question clearer, or pass score_mapping= with this grade"
    )


def _scores(
    grade: str, mapping: Mapping[str, float], spellings: Mapping[str, str], reply: str, *, closed: bool
) -> Scores:
    known = grade if grade in mapping else spellings.get(" ".join(grade.upper().split()))
    if known is None and is_number(grade):
        known = same_number(grade, mapping)
    if known is not None:
        return {"judge_score": mapping[known], "judge_grade": known}
    if closed and not (is_number(grade) and _is_on_scale(float(grade), mapping)):
        raise _not_listed(grade, mapping, reply)
    if is_number(grade):
        return {"judge_score": float(grade), "judge_grade": grade}
    listed = ", ".join(mapping) or "none"
    raise JudgeFailedError(
        f"the judge's grade {grade!r} has no score and is not a number (grades with a score: {listed}); "
        f"the reply was {_shown(reply)}. Pass score_mapping= with this grade, or make the question clearer"
    )


def _is_on_scale(number: float, mapping: Mapping[str, float]) -> bool:
    """Whether a number that is no listed grade may be a score: where grades are words, and between their scores.

    A judge that should answer C or I and answers `{"score": 0.8}` has given a score; one that answers 100 has not, nor
    has one that should answer 1 to 5 and answers 9.
    """
    if not mapping or any(map(is_number, mapping)):
        return False
    return min(mapping.values()) <= number <= max(mapping.values())


def _shown(reply: str) -> str:
    text = redact(reply.strip())  # before it is cut, which would leave a part of a secret
    return repr(text if len(text) <= _SHOWN_CHARS else "…" + text[-_SHOWN_CHARS:])

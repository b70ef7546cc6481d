"""Scores with another model: `judge_score` renders a question, sends it, and reads the grade."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct

from benchwright.core import ConfigError, JsonObject, UsageError, clause, redact, suggest, verdict_format
from benchwright.scorers._judge_config import (
    CutReply,
    JudgeCall,
    JudgeConfig,
    JudgeFailedError,
    UnreadableVerdictError,
)
from benchwright.scorers._judge_replies import (
    finished_statements,
    is_number,
    json_grade,
    pattern_grade,
    same_number,
    stated_grade,
    stated_words,
)
from benchwright.scorers._judge_templates import (
    JudgeTemplate,
    JudgeTemplateError,
    named_template,
    render,
    template_fields,
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
    on_failure: Literal["fail", "zero"] = "fail",
    pass_mark: str | float | None = None,
    **template_kwargs: Any,
) -> Scores:
    """`judge_score`, `judge_grade`: another model's grade of the response.

    Args:
        sample: what to judge. `sample.config[judge_key]` names the model to ask (`JudgeConfig` or a dict).
        template: `binary_qa` (C, I), `binary_qa_partial` (C, P, I), `likert_5` (1 to 5), `safety` (SAFE,
            UNSAFE), or your own text with `{question}`, `{response}`, `{reference}`, `{criteria}` and the
            names in `template_kwargs`.
        criteria: further instructions; rendered as `Evaluation criteria: …`.
        grade_pattern: a regular expression whose group 1 is the grade; the last match counts.
        score_mapping: grade → score; replaces the built-in one. A grade that is a number and not listed
            is its own score; of built-in templates only within their scale.
        judge_key: key of the settings in `sample.config`; `judge_1`, `judge_2`, … for several judges.
        response_format: passed to the judge's server; the reply as a whole is then first read as JSON.
        judge_output_parser: replaces all reading of the reply; returns the grade.
        on_failure: `zero` gives 0.0 and the grade `CALL_ERROR` or `PARSE_ERROR` instead of raising, with the
            reason as `judge_error`. The mean then counts a judge that failed as a wrong answer.
        pass_mark: the lowest grade that passes, as text, or the lowest score, as a number; adds `judge_pass`. Without one, words
            worth 1 and 0 are right and wrong, and grades that are numbers neither.
        template_kwargs: further template values; they override the standard ones.

    The grade is read, in this order, from the whole reply as JSON (with `response_format`), from `grade_pattern` or
    else the last readable `GRADE: …`, and from the last JSON object in the text that has a `grade`, `score`, `rating`
    or `verdict`. If the reply contains none, the judge is asked again, up to `parse_retries` times.

    Raises:
        JudgeFailedError: the judge could not be reached, or gave no grade that has a score.
        ConfigError: there are no usable settings under `judge_key`.
        JudgeTemplateError: the template needs a value that does not exist. Also a KeyError.
    """
    if on_failure not in ("fail", "zero"):
        raise UsageError(f"on_failure is {on_failure!r}; expected 'fail' or 'zero'")
    named = named_template(template)
    config = _config(sample, judge_key)
    if named is None and not template_fields(template):
        raise JudgeTemplateError(
            f"judge template {template[:60]!r}: it has no placeholder such as {{response}}, so that the judge would not see "
            "what it grades. Pass the text of the template, not the name of a file"
        )
    prompt = render(named.text if named else template, _values(sample, criteria, template_kwargs))
    mapping = mapping_of(score_mapping, named)
    passing = pass_score(pass_mark, mapping)
    pattern, parser = _compiled(grade_pattern), judge_output_parser
    if config.structured and response_format is None and pattern is None and parser is None:
        response_format = verdict_format(tuple(mapping))
    reading = _Reading(
        mapping, _spellings(mapping, named), pattern, parser, as_json=bool(response_format), named=named is not None
    )  # fmt: skip
    try:
        found = _ask_until_readable(sample, config, _body(config, prompt, response_format), reading)
        return found | passed(found["judge_score"], passing, mapping)
    except JudgeFailedError as error:
        if on_failure == "fail":
            raise
        failed: Scores = {"judge_score": 0.0, "judge_grade": error.grade, "judge_error": str(error)}
        return failed if passing is None else {**failed, "judge_pass": False}


def pass_score(pass_mark: str | float | None, mapping: Mapping[str, float]) -> float | None:
    """The score from which a reply passes; None without a pass mark. Raises UsageError for one that no grade reaches."""
    if isinstance(pass_mark, str):
        if pass_mark not in mapping:
            raise UsageError(
                f"pass_mark is {pass_mark!r}, which is not a grade.{suggest(pass_mark, mapping)} Grades: "
                f"{', '.join(mapping) or 'none are declared; give the lowest score as a number, such as 4'}"
            )
        return mapping[pass_mark]
    if pass_mark is not None and mapping and pass_mark > max(mapping.values()):
        raise UsageError(
            f"pass_mark is {pass_mark:g}, and the best grade is worth {max(mapping.values()):g}, so that nothing would pass. For a grade, "
            f'write it as text: pass_mark="{max(mapping, key=mapping.__getitem__)}"'
        )
    return pass_mark


def passed(score: Any, passing: float | None, mapping: Mapping[str, float]) -> Scores:
    """`judge_pass`, if the score alone does not tell right from wrong: whether it reaches the pass mark. Two grades need no mark. A scale
    of words that is not from 0 to 1 without one has None, as 1 would look right there."""
    if passing is not None:
        return {"judge_pass": score >= passing}
    worth = {*mapping.values()}
    if not worth or any(map(is_number, mapping)) or (min(worth), max(worth)) == (0.0, 1.0):
        return {}
    return {"judge_pass": score == max(worth) if len(worth) == 2 else None}


def _ask_until_readable(
    sample: ScorerInput, config: JudgeConfig, body: JsonObject, reading: _Reading
) -> Scores:
    """The scores of the first reply that can be read. Each further question includes the judge's last reply, because most
    judges would give the same reply to the same question."""
    messages: Any = body["messages"]
    for left in range(config.parse_retries, -1, -1):
        reply = _ask(sample, JudgeCall(config, {**body, "messages": messages}))
        try:
            return reading.scores(reply)
        except UnreadableVerdictError:
            if not left:
                raise
        again = [{"role": "assistant", "content": reply}, {"role": "user", "content": reading.reminder()}]
        messages = [messages[0], *again]
    raise AssertionError("the last reply was read, or raised")


class _Reading(Struct, frozen=True):
    """How a grade is read from a reply, and its score."""

    mapping: dict[str, float]
    """Grade → score."""
    spellings: dict[str, str]
    """Upper-case spelling → grade."""
    pattern: re.Pattern[str] | None
    """The user's pattern."""
    parser: Callable[[str], object] | None
    """The user's function."""
    as_json: bool
    """Whether the whole reply is read as JSON first."""
    named: bool
    """Whether the template is a named one, with a closed list of grades."""

    def scores(self, reply: str) -> Scores:
        """The scores in a reply. Raises UnreadableVerdictError if it has no grade with a score."""
        own = self.pattern is not None or self.parser is not None
        grade = self._grade(reply)
        if grade is None and isinstance(reply, CutReply):
            raise UnreadableVerdictError(
                f"the judge's reply reached max_new_tokens before a grade: {_shown(reply)}. Raise max_new_tokens of the judge"
            )
        if grade is None:
            raise _no_grade(reply, {} if own else self.mapping, asked=self.named and not own)
        return _scores(grade, self.mapping, self.spellings, reply, closed=self.named and not own)

    def reminder(self) -> str:
        """The message to a judge whose reply contains no grade."""
        if self.pattern is not None or self.parser is not None or self.as_json or not self.mapping:
            return "Your reply holds no grade in the requested form. Give your verdict again, in exactly that form."
        grades = ", ".join(self.mapping)
        return (
            "Your reply holds no grade that can be read. Answer with one line and nothing else: the word GRADE, a "
            f"colon, and one of these grades: {grades}"
        )

    def _grade(self, reply: str) -> str | None:
        if self.parser is not None:
            return _parsed(self.parser, reply)
        grade = json_grade(reply, whole=True) if self.as_json else None
        if grade is None and self.pattern is not None:
            grade = pattern_grade(reply, self.pattern)
        elif grade is None:
            stated = finished_statements(reply, self.spellings) if isinstance(reply, CutReply) else reply
            grade = stated_grade(stated, self.spellings, closed=self.named)
        return json_grade(reply, whole=False) if grade is None else grade


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


def mapping_of(given: Mapping[str, float] | None, named: JudgeTemplate | None) -> dict[str, float]:
    """Grade → score: what is given, else that of the template."""
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
        raise UnreadableVerdictError(
            f"judge_output_parser raised {type(error).__name__}: {clause(error)}; the reply was {_shown(reply)}"
        ) from error
    return None if grade is None else str(grade)


def _no_grade(reply: str, mapping: Mapping[str, float], *, asked: bool) -> UnreadableVerdictError:
    """`asked`: the question, a named template, already asks for a grade in the right form."""
    stated = stated_words(reply) if mapping else ""
    if not stated:
        cure = "Ask for a last line 'GRADE: …', or pass grade_pattern= or judge_output_parser="
        if asked:
            cure = (
                "It was asked for a last line 'GRADE: …': use a stronger judge, or pass response_format= to make it write "
                "JSON, or grade_pattern= to read what it writes"
            )
        return UnreadableVerdictError(f"the judge's reply contains no grade: {_shown(reply)}. {cure}")
    return _not_listed(stated if len(stated) <= _GRADE_CHARS else f"{stated[:_GRADE_CHARS]}…", mapping, reply)


def _not_listed(grade: str, mapping: Mapping[str, float], reply: str) -> UnreadableVerdictError:
    return UnreadableVerdictError(
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
    raise UnreadableVerdictError(
        f"the judge's grade {grade!r} has no score and is not a number (grades with a score: {listed}); "
        f"the reply was {_shown(reply)}. Pass score_mapping= with this grade, or make the question clearer"
    )


def _is_on_scale(number: float, mapping: Mapping[str, float]) -> bool:
    """Whether a number that is not a listed grade may be a score: if grades are words and it is between their scores.

    A judge that should answer C or I and answers `{"score": 0.8}` has given a score; one that answers 100 has not, nor
    has one that should answer 1 to 5 and answers 9.
    """
    if not mapping or any(map(is_number, mapping)):
        return False
    return min(mapping.values()) <= number <= max(mapping.values())


def _shown(reply: str) -> str:
    text = redact(reply.strip())  # before it is cut, because cutting would leave part of a secret
    return repr(text if len(text) <= _SHOWN_CHARS else "…" + text[-_SHOWN_CHARS:])

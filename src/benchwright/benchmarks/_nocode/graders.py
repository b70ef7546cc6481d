"""Scorers of evaluations without code: they compare a reply with the right answer."""

from __future__ import annotations

import inspect
import re
import unicodedata
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from benchwright.benchmarks._importing import import_dotted, import_file
from benchwright.benchmarks._nocode.choices import ChoiceReader, label_of, leading_label
from benchwright.benchmarks._nocode.templates import text_of
from benchwright.benchmarks._spec import ScorerFunction
from benchwright.config import GraderStyle
from benchwright.core import ConfigError, JsonObject, Row

if TYPE_CHECKING:
    from benchwright.scorers import ScorerInput, Scores

_ARTICLES = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)


def choice_scorer(read: ChoiceReader) -> ScorerFunction:
    """Multiple choice: `accuracy` and `response_parsed`, with both labels."""

    def score(sample: ScorerInput) -> Scores:
        choices, golden = read(sample.metadata)
        found = label_of(sample.response or "", [choice["label"] for choice in choices])
        return {
            "accuracy": found == golden,
            "response_parsed": found is not None,
            "golden": golden,
            "parsed_response": found,
        }

    return score


def grader_scorer(style: GraderStyle, question: Callable[[Row], str], cwd: Path) -> ScorerFunction:
    """Free replies, compared according to the style. A judge gets `question` as the question."""
    match style.type:
        case "exact_match":
            return _exact(style)
        case "contains":
            return _contains(style)
        case "regex":
            return _regex(style)
        case "numeric":
            return _numeric(style)
        case "levenshtein":
            return _levenshtein(style)
        case "leading_label":
            return _leading(style)
        case "llm_judge":
            return _judge(style, question)
        case "python":
            return _python(load_function(style.function or "", cwd), style.function or "")
        case "scorer":
            from benchwright.scorers import find_scorer

            return find_scorer(style.scorer or "")


def headline_of(style: GraderStyle | None) -> str | None:
    """The headline metric of a run; None if a function or a scorer decides the metrics."""
    if style is None:
        return "accuracy"
    if style.type in ("python", "scorer"):
        return None
    if style.type == "levenshtein" and style.threshold is None:
        return "similarity"
    return "judge_score" if style.type == "llm_judge" else "accuracy"


def golden_check(style: GraderStyle) -> Callable[[str], str | None]:
    """Why no reply can be compared with this right answer; None if nothing is wrong."""
    if style.type == "numeric":
        from benchwright.scorers import ScorerInput as Input, qa_answers

        compared = qa_answers(("numeric",))
        return lambda golden: (
            None if "numeric" in compared(Input(golden, golden, {})) else f"{golden!r} contains no number"
        )
    if style.type == "regex" and style.pattern is None:
        return _pattern_problem
    if style.type == "leading_label":
        labels = {label.casefold() for label in style.labels}
        return lambda golden: (
            None
            if golden.strip().casefold() in labels
            else f"{golden!r} is not one of {', '.join(style.labels)}"
        )
    return lambda golden: None


def _pattern_problem(golden: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd, but a pattern
            re.compile(golden)
    except re.error as error:
        return f"{golden!r} is not a valid regular expression: {error}"
    return None


def normalised(text: str, steps: tuple[str, ...]) -> str:
    """A text without the differences that do not count.

    >>> normalised(" The  Cat! ", ("casefold", "punctuation", "space", "articles"))
    'cat'
    """
    if "casefold" in steps:
        text = text.casefold()
    if "punctuation" in steps:
        text = "".join(" " if unicodedata.category(mark).startswith("P") else mark for mark in text)
    if "articles" in steps:
        text = _ARTICLES.sub(" ", text)
    return " ".join(text.split()) if "space" in steps else text.strip()


def load_function(place: str, cwd: Path) -> Callable[..., Any]:
    """The function that `file.py:name` or `package.module:name` names. ConfigError if there is none."""
    where, _, name = place.rpartition(":")
    if not where or not name:
        raise ConfigError(f"function {place!r}: expected file.py:name or package.module:name")
    if where.endswith(".py"):
        if not (cwd / where).is_file():
            raise ConfigError(f"function {place!r}: there is no file {cwd / where}")
        module = import_file(cwd / where)
    else:
        found = import_dotted(where, cwd)
        if found is None:
            raise ConfigError(f"function {place!r}: there is no module {where}; is it installed?")
        module = found
    function = getattr(module, name, None)
    if not callable(function):
        raise ConfigError(f"function {place!r}: {Path(where).name} has no function {name}")
    if inspect.iscoroutinefunction(function):
        raise ConfigError(f"function {place!r} is async; expected a plain function")
    checked: Callable[..., Any] = function
    return checked


def _golden(sample: ScorerInput) -> str:
    return text_of(sample.target) or ""


def _exact(style: GraderStyle) -> ScorerFunction:
    steps = style.normalize

    def score(sample: ScorerInput) -> Scores:
        response = sample.response or ""
        right = normalised(response, steps) == normalised(_golden(sample), steps)
        return {"accuracy": right, "golden": _golden(sample), "parsed_response": response.strip()}

    return score


def _contains(style: GraderStyle) -> ScorerFunction:
    from benchwright.scorers import holds_answer

    steps = style.normalize

    def score(sample: ScorerInput) -> Scores:
        response = normalised(sample.response or "", steps)
        golden = normalised(_golden(sample), steps)
        found = holds_answer(response, golden)
        return {"accuracy": bool(found), "golden": _golden(sample)}

    return score


def _regex(style: GraderStyle) -> ScorerFunction:
    from benchwright.scorers import qa_answers

    found = qa_answers(("regex",), pattern=style.pattern)

    def score(sample: ScorerInput) -> Scores:
        pattern = _golden(sample) if style.pattern is None else style.pattern
        return {"accuracy": bool(found(sample).get("regex")), "golden": pattern}

    return score


def _numeric(style: GraderStyle) -> ScorerFunction:
    from benchwright.scorers import qa_answers

    compared = qa_answers(("numeric",), tolerance=style.tolerance)

    def score(sample: ScorerInput) -> Scores:
        scores = compared(sample)
        if "numeric" not in scores:
            raise ValueError(f"the right answer {_golden(sample)!r} contains no number")
        read = scores.get("matched")
        return {
            "accuracy": bool(scores["numeric"]),
            "response_parsed": read is not None,
            "golden": _golden(sample),
            "parsed_response": read,
        }

    return score


def _levenshtein(style: GraderStyle) -> ScorerFunction:
    from benchwright.scorers import levenshtein_similarity

    steps, threshold = style.normalize, style.threshold

    def score(sample: ScorerInput) -> Scores:
        response, golden = sample.response or "", _golden(sample)
        if steps:
            response, golden = normalised(response, steps), normalised(golden, steps)
        similarity = levenshtein_similarity(response, golden)
        scores: Scores = {"similarity": similarity, "golden": _golden(sample)}
        if threshold is not None:
            scores["accuracy"] = similarity >= threshold
        return scores

    return score


def _leading(style: GraderStyle) -> ScorerFunction:
    def score(sample: ScorerInput) -> Scores:
        found = leading_label(sample.response or "", style.labels, style.tokens)
        golden = _golden(sample).strip()
        return {
            "accuracy": found is not None and found.casefold() == golden.casefold(),
            "response_parsed": found is not None,
            "golden": golden,
            "parsed_response": found,
        }

    return score


def _judge(style: GraderStyle, question: Callable[[Row], str]) -> ScorerFunction:
    from benchwright.scorers import judge_score

    def score(sample: ScorerInput) -> Scores:
        return judge_score(
            replace(sample, target=_golden(sample)),
            template=style.judge_template,
            criteria=style.criteria,
            pass_mark=style.threshold,
            question=question(sample.metadata),
        )

    return score


def _python(function: Callable[..., Any], place: str) -> ScorerFunction:
    """A function of `(sample)`, `(response, golden)` or `(response, golden, row)` that returns a bool, a number
    or scores."""
    parameters = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if not 1 <= len(parameters) <= 3:
        raise ConfigError(
            f"function {place!r} takes {len(parameters)} arguments; expected (sample), (response, golden) or "
            "(response, golden, row)"
        )

    def score(sample: ScorerInput) -> Scores:
        given = (sample,) if len(parameters) == 1 else (sample.response, sample.target, sample.metadata)
        result: Any = function(*given[: len(parameters)])
        if isinstance(result, bool):
            return {"accuracy": result}
        if isinstance(result, int | float):
            return {"score": result}
        scores: Scores = result  # the engine checks anything else, as for any scorer
        return scores

    return score


def judge_config(style: GraderStyle | None) -> dict[str, Any]:
    """What the scorer sees as `sample.config`: the judge's settings, if there is a judge."""
    if style is None or style.type != "llm_judge":
        return {}
    settings: JsonObject = dict(style.judge)
    return {"judge": settings}

"""Combines the verdicts of several judges on one response, and tells whether they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, Literal

from benchwright.core import ConfigError, UsageError
from benchwright.scorers._judge import judge_score, mapping_of, pass_score, passed
from benchwright.scorers._judge_config import JudgeConfig, JudgeFailedError
from benchwright.scorers._judge_templates import named_template
from benchwright.scorers._scorer import GRADE_OF, SCORE_OF, ScorerInput, Scores


def judge_panel(
    sample: ScorerInput,
    judges: Sequence[str] | None = None,
    aggregate: Literal["majority", "mean"] = "majority",
    quorum: int | None = None,
    **judging: Any,
) -> Scores:
    """Ask several judges the same question: returns their joint `judge_score` and `judge_grade`, and `judges_agree`.

    Args:
        sample: what to judge; `sample.config` has the settings of each judge.
        judges: the keys of their settings; None: all of `judge`, `judge_1`, `judge_2`, … that have settings.
        aggregate: `majority` takes the grade that most judges gave; in a tie, the mean of the scores, with all tied
            grades as the grade (`C/I`). `mean` takes the mean of the scores.
        quorum: How many judges must give a grade; None: all of them.
        judging: further parameters of `judge_score`, the same for all judges.

    With a quorum of 1, samples that only one judge graded have no `judges_agree`. The verdict of each judge is kept as
    `score_of_judge`, `grade_of_judge`, `score_of_judge_1`, …

    Raises:
        JudgeFailedError: fewer judges than the quorum gave a grade.
        ConfigError: fewer than two judges have settings.
    """
    keys = _keys(sample, judges)
    if aggregate not in ("majority", "mean"):
        raise UsageError(f"aggregate is {aggregate!r}; expected 'majority' or 'mean'")
    if quorum is not None and not 1 <= quorum <= len(keys):
        raise UsageError(f"quorum is {quorum}; expected 1 to {len(keys)}, the number of judges")
    if "judge_key" in judging or judging.get("on_failure", "fail") != "fail":
        raise UsageError("judge_panel() takes judges= and quorum= in place of judge_key= and on_failure=")
    pass_mark = judging.pop("pass_mark", None)  # of what they find together
    mapping = mapping_of(judging.get("score_mapping"), named_template(judging.get("template", "binary_qa")))
    passing = pass_score(pass_mark, mapping)
    verdicts: dict[str, Scores] = {}
    failures: list[JudgeFailedError] = []
    for key in keys:
        try:
            verdicts[key] = judge_score(sample, judge_key=key, **judging)
        except JudgeFailedError as error:
            failures.append(error)
    if len(verdicts) < (quorum or len(keys)):
        raise type(failures[0])(
            f"{len(verdicts)} of {len(keys)} judges gave a grade, and {quorum or len(keys)} must: "
            + "; ".join(map(str, failures))
        )
    found = together(verdicts, aggregate)
    return found | passed(found["judge_score"], passing, mapping)


def together(verdicts: Mapping[str, Mapping[str, Any]], aggregate: str) -> Scores:
    """The verdicts of several judges as scores of one sample.

    >>> c, i = {"judge_score": 1.0, "judge_grade": "C"}, {"judge_score": 0.0, "judge_grade": "I"}
    >>> found = together({"judge": c, "judge_1": i, "judge_2": c}, "majority")
    >>> found["judge_score"], found["judge_grade"], found["judges_agree"]
    (1.0, 'C', False)
    """
    scores = {str(each["judge_grade"]): float(each["judge_score"]) for each in verdicts.values()}
    given = Counter(str(each["judge_grade"]) for each in verdicts.values())
    most = max(given.values())
    leading = [grade for grade in scores if given[grade] == most]
    if aggregate == "majority":
        score = fsum(scores[grade] for grade in leading) / len(leading)
    else:
        score = fsum(float(each["judge_score"]) for each in verdicts.values()) / len(verdicts)
    found: Scores = {
        "judge_score": score,
        "judge_grade": "/".join(sorted(leading)),
    }
    if len(verdicts) > 1:  # one judge alone agrees with nobody
        found["judges_agree"] = len(given) == 1
    for key, each in verdicts.items():
        found[SCORE_OF + key], found[GRADE_OF + key] = each["judge_score"], each["judge_grade"]
    return found


def _keys(sample: ScorerInput, judges: Sequence[str] | None) -> tuple[str, ...]:
    known = sorted(filter(JudgeConfig.is_key, sample.config), key=lambda key: (len(key), key))
    keys = tuple(known if judges is None else judges)
    if len(keys) < 2 or len(set(keys)) < len(keys):
        raise ConfigError(
            f"judge_panel() needs several judges, and is given {', '.join(keys) or 'none'}. Give them to @benchmark: "
            'judge={"url": …, "model_id": …}, judge_1={…}'
        )
    return keys

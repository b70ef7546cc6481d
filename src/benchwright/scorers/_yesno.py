"""Decides whether an answer says yes or no, by the documented rules and by strict ones that understand negation."""

from __future__ import annotations

import re

from benchwright.scorers._scorer import ScorerInput, Scores, answer_scores, by_name
from benchwright.scorers._verdicts import read_verdict, verdict_of_word

YES = frozenset({"yes", "true", "correct", "right", "yeah", "yep"})
NO = frozenset({"no", "false", "incorrect", "wrong", "nope", "nah"})
_WORD = re.compile(r"[a-z]+")
_WORDS_READ = 20


@by_name
def boolean_yesno(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: the first yes- or no-word among the response's first 20 words.

    English only, and negation is not understood: "not correct" is a yes. See `boolean_yesno_strict`.
    The target may be a bool, 1 or 0, or such a word; anything else makes no answer correct.

    >>> boolean_yesno(ScorerInput("Yep, it does.", True, {}))
    {'correct': True, 'parsed': True}
    """
    words = _WORD.findall((sample.response or "").lower())[:_WORDS_READ]
    found = next((word in YES for word in words if word in YES or word in NO), None)
    return answer_scores(_word_of(found), _word_of(target_verdict(sample.target)))


def _word_of(verdict: bool | None) -> str | None:
    return None if verdict is None else "yes" if verdict else "no"


def target_verdict(target: object) -> bool | None:
    """Whether the target says yes or no; None if it says neither. A number is truncated to an integer: 1.9 is yes."""
    if isinstance(target, int | float) and target - target == 0:  # NaN and the infinities are read as text
        return {1: True, 0: False}.get(int(target))
    word = str(target).strip().lower()
    if word in YES or word == "1":
        return True
    if word in NO or word == "0":
        return False
    return None


@by_name
def boolean_yesno_strict(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: whether the response says yes or no; "not correct" is a no.

    The last "answer is yes" (or "Answer: no") counts; else a reply that is a verdict ("Of course not."); else the verdicts of
    its clauses, if they agree, one opens the reply or one corrects the others. Questions, what others say and "yes or no" do not
    count. Texts whose verdicts disagree are unparsed. If the row has a `question`, what the reply says of it counts too: with a
    pronoun ("They don't."), as a judgement ("The passage contradicts the claim."), as a class ("Not spam"), or as a statement that
    repeats it ("Toronto is not the capital of Canada." is a no). Idioms count only then. The plain words of German, French, Spanish,
    Russian, Chinese and others are understood too, in the target as well.

    >>> boolean_yesno_strict(ScorerInput("That is not correct.", "no", {}))
    {'correct': True, 'parsed': True}
    """
    expected = target_verdict(sample.target)
    if expected is None and isinstance(sample.target, str):
        expected = verdict_of_word(sample.target)
    question = (sample.metadata or {}).get("question")
    found = read_verdict(sample.response or "", question if isinstance(question, str) else "")
    return answer_scores(_word_of(found), _word_of(expected))

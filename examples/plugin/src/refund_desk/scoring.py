"""A scorer and a judge template."""

from __future__ import annotations

from benchwright.scorers import JudgeTemplate, ScorerInput, Scores


def brevity(sample: ScorerInput) -> Scores:
    """Whether the reply contains the answer in few words; `--evaluator-kwargs '{"words": 3}'` sets how many."""
    words = len(sample.response.split())
    right = str(sample.target).casefold() in sample.response.casefold()
    return {"brief": right and words <= int(sample.config.get("words", 20)), "words": words}


COURTESY = JudgeTemplate(
    "A customer wrote:\n{question}\n\nThe reply:\n{response}\n\n{criteria}\n"
    "Is the reply courteous? End with one line: GRADE: YES or GRADE: NO",
    {"YES": 1.0, "NO": 0.0},
)
"""Asks a judge whether a reply is courteous."""

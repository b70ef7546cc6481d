"""The declared cascade: which rules read a choice, in which order, and what each one looks for.

A rule is data. `extract_choice` names the rule that fired; the manual lists this table.
"""

from __future__ import annotations

from benchwright.scorers._mcq.letters import NOT_INSIDE, NOT_PART
from benchwright.scorers._mcq.rule import ChoiceRule
from benchwright.scorers._mcq.statement_rules import START, STATEMENT_RULES

CHOICE_RULES: tuple[ChoiceRule, ...] = (
    ChoiceRule(
        "letter",
        "exact",
        "whole reply",
        "the reply is one letter, in any case, with or without dress",
        ("B", "b", "(B)", "B.", "**B**", "1. B"),
    ),
    ChoiceRule(
        "whole_text",
        "option_text",
        "whole reply",
        "the reply is the text of one option",
        ("2263",),
    ),
    ChoiceRule(
        "letter_and_text",
        "exact",
        "whole reply",
        "the reply is a letter and that option's text",
        ("B) 2263", "B. 2263"),
    ),
    *STATEMENT_RULES,
    ChoiceRule(
        "opening",
        "pattern",
        "lone letter",
        "the reply begins with the letter",
        ("B: the sum", "B because it adds up", "B, 2263"),
    ),
    ChoiceRule(
        "with_text",
        "pattern",
        "lone letter",
        "one letter with its own text, anywhere",
        ("The sum is (B) 2263 here", "Hence the sum B. 2263 follows"),
    ),
    ChoiceRule(
        "named",
        "pattern",
        "lone letter",
        "only one option is named",
        ("Look at option B again", "选项B"),
        rf"(?:{START}(?:options?|choices?|answers?|letter|alternative)\s|选项\s?)(?=[(\[]?[A-Z]{NOT_PART})",
        ("option", "choice", "answer", "letter", "alternative", "选项"),
    ),
    ChoiceRule(
        "bracketed",
        "pattern",
        "lone letter",
        "only one capital letter stands in brackets",
        ("The second sum (B).",),
        rf"{NOT_INSIDE}(?=[(\[](?-i:[A-Z])[)\]])",
        ("(", "["),
    ),
    ChoiceRule(
        "one_text",
        "option_text",
        "option text",
        "the text of one option only, as whole words and numbers; denied ones do not count",
        ("A simple sum gives 2263", "2263 not 2258"),
    ),
)
"""All rules, in the order of the steps. Within `statement` the last one in the text counts, wherever its rule
stands; within the other steps the first rule that fits."""

RULES = {rule.name: rule for rule in CHOICE_RULES}

NO_ANSWER_REASONS: dict[str, str] = {
    "empty": "the reply is empty or blank",
    "no_options": "the row has no options",
    "unfinished_reasoning": "the reply ends inside its reasoning",
    "ambiguous": "several options are named and none is decided for: `C or B`, or two options have the same text",
    "retracted": "what was stated last is taken back afterwards: `Answer: B. No, B is wrong.`",
    "not_found": "no rule found an answer",
    "not_near": "of `nearest_choice`: no option's text is near enough",
}
"""Why a reply can hold no readable answer: `rule` of extractions whose method is `none`."""

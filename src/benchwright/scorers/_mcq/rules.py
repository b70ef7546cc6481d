"""The declared cascade: which rules read a choice, in which order, and what each one looks for.

A rule is data. `extract_choice` names the rule that fired; the manual lists this table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from benchwright.scorers._mcq.extraction import Method
from benchwright.scorers._mcq.letters import NOT_INSIDE, NOT_PART

Step: TypeAlias = Literal["whole reply", "statement", "lone letter", "option text"]
"""Steps of the cascade: the first that finds something ends it. Of statements the last one counts."""

Ending: TypeAlias = Literal["any", "stop", "hard_stop", "closed"]
"""What must follow a statement: anything; a pause or a reason; the end of the sentence; a closing brace."""


@dataclass(frozen=True, slots=True)
class ChoiceRule:
    """One rule of the cascade."""

    name: str
    """What a verdict calls it."""
    method: Method
    """The kind of rule; a statement that names an option's text instead of its letter is `option_text`."""
    step: Step
    """Where in the cascade it stands."""
    meaning: str
    """What it reads, by example."""
    pattern: str | None = None
    """Regular expression of what stands before the letter or text; None: the rule is code."""
    cues: tuple[str, ...] = ()
    """Small-letter pieces of which the text must hold one for the pattern to be tried."""
    ending: Ending = "any"
    """What must follow."""

    @property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, compiled when first used."""
        return _compiled(self.pattern or "(?!)")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_START = r"(?<![^\W_])"
_BE = r"(?:is|was|are|(?:would|should|must|will|has\sto|can\sonly|seems\sto|appears\sto|ought\sto)\s(?:\w{2,12}\s)?be)\b"
_SIGN = r"(?:[:=>]|-{1,2}>|={1,2}>|→|-(?=\s))"
_FILLER = (
    r"(?:\s?(?:[:=>,]|-{1,2}>|→|\.\.\.|…)|\s?\b(?:most|very|likely|probably|definitely|clearly|certainly|simply|indeed"
    r"|actually|surely|obviously|therefore|thus|hence|then|just|only|now|given\sby|as\sfollows|the|my|our|option|choice"
    r"|letter|answer|correct|right|best|final|one|labell?ed|marked)\b){0,6}"
)
_ZH_FILLER = r"(?:应该|应当|应|可能|显然|就|便|只能|必须|即|则|也|才|是|为|為|選擇|選|选择|选项|选|[:=>,]|-|\s|\(|\[|的){0,8}"

CHOICE_RULES: tuple[ChoiceRule, ...] = (
    ChoiceRule("letter", "exact", "whole reply", "the reply is one letter: `B`, `b`, `(B)`, `B.`, `**B**`"),
    ChoiceRule("whole_text", "option_text", "whole reply", "the reply is one option's text: `2263`"),
    ChoiceRule(
        "letter_and_text",
        "exact",
        "whole reply",
        "the reply is a letter and that option's text: `B) 2263`, `B. 2263`",
    ),
    ChoiceRule(
        "boxed",
        "boxed",
        "statement",
        r"`\boxed{B}`, `\boxed{\text{B}}`, `\boxed{2263}`",
        r"\\(?:boxed|fbox)\s?\{",
        ("\\boxed", "\\fbox"),
        "closed",
    ),
    ChoiceRule(
        "answer",
        "pattern",
        "statement",
        '`answer: b`, `the answer is B`, `The correct answer to this would be (B)`, `{"answer": "B"}`, `<answer>B`',
        rf"{_START}(?<!/)answers?(?:\s(?:to|for)\s[^.\n:?;]{{1,60}}?)?(?:\s(?:here|then|therefore|thus|choice|option"
        rf"|letter|key))?(?:'s|\s{_BE}|\s?{_SIGN}){_FILLER}",
        ("answer",),
    ),
    ChoiceRule(
        "answer_named",
        "pattern",
        "statement",
        "`Final answer (D)`, `Answer B.`, `Answer` as a heading with the letter below",
        rf"{_START}(?<!/)answer(?:\s(?:option|choice|letter))?(?=\s|\()",
        ("answer",),
        "stop",
    ),
    ChoiceRule(
        "field",
        "pattern",
        "statement",
        '`choice: B`, `"correct_option": "B"`, `Ans. B`, `Correct: B`',
        rf"{_START}(?:choice|option|letter|selection|selected|correct|ans|result|verdict|prediction|pick|guess)\s?"
        rf"(?:[:=]|(?<=ans)\.){_FILLER}",
        (
            "choice",
            "option",
            "letter",
            "select",
            "correct",
            "ans",
            "result",
            "verdict",
            "prediction",
            "pick",
            "guess",
        ),
    ),
    ChoiceRule(
        "correct_one",
        "pattern",
        "statement",
        "`the correct option is B`, `the best choice would be B`, `my guess is B`",
        rf"{_START}(?:(?:correct|right|best|true|proper|appropriate|final|accurate)\s(?:option|choice|letter|response"
        r"|solution|alternative|one|selection|statement|result)|the\sletter|my\s(?:guess|pick|choice|vote|bet|selection|response))"
        rf"(?:\s(?:here|then|therefore|thus))?(?:\s{_BE}|\s?{_SIGN}){_FILLER}",
        (
            "option",
            "choice",
            "letter",
            "respon",
            "solution",
            "alternative",
            " one",
            "selection",
            "statement",
            "my ",
        ),
    ),
    ChoiceRule(
        "chosen",
        "pattern",
        "statement",
        "`I choose B`, `I would go with option B`, `select (B)`",
        rf"{_START}(?:cho(?:o|)se|choosing|select(?:ed|ing)?|pick(?:ed|ing)?|go(?:ing)?\s(?:with|for)|opt(?:ed|ing)?\sfor"
        r"|vote\sfor|settle\s(?:on|for)|lean(?:ing)?\stowards?|stick(?:ing)?\swith|(?:answer|reply|respond)\swith)\b"
        rf"{_FILLER}",
        ("cho", "select", "pick", " with", " for", "settle", "lean"),
    ),
    ChoiceRule(
        "opinion",
        "pattern",
        "statement",
        "`I think B`, `I believe it is B`, `I'd say (B)`",
        rf"{_START}(?:I|we)(?:'d|'m|'ll|\swould|\sam|\swill)?\s(?:\w{{2,10}}\s)?(?:think|believe|guess|reckon|suspect|say"
        rf"|conclude|suppose|bet|feel|deduce|infer)\b(?:\sthat\b)?(?:\s(?:it|this)(?:'s|\s{_BE}))?{_FILLER}",
        (
            "think",
            "believe",
            "guess",
            "reckon",
            "suspect",
            "say",
            "conclude",
            "suppose",
            "bet",
            "feel",
            "deduce",
        ),
        "stop",
    ),
    ChoiceRule(
        "it_is",
        "pattern",
        "statement",
        "`It is B.`, `it's (B)`, `that must be B because …`",
        rf"{_START}(?:it|this|that|which)(?:'s|\s{_BE}){_FILLER}",
        ("it", "this", "that", "which"),
        "stop",
    ),
    ChoiceRule(
        "conclusion",
        "pattern",
        "statement",
        "`So B.`, `Therefore: B`, `Definitely (B)!`",
        rf"{_START}(?:so|therefore|thus|hence|consequently|accordingly|ultimately|finally|overall|definitely|probably"
        r"|clearly|certainly|obviously|surely|likely|sure|yes|okay|ok|conclusion|final|rather|instead|correction|actually)"
        rf"\b[,:.!-]{{0,2}}{_FILLER}",
        (
            "so",
            "the",
            "thus",
            "hen",
            "ly",
            "all",
            "sure",
            "yes",
            "ok",
            "conclusion",
            "final",
            "rather",
            "instead",
            "corr",
        ),
        "hard_stop",
    ),
    ChoiceRule(
        "corresponds",
        "pattern",
        "statement",
        "`which corresponds to B`, `this matches option B`, `leaving only B`",
        rf"{_START}(?:correspond(?:s|ing)?\s(?:to|with)|match(?:es|ing)|leav(?:es|ing)(?:\sus\swith)?)\b{_FILLER}",
        ("correspond", "match", "leav"),
        "stop",
    ),
    ChoiceRule(
        "contrast",
        "pattern",
        "statement",
        "`not B, rather C`, `not A but B`, `it isn't A, it's B`",
        rf"(?:{_START}(?:not|never|nor)|n't)\s(?:the\s)?(?:(?:option|choice|letter|answer)\s)?[(\[]?[A-Z]{NOT_PART}[)\]]?"
        rf"\s?[,;:.–—-]{{0,2}}\s?(?:but|rather|instead|it's|it\sis|that's)\b{_FILLER}",
        ("not", "n't", "never", "nor"),
    ),
    ChoiceRule(
        "verdict", "pattern", "statement", "`I think B is right`, `B (2263) is the correct answer`, `B正确`"
    ),
    ChoiceRule("preferred", "pattern", "statement", "`C, not B`, `C rather than B`, `C而不是B`"),
    ChoiceRule(
        "zh_answer",
        "pattern",
        "statement",
        "`答案是B`, `答案为 B`, `正确答案：B`, `答案应该选B`",
        rf"答案{_ZH_FILLER}",
        ("答案",),
    ),
    ChoiceRule(
        "zh_chosen",
        "pattern",
        "statement",
        "`选B`, `选择 B`, `故选：B`, `应选B`",
        r"(?<![不别勿非未没候备挑])(?:选择|选|選擇|選)(?:了|的是|为|是|[:=]|答案|选项|\s|\(|\[){0,4}",
        ("选", "選"),
    ),
    ChoiceRule(
        "zh_is",
        "pattern",
        "statement",
        "`应该是B。`, `而是 C`, `应为B`",
        r"(?<![不并非可若果])(?:是|应为|應為|即为|則為|则为)\s?(?:选项|答案)?",
        ("是", "为", "為"),
        "stop",
    ),
    ChoiceRule(
        "answer_elsewhere",
        "pattern",
        "statement",
        "`Antwort: B`, `La réponse est B`, `La respuesta correcta es B`, `正解はB`, `정답은 B`",
        rf"(?:{_START}(?:r[ée]ponse|antwort|respuesta|risposta|resposta)(?:\s\w{{2,10}})?\s?(?:\b(?:est|ist|lautet|es|è|é)\b"
        r"|[:=])|(?:正解|答え|解答)\s?(?:は|:)|(?:정답|답)\s?(?:은|는|:))\s?(?:(?:la|die|option|opción|réponse)\s){0,2}",
        ("ponse", "antwort", "respuesta", "risposta", "resposta", "正解", "答え", "解答", "답"),
    ),
    ChoiceRule(
        "last_line",
        "pattern",
        "statement",
        "a last line that is one letter, alone or with its text: `B) 2263`",
    ),
    ChoiceRule(
        "opening",
        "pattern",
        "lone letter",
        "the reply begins with it: `B) 2263`, `B. The sum …`, `B because …`",
    ),
    ChoiceRule(
        "with_text", "pattern", "lone letter", "one letter with its own text anywhere: `… is (B) 2263`"
    ),
    ChoiceRule(
        "named",
        "pattern",
        "lone letter",
        "only one option is named: `option B`, `选项B`",
        rf"(?:{_START}(?:options?|choices?|answers?|letter|alternative)\s|选项\s?)(?=[(\[]?[A-Z]{NOT_PART})",
        ("option", "choice", "answer", "letter", "alternative", "选项"),
    ),
    ChoiceRule(
        "bracketed",
        "pattern",
        "lone letter",
        "one bracketed capital letter: `The capital (B).`",
        rf"{NOT_INSIDE}(?=[(\[](?-i:[A-Z])[)\]])",
        ("(", "["),
    ),
    ChoiceRule(
        "one_text",
        "option_text",
        "option text",
        "the text of one option only: `It gives 2263`, `2263 not 2258`",
    ),
)
"""All rules, in the order of the steps. Within `statement` the last one in the text counts, wherever its rule
stands; within the other steps the first rule that fits."""

RULES = {rule.name: rule for rule in CHOICE_RULES}
STATEMENTS = tuple(rule for rule in CHOICE_RULES if rule.step == "statement" and rule.pattern)

NO_ANSWER_REASONS: dict[str, str] = {
    "empty": "the reply is empty or blank",
    "no_options": "the row has no options",
    "unfinished_reasoning": "the reply ends inside its reasoning",
    "ambiguous": "several options are named and none is decided for: `C or B`, or two options have the same text",
    "retracted": "what was stated last is taken back afterwards: `Answer: B. No, B is wrong.`",
    "not_found": "no rule found an answer",
}
"""Why a reply can hold no readable answer: `rule` of extractions whose method is `none`."""

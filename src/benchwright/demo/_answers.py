"""Answer a prompt as the demo model: find the question and its right answer, decide whether the model knows it, and word it."""

from __future__ import annotations

from typing import NamedTuple

from benchwright.core import late_pattern
from benchwright.demo._arithmetic import calculate, solve_word_problem
from benchwright.demo._numbers import Kind, Solved, show_number
from benchwright.demo._options import choose, decide, find_options, is_yes_no, wordings
from benchwright.demo._requests import Question, is_judge_prompt, last_question
from benchwright.demo._settings import Chance, limit_of
from benchwright.demo._words import WORDS, chatter, guess, is_open_task

_REASONED = late_pattern(
    r"\bstep[- ]by[- ]step\b|\bthink (?:first|aloud|carefully)\b|\bshow your (?:work|reasoning)\b"
)
_REPEAT = late_pattern(r"(?is)\W{0,9}(?:repeat|say|echo)\b[^:\n]{0,20}:\s{0,9}(.+)")
_MAYBE = late_pattern(r"(?i)\bmaybe\b")
_MASK = 0xFFFFFFFF
_MAX_READ_CHARS = 20_000
"""Characters of a prompt that are read, counted from its end, where the last question is."""


class DemoAnswer(NamedTuple):
    """An answer of the demo model, with equivalent and avoided wordings."""

    text: str
    """The reply."""
    said: str
    """The answer inside the reply."""
    same: tuple[str, ...]
    """Other wordings of the same answer."""
    known: bool
    """False for a guess."""
    avoided: tuple[str, ...] = ()
    """All wordings of the right answer, if the model answers wrongly on purpose."""


class Answerer:
    """Answers prompts with a given skill and seed. The same question always gets the same answer."""

    __slots__ = ("_by_chance", "_chance", "_limit")

    def __init__(self, skill: float, seed: int, by_chance: bool = False) -> None:
        self._chance = Chance(seed)
        self._by_chance = by_chance
        self._limit = 0 if by_chance else limit_of(skill)

    def answer(self, prompt: str, system: str = "", variation: str = "") -> DemoAnswer:
        """Answer a prompt.

        `variation` distinguishes repeats if sampling is on: a random half of them draw again; the
        others keep the question's first draw. So repeats of one question agree more than different questions do,
        while the share of right answers still equals the skill.
        """
        question = last_question(prompt[-_MAX_READ_CHARS:])
        if is_judge_prompt(prompt):  # all of it is the question: the judged response is in its middle
            question = question._replace(block=prompt)
        if self._by_chance:
            bits = self._chance.bits(f"{variation}\n{prompt}")
            said, kind = drawn(question, bits)
            return DemoAnswer(_worded(said, Solved(kind, said), question, system), said, (), False)
        bits = self._chance.bits(question.block)
        if variation:
            again = self._chance.bits(f"{variation}\n{question.block}")
            if again & 1:
                bits = again >> 1
        solved = solve(question, bits >> 32)
        said = solved.right
        same = solved.same
        avoided: tuple[str, ...] = ()
        if solved.kind != "guess" and not self.is_right(bits):
            said = solved.wrong(bits >> 40)
            same = self._same_as_wrong(question, said, solved)
            avoided = (solved.right, *solved.same)
        return DemoAnswer(
            _worded(said, solved, question, system), said, same, solved.kind != "guess", avoided
        )

    def continuations(self, text: str, guesses: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return right continuations of a text, best first, each on one line, and wrong ones; nothing if only a
        guess is possible and guesses are not requested."""
        answer = self.answer(text)
        if not (answer.known or guesses):
            return (), ()
        return tuple(map(on_one_line, (answer.text, *answer.same))), answer.avoided

    def bits(self, text: str) -> int:
        """Return 64 bits for a text, derived from the model's seed."""
        return self._chance.bits(text)

    def is_right(self, bits: int) -> bool:
        """Whether the model answers rightly, given these bits."""
        return (bits & _MASK) < self._limit

    def _same_as_wrong(self, question: Question, said: str, solved: Solved) -> tuple[str, ...]:
        """Return the other wordings of a wrong answer: for a letter, the text of its option."""
        if solved.kind == "option":
            options = find_options(question.block)
            if options is not None and said in options.labels:
                return wordings(options, options.labels.index(said))[1:]
        if solved.kind == "yesno":
            return (said.lower(),)
        return ()


def solve(question: Question, bits: int) -> Solved:
    """Find the right answer to a question, as far as the demo model can."""
    block = question.block
    if is_judge_prompt(question.full):
        from benchwright.demo._judge import grade

        return grade(question.full)
    if "A)" in block or "A." in block or "A:" in block or "a)" in block:
        options = find_options(block)
        if options is not None:
            return choose(
                options, lambda stem: _solve_plain(Question(stem, stem, stem.lower(), False), bits), bits
            )
    return _solve_plain(question, bits)


def drawn(question: Question, bits: int) -> tuple[str, Kind]:
    """Draw a random answer of the kind that a question takes: one of its options, labels or grades, else a number
    below 100 or a word."""
    solved = solve(question, bits)
    if solved.others:  # options, labels or grades
        candidates = tuple(dict.fromkeys((*solved.others, solved.right)))
        if is_yes_no(question.block, question.lowered) and _MAYBE.search(question.full):
            candidates += ("maybe",)
        return candidates[bits % len(candidates)], solved.kind
    if solved.kind == "number":
        return str(bits % 100), "number"
    return WORDS[bits & 63], "guess"


def _solve_plain(question: Question, bits: int) -> Solved:
    block = question.block
    if (repeat := _REPEAT.match(block)) is not None:
        return Solved("text", repeat.group(1))
    if is_yes_no(block, question.lowered):
        return decide(block, question.full, bits)
    worked = calculate(block) or solve_word_problem(block)
    if worked is not None:
        return Solved("number", show_number(worked[0]), (), worked[1])
    if is_open_task(block):
        return Solved("essay", chatter(bits, 24 + bits % 48))
    return Solved("guess", guess(block, bits))


def on_one_line(text: str) -> str:
    """Replace line breaks by spaces, since a completion ends with its line."""
    return " ".join(text.split()) if "\n" in text else text


def _worded(said: str, solved: Solved, question: Question, system: str) -> str:
    """Put an answer into the form that the prompt requests, most often the bare answer."""
    full = question.full
    if solved.kind == "grade":
        return f"{solved.steps}\nGRADE: {said}"
    if solved.kind == "essay":
        return said
    steps = solved.steps if said == solved.right else ""
    if "####" in full or "####" in system:
        return f"{steps}\n#### {said}" if steps else f"#### {said}"
    if "\\boxed" in full or "\\boxed" in system:
        return f"{steps} so \\boxed{{{said}}}" if steps else f"\\boxed{{{said}}}"
    asks_line = ("ANSWER:" in full and not question.cued) or "ANSWER:" in system
    if asks_line:
        return f"{steps}\nANSWER: {said}" if steps else f"ANSWER: {said}"
    if _wants_reasons(question.lowered) or (system and _wants_reasons(system.lower())):
        return f"{steps or 'I work it out.'}\nThe answer is {said}"
    return said


def _wants_reasons(lowered: str) -> bool:
    # The three substrings exclude nearly every prompt at a tenth of the cost of the regular expression.
    hinted = "step" in lowered or "think" in lowered or "show your" in lowered
    return hinted and _REASONED.search(lowered) is not None

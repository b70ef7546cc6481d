"""Turns a row into the text for the model: the prompt, and each later user turn of a conversation.

Prompts are compiled once per run and rendered once per sample, which is the hot path. A conversation is a list of
`{"role", "content"}` dicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from benchwright.benchmarks._examples import Example, FewShot, question_of
from benchwright.benchmarks._fields import target_of
from benchwright.benchmarks._scoring import positional_count
from benchwright.benchmarks._spec import BenchmarkSpec, NextTurn
from benchwright.benchmarks._template import Template, load_template
from benchwright.core import JsonObject, MissingFieldError, Row

if TYPE_CHECKING:
    from benchwright.benchmarks._leak_guard import SelfExampleGuard


class Prompt(Struct, frozen=True):
    """The prompt of one row."""

    text: str
    """Few-shot block and rendered prompt, without the system text."""
    system: str | None = None
    """Rendered system text; None if there is none or it is empty."""
    examples: int = 0
    """How many few-shot examples come before the prompt."""

    @property
    def flat(self) -> str:
        """One text for routes without messages: the system text, a newline, the prompt."""
        return self.text if self.system is None else f"{self.system}\n{self.text}"


class PromptBuilder:
    """Renders rows of one benchmark. Immutable once built; may be shared between threads."""

    __slots__ = ("_block", "_examples", "_guard", "_prefix", "_question", "_render", "_render_system",
                 "_separator", "_spares", "system_template", "template")  # fmt: skip

    def __init__(
        self,
        template: Template,
        system: Template | None,
        fewshot: FewShot | None,
        prefix: str,
        separator: str,
        target: Callable[[Row], object],
    ) -> None:
        self.template = template
        """The compiled prompt."""
        self.system_template = system
        """The compiled system prompt, if there is one."""
        self._render = template.render
        self._question = question_of(template, () if fewshot is None else fewshot.ignored)
        if self._question == self._render:  # each access would create a new bound method
            self._question = self._render
        self._render_system: Callable[[Row], str] | None = system.render if system is not None else None
        self._prefix = prefix
        self._separator = separator
        self._examples: Sequence[Example] = fewshot.examples if fewshot is not None else ()
        self._spares: Sequence[Example] = fewshot.spares if fewshot is not None else ()
        self._block = self._joined(self._examples)
        self._guard: SelfExampleGuard
        if self._examples:  # without any, nothing is guarded, and its patterns need not be compiled
            from benchwright.benchmarks._leak_guard import SelfExampleGuard

            self._guard = SelfExampleGuard(template, self._examples, self._spares, target)

    def build(self, row: Row) -> Prompt:
        """The prompt of one row. Raises MissingFieldError, also if the system prompt lacks a field."""
        text = self._render(row)
        shown = 0
        if self._block:
            question = text if self._question is self._render else self._question(row)
            shown, block = len(self._examples), self._block
            if self._guard.among_examples(question, row):
                kept = self._without(question, row)
                shown, block = len(kept), self._joined(kept)
            text = block + text
        system = self._render_system
        return Prompt(
            text, None if system is None else system(row) or None, shown
        )  # an empty one counts as none

    @property
    def shows_examples(self) -> bool:
        """Whether there are few-shot examples."""
        return bool(self._examples)

    def left_out_itself(self, prompt: Prompt) -> bool:
        """Whether the row of a prompt built here is one of the examples, which was then left out."""
        return not prompt.text.startswith(self._block)

    def _without(self, prompt: str, row: Row) -> list[Example]:
        """The examples, with every one that is this row, or a copy of it, replaced by a spare if there is one."""
        is_row = self._guard.test_for(prompt, row)
        spares = (spare for spare in self._spares if not is_row(spare))
        kept = [example if not is_row(example) else next(spares, None) for example in self._examples]
        return [example for example in kept if example is not None]

    def _joined(self, examples: Sequence[Example]) -> str:
        if not examples:
            return ""
        separator = self._separator
        return self._prefix + separator.join([example.text for example in examples]) + separator


def build_prompts(spec: BenchmarkSpec, fewshot: FewShot | None = None) -> PromptBuilder:
    """Compile a benchmark's templates, with the examples already resolved (None: zero-shot).

    Raises BenchmarkError for a template that cannot be compiled.
    """
    return PromptBuilder(
        prompt_template(spec),
        system_template(spec),
        fewshot,
        spec.fewshot_prefix,
        spec.fewshot_separator,
        partial(target_of, spec),
    )


def prompt_template(spec: BenchmarkSpec) -> Template:
    """The compiled main prompt; with an empty prompt and `turns_field`, the row's first turn."""
    if spec.template is not None:
        return spec.template
    if not spec.prompt and spec.turns_field is not None:
        return OpeningTurn(spec.turns_field)
    return load_template(spec.prompt, spec.base_dir)


def system_template(spec: BenchmarkSpec) -> Template | None:
    """The compiled system prompt, if the benchmark has one."""
    if spec.system is not None:
        return spec.system
    if not spec.system_prompt:
        return None
    return load_template(spec.system_prompt, spec.base_dir, what="system_prompt")


class OpeningTurn:
    """Replaces the prompt template if the prompt is empty and the row contains every user turn."""

    text = ""
    engine: Literal["turns"] = "turns"

    def __init__(self, field: str) -> None:
        self.fields = frozenset([field])
        """The column with the turns."""
        self.render: Callable[[Row], str] = lambda row: _opening(row, field)
        """The first user turn of a row; raises MissingFieldError."""


def next_user_turn(
    spec: BenchmarkSpec, row: Row, conversation: Sequence[JsonObject], turn_index: int
) -> str | None:
    """User turn number `turn_index` (the prompt is number 0), or None if the conversation is over.

    Turns come from the row's `turns_field` or from the benchmark's `next_turn`, which is called with a copy of
    the conversation so far (system message included) and, if it takes two arguments, the row. It may block:
    call this from a thread when `spec.next_turn` is set. Returns at most `max_turns` user turns.
    Raises MissingFieldError for invalid turns; exceptions of `next_turn` pass through.
    """
    if turn_index >= spec.max_turns:
        return None
    if spec.turns_field is not None:
        turns = user_turns(row, spec.turns_field)
        at = turn_index - 1 if spec.prompt else turn_index
        return turns[at] if 0 <= at < len(turns) else None
    if spec.next_turn is None:
        return None
    history = [dict(message) for message in conversation]
    turn = spec.next_turn(history, row) if _takes_row(spec.next_turn) else spec.next_turn(history)
    if turn is not None and not isinstance(turn, str):
        raise MissingFieldError(
            "next_turn", reason=f"next_turn returned {type(turn).__name__}, not text or None"
        )
    return turn


def user_turns(row: Row, field: str) -> list[str]:
    """The user turns in a column: strings, or messages without those of the assistant (references)."""
    if field not in row:
        raise MissingFieldError(field, row)
    value = row[field]
    if not isinstance(value, list | tuple):
        raise MissingFieldError(
            field,
            reason=f'turns_field "{field}" contains {type(value).__name__} where a list of turns is expected',
        )
    turns = []
    for number, item in enumerate(value, 1):
        turn = _user_text(item, number, field)
        if turn is not None:
            turns.append(turn)
    return turns


def _user_text(item: Any, number: int, field: str) -> str | None:
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping) and isinstance(item.get("content"), str):
        role = item.get("role", "user")
        if role == "user":
            return str(item["content"])
        if role == "assistant":
            return None
        raise MissingFieldError(
            field,
            reason=f'turn {number} of "{field}" has the role {role!r}; only user turns are sent '
            f"(assistant turns are skipped; a system text belongs in system_prompt)",
        )
    raise MissingFieldError(
        field, reason=f'turn {number} of "{field}" is neither text nor {{"role", "content"}} with text'
    )


def _opening(row: Row, field: str) -> str:
    turns = user_turns(row, field)
    if not turns:
        raise MissingFieldError(field, reason=f'"{field}" contains no user turn, and the prompt is empty')
    return turns[0]


@lru_cache(maxsize=32)
def _takes_row(function: NextTurn) -> bool:
    count = positional_count(function)
    return count is None or count >= 2

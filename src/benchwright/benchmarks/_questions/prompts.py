"""Compiles the prompts of question files: built-in ones, and those that users write.

A built-in prompt, including the options of each row, is as fast as a template of placeholders. Inserted text is never
parsed, so braces in a question stay unchanged. No prompt contains the expected answer; only a few-shot example shows it.

A user's prompt names columns in braces, and `{options}` for the lettered list. It may name the column of the expected
answer, as in `Answer: {answer}`, which is empty in the prompt of a row and filled in for an example.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.benchmarks._questions.columns import LETTERS, Columns
from benchwright.benchmarks._questions.options import DataType, InferMethod, PromptStyle, QuestionOptions
from benchwright.benchmarks._questions.row_options import options_reader
from benchwright.benchmarks._questions.rows import stem_reader
from benchwright.benchmarks._template import (
    Engine,
    Template,
    compile_template,
    load_template,
    text_or_file,
)
from benchwright.core import MissingFieldError, Row, UsageError

OPTION_MARKS: dict[PromptStyle, str] = {"benchwright": ")", "cot": ")", "aisbench": "."}
"""The mark after the letter of an option."""


class _PromptForm(NamedTuple):
    """The parts of a built-in prompt around question and options."""

    before: str
    """Before the stem."""
    between: str
    """Between stem and options."""
    after: str
    """After the options: the instruction or the open answer."""
    answer: str
    """Between a prompt and its answer, in examples."""


_REPLY = "Reply with the letter of the correct option only."
_THINK = (
    "Think step by step. Then give your answer in a last line of its own, in the form ANSWER: <letter>, where "
    "<letter> is the letter of the correct option."
)
_MCQ: dict[PromptStyle, _PromptForm] = {
    "benchwright": _PromptForm("", "\n\n", f"\n{_REPLY}", "\n"),
    "cot": _PromptForm("", "\n\n", f"\n{_THINK}", "\nANSWER: "),
    "aisbench": _PromptForm("Question: ", "\n", "\nAnswer: ", ""),
}
_REPLY_ALL = "Reply with the letters of all correct options only, separated by commas."
_THINK_ALL = (
    "Think step by step. Then give your answer in a last line of its own, in the form ANSWER: <letters>, where "
    "<letters> are the letters of all correct options, separated by commas."
)
_MULTI: dict[PromptStyle, _PromptForm] = {
    "benchwright": _PromptForm("", "\n\n", f"\n{_REPLY_ALL}", "\n"),
    "cot": _PromptForm("", "\n\n", f"\n{_THINK_ALL}", "\nANSWER: "),
    "aisbench": _MCQ["aisbench"],
}
_RANKED_LETTERS = _PromptForm("Question: ", "\n", "\nAnswer:", " ")
_RANKED_TEXTS = _PromptForm("Question: ", "", "\nAnswer:", " ")
_STEM_ALONE = _PromptForm("", "", "", "\n")
_TWO_LINES = _PromptForm("Question: ", "", "\nAnswer: ", "")


class CodePrompt:
    """A prompt as a function; implements `Template`."""

    engine: Engine = "code"

    def __init__(self, text: str, fields: frozenset[str], render: Callable[[Row], str]) -> None:
        self.text = text
        """Its text, for hashes and people."""
        self.fields = fields
        """Columns that it shows."""
        self.render = render
        """The text for one row; raises MissingFieldError."""


def built_in(
    data_type: DataType, style: PromptStyle, columns: Columns, *, gold: bool
) -> tuple[CodePrompt, CodePrompt]:
    """The prompt of a style, and a solved example of it. Without gold, a free question is sent alone in every style."""
    if data_type == "qa":
        form = _TWO_LINES if style == "aisbench" and gold else _STEM_ALONE
        prompt = _stem(form, columns)
    else:
        form = (_MCQ if data_type == "mcq" else _MULTI)[style]
        prompt = _mcq(form, OPTION_MARKS[style], columns)
    return prompt, _solved(prompt, form, columns, answer_reader(data_type, columns))


def ranked(columns: Columns, method: InferMethod) -> tuple[CodePrompt, CodePrompt]:
    """The prompt whose continuations are ranked, and a solved example of it.

    `logprob` lists the options and ranks their letters; `logprob_text` ranks their texts after the bare question.
    """
    letter = answer_reader("mcq", columns)
    if method == "logprob":
        prompt = _mcq(_RANKED_LETTERS, ".", columns)
        return prompt, _solved(prompt, _RANKED_LETTERS, columns, letter)
    prompt, options = _stem(_RANKED_TEXTS, columns), options_reader(columns)
    return prompt, _solved(prompt, _RANKED_TEXTS, columns, lambda row: options(row)[letter(row)])


def _stem(form: _PromptForm, columns: Columns) -> CodePrompt:
    stem, before, after = stem_reader(columns), form.before, form.after
    render = (lambda row: f"{before}{stem(row)}{after}") if before or after else stem
    text = f"{before}{{{'+'.join(columns.question)}}}{after}"
    return CodePrompt(text, frozenset(columns.question), render)


def _solved(
    prompt: CodePrompt, form: _PromptForm, columns: Columns, answer: Callable[[Row], str]
) -> CodePrompt:
    """The prompt and its answer. Rendering raises MissingFieldError for a row without an answer."""
    render, joint = prompt.render, form.answer
    return CodePrompt(
        f"{prompt.text}{joint}{{{columns.answer}}}",
        prompt.fields | {columns.answer},
        lambda row: f"{render(row)}{joint}{answer(row)}",
    )


def candidates_reader(columns: Columns, method: InferMethod) -> Callable[[Row], list[str]]:
    """The function that returns the candidates of a row: letters or texts, each after a space."""
    options = options_reader(columns)
    if method == "logprob":
        return lambda row: [f" {letter}" for letter in options(row)]
    return lambda row: [f" {text.strip()}" for text in options(row).values()]


def answer_reader(data_type: DataType, columns: Columns) -> Callable[[Row], str]:
    """The function that returns a row's answer for an example: the letter or letters, or the text (the first of a list)."""
    field = columns.answer
    if data_type != "qa":
        options = options_reader(columns)
        return lambda row: _letters(row, field, options(row))
    return lambda row: _answer_text(row, field)


def lettered(options: Mapping[str, str], mark: str) -> str:
    """Options as a list, one line each.

    >>> lettered({"A": "two", "B": "three"}, ")")
    'A) two\\nB) three'
    """
    return "\n".join([f"{letter}{mark} {text}" for letter, text in options.items()])


def _mcq(form: _PromptForm, mark: str, columns: Columns) -> CodePrompt:
    options_of, stem_of = options_reader(columns), stem_reader(columns)
    patterns = [_pattern(form, mark, count) for count in range(len(LETTERS) + 1)]
    last = len(columns.letters) or len(LETTERS)
    single = len(columns.question) == 1
    strip = str.strip

    def form_of(count: int) -> tuple[str, Callable[[Row], Any], str]:
        """Pattern, values, and the letter that must not follow, for rows with this many options."""
        beyond = LETTERS[count] if count < last else ""
        return patterns[count], itemgetter(*columns.question, *LETTERS[:count]), beyond

    # One tuple that is replaced as a whole, because several threads may render at once.
    likely = form_of(min(4, last))

    def render(row: Row) -> str:
        """Render a row. Most rows have as many options as the one before, so one `%` with values fetched in C is enough."""
        nonlocal likely
        pattern, values_of, beyond = likely
        if single and not row.get(beyond):
            try:
                values = values_of(row)
                if all(map(strip, values)):
                    text: str = pattern % values
                    return text
            except (KeyError, TypeError):  # fewer options than before, or numbers
                pass
        options = options_of(row)
        if len(options) < 2:
            raise MissingFieldError(LETTERS[len(options)], row)
        likely = form_of(len(options))
        return likely[0] % (stem_of(row), *options.values())

    shown = patterns[2].replace("%s", "{%s}") % ("+".join(columns.question), *"AB")
    return CodePrompt(f"{shown} (and further options)", frozenset(columns.question), render)


def _pattern(form: _PromptForm, mark: str, count: int) -> str:
    lines = "\n".join(f"{letter}{mark} %s" for letter in LETTERS[:count])
    return f"{form.before}%s{form.between}{lines}{form.after}"


def _letters(row: Row, field: str, options: Mapping[str, str]) -> str:
    from benchwright.scorers import gold_letters

    letters = gold_letters(row.get(field), options)
    if letters is None:
        raise MissingFieldError(field, row)
    return ", ".join(letters)


def _answer_text(row: Row, field: str) -> str:
    value: Any = row.get(field)
    if isinstance(value, list) and value:
        value = value[0]
    if value is None or value == "" or value == []:
        raise MissingFieldError(field, row)
    return str(value)


OPTIONS = "options"
"""The placeholder of the lettered list, unless a column has this name."""

_ANSWER_LINE = "Answer: {%s}"


class WrittenPrompt(CodePrompt):
    """A compiled template of the user, with the layout of rows for it."""

    def __init__(self, inner: Template, fields: frozenset[str], render: Callable[[Row], str]) -> None:
        super().__init__(inner.text, fields, render)
        self.engine: Engine = inner.engine


def written_prompts(
    options: QuestionOptions, data_type: DataType, columns: Columns, cwd: Path
) -> tuple[CodePrompt, CodePrompt] | None:
    """The prompt, and its form as a solved example; None if the options give no template."""
    inner = _compiled(options, columns, cwd)
    if inner is None:
        return None
    letters = options_reader(columns) if data_type != "qa" else None
    mark = OPTION_MARKS[options.prompt_style]
    answer = answer_reader(data_type, columns)
    gold = columns.answer
    lists, opens = OPTIONS in inner.fields, gold in inner.fields
    render = _with_empty_nulls(inner)
    if lists and letters is None:
        raise UsageError(
            "template: {options} is the list of options, and the rows have none (their type is qa)"
        )

    def laid_out(row: Row, solution: str) -> Row:
        shown = {**row, gold: solution} if opens else dict(row)
        if letters is not None and OPTIONS not in row:
            shown[OPTIONS] = lettered(letters(row), mark)
        return shown

    def ask(row: Row) -> str:
        return render(laid_out(row, "")) if lists or opens else render(row)

    def show(row: Row) -> str:
        solution = answer(row)
        return render(laid_out(row, solution)) if opens else f"{ask(row)}\n{solution}"

    fields = inner.fields - {OPTIONS, gold}
    return WrittenPrompt(inner, fields, ask), WrittenPrompt(inner, fields | {gold}, show)


def _with_empty_nulls(template: Template) -> Callable[[Row], str]:
    """The template's renderer, for which null is an empty cell, as a CSV file has it."""
    names, render = tuple(template.fields), template.render

    def filled(row: Row) -> str:
        for name in names:
            value = row.get(name, "")
            if value is None or isinstance(value, dict | list):
                return render({**row, **{one: _empty_nulls(row[one]) for one in names if one in row}})
        return render(row)

    return filled


def _empty_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _empty_nulls(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_empty_nulls(one) for one in value]
    return "" if value is None else value


def _compiled(options: QuestionOptions, columns: Columns, cwd: Path) -> Template | None:
    written = options.template if options.template is not None else options.human_prompt
    if written is None:
        if options.bot_prompt is not None:
            raise UsageError("bot_prompt is how the answer to human_prompt begins; give human_prompt as well")
        return None
    text = text_or_file(written, cwd, "template")
    answer = options.bot_prompt
    if answer is None and options.human_prompt is not None and options.prompt_style == "aisbench":
        answer = _ANSWER_LINE % columns.answer
    if answer is None:
        return load_template(written, cwd, what="template")
    return compile_template(f"{text}\n{answer}", what="template")

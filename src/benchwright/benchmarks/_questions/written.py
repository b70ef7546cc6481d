"""A prompt of the user's own for a question file: columns in braces, `{options}` for the lettered list.

The column of the expected answer may stand in it, as in `Answer: {answer}`: it is left open where a row is
asked, and filled in where a row is an example.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchwright.benchmarks._questions.names import Columns
from benchwright.benchmarks._questions.options import DataType, QuestionOptions
from benchwright.benchmarks._questions.prompts import OPTION_MARKS, CodePrompt, answer_reader, lettered
from benchwright.benchmarks._questions.rows import options_reader
from benchwright.benchmarks._template import (
    Engine,
    Template,
    compile_template,
    load_template,
    looks_like_lost_file,
    template_text,
)
from benchwright.core import BenchmarkError, Row, UsageError

OPTIONS = "options"
"""The placeholder of the lettered list, unless a column is called so."""

_ANSWER_LINE = "Answer: {%s}"


class WrittenPrompt(CodePrompt):
    """A compiled template of the user's own, and how a row is laid out for it."""

    def __init__(self, inner: Template, fields: frozenset[str], render: Callable[[Row], str]) -> None:
        super().__init__(inner.text, fields, render)
        self.engine: Engine = inner.engine


def written_prompts(
    options: QuestionOptions, data_type: DataType, columns: Columns, cwd: Path
) -> tuple[CodePrompt, CodePrompt] | None:
    """The prompt and its form as a solved example; None where the options give no template."""
    inner = _compiled(options, columns, cwd)
    if inner is None:
        return None
    letters = options_reader(columns) if data_type != "qa" else None
    mark = OPTION_MARKS[options.prompt_style]
    answer = answer_reader(data_type, columns)
    render, gold = inner.render, columns.answer
    lists, opens = OPTIONS in inner.fields, gold in inner.fields
    if lists and letters is None:
        raise UsageError(
            "template: {options} is the list of options, and the rows have none (their type is qa)"
        )

    def laid_out(row: Row, said: str) -> Row:
        shown = {**row, gold: said} if opens else dict(row)
        if letters is not None and OPTIONS not in row:
            shown[OPTIONS] = lettered(letters(row), mark)
        return shown

    def ask(row: Row) -> str:
        return render(laid_out(row, "")) if lists or opens else render(row)

    def show(row: Row) -> str:
        said = answer(row)
        return render(laid_out(row, said)) if opens else f"{ask(row)}\n{said}"

    fields = inner.fields - {OPTIONS, gold}
    return WrittenPrompt(inner, fields, ask), WrittenPrompt(inner, fields | {gold}, show)


def check_system(system: str, columns: Columns, cwd: Path) -> None:
    """A system prompt is compiled later; that it gives nothing away is known before."""
    if looks_like_lost_file(system, cwd):
        raise UsageError(f"system: there is no file {system} in {cwd}")
    if columns.answer in load_template(system, cwd, what="system").fields:
        raise BenchmarkError(
            f'system: {{{columns.answer}}} would tell the model the expected answer; take it out of "{system}"'
        )


def _compiled(options: QuestionOptions, columns: Columns, cwd: Path) -> Template | None:
    written = options.template if options.template is not None else options.human_prompt
    if written is None:
        if options.bot_prompt is not None:
            raise UsageError("bot_prompt is how the answer to human_prompt begins; give human_prompt as well")
        return None
    if looks_like_lost_file(written, cwd):
        raise UsageError(f"template: there is no file {written} in {cwd}")
    answer = options.bot_prompt
    if answer is None and options.human_prompt is not None and options.prompt_style == "aisbench":
        answer = _ANSWER_LINE % columns.answer
    if answer is None:
        return load_template(written, cwd, what="template")
    return compile_template(f"{template_text(written, cwd)}\n{answer}", what="template")

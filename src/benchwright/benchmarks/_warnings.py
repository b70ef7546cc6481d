"""Warnings of a check, which are notes of a run: about the definition, required packages, rows and gold answers. Nothing
is installed or imported.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from benchwright.benchmarks._examples import example_template
from benchwright.benchmarks._missing_fields import target_error, target_problem
from benchwright.benchmarks._prompts import prompt_template
from benchwright.benchmarks._scan import RowScan
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.benchmarks._strategies.base import Strategy
from benchwright.benchmarks._template import PlainText, Template, looks_like_lost_file
from benchwright.core import late_pattern

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from benchwright.benchmarks._gold import GoldCheck

_LOOKS_ALIKE = 0.7
"""How similar a mistyped name is to the right one: `anwser` 0.83, `answer_key` 0.75, `answer_notes` 0.67."""

_ESCAPED_NAME = late_pattern(r"\{\{\s*(?P<name>[^\W\d]\w*)[^{}]*\}\}")


def definition_warnings(spec: BenchmarkSpec) -> Iterator[str]:
    """Warnings about the definition. BenchmarkError for a template that cannot be compiled."""
    yield from spec.doubts
    texts = {
        "prompt": spec.prompt,
        "system_prompt": spec.system_prompt,
        "fewshot_template": spec.fewshot_template,
    }
    lost = [name for name, text in texts.items() if text and looks_like_lost_file(text, spec.base_dir)]
    for name in lost:
        yield (
            f"{name} {texts[name]!r} looks like a file, but there is none in {spec.base_dir}; the text itself "
            f"is used as the template"
        )
    if spec.choices is not None and spec.choices_field is not None:
        yield "choices and choices_field are both set: choices_field is used, choices where a row has none"
    prompt = prompt_template(spec)
    # A conversation may open with the same words each time; ready-made responses need no prompt.
    opens = spec.converses or spec.response_field is not None or spec.tool_tasks is not None
    if not prompt.fields and not opens and "prompt" not in lost:
        yield _constant(prompt)
    examples = example_template(spec, prompt)
    if examples is not None and not examples.fields:
        syntax = " (it is read as Jinja2, as the prompt is)" if examples.engine == "jinja2" else ""
        yield f"fewshot_template shows no field of the row{syntax}: every example will read the same"
    yield from unmet_requirements(spec.requirements)


def _constant(prompt: Template) -> str:
    text = "the prompt uses no field, so every row asks the same question"
    escaped = _ESCAPED_NAME.search(prompt.text) if prompt.engine == "format" else None
    if escaped is None:
        return f"{text}; name a column in braces, such as {{question}}"
    sent = escaped[0][1:-1]
    return (
        f'{text}: {escaped[0]} is sent as "{sent}", since Jinja2 is used only for .jinja and .jinja2 files and for '
        f"texts with {{% or {{#. The plain form is {{{escaped['name']}}}"
    )


def missing_answers(spec: BenchmarkSpec, scan: RowScan) -> str | None:
    """A warning that some rows of a question file have no answer."""
    if (
        not spec.traits.may_lack_answers
        or spec.unscored
        or not scan.missing_targets
        or target_problem(spec, scan)
    ):
        return None
    rows = _rows(scan.missing_targets, "has", "have")
    return f"{rows} no answer (of {scan.rows}): left out of every metric{_elsewhere(spec, scan)}"


def _elsewhere(spec: BenchmarkSpec, scan: RowScan) -> str:
    """A sentence that names unused columns which may contain the answers that rows lack, such as `anwser`.

    The rows at the beginning of a file, which decide how it is read, need not have these columns.
    """
    from difflib import get_close_matches

    from benchwright.benchmarks._questions.columns import answer_columns

    used = {spec.target_field, *spec.sources, *(spec.field_mapping or {}).values()}
    free = [name for name in scan.columns if name not in used and f'"{name}"' not in " ".join(spec.doubts)]
    close = get_close_matches(spec.target_field, free, n=len(free) or 1, cutoff=_LOOKS_ALIKE)
    found = [name for name in free if name in {*close, *answer_columns(free)}]
    if not found:
        return ""
    names = ", ".join(f'"{name}"' for name in found)
    look = (
        "column {} looks like an answer and is" if len(found) == 1 else "columns {} look like answers and are"
    )
    return f'; {look.format(names)} not used: write each answer in "{spec.target_field}"'


def repeated_ids(scan: RowScan) -> str | None:
    """A warning that rows share their `id`."""
    return (
        f"{_rows(scan.repeated_ids, 'repeats', 'repeat')} the id of an earlier row"
        if scan.repeated_ids
        else None
    )


def repeated_questions(count: int) -> str | None:
    """A warning that this many rows have the question of an earlier one."""
    return f"{_rows(count, 'repeats', 'repeat')} what an earlier row asks, word for word" if count else None


def repetitions(scan: RowScan) -> Iterator[str]:
    """A warning that rows have the same question, or share their `id`."""
    if again := repeated_questions(scan.repeated_prompts):
        yield again
    if same := repeated_ids(scan):
        yield same


def unfilled_columns(spec: BenchmarkSpec, scan: RowScan) -> str | None:
    """A warning that the system message of the run, which is a text, has columns in braces as a template would."""
    if not isinstance(spec.system, PlainText):
        return None
    said = spec.system.text
    found = [f"{{{name}}}" for name in scan.columns if f"{{{name}}}" in said]
    if not found:
        return None
    return (
        f"the system message contains {', '.join(found)} and is sent as it is written: only prompts are filled in. Put "
        "columns into the prompt instead"
    )


def cut_conversations(spec: BenchmarkSpec, scan: RowScan) -> str | None:
    """A warning, with the cure, that conversations end before their last turn."""
    if not scan.cut_conversations:
        return None
    rows = _rows(scan.cut_conversations, "has", "have")
    return (
        f"{rows} more user turns than max_turns={spec.max_turns} (of {scan.rows}): the rest is not sent. Send all "
        f"of them with max_turns={scan.longest_conversation} in @benchmark"
    )


def about_target(spec: BenchmarkSpec, scan: RowScan) -> Iterator[str]:
    """Warnings about the expected answers."""
    if spec.traits.may_lack_answers:
        if problem := missing_answers(spec, scan):
            yield problem
        return
    if (absent := target_problem(spec, scan)) and not target_error(spec, scan):
        yield absent
    elif scan.missing_targets and spec.target_field in scan.columns:
        yield f'{_rows(scan.missing_targets)} without a target in "{spec.target_field}"; it is taken as empty'


def about_rows(spec: BenchmarkSpec, scan: RowScan, strategy: Strategy, source: str) -> Iterator[str]:
    """Warnings about the rows that can be sent."""
    for field, count in sorted(scan.null_fields.items()):
        yield f'field "{field}" is null in {_rows(count)}; it is {spec.traits.null_in_prompts} in the prompt'
    if unfilled := unfilled_columns(spec, scan):
        yield unfilled
    yield from repetitions(scan)
    yield from strategy.doubts(scan, source)
    if cut := cut_conversations(spec, scan):
        yield cut


def about_gold(gold: GoldCheck) -> Iterator[str]:
    """Warnings about right answers that the scorer does not score as right."""
    wrong = gold.checked - gold.right
    if wrong:
        yield (
            f"{wrong} of {gold.tried} gold answers do not score as right ({gold.key}): "
            + "; ".join(gold.wrong)
            + (" …" if wrong > len(gold.wrong) else "")
        )
    if gold.failed:
        yield f"the scorer fails on the gold answers of {_rows(gold.failed)}: {'; '.join(gold.failures)}"


def _rows(count: int, one: str = "", many: str = "") -> str:
    """The number of rows, with the verb in the right form."""
    return f"1 row {one}".strip() if count == 1 else f"{count} rows {many}".strip()


def unmet_requirements(requirements: Sequence[str]) -> Iterator[str]:
    """Warnings about requirements that are not met, with the command that installs them."""
    if not requirements:
        return
    from packaging.requirements import InvalidRequirement, Requirement

    absent: list[str] = []
    other: dict[str, str] = {}
    for written in requirements:
        text = written.partition(" #")[0].strip()
        try:
            required = Requirement(text)
        except InvalidRequirement:  # an option or a path, which metadata does not cover
            continue
        if required.marker is not None and not required.marker.evaluate():
            continue  # for other systems or versions of Python
        version = _installed_version(required.name)
        if version is None:
            absent.append(text)
        elif required.url is None and not _satisfies(version, required):
            other[text] = version
    if absent:
        yield f"required packages are not installed: {', '.join(absent)}; run: {_install(absent)}"
    if other:
        found = ", ".join(f"{text} (installed: {version})" for text, version in other.items())
        yield f"required packages are installed in another version: {found}; run: {_install(other)}"


def _satisfies(version: str, required: Requirement) -> bool:
    from packaging.version import InvalidVersion, Version

    try:
        installed = Version(version)
    except InvalidVersion:
        return True  # a version of another scheme, which only pip understands
    # An installed pre-release is intended.
    return required.specifier.contains(installed, prereleases=True)


def _install(requirements: Iterable[str]) -> str:
    return f"pip install {' '.join(map(shlex.quote, requirements))}"  # unquoted, a shell takes > for a redirection


def _installed_version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None

"""What is doubtful about a definition by itself, before any row is read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchwright.benchmarks._examples import example_template
from benchwright.benchmarks._prompts import prompt_template
from benchwright.benchmarks._requirements import unmet_requirements
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.benchmarks._template import Template, looks_like_lost_file

_ESCAPED_NAME = re.compile(r"\{\{\s*(?P<name>[^\W\d]\w*)[^{}]*\}\}")


def definition_doubts(spec: BenchmarkSpec) -> Iterator[str]:
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
    opens = spec.turns_field is not None or spec.next_turn is not None or spec.response_field is not None
    if not prompt.fields and not opens and "prompt" not in lost:
        yield _constant(prompt)
    examples = example_template(spec, prompt)
    if examples is not None and not examples.fields:
        syntax = " (it is read as Jinja2, as the prompt is)" if examples.engine == "jinja2" else ""
        yield f"fewshot_template shows no field of the row{syntax}: every example will read the same"
    yield from unmet_requirements(spec.requirements)


def _constant(prompt: Template) -> str:
    text = "the prompt reads no field, so every row asks the same"
    escaped = _ESCAPED_NAME.search(prompt.text) if prompt.engine == "format" else None
    if escaped is None:
        return f"{text}; name a column in braces, such as {{question}}"
    sent = escaped[0][1:-1]
    return (
        f'{text}: {escaped[0]} is sent as "{sent}", since Jinja2 is used only for .jinja and .jinja2 files and for '
        f"texts with {{% or {{#. The plain form is {{{escaped['name']}}}"
    )

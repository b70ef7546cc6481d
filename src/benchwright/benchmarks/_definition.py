"""What is doubtful about a definition by itself, before any row is read."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from benchwright.benchmarks._decorators import benchmark
from benchwright.benchmarks._examples import example_template
from benchwright.benchmarks._prompts import prompt_template
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.benchmarks._template import looks_like_lost_file

_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def doubts(spec: BenchmarkSpec) -> Iterator[str]:
    """Warnings about the definition. BenchmarkError for a template that cannot be compiled."""
    for parameter in ("prompt", "system_prompt", "fewshot_template"):
        value = getattr(spec, parameter)
        if value is not None and looks_like_lost_file(value, spec.base_dir):
            yield (
                f"{parameter} {value!r} looks like a file, but there is none in {spec.base_dir}; the text itself "
                f"is used as the template"
            )
    if spec.choices is not None and spec.choices_field is not None:
        yield "choices and choices_field are both set: choices_field is used, choices where a row has none"
    examples = example_template(spec, prompt_template(spec))
    if examples is not None and not examples.fields:
        syntax = " (it is read as Jinja2, as the prompt is)" if examples.engine == "jinja2" else ""
        yield f"fewshot_template shows no field of the row{syntax}: every example will read the same"
    yield from _misspelt_parameters(spec)
    missing = [text for text in spec.requirements if not _is_installed(text)]
    if missing:
        yield f"required packages are not installed: {', '.join(missing)}; run: pip install {' '.join(missing)}"


def _misspelt_parameters(spec: BenchmarkSpec) -> Iterator[str]:
    from difflib import get_close_matches

    known = [name for name in inspect.signature(benchmark).parameters if name != "config"]
    for name in spec.config:
        near = get_close_matches(name, known, n=1, cutoff=0.85)
        if near:
            yield f"{name!r} is no parameter of @benchmark and went to sample.config; did you mean {near[0]!r}?"


def _is_installed(requirement: str) -> bool:
    from importlib.metadata import PackageNotFoundError, version

    name = _PACKAGE.match(requirement)
    if name is None:  # an option or a URL: nothing that metadata could tell
        return True
    try:
        version(name[0])
    except PackageNotFoundError:
        return False
    return True

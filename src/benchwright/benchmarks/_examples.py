"""Few-shot examples, chosen and rendered: the values that pools produce and prompts consume."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from benchwright.benchmarks._fields import at_path
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.benchmarks._template import Template, load_template
from benchwright.core import BenchwrightError, MissingFieldError, Row

FewShotSource: TypeAlias = Literal["fewshot_dataset", "fewshot_split", "outside_rows", "overlapping_rows"]
"""Where examples come from: their own source, rows that are not evaluated, or rows that are."""


class Example(Struct, frozen=True):
    """One example as it appears in prompts."""

    text: str
    """The text that is shown."""
    prompt: str | None
    """The question of the example's row (`question_of`), by which a row recognises itself; None if it is not known."""
    values: tuple[str, ...] = ()
    """Every text and number of the example's row, if `prompt` is not known: the question is one of them."""


class FewShot(Struct, frozen=True):
    """The examples of a run."""

    examples: tuple[Example, ...]
    """In the order in which they are shown."""
    spares: tuple[Example, ...]
    """Replacements if an example is the row under test."""
    source: FewShotSource
    """Where the examples come from."""
    overlapping: bool
    """Whether examples are, or may be, rows that are evaluated too."""
    warnings: tuple[str, ...] = ()
    """Warnings for the user, the most important first."""
    requested: int = 0
    """How many examples were requested."""
    failed_sources: tuple[str, ...] = ()
    """Sources that the benchmark names and that could not be used."""
    ignored: tuple[str, ...] = ()
    """Fields of the prompt that do not count when a row is compared with an example."""


def choose_examples(
    rows: Sequence[Row], count: int, seed: int, render: Callable[[Row], Example | None], first: int = 0
) -> tuple[tuple[Example, ...], tuple[Example, ...], int]:
    """Pick `count` rows: all of them, in order, if there are no more; else by `random.Random(seed).sample`.

    The `first` rows of the pool, fewer than `count`, are always taken, in order; the others are drawn at random. A
    picked row that cannot be rendered is replaced by the next spare one in the pool's order. Returns the examples, the spare ones
    (the remaining usable rows of the pool), and how many rows of the pool lack a field.
    """
    at = range(len(rows))
    others: Sequence[int] = at[first:]
    needed = count - first
    if len(others) > needed:
        from random import Random  # few runs draw examples

        others = Random(seed).sample(others, needed)
    picked = [*at[:first], *others]
    taken = set(picked)
    rendered = [render(rows[i]) for i in [*picked, *(i for i in at if i not in taken)]]
    shown, rest = rendered[: len(picked)], rendered[len(picked) :]
    spares = [example for example in rest if example is not None]
    filled = [example or (spares.pop(0) if spares else None) for example in shown]
    return tuple(example for example in filled if example is not None), tuple(spares), rendered.count(None)


def texts_in(value: object, *, numbers: bool = True) -> Iterator[str]:
    """Every text, and every number as text, at any depth of a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_in(inner, numbers=numbers)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner, numbers=numbers)
    elif numbers and isinstance(value, int | float):
        yield str(value)


_IDS = {"id", "idx", "uid", "uuid", "guid", "qid"}


def ignorable_ids(main: Template, rows: Iterable[Row], target: Callable[[Row], object]) -> tuple[str, ...]:
    """Fields of the prompt that merely number the rows: the same question may be in two files under different ids.

    Empty if the ids are part of the question ("What does error {error_id} mean?"). Some `rows` of the data show this:
    without the ids, rows with different answers, or all rows, would ask the same question.
    """
    ids = tuple(
        sorted(field for field in main.fields if field.casefold() in _IDS or field.casefold().endswith("_id"))
    )
    if not ids or len(ids) == len(main.fields):
        return ()
    prompts: dict[str, set[str]] = {}
    answers: dict[str, set[str]] = {}
    blanked = question_of(main, ids)
    for row in rows:
        try:
            bare, whole, answer = blanked(row), main.render(row), str(target(row))
        except (BenchwrightError, LookupError, TypeError, ValueError):
            continue
        prompts.setdefault(bare, set()).add(whole)
        answers.setdefault(bare, set()).add(answer)
    merged = [bare for bare, whole in prompts.items() if len(whole) > 1]
    if len(prompts) == 1 and len(next(iter(prompts.values()))) > 2:
        return ()
    return () if 2 * sum(len(answers[bare]) > 1 for bare in merged) > len(merged) else ids


def question_of(main: Template, ignored: Sequence[str]) -> Callable[[Row], str]:
    """How a row is recognised: its prompt, with the `ignored` fields left blank."""
    if not ignored:
        return main.render
    blank = dict.fromkeys(ignored, "")

    def render(row: Row) -> str:
        try:
            return main.render({**row, **blank})
        except (MissingFieldError, ValueError, TypeError):  # a format that only a number can have
            return main.render(row)

    return render


def example_renderer(
    spec: BenchmarkSpec, main: Template, ignored: Sequence[str] = ()
) -> Callable[[Row], Example | None]:
    """The function that renders one example of this benchmark; it returns None for a row that lacks a field.

    It uses `fewshot_template` (as Jinja2 if the main prompt is Jinja2, or if it looks like it); otherwise the main prompt,
    one space and the target as text, with trailing white space removed.
    """
    own = example_template(spec, main)
    question = question_of(main, ignored)
    target_field = spec.target_field

    def render(row: Row) -> Example | None:
        try:
            prompt: str | None = main.render(row)
            own_question: str | None = question(row)
        except MissingFieldError:
            prompt = own_question = None
        if own is not None:
            try:
                values = () if own_question is not None else tuple(texts_in(row))
                return Example(own.render(row), own_question, values)
            except MissingFieldError:
                return None
        target = at_path(row, target_field)
        if prompt is None or target is None:  # "None" would be shown as the answer
            return None
        return Example(f"{prompt} {target}".rstrip(), own_question)

    return render


def example_template(spec: BenchmarkSpec, main: Template) -> Template | None:
    """The compiled `fewshot_template`, if the benchmark has one; an empty text or file does not count."""
    if spec.example is not None:
        return spec.example
    if not spec.fewshot_template:
        return None
    jinja = True if main.engine == "jinja2" else None
    own = load_template(spec.fewshot_template, spec.base_dir, what="fewshot_template", jinja=jinja)
    return own if own.text else None

"""Few-shot: from the benchmark's settings and the run's to rendered examples."""

from __future__ import annotations

from benchwright.benchmarks._examples import Chosen, Example, FewShot, choose_examples, example_renderer
from benchwright.benchmarks._likeness import normalised
from benchwright.benchmarks._no_examples import why_no_examples
from benchwright.benchmarks._pools import find_pool
from benchwright.benchmarks._prompts import prompt_template
from benchwright.benchmarks._scan import RowScan
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.core import BenchmarkError, UsageError


def resolve_fewshot(
    spec: BenchmarkSpec,
    *,
    num_fewshot: int | None = None,
    seed: int = 42,
    limit: int | None = None,
    strict: bool = False,
) -> FewShot | None:
    """The examples of a run, or None for zero-shot.

    Args:
        spec: The benchmark.
        num_fewshot: The run's own number; 0 forces zero-shot, None takes the benchmark's.
        seed: Seed of the choice.
        limit: How many rows the run evaluates; rows beyond it are preferred as examples.
        strict: Refuse, with BenchmarkError, examples from evaluated rows, named sources that fail, and having none.

    The same arguments give the same examples; none, and a warning that says why, where no row of the pool can be one.
    DatasetError when the dataset cannot be read.
    """
    count = spec.num_fewshot if num_fewshot is None else num_fewshot
    if count < 0:
        raise UsageError(f"num_fewshot is {count}; give a number from 0 up")
    if count == 0:
        return None
    pool = find_pool(spec, count, limit=limit, strict=strict)
    main = prompt_template(spec)
    chosen = choose_examples(pool.rows, count, seed, example_renderer(spec, main), pool.first)
    # Of rows that are examples too nothing is to be said where there are no examples.
    about_pool = pool.warnings if chosen.examples or not pool.overlapping else pool.warnings[1:]
    if pool.rows and not chosen.examples:
        why = why_no_examples(spec, main, pool)
        if strict:
            raise BenchmarkError(why)
        about_pool = (f"this is a zero-shot run: {why}", *about_pool)
    return FewShot(
        examples=chosen.examples,
        spares=chosen.spares,
        source=pool.source,
        overlapping=pool.overlapping,
        warnings=(*about_pool, *_shortages(chosen, count, pool.overlapping)),
        asked=count,
        failed_sources=pool.failed_sources,
    )


def fewshot_problem(fewshot: FewShot | None, scan: RowScan) -> str | None:
    """The warning that examples of a source of their own turn out to be evaluated rows, if they do.

    Of a pool that is known to overlap, `FewShot.warnings` has told already.
    """
    if fewshot is None or fewshot.overlapping or not scan.own_examples:
        return None
    if scan.own_examples == 1:
        return "1 evaluated row is also a few-shot example; it is asked without itself"
    return f"{scan.own_examples} evaluated rows are also few-shot examples; each is asked without itself"


def _shortages(chosen: Chosen, count: int, overlapping: bool) -> list[str]:
    warnings = []
    if chosen.unusable:
        rows = "row lacks" if chosen.unusable == 1 else "rows lack"
        warnings.append(f"{chosen.unusable} {rows} a field that examples need and cannot be one")
    if len(chosen.examples) < count:
        warnings.append(f"{count} examples were asked for, {len(chosen.examples)} could be found")
    if overlapping and _too_few_spares(chosen):
        warnings.append(
            "rows that are examples themselves get fewer examples: there is no spare row to put in"
        )
    return warnings


def _too_few_spares(chosen: Chosen) -> bool:
    shown, spares = ([_question(e) for e in group] for group in (chosen.examples, chosen.spares))
    return any(len(spares) - spares.count(question) < shown.count(question) for question in shown)


def _question(example: Example) -> str:
    return normalised(example.text if example.prompt is None else example.prompt)

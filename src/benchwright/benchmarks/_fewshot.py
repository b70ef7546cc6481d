"""Few-shot: from the benchmark's settings and the run's to rendered examples."""

from __future__ import annotations

from functools import partial
from itertools import chain

from benchwright.benchmarks._examples import (
    Chosen,
    FewShot,
    choose_examples,
    example_renderer,
    example_template,
    ignorable_ids,
)
from benchwright.benchmarks._fields import target_of
from benchwright.benchmarks._missing_fields import why_no_examples
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
    ignored = ignorable_ids(main, chain(pool.rows, pool.evaluated), partial(target_of, spec))
    chosen = choose_examples(pool.rows, count, seed, example_renderer(spec, main, ignored), pool.first)
    # Without examples, no row is one.
    about_pool = pool.warnings if chosen.examples or not pool.overlapping else pool.warnings[1:]
    if pool.rows and not chosen.examples:
        why = why_no_examples(spec, main, example_template(spec, main), pool)
        if strict:
            raise BenchmarkError(why)
        about_pool = (f"this is a zero-shot run: {why}", *about_pool)
    return FewShot(
        examples=chosen.examples,
        spares=chosen.spares,
        source=pool.source,
        overlapping=pool.overlapping,
        warnings=(*about_pool, *_shortages(chosen, count)),
        requested=count,
        failed_sources=pool.failed_sources,
        ignored=ignored,
    )


def fewshot_problem(fewshot: FewShot | None, scan: RowScan) -> str | None:
    """What is wrong with the examples as the rows see them: examples of a source of their own that turn out to be
    evaluated rows, rows that are shown fewer than the run's examples, and examples that are copies of one another.

    Where a pool is known to overlap, `FewShot.warnings` says so.
    """
    if fewshot is None or not fewshot.examples or not scan.rows:
        return None
    problems = []
    if scan.own_examples and not fewshot.overlapping:
        some = "1 evaluated row is" if scan.own_examples == 1 else f"{scan.own_examples} evaluated rows are"
        problems.append(
            f"{some} also among the few-shot examples. No row sees itself, but each example gives away another row's "
            "answer: give the examples a source with other rows"
        )
    if scan.fewest_examples < len(fewshot.examples):
        mean = scan.examples_shown / scan.rows
        problems.append(
            f"not every row is shown {len(fewshot.examples)} examples: {mean:.2f} on average, at least "
            f"{scan.fewest_examples}, since rows that are examples are left out and there are too few others"
        )
    distinct = len({example.text for example in fewshot.examples})
    if distinct < len(fewshot.examples):
        problems.append(
            f"{distinct} of the {len(fewshot.examples)} few-shot examples are different, the others copies of these: "
            "remove repeated rows from their source"
        )
    return "; ".join(problems) or None


def strict_problem(fewshot: FewShot | None, scan: RowScan) -> str | None:
    """Why `strict` refuses the run, after all rows were looked at: examples that are evaluated rows, or rows that are
    shown fewer examples than were requested."""
    if fewshot is None or not scan.rows:
        return None
    if problem := fewshot_problem(fewshot, scan):
        return problem
    if scan.fewest_examples < fewshot.requested:
        return f"{fewshot.requested} examples were requested, and rows are shown {scan.fewest_examples}"
    return None


def _shortages(chosen: Chosen, count: int) -> list[str]:
    warnings = []
    if chosen.unusable:
        rows = "row lacks" if chosen.unusable == 1 else "rows lack"
        warnings.append(f"{chosen.unusable} {rows} a field that examples need and cannot be one")
    if len(chosen.examples) < count:
        warnings.append(f"{count} examples were requested, {len(chosen.examples)} could be found")
    return warnings

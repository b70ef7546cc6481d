"""Few-shot examples: finds their source, and renders them by the settings of the benchmark and the run.

The pool is the first of these that has rows. It avoids the evaluated rows if it can:

1. `fewshot_dataset`: its first max(4n, 16) rows;
2. `fewshot_split`, for `hf://` datasets: the same rows of that split, with all other options of the URI;
3. the last 4n rows outside the evaluated ones, when a limit, a range or a plan leaves at least n of them;
4. the last 4n rows of the dataset: first all rows that are not evaluated, then evaluated ones.
   A warning reports these; `strict` refuses them.

The benchmark's `filters` apply to its dataset and to other splits of it, not to a `fewshot_dataset`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice

from msgspec import Struct
from msgspec.structs import replace

from benchwright.benchmarks._examples import (
    FewShot,
    FewShotSource,
    choose_examples,
    example_renderer,
    example_template,
    ignorable_ids,
)
from benchwright.benchmarks._fields import check_filters, target_of
from benchwright.benchmarks._missing_fields import why_no_examples
from benchwright.benchmarks._prompts import prompt_template
from benchwright.benchmarks._scan import RowScan
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.core import BenchmarkError, BenchwrightError, Row, UsageError, is_hub_uri
from benchwright.datasets import DatasetReader, DatasetRef, Filter, open_dataset, parse_hf_uri

_SEEN_ROWS = 16


class Pool(Struct, frozen=True):
    """Rows that examples may be taken from."""

    rows: list[Row]
    """The rows, in the order of their source."""
    source: FewShotSource
    overlapping: bool
    """Whether they are, or may be, evaluated too."""
    warnings: tuple[str, ...]
    """Warnings about the source."""
    failed_sources: tuple[str, ...]
    """Named sources that could not be used."""
    first: int = 0
    """Number of rows at the start that are taken before all others."""
    evaluated: Iterable[Row] = ()
    """Some of the evaluated rows, read once, when they are first used."""

    @property
    def place(self) -> str:
        """Description of the source, such as `the few-shot split`."""
        own = self.source.startswith("fewshot_")
        return f"the {self.source.replace('fewshot_', 'few-shot ')}" if own else "the dataset"


def find_pool(spec: BenchmarkSpec, count: int, *, limit: int | None, strict: bool) -> Pool:
    """The rows to take `count` examples from. Raises BenchmarkError if `strict` is set and only a leaking pool is left."""
    warnings: list[str] = []
    failed: list[str] = []
    primary = spec.open(sampled=False)
    evaluated = _evaluated(spec, limit)
    named: list[tuple[FewShotSource, Callable[[], DatasetRef]]] = []
    if spec.fewshot_dataset is not None:
        dataset = spec.fewshot_dataset
        named.append(("fewshot_dataset", lambda: dataset))
    if spec.fewshot_split is not None:
        if isinstance(spec.dataset, str) and is_hub_uri(spec.dataset):
            uri, split = spec.dataset, spec.fewshot_split
            named.append(("fewshot_split", lambda: _other_split(uri, split)))
        else:
            warnings.append("fewshot_split is ignored: only hf:// datasets have splits")
    for source, ref in named:
        try:
            filters = spec.filters if source == "fewshot_split" else ()
            rows, overlapping = _from_source(spec, ref(), count, primary, filters, evaluated)
        except BenchwrightError as error:
            rows, overlapping = [], False
            warnings.append(f"{source} cannot be used: {error}")
        else:
            if not rows:
                warnings.append(f"{source} has no rows")
        if rows:
            if overlapping:
                warnings.insert(0, _overlap(spec, f"{source} reads the very rows that are evaluated", strict))
            return Pool(rows, source, overlapping, tuple(warnings), tuple(failed), 0, _some_rows(primary))
        if strict:
            raise BenchmarkError(
                f"benchmark {spec.name!r}: {warnings[-1]}; fix it, or run with --num-fewshot 0"
            )
        failed.append(source)
    return _from_primary(spec, primary, count, evaluated, strict, warnings, failed)


def _evaluated(spec: BenchmarkSpec, limit: int | None) -> Container[int] | None:
    """The numbers of the evaluated rows; None: all of them, or unknown."""
    if spec.sampling is None:
        return None if limit is None else range(limit)
    reader = spec.open(limit)
    return reader.places()


def _some_rows(primary: DatasetReader) -> Iterator[Row]:
    yield from primary.head(_SEEN_ROWS)


def _from_source(
    spec: BenchmarkSpec,
    ref: DatasetRef,
    count: int,
    primary: DatasetReader,
    filters: Sequence[Filter],
    evaluated: Container[int] | None,
) -> tuple[list[Row], bool]:
    reader = open_dataset(
        ref,
        base_dir=spec.base_dir,
        field_mapping=spec.field_mapping,
        filters=filters,
        shape=spec.shape,
    )
    most = max(4 * count, _SEEN_ROWS)
    same = _same_content(reader, primary) or ref is spec.dataset or _reads_same_files(ref, spec.dataset)
    if same and evaluated is not None and tuple(filters) == tuple(spec.filters):
        free = list(islice((row for at, row in enumerate(reader.good_rows()) if at not in evaluated), most))
        if len(free) >= count:
            return free, False
    return reader.head(most), same


def _same_content(reader: DatasetReader, primary: DatasetReader) -> bool:
    """Whether two files are the same or copies of each other, or two hub URIs lead to the same rows."""
    one, other = reader.path, primary.path
    if one is None or other is None:
        hub = reader.provenance is not None and primary.provenance is not None
        return hub and reader.fingerprint() == primary.fingerprint()
    same_size = one.stat().st_size == other.stat().st_size
    return one.samefile(other) or (same_size and reader.fingerprint() == primary.fingerprint())


def _other_split(uri: str, split: str) -> str:
    """The same data on the hub, another split: filters, files, configuration and the rest stay."""
    return str(replace(parse_hf_uri(uri), split=split))


def _reads_same_files(ref: DatasetRef, dataset: DatasetRef) -> bool:
    """Whether two hub URIs name the same files: the split is then only a label for the same rows."""
    if not (is_hub_uri(ref) and is_hub_uri(dataset)):
        return False
    one, other = parse_hf_uri(str(ref)), parse_hf_uri(str(dataset))
    same_split = one.split == other.split and one.filters == other.filters
    same_data = replace(one, split=None, filters=()) == replace(other, split=None, filters=())
    return same_data and (same_split or one.data_files is not None)


def _from_primary(
    spec: BenchmarkSpec,
    primary: DatasetReader,
    count: int,
    evaluated: Container[int] | None,
    strict: bool,
    warnings: list[str],
    failed: list[str],
) -> Pool:
    free: deque[Row] = deque(maxlen=4 * count)
    used: deque[Row] = deque(maxlen=4 * count)
    for index, row in enumerate(primary.good_rows()):
        (used if evaluated is None or index in evaluated else free).append(row)
    outside = list(free)
    if len(outside) >= count:
        return Pool(outside, "outside_rows", False, tuple(warnings), tuple(failed))
    if not outside and not used:
        check_filters(spec)
    inside = list(used)[max(0, len(used) + len(outside) - 4 * count) :]
    loud = _overlap(spec, "few-shot examples are taken from rows that are evaluated too", strict)
    return Pool(
        [*outside, *inside],
        "overlapping_rows",
        True,
        (loud, *warnings),
        tuple(failed),
        first=len(outside),
    )


def _overlap(spec: BenchmarkSpec, found: str, strict: bool) -> str:
    cure = f"give the examples a source of their own with {spec.traits.examples_flag}, or leave rows for examples with --limit N"
    if strict:
        raise BenchmarkError(f"benchmark {spec.name!r}: {found}; {cure}")
    return f"{found}: no row sees itself, but each example gives away another row's answer. Instead, {cure}"


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
        num_fewshot: The run's own number; 0 forces zero-shot, None takes the benchmark's number.
        seed: Seed of the choice.
        limit: How many rows the run evaluates; rows beyond it are preferred as examples.
        strict: Raise BenchmarkError for examples from evaluated rows, for named sources that fail, and for no examples.

    The same arguments give the same examples. If no row of the pool can be an example, there are none, and a warning
    gives the reason. Raises DatasetError if the dataset cannot be read.
    """
    count = spec.num_fewshot if num_fewshot is None else num_fewshot
    if count < 0:
        raise UsageError(f"num_fewshot is {count}; expected 0 or more")
    if count == 0:
        return None
    pool = find_pool(spec, count, limit=limit, strict=strict)
    main = prompt_template(spec)
    ignored = ignorable_ids(main, chain(pool.rows, pool.evaluated), partial(target_of, spec))
    examples, spares, unusable = choose_examples(
        pool.rows, count, seed, example_renderer(spec, main, ignored), pool.first
    )
    # Without examples, no row is an example.
    about_pool = pool.warnings if examples or not pool.overlapping else pool.warnings[1:]
    if pool.rows and not examples:
        why = why_no_examples(spec, main, example_template(spec, main), pool)
        if strict:
            raise BenchmarkError(why)
        about_pool = (f"this is a zero-shot run: {why}", *about_pool)
    return FewShot(
        examples=examples,
        spares=spares,
        source=pool.source,
        overlapping=pool.overlapping,
        warnings=(*about_pool, *_shortages(len(examples), unusable, count)),
        requested=count,
        failed_sources=pool.failed_sources,
        ignored=ignored,
    )


def fewshot_problem(fewshot: FewShot | None, scan: RowScan) -> str | None:
    """A warning about the examples, found by the scan: examples from a separate source that are evaluated rows, rows that get
    fewer examples than the run has, and examples that are copies of one another.

    If a pool is known to overlap, `FewShot.warnings` reports it.
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
    """Why `strict` refuses the run, after the scan of all rows: examples are evaluated rows, or rows get fewer examples
    than requested."""
    if fewshot is None or not scan.rows:
        return None
    if problem := fewshot_problem(fewshot, scan):
        return problem
    if scan.fewest_examples < fewshot.requested:
        return f"{fewshot.requested} examples were requested, and rows are shown {scan.fewest_examples}"
    return None


def _shortages(found: int, unusable: int, count: int) -> list[str]:
    warnings = []
    if unusable:
        rows = "row lacks" if unusable == 1 else "rows lack"
        warnings.append(f"{unusable} {rows} a field that examples need")
    if found < count:
        warnings.append(f"{count} examples were requested, {found} could be found")
    return warnings

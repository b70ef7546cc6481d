"""Turns a bare file of questions into a benchmark: prompt, media, row checks, scorer, headline."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePath

from msgspec.structs import replace

from benchwright.benchmarks._media import RowMedia
from benchwright.benchmarks._media_rows import names_media
from benchwright.benchmarks._questions import SCHEME
from benchwright.benchmarks._questions.columns import Columns
from benchwright.benchmarks._questions.layout import find_layout
from benchwright.benchmarks._questions.options import DataType, QuestionOptions, sampling_for
from benchwright.benchmarks._questions.prompts import (
    CodePrompt,
    built_in,
    candidates_reader,
    ranked,
    written_prompts,
)
from benchwright.benchmarks._questions.rows import LENGTH, RowRules, WithoutTotals
from benchwright.benchmarks._questions.scoring import scoring_of
from benchwright.benchmarks._questions.sniff import checked_type, doubts, sniff
from benchwright.benchmarks._spec import BenchmarkSpec, Media, RowCheck
from benchwright.core import (
    DatasetError,
    JsonObject,
    NotFoundError,
    Row,
    UsageError,
    canonical_json,
    data_format,
    expand_home,
    listed,
    normalise_name,
    split_data_name,
)
from benchwright.datasets import (
    DatasetReader,
    Filter,
    RowRange,
    Sampling,
    open_dataset,
    with_file_options,
)

_SHEETS = re.compile(r"[?&]sheet=(?:all\b|[^&]*(?:,|%2C))", re.IGNORECASE)
"""Several sheets, each with its own header."""


def has_fixed_columns(path: str) -> bool:
    """Whether the first row of a file has all columns."""
    format = data_format(path)
    return format is not None and format.fixed_columns and not _SHEETS.search(path)


def question_name(target: str) -> str:
    """The name of a file without its folder and its known suffixes; of a hub URI, the dataset's.

    >>> question_name("data/x.y.jsonl.gz"), question_name("hf://org/name?split=test")
    ('x.y', 'name')
    """
    place = SCHEME.sub("", target)
    if place != target:
        place = re.split(r"[?#]", place, maxsplit=1)[0].rstrip("/").split("@", 1)[0]
    name = PurePath(place).name
    return split_data_name(name)[0] or name or target


def media_for(
    path: Path | None, options: QuestionOptions, *, cwd: Path, columns: Iterable[str] | None
) -> tuple[Media | None, RowCheck | None]:
    """The functions that send and check the media of rows; two Nones if no row can have media.

    Paths in rows start at the folder of the data file (at `cwd` if the data are not a file). `columns` are those of all
    rows; None if later rows may have others, as in JSON Lines.
    """
    if columns is not None and not names_media(set(columns)):
        return None, None
    media = RowMedia(
        cwd if path is None else path.parent,
        form=options.media,
        audio_style=options.audio_style,
        max_mb=options.max_media_mb,
    )
    return media, media.check


NO_GOLD = "the data have no answers; replies are recorded but not scored"
"""Why a file without answers gives no scores."""


def load_questions(path: str, options: QuestionOptions, *, cwd: Path) -> BenchmarkSpec:
    """The benchmark that a file of questions makes. Relative paths, templates included, start at `cwd`.

    Reads as many rows as it needs to detect the type and whether there are answers. The check of all rows reports single
    bad rows. Raises NotFoundError for a file that does not exist, and UsageError for options that contradict the data
    or one another.
    """
    path = with_file_options(
        path, encoding=options.encoding, sheet=options.sheet, header_row=options.header_row
    )
    columns = Columns.of(options)
    layout = find_layout(_open(path, cwd), options, columns)
    mapping = {**columns.mapping, **layout.mapping}
    reader = open_dataset(path, base_dir=cwd, field_mapping=mapping, shape=layout.shape)
    fixed = has_fixed_columns(path) and layout.shape is None
    found = sniff(reader, columns, fixed=fixed)
    data_type = checked_type(found, options.data_type, columns, path, several=layout.several)
    _refuse_twins(columns, path, cwd)
    if data_type == "qa" and options.prompt_style == "cot":
        raise UsageError(
            "prompt_style cot asks for a letter, and the rows have no options (their type is qa); ask for steps "
            'with a template of your own: --template "{question} …"'
        )
    if options.fewshot_dataset is not None and "://" not in options.fewshot_dataset:
        open_dataset(options.fewshot_dataset, base_dir=cwd)  # named, so it must exist
    prompt, example = _prompts(options, data_type, columns, cwd, gold=found.gold)
    candidates = _candidates(options, data_type, columns)
    scoring = scoring_of(options, data_type, columns)
    media, check_media = media_for(reader.path, options, cwd=cwd, columns=found.columns if fixed else None)
    name = options.name or question_name(path)
    misnamed = options.output_column is not None and columns.answer not in found.columns
    return BenchmarkSpec(
        name=name,
        key=normalise_name(name, any_script=True) or "questions",
        dataset=path,
        prompt="",
        scorer=scoring.scorer,
        target_field=columns.answer,
        field_mapping=mapping or None,
        shape=layout.shape,
        endpoint_type="chat" if candidates is None else "completions_logprob",
        candidates=candidates,
        sources=tuple(sorted(layout.used)),
        config=scoring.config,
        system_prompt=options.system,
        fewshot_dataset=options.fewshot_dataset,
        base_dir=cwd,
        template=prompt,
        example=example,
        check_row=RowRules(columns, data_type, also=check_media, mapping=layout.mapping),
        without_totals=_without_totals(columns, mapping),
        media=media,
        max_tokens_field=LENGTH,
        headline=scoring.headline,
        remarks=scoring.remarks,
        constants=scoring.constants,
        needs_answer=scoring.needs_answer,
        sampling=_sampling(options, reader.path, cwd),
        unscored="" if found.gold or options.evaluator is not None or misnamed else NO_GOLD,
        likely_answer="" if found.gold else layout.likely_answer,
        family="qa" if data_type == "qa" else "mcq",
        data_type=data_type,
        doubts=(
            *layout.notes,
            *_about_type(data_type),
            *doubts(found, columns, layout, media=names_media(set(found.columns))),
        ),
        rules=_rules(options, data_type),
    )


def _without_totals(columns: Columns, mapping: Mapping[str, str]) -> Filter:
    """The filter of totals, by the names in the data."""
    written = {usual: name for name, usual in mapping.items()}
    question, *also = (written.get(name, name) for name in columns.question)
    return WithoutTotals(question, "", written.get(columns.answer, columns.answer), tuple(also))


def _candidates(
    options: QuestionOptions, data_type: DataType, columns: Columns
) -> Callable[[Row], Sequence[str]] | None:
    if options.infer_method == "gen":
        return None
    if data_type != "mcq":
        raise UsageError(
            f"infer_method {options.infer_method} ranks the options of rows with one right option (mcq), and these are "
            f"{data_type}; leave it out"
        )
    return candidates_reader(columns, options.infer_method)


def _about_type(data_type: DataType) -> tuple[str, ...]:
    if data_type != "mcq_multi":
        return ()
    return ("any number of options may be right (mcq_multi): replies are read as sets of letters",)


def _prompts(
    options: QuestionOptions, data_type: DataType, columns: Columns, cwd: Path, *, gold: bool
) -> tuple[CodePrompt, CodePrompt]:
    written = written_prompts(options, data_type, columns, cwd)
    if written is not None:
        return written
    if options.infer_method != "gen":
        return ranked(columns, options.infer_method)
    return built_in(data_type, options.prompt_style, columns, gold=gold)


def _open(path: str, cwd: Path) -> DatasetReader:
    try:
        return open_dataset(path, base_dir=cwd)
    except DatasetError as error:
        if "://" not in path and not (cwd / expand_home(path.partition("?")[0])).exists():
            raise NotFoundError(str(error)) from None  # a missing target, like any other
        raise


def _sampling(options: QuestionOptions, path: Path | None, cwd: Path) -> Sampling | None:
    found = sampling_for(path, options, cwd=cwd)
    if options.test_range is None:
        return found
    return replace(found or Sampling(), rows=RowRange.parse(options.test_range))


def _refuse_twins(columns: Columns, path: str, cwd: Path) -> None:
    """Refuse two columns for one letter, because one of them would be lost."""
    if not columns.mapping:
        return
    for row in open_dataset(path, base_dir=cwd).head(1):
        if columns.mapping.keys().isdisjoint(row):
            raise UsageError(
                f"options names {', '.join(columns.mapping)}, and {path} has no such columns, only: {listed(row)}"
            )
        for name, letter in columns.mapping.items():
            if letter in row and letter not in columns.mapping:
                raise UsageError(
                    f"options: {name} would become option {letter}, and {path} has a column {letter} already; name "
                    "that one, or rename a column"
                )


def _rules(options: QuestionOptions, data_type: DataType) -> str:
    """Everything that determines prompts and scores and is in no file; part of the benchmark's hash."""
    deciding: JsonObject = {**options.to_json(), "data_type": data_type}
    # Options of the file determine the rows and are part of their fingerprint.
    of_file = ("encoding", "sheet", "header_row")
    for elsewhere in ("name", "meta_path", "fewshot_dataset", "template", "system", *of_file):
        deciding.pop(elsewhere)
    deciding["test_range"] = None  # selects rows, and changes neither prompts nor scores
    if options.answer_index is None:  # keeps the hash of runs from before this was a setting
        del deciding["answer_index"]
    return canonical_json(deciding).decode()

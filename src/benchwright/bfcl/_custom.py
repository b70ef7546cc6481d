"""Custom datasets: a native folder, or one file in the OpenAI format. Every row is checked before anything is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field

from benchwright.bfcl._categories import Category
from benchwright.bfcl._custom_sources import GoodRow, Source, open_native, openai_source
from benchwright.bfcl._row_rules import misnamed, unreachable
from benchwright.core import BadRow, DatasetError, Row, exact_json
from benchwright.toolcalls import mistyped_value

DETAILS_FILE = "validation_failure_details.json"
"""The file that lists all faults of a dataset."""
Format = Literal["native", "openai"]
_LISTED = 20
_DRY: ContextVar[bool] = ContextVar("dry", default=False)


@contextmanager
def without_files() -> Iterator[None]:
    """Within this context, faults of datasets are reported but not written to a file."""
    token = _DRY.set(True)
    try:
        yield
    finally:
        _DRY.reset(token)


class CustomRows(Struct):
    """The rows of a custom dataset, read from its files in each pass, and what is wrong with it."""

    sizes: Counter[str] = field(default_factory=Counter)
    """Rows of each category."""
    faults: list[dict[str, Any]] = field(default_factory=list)
    """Each has `error` and, if known, `file`, `category`, `line` and the raw `data`."""
    doubts: list[str] = field(default_factory=list)
    """Warnings about rows whose ground truth is doubtful, and other notes."""
    hopeless: set[str] = field(default_factory=set)
    """Ids of rows that no reply can pass, which are bad rows."""
    unlisted: int = 0
    """Doubts about further rows."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Rows of categories that are not evaluated."""
    sources: list[Source] = field(default_factory=list)
    silent: bool = False
    """Whether faults were reported before."""

    def rows(self) -> Iterator[Row]:
        """The rows without faults. They are not kept, so that memory does not grow with the dataset. DatasetError, after the
        last one, if files were changed since they were checked."""
        reported = CustomRows(silent=True)
        for source in self.sources:
            for row, category, *_ in source(reported):
                if row["id"] in self.hopeless:
                    continue
                reported.sizes[category.name] += 1
                yield row
        if reported.sizes != self.sizes:
            raise DatasetError("the files of the dataset were changed while they were read; start again")

    def refuse(
        self, file: Path, category: str, error: str, line: int | None = None, data: str | None = None
    ) -> None:
        """Add a fault."""
        if self.silent:
            return
        found: dict[str, Any] = {} if line is None else {"line": line}
        found["error"] = error
        if data is not None:
            found["data"] = data
        self.faults.append({**found, "file": str(file), "category": category})

    def leave_out(self, category: str) -> None:
        """Count a row of a category that is not evaluated."""
        self.left_out[category] += 1

    def doubt(self, remark: str) -> None:
        """Note a doubt; of very many only the first ones."""
        if len(self.doubts) < _LISTED:
            self.doubts.append(remark)
        else:
            self.unlisted += 1


def read_custom(
    path: Path,
    format: Format,
    categories: Sequence[Category],
    *,
    template: Path | None = None,
    details: Path | None = None,
    skip_bad_rows: bool = False,
    as_text: bool = False,
    opens: Callable[[Row], object] | None = None,
) -> CustomRows:
    """Every row of a dataset. With `as_text`, calls are read from text. `opens` tries the simulated classes of a row.

    Raises DatasetError for a broken dataset, after writing all faults into the folder `details`; `skip_bad_rows` leaves out
    the bad rows instead.
    """
    details = None if _DRY.get() else details
    found = CustomRows()
    try:
        if format == "native":
            if template is not None:
                raise DatasetError("data_template_path: only the openai format takes a template")
            open_native(path, categories, found, opens)
        elif format == "openai":
            found.sources.append(openai_source(path, categories, template))
        else:
            raise DatasetError(f"format {format!r} is not known; expected native or openai")
        for source in found.sources:
            for good in source(found):
                _judge(good, found, as_text=as_text)
        others = ", ".join(f"{name} {count:,}" for name, count in found.left_out.items())
        if not (found.sizes or found.faults):
            wanted = ", ".join(category.name for category in categories)
            what = (
                f"no rows of {wanted}, only of other categories, which --task names: {others}"
                if others
                else "no rows"
            )
            raise DatasetError(f"{path}: there are {what}")
        if others:
            found.doubts.append(f"rows of other categories are left out: {others}")
    except DatasetError as error:  # of the dataset as a whole
        _write_details([{"error": str(error), "file": str(path), "category": ""}], details)
        raise
    if found.unlisted:
        found.doubts.append(f"{found.unlisted:,} more doubts about rows of {path} are not listed")
    if found.faults:
        _write_details(found.faults, details)
        if not (skip_bad_rows and found.sizes and all("line" in fault for fault in found.faults)):
            raise _broken(found.faults, details)
        count = len(found.faults)
        left = "1 bad row of {} is" if count == 1 else f"{count:,} bad rows of {{}} are"
        found.doubts.append(f"{left.format(path)} left out: {found.faults[0]['error']}")
    return found


def _judge(good: GoodRow, found: CustomRows, *, as_text: bool) -> None:
    """Count a row that a reply can pass, and note what is doubtful about its ground truth."""
    row, category, file, line = good
    if (why := _hopeless(row, category, as_text=as_text)) is not None:
        found.hopeless.add(row["id"])
        found.refuse(file, category.name, f"no reply can pass row {row['id']}: {why}", line)
        return
    found.sizes[category.name] += 1
    if category.check != "ast":
        return
    if (why := misnamed(row)) is not None:
        found.doubt(f"{file}:{line}: {why}")
    elif (
        category.language == "python"
        and (why := mistyped_value(row["function"], row["ground_truth"], by_place=category.by_place))
        is not None
    ):
        found.doubt(f"{file}:{line}: {why}. Correct one of them: the checker accepts only this value")


def _hopeless(row: Row, category: Category, *, as_text: bool) -> str | None:
    if category.check == "ast":
        return unreachable(row, category, as_text=as_text)
    if category.check == "multi_turn" and len(row["question"]) != len(row["ground_truth"]):
        turns, truths = len(row["question"]), len(row["ground_truth"])
        return f"the question has {turns} turns, and the ground truth has {truths}"
    return None


def _write_details(faults: Sequence[dict[str, Any]], folder: Path | None) -> None:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / DETAILS_FILE).write_bytes(exact_json(list(faults), indent=True) + b"\n")


def _broken(faults: Sequence[dict[str, Any]], folder: Path | None) -> DatasetError:
    bad = [BadRow(fault["file"], fault.get("line", 1), fault["error"]) for fault in faults[:_LISTED]]
    error = DatasetError.of_rows(bad, len(faults))
    text = str(error)
    if all("line" in fault for fault in faults):
        text += "\nCorrect them, or leave them out with --skip-bad-rows"
    if folder is not None:
        text += f"\nAll of them: {folder / DETAILS_FILE}"
    return DatasetError(text, error.bad_rows)

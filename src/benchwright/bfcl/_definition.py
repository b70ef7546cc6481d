"""The definition of an evaluation: its categories, its data, and how the model is asked for calls."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from benchwright.bfcl._categories import categories_of, evaluation_of
from benchwright.core import JsonObject, UsageError, expand_home, suggest

if TYPE_CHECKING:
    from benchwright.benchmarks import BenchmarkSpec

_KEYS = ("task", "custom_dataset", "data_version", "executable_module", "native_calling", "share")
_CUSTOM_KEYS = ("path", "format", "data_template_path")


class Definition(Struct, frozen=True):
    """A frozen evaluation, from which a later process reads the same rows."""

    name: str
    task: str
    native_calling: bool
    folder: str
    """The folder where it was started."""
    data_version: str = "v3"
    path: str | None = None
    """The custom dataset; None: the published data, or the rows shipped with the package."""
    format: str | None = None
    template: str | None = None
    """Its data template."""
    executable_module: str | None = None
    """Python file with the functions that executable rows call."""
    skip_bad_rows: bool = False
    output: str | None = None
    """The folder for the list of a dataset's faults; None: it is not written, because only the run knows its workspace."""
    share: float | None = None
    """The share of the rows of each category, rounded up; None: all."""

    @classmethod
    def of(
        cls, name: str, given: Mapping[str, Any] | None, cwd: Path, *, skip_bad_rows: bool = False
    ) -> Definition | None:
        """The evaluation with this name and the values of `--input`; None for any other name."""
        evaluation = evaluation_of(name)
        if evaluation is None:
            return None
        given = given or {}
        _refuse_unknown(given, _KEYS, "")
        task = given.get("task", evaluation.task)
        if not isinstance(task, str):
            task = ",".join(map(str, task)) if isinstance(task, list) else ""
        categories_of(task)
        version = given.get("data_version", "v3")
        if version not in ("v3", "v4"):
            raise UsageError(f"--input data_version: {version!r} is not known; expected v3 or v4")
        native = given.get("native_calling", evaluation.native_calling)
        if not isinstance(native, bool):
            raise UsageError(f"--input native_calling: {native!r} is neither true nor false")
        share = given.get("share")
        if share is not None and (
            isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1
        ):
            raise UsageError(
                f"--input share: {share!r} is not a share of the rows; expected a number above 0 and at most 1"
            )
        return cls(
            name,
            task,
            native,
            str(cwd),
            version,
            executable_module=_place(given.get("executable_module"), cwd, "executable_module"),
            skip_bad_rows=skip_bad_rows,
            share=share,
            **_custom(given.get("custom_dataset"), cwd),
        )

    def load(self) -> BenchmarkSpec:
        """The benchmark. Raises DatasetError if its data cannot be read."""
        from benchwright.bfcl._evaluation import load_evaluation  # which reads the data

        return load_evaluation(self)

    @property
    def details(self) -> Path | None:
        """The folder for the list of a dataset's faults, inside `output`."""
        return None if self.output is None else Path(self.output) / "custom_dataset_processing"

    def to_json(self) -> JsonObject:
        """The recorded form."""
        record = structs.asdict(self)
        if self.share is None:  # as records of older versions
            del record["share"]
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Definition:
        """Read the recorded form."""
        return cls(**record)


def _custom(table: Any, cwd: Path) -> dict[str, str | None]:
    if table is None:
        return {}
    if not isinstance(table, Mapping):
        raise UsageError("--input custom_dataset: expected an object with path and format")
    _refuse_unknown(table, _CUSTOM_KEYS, "custom_dataset.")
    path, format_ = table.get("path"), table.get("format")
    if path is None and format_ is None:
        return {}
    if path is None or format_ is None:
        lacking = "path" if path is None else "format"
        raise UsageError(f"--input custom_dataset.{lacking} is missing: path and format belong together")
    if format_ not in ("native", "openai"):
        raise UsageError(
            f"--input custom_dataset.format: {format_!r} is not known; expected native or openai"
        )
    template = _place(table.get("data_template_path"), cwd, "custom_dataset.data_template_path")
    if template is not None and format_ == "native":
        raise UsageError("--input custom_dataset.data_template_path: only the openai format takes a template")
    return {"path": _place(path, cwd, "custom_dataset.path"), "format": format_, "template": template}


def _place(value: Any, cwd: Path, key: str) -> str | None:
    if value is None:
        return None
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str) or not value:
        raise UsageError(f"--input {key}: {value!r} is not a path")
    return str(cwd / expand_home(value))


def _refuse_unknown(table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in keys:
            raise UsageError(
                f"--input: no setting {where}{key}.{suggest(key, keys)} Known: {', '.join(keys)}"
            )

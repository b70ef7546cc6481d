"""Which meta file goes with a file of questions: the one that is named, else the one beside it, else none."""

from __future__ import annotations

from pathlib import Path

from benchwright.benchmarks._questions.options import QuestionOptions
from benchwright.core import DatasetError, suggest
from benchwright.datasets import Sampling, read_meta

META_SUFFIX = ".meta.json"
"""What stands behind the whole name of the data file: `qa.csv.meta.json`."""


def sampling_for(path: Path | None, options: QuestionOptions, *, cwd: Path | None = None) -> Sampling | None:
    """What the meta file asks for, or None without one.

    Args:
        path: The data file; None where the data are no file of this machine.
        options: `meta_path` names the meta file, relative to `cwd`; `compat` samples as AISBench does.
        cwd: Where a relative `meta_path` starts; None: the current folder.

    Raises:
        DatasetError: a file that is named is not there, or something in it is wrong; lists everything that is.
    """
    base = Path.cwd() if cwd is None else cwd
    if options.meta_path is not None:
        meta = base / Path(options.meta_path).expanduser()
        if not meta.is_file():
            raise DatasetError(_not_there(options.meta_path, meta))
        return read_meta(meta, name=options.meta_path, compat=options.compat)
    if path is None:
        return None
    meta = path.with_name(path.name + META_SUFFIX)
    if not meta.is_file():
        return None
    name = str(meta.relative_to(base)) if meta.is_relative_to(base) else str(meta)
    return read_meta(meta, name=name, compat=options.compat)


def _not_there(written: str, meta: Path) -> str:
    if meta.is_dir():
        return f"the meta file {written} is a folder; name the file in it"
    if not meta.parent.is_dir():
        return f"there is no meta file {written}: there is no folder {meta.parent}"
    near = suggest(meta.name, [file.name for file in meta.parent.glob("*.json")])
    return f"there is no meta file {written}.{near}"

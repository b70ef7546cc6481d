"""Why a user's Python file could not be imported, in words that name the place and the cure."""

from __future__ import annotations

import importlib
import traceback
from pathlib import Path

from benchwright.core import BenchmarkError, BenchwrightError, late_pattern, suggest

_OLD_PACKAGES = ("nemo_evaluator",)
_OLD_CONFIGS = ("ais_bench", "opencompass")
_MISSING_NAME = late_pattern(r"cannot import name '(\w+)'")
_PACKAGES = ("benchwright", "benchwright.scorers", "benchwright.bfcl")
"""The packages that users import from."""


def import_failure(error: BaseException, folder: Path, name: str) -> BenchmarkError:
    """The error for people: `file:line` in the user's folder, what happened, and the cure if it is known."""
    where = _place(error, folder) or name
    if isinstance(error, SyntaxError):
        line = (error.text or "").strip()
        return BenchmarkError(f"{where}: {error.msg}{f': {line}' if line else ''}")
    if isinstance(error, BenchwrightError):
        return BenchmarkError(f"{where}: {error}")
    text = f"{where}: {type(error).__name__}: {error}"
    if isinstance(error, SystemExit):
        return BenchmarkError(f"{text}; guard what ends the program with if __name__ == '__main__':")
    if isinstance(error, ImportError):
        return BenchmarkError(text + _import_cure(error))
    return BenchmarkError(text)


def _import_cure(error: ImportError) -> str:
    top = (error.name or "").split(".")[0]
    if top in _OLD_PACKAGES:
        return (
            "; change the import line to `from benchwright import benchmark, scorer, ScorerInput` and "
            "`from benchwright.scorers import …`"
        )
    if top == "mmengine":
        return "; write `from benchwright import read_base` instead"
    if top in _OLD_CONFIGS:
        return (
            "; its configurations are not part of benchwright. Write a model's name as a text in models, such as "
            '"vllm_api_general_chat", or its table, and name data by {"path": "questions.jsonl"} in datasets'
        )
    if top == "benchwright" and (missing := _MISSING_NAME.match(str(error))):
        return _of_ours(missing[1])
    if isinstance(error, ModuleNotFoundError) and top:
        return f"; install it (pip install {top}), or check its spelling"
    return ""


def _of_ours(name: str) -> str:
    """Where a name is that was imported from another package of ours, or similar names."""
    names = {package: sorted(importlib.import_module(package).__all__) for package in _PACKAGES}
    for package, known in names.items():
        if name in known:
            return f"; write `from {package} import {name}`"
    return f".{suggest(name, [each for known in names.values() for each in known])}"


def _place(error: BaseException, folder: Path) -> str | None:
    """`file:line` of the innermost frame of the user's code, the file relative to its folder."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_relative(error.filename, folder)}:{error.lineno or 1}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(folder)
        and "site-packages" not in Path(frame.filename).relative_to(folder).parts
    ]
    return f"{_relative(frames[-1].filename, folder)}:{frames[-1].lineno}" if frames else None


def _relative(file: str, folder: Path) -> str:
    path = Path(file)
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else file

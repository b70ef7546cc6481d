"""`validate`: the row checks of a question file and nothing else. No model, no scorer, no examples."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from benchwright.benchmarks import FileReport, validate_questions
from benchwright.config import RunOptions, find_config
from benchwright.core import UsageError, refuse_while_loading
from benchwright.runs import resolve_targets


def validate(file: str | os.PathLike[str], options: RunOptions | None = None, **keywords: Any) -> FileReport:
    """What a file of questions holds, and every row of it that could not be asked or scored.

    Options are given as keywords, as to `run`, or as one object. UsageError for what is no file of questions.
    """
    refuse_while_loading("validate")
    options = options or RunOptions.from_keywords(keywords)
    cwd = Path.cwd()
    config = find_config(cwd)
    written = os.fspath(file)
    (found, *others) = resolve_targets(written, config, cwd, options)
    if others or found.questions is None:
        raise UsageError(
            f"{written} is no file of questions; look at benchmarks with: benchwright check {written}"
        )
    return validate_questions(found.spec, limit=options.over(found.defaults).limit)

"""`validate`: the row checks of a question file and nothing else. No model, no scorer, no examples."""

from __future__ import annotations

import os
from typing import Any

from benchwright.benchmarks import FileReport, validate_questions
from benchwright.config import RunOptions
from benchwright.core import UsageError, refuse_while_loading
from benchwright.sdk._resolve import Questions, resolve


def validate(file: str | os.PathLike[str], options: RunOptions | None = None, **keywords: Any) -> FileReport:
    """What a file of questions holds, and every row of it that could not be asked or scored.

    Options are given as keywords, as to `run`, or as one object. UsageError for what is no file of questions.
    """
    refuse_while_loading("validate")
    options = options or RunOptions.from_keywords(keywords)
    written = os.fspath(file)
    found = resolve(written, options)
    if not isinstance(found, Questions):
        raise UsageError(
            f"{written} is no file of questions; look at benchmarks with: benchwright check {written}"
        )
    return validate_questions(found.target.spec, limit=options.over(found.target.defaults).limit)

"""Options of a call: one object, or keywords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.config import RunOptions, layered
from benchwright.core import UsageError

__all__ = ["RunOptions", "layered", "one_of"]


def one_of(options: RunOptions | None, keywords: Mapping[str, Any], caller: str) -> RunOptions:
    """The options of `caller`, which takes them as one object or as keywords."""
    if isinstance(keywords.get("options"), RunOptions):  # the object, given by name
        options, keywords = keywords["options"], {k: v for k, v in keywords.items() if k != "options"}
    if options is None:
        return RunOptions.from_keywords(keywords, caller)
    if keywords:
        raise UsageError(f"{caller}() takes options as one object or as keywords, not both")
    return options

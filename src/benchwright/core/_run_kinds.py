"""The kinds of runs, by name. What each kind can do is in `RUN_KINDS` of `benchwright.sdk`."""

from __future__ import annotations

from enum import StrEnum


class RunKind(StrEnum):
    """What was run: a benchmark by the engine, or a workflow of the user's own."""

    BENCHMARK = "benchmark"
    WORKFLOW = "workflow"


def kind_title(kind: str) -> str:
    """What messages call a run of this kind; the workspace of a newer version may have others.

    >>> kind_title("workflow")
    'a workflow'
    >>> kind_title("load")
    "of the kind 'load', which a newer version of benchwright wrote and this one does not know"
    """
    if kind in tuple(RunKind):
        return f"a {kind}"
    return f"of the kind {kind!r}, which a newer version of benchwright wrote and this one does not know"

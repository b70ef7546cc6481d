"""The kinds of runs, by name. What each kind can do is in `RUN_KINDS` of `benchwright.sdk`."""

from __future__ import annotations

from enum import StrEnum


class RunKind(StrEnum):
    """What was run: a benchmark by the engine, a workflow of the user's own, or a load test."""

    BENCHMARK = "benchmark"
    WORKFLOW = "workflow"
    LOAD = "load"


def kind_title(kind: str) -> str:
    """What messages call a run of this kind; the workspace of a newer version may have others.

    >>> kind_title("workflow")
    'a workflow'
    >>> kind_title("load"), kind_title("siege")
    ('a load test', "of the kind 'siege', which a newer version of benchwright wrote and this one does not know")
    """
    if kind == RunKind.LOAD:
        return "a load test"
    if kind in tuple(RunKind):
        return f"a {kind}"
    return f"of the kind {kind!r}, which a newer version of benchwright wrote and this one does not know"

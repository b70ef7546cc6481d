"""What can be said about a suite as a whole, by flags, keywords, or its own file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from benchwright.config import RunOptions, checked_mode, checked_summarizer
from benchwright.core import UsageError, suggest

DEFAULT_WORK_DIR = Path("outputs/default")
"""Where work folders go when nobody says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOptions:
    """How to run a suite. What is left out comes from its file, then from the defaults."""

    mode: str | None = None
    """`all`, `infer` (ask, score later), `eval` (score what was asked) or `viz` (show); None: all."""
    models: tuple[str, ...] = ()
    """Names of the models to take, instead of all that the suite lists."""
    work_dir: Path | None = None
    """Where a work folder `<YYYYmmdd_HHMMSS>/` is written; None: none is."""
    reuse: str | None = None
    """The work folder to go on with, by its time; empty: the newest. None: a new one."""
    max_num_workers: int | None = None
    """Runs under way at once; None: 1."""
    merge_ds: bool | None = None
    """All datasets of a model at once, within its limit of requests."""
    summarizer: str | None = None
    """What the comparison shows: `example` (all metrics) or `headline`; None: example."""
    dump_eval_details: bool | None = None
    """Whether the results of the work folder list every sample."""
    dump_extract_rate: bool | None = None
    """Whether the results of the work folder tell the share of readable answers."""

    def __post_init__(self) -> None:
        if self.mode is not None:
            checked_mode(self.mode)
        if self.summarizer is not None:
            checked_summarizer(self.summarizer)
        if self.max_num_workers is not None and self.max_num_workers < 1:
            raise UsageError(f"--max-num-workers is {self.max_num_workers}; expected 1 or more")

    def over(self, settings: Mapping[str, Any]) -> SuiteOptions:
        """These options, with a suite's own settings for what they leave out."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        said = dict(settings)
        if said.get("work_dir") is not None:
            said["work_dir"] = Path(said["work_dir"])
        return SuiteOptions(
            **{**said, **{name: value for name, value in own.items() if value not in (None, ())}}
        )


def split_keywords(keywords: Mapping[str, Any]) -> tuple[RunOptions, SuiteOptions]:
    """Keywords of `run_suite`: those of every run, and those of the suite."""
    own = {f.name for f in fields(SuiteOptions)}
    known = {*own, *(f.name for f in fields(RunOptions))}
    for name in keywords:
        if name not in known:
            raise UsageError(f"run_suite() has no option {name!r}.{suggest(name, known)}")
    suite = {name: value for name, value in keywords.items() if name in own}
    if suite.get("work_dir") is not None:
        suite["work_dir"] = Path(suite["work_dir"])
    if isinstance(suite.get("models"), str):
        suite["models"] = (suite["models"],)
    suite["models"] = tuple(suite.get("models") or ())
    rest = {name: value for name, value in keywords.items() if name not in own}
    return RunOptions.from_keywords(rest), SuiteOptions(**suite)

"""The settings of a suite as a whole, each declared once: keys of its `run` table, flags, and keywords of Python."""

# every row makes a field
from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from benchwright.config._run_settings import ALL_OPTIONS, BY_NAME, RunOptions
from benchwright.config._setting import row, settings_in
from benchwright.config._values import GivenOptions, from_python
from benchwright.core import UsageError, suggest

MODES = ("all", "infer", "eval", "viz")
"""The modes: request and score, only request, only score recorded replies, only show."""

SUMMARIZERS = ("example", "headline")
"""What the comparison shows for each dataset: all metrics, or only the headline."""

_JUDGE_MODES = ("judge", "infer_judge")
_LOAD_SUMMARIZERS = ("default_perf", "stable_stage")

_suite = partial(row, decides="place", group="suite", tables=("suite",))
_named = partial(_suite, tables=(), flag=False)


class SuiteOptions(GivenOptions, frozen=True, kw_only=True):
    """The settings of a suite. Missing ones come from its file, then from the defaults."""

    load_modes: ClassVar[tuple[str, ...]] = ("perf", "perf_viz")
    """Modes of the long form: perform load tests, or show recorded ones."""

    # fmt: off
    mode: str | None = _suite("all, infer (record replies, score later), eval (score recorded replies) or viz (show)", metavar="MODE")
    work_dir: Path | None = _suite("write <DIR>/<time>/ with predictions, results and a summary (default: outputs/default)",
        metavar="DIR")
    max_num_workers: int | None = _suite("maximum number of runs at a time (default: 1)", least=1)
    merge_ds: bool | None = _suite("evaluate all datasets of a model at the same time, within its request limit")
    summarizer: str | None = _suite("example (all metrics) or headline (one per dataset) in the comparison", metavar="NAME")
    dump_eval_details: bool | None = _suite("add every sample to the results of the work folder")
    dump_extract_rate: bool | None = _suite("add the share of readable answers to the results of the work folder")
    models: tuple[str, ...] | None = _named("names of models; each is evaluated on all data")
    reuse: str | None = _named("time of the work folder to resume; empty for the newest")
    # fmt: on

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mode is not None:
            _check_mode(self.mode)
        if self.summarizer is not None:
            _check_summarizer(self.summarizer)

    @classmethod
    def from_keywords(cls, keywords: Mapping[str, Any]) -> SuiteOptions:
        """Read Python keywords, or the `run` table of a suite."""
        return cls(**{name: from_python(_BY_NAME[name], value) for name, value in keywords.items()})

    def given(self) -> dict[str, Any]:
        """The options that are given, by name; an empty list names nothing."""
        return {name: value for name, value in super().given().items() if value != ()}

    def over(self, settings: Mapping[str, Any]) -> SuiteOptions:
        """These options, with the settings of a suite for missing ones."""
        return SuiteOptions.from_keywords({**settings, **self.given()})

    @property
    def needs_a_suite(self) -> bool:
        """Whether only a suite has these options. A single benchmark can also request now and score later."""
        return bool(self.given().keys() - {"mode"}) or self.mode in ("eval", "viz")

    @classmethod
    def split(cls, keywords: Mapping[str, Any], caller: str) -> tuple[RunOptions, SuiteOptions]:
        """Split the keywords of the function `caller` into those of runs and those of the suite. Raises UsageError, with similar
        names, for an unknown one."""
        for name in keywords:
            if name not in BY_NAME and name not in _BY_NAME:
                raise UsageError(
                    f"{caller}() has no option {name!r}.{suggest(name, [*BY_NAME, *_BY_NAME]) or ALL_OPTIONS}"
                )
        suite = {name: value for name, value in keywords.items() if name in _BY_NAME}
        rest = {name: value for name, value in keywords.items() if name not in _BY_NAME}
        return RunOptions.from_keywords(rest, caller), cls.from_keywords(suite)


_ALL = settings_in(SuiteOptions)
_BY_NAME = {setting.name: setting for setting in _ALL}
SuiteOptions.settings = _BY_NAME

SUITE_SETTINGS = tuple(setting for setting in _ALL if setting.flag)
"""Every setting that a suite's file may contain, in the order of the help text."""


def _check_mode(mode: str) -> None:
    """Raise UsageError with the cure for an unknown mode."""
    if mode in MODES:
        return
    if mode in SuiteOptions.load_modes:
        raise UsageError(
            f"mode {mode} is a load test. Start it with: benchwright perf SUITE, or run … --mode {mode}"
        )
    if mode in _JUDGE_MODES:
        raise UsageError(
            f"--mode {mode}: a judge is asked while scoring, so it needs no mode of its own. Choose it with "
            "--qa-metric judge, and --mode all, or infer and later eval"
        )
    raise UsageError(f"--mode {mode} is not known.{suggest(mode, MODES)} Expected one of {', '.join(MODES)}")


def _check_summarizer(name: str) -> None:
    """Raise UsageError with the known names for an unknown one."""
    if name in SUMMARIZERS:
        return
    if name.partition("/")[0] in _LOAD_SUMMARIZERS:
        raise UsageError(
            f"--summarizer {name} belongs to load tests (benchwright perf, which has one for all); "
            f"here: {', '.join(SUMMARIZERS)}"
        )
    near = suggest(name, SUMMARIZERS)
    raise UsageError(f"--summarizer {name} is not known.{near} Expected one of {', '.join(SUMMARIZERS)}")

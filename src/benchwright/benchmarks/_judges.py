"""What a definition says about judges: which ones, whether their settings can be used, which keys they need.

Settings stand in `config` under `judge`, `judge_1`, `judge_2`, …; another name that begins with `judge` counts
when it holds settings rather than a text or a number, which a scorer may keep there for itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.core import ConfigError

if TYPE_CHECKING:
    from benchwright.scorers import JudgeConfig

_NUMBERED = re.compile(r"judge(_?\d+)?")


def judge_problems(spec: BenchmarkSpec) -> list[str]:
    """What is wrong with the judges' settings, one text for each judge; the environment is not looked at."""
    return [str(judge) for _, judge in _judges(spec) if isinstance(judge, ConfigError)]


def judge_configs(spec: BenchmarkSpec) -> list[JudgeConfig]:
    """The judges whose settings can be used."""
    return [judge for _, judge in _judges(spec) if not isinstance(judge, ConfigError)]


def judge_key_names(spec: BenchmarkSpec) -> list[str]:
    """Environment variables that must hold the judges' keys, each once."""
    names = [judge.api_key for _, judge in _judges(spec) if not isinstance(judge, ConfigError)]
    return list(dict.fromkeys(name for name in names if name is not None))


def judge_count(spec: BenchmarkSpec) -> int:
    """How many judges the definition names."""
    return sum(1 for _ in _judges(spec))


def _judges(spec: BenchmarkSpec) -> Iterator[tuple[str, JudgeConfig | ConfigError]]:
    from benchwright.scorers import JudgeConfig

    for key, value in spec.config.items():
        if value is None or not isinstance(key, str) or not key.startswith("judge"):
            continue
        if not _NUMBERED.fullmatch(key) and not isinstance(value, Mapping | JudgeConfig):
            continue
        try:
            yield key, JudgeConfig.of(value, key)
        except ConfigError as error:
            yield key, error

"""Settings of load tests: one table for flags, keywords and `[perf]`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_type_hints

import pytest

from benchwright.config import SHARED_WITH_RUNS, LoadKeywords, LoadOptions
from benchwright.config._files import read_config
from benchwright.config._load_settings import LOAD_BY_NAME
from benchwright.core import ConfigError, UsageError


def perf_table(tmp_path: Path, text: str) -> dict[str, object]:
    path = tmp_path / "benchwright.toml"
    path.write_text(f"[perf]\n{text}", encoding="utf-8")
    return dict(read_config(path).perf)


def test_numbers_and_lists_of_numbers_are_levels(tmp_path: Path) -> None:
    assert perf_table(tmp_path, "concurrency = [1, 4]\nrequests = 5") == {
        "concurrency": ["1", "4"],
        "requests": 5,
    }
    assert perf_table(tmp_path, "rate = 2.5") == {"rate": ["2.5"]}
    for written in ([1, 4], "1,4", ["1", "4"], (1, 4)):
        assert LoadOptions.from_keywords({"concurrency": written}).concurrency == ("1", "4")
    assert LoadOptions.from_keywords({"rate": 2.5}).rate == ("2.5",)


def test_unknown_keys_and_bad_values_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\[perf\] secnds is not known.*seconds"):
        perf_table(tmp_path, "secnds = 5")
    with pytest.raises(ConfigError, match="0 is too small"):
        perf_table(tmp_path, "requests = 0")
    with pytest.raises(UsageError, match=r"perf\(\) has no option 'reqests'.*requests"):
        LoadOptions.split({"reqests": 5})
    with pytest.raises(UsageError, match="--workers is 0"):
        LoadOptions(workers=0)


def test_defaults_of_the_other_loop_do_not_count() -> None:
    closed = {"concurrency": ["1", "4"], "warmup": 2}
    assert LoadOptions(rate=("9",)).over(closed).given() == {"rate": ("9",), "warmup": 2}
    assert LoadOptions(requests=3).over(closed).concurrency == ("1", "4")
    opened = {"rate": ["9"], "profile": "constant"}
    assert LoadOptions(concurrency=("2",)).over(opened).given() == {"concurrency": ("2",)}
    assert LoadOptions(profile="poisson").over(opened).given() == {"profile": "poisson", "rate": ("9",)}
    assert LoadOptions(rate=("5",)).over(opened).given() == {"profile": "constant", "rate": ("5",)}


def test_typed_keywords_are_the_settings() -> None:
    typed = get_type_hints(LoadKeywords)
    missing = {*LOAD_BY_NAME, *SHARED_WITH_RUNS} - set(typed)
    assert not missing, "add them to config/_typed_keywords.py"
    assert typed["model_url"] == str | Sequence[str] | None


def test_no_name_means_two_things() -> None:
    assert set(LOAD_BY_NAME).isdisjoint(SHARED_WITH_RUNS)

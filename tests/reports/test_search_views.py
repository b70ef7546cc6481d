"""What people see of a search for the largest load: page, terminal, JSON and exit code give one verdict."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from load_tests import HEALTH, view_of
from made_records import streamed
from msgspec.structs import replace
from test_load_pages import text_of

from benchwright.perf import (
    LoadSearch,
    LoadSettings,
    LoadSummary,
    RequestRecord,
    Requests,
    next_probe,
    summarise,
)
from benchwright.perf._values import DurationSpread, StageRecord
from benchwright.results._load import LoadView, headline, stages_of_interest
from benchwright.results._load_page import load_page
from benchwright.results._load_verdicts import verdicts
from benchwright.runs._load_work import ended_as

_STRETCHED = replace(HEALTH, verdict="limit", reasons=("its event loop was late",))
"""A client at its limit whose delays are too short to decide a probe."""
_LIMITED = replace(_STRETCHED, lag=DurationSpread(900, 0.2, 0.5, 0.9))
"""One that may have decided it."""
_Made = tuple[list[RequestRecord], LoadSettings, list[StageRecord]]


def searched(
    settings: LoadSettings, misses: dict[int, int], *, count: int, limited: frozenset[int] = frozenset(),
    stretched: frozenset[int] = frozenset(), most: int = 99
) -> _Made:  # fmt: skip
    """A search whose n-th probe has so many requests beyond the limits, as many as `most` at the end."""
    assert settings.search is not None
    records: list[RequestRecord] = []
    stages: list[StageRecord] = []
    clock = 0.0
    while len(stages) < min(most, settings.search.most_probes):
        found = summarise(Requests.of(records), settings, stages).search
        probe = next_probe(() if found is None else found.probes, settings)
        if probe is None:
            break
        level = probe.level
        slow = misses.get(len(stages), 0)
        for number in range(count):
            late = count - number <= slow  # the first quarter of a probe does not count
            # As many at a time as the level says, a little after one another.
            at = clock + number // int(level) * 0.5 + number % int(level) * 1e-5
            records.append(
                streamed(len(records), at, ttft=0.9 if late else 0.05, gaps=(), stage=len(stages))
            )  # fmt: skip
        ended = clock + count * 0.5 + 1
        health = _LIMITED if len(stages) in limited else _STRETCHED if len(stages) in stretched else HEALTH
        stages.append(StageRecord(len(stages), level, clock, ended, count, health=health))
        clock = ended + 1
    return records, settings, stages


def settings_of(share: float = 0.9, requests: int = 40, **search: object) -> LoadSettings:
    return LoadSettings(
        slo=(("ttft", 0.1),), slo_share=share, requests=requests,
        search=LoadSearch(share=share, **search),  # type: ignore[arg-type]
    )  # fmt: skip


def words_of(made: _Made, folder: Path) -> tuple[str, str, int]:
    """State and words of the verdict, and the exit code."""
    view, _ = view_of(made, folder)
    state, words = verdicts(view)[0]
    return state, words, ended_as(view.summary, None)[1]


def test_too_few_requests_for_the_share_are_no_answer(tmp_path: Path) -> None:
    made = searched(settings_of(0.99, 16, highest=4.0), {}, count=16)
    state, words, code = words_of(made, tmp_path)
    assert (state, code) == ("warn", 3)
    assert words.startswith(
        "4 in flight passed, but 36 counted requests cannot show ttft ≤ 100 ms in 99 % of requests: 299 are needed "
        "(--requests 134 or more, or a lower --slo-share)"
    )
    enough = searched(settings_of(0.99, 134, highest=4.0), {}, count=134)
    state, words, code = words_of(enough, tmp_path)
    assert (state, code) == ("ok", 0), words


@pytest.mark.parametrize("most_probes", [3, 4, 5])
def test_a_highest_level_that_passed_is_an_answer(most_probes: int, tmp_path: Path) -> None:
    made = searched(settings_of(highest=4.0, most_probes=most_probes), {}, count=40)
    state, words, code = words_of(made, tmp_path)
    assert (state, code) == ("ok", 0)
    assert "is at least 4 in flight, the highest level allowed (--concurrency LOWEST,HIGHEST)" in words
    assert f"{most_probes - 2} of " in words


def test_the_limit_that_ended_a_search_is_named(tmp_path: Path) -> None:
    state, words, code = words_of(searched(settings_of(most_probes=3), {}, count=40), tmp_path)
    assert (state, code) == ("warn", 3)
    assert "--max-probes 3 ended it before the next probe, at 8 in flight: allow more" in words
    timed = replace(settings_of(seconds=15.0), requests=None, seconds=2.0)
    state, words, code = words_of(searched(timed, {}, count=40, most=2), tmp_path)
    assert (state, code) == ("warn", 3)
    assert "--search-seconds 15 left no time for the next probe, at 4 in flight, which takes 2.0 s" in words


def test_a_level_with_mixed_probes_is_not_shown_as_the_largest_load(tmp_path: Path) -> None:
    """The first probe fails, the second passes, and the time is over."""
    made = searched(settings_of(lowest=5.0), {0: 9}, count=40, most=2)
    view, requests = view_of(made, tmp_path)
    best_words: Any = load_page(view, requests)["words"]
    page, shown = "{title}: 5 in flight, {of}".format(**best_words["best"]), text_of(view)
    assert "1 of 2 probes failed at 5 in flight: 70 % of 30 requests met the limits" in " ".join(
        shown.split()
    )
    assert "Largest load" not in page + shown
    assert "No largest load was found. Figures of one probe: 5 in flight, not known to meet the limits after 2 probes" in page  # fmt: skip
    assert "not known to meet the limits" in headline(view.summary)
    best = LoadView.best_stage(view.summary)
    assert best is not None
    assert best.stage == 0, "the probe that failed, as the verdict says"


def test_a_probe_that_the_client_limited_does_not_count_and_is_not_a_verdict(tmp_path: Path) -> None:
    made = searched(settings_of(highest=4.0), {}, count=40, limited=frozenset({2}))
    view, requests = view_of(made, tmp_path)
    assert ended_as(view.summary, None) == ("completed", 0)
    states = dict(reversed(pair) for pair in verdicts(view))
    assert "bad" not in states.values()
    assert states["1 probe at 4 in flight does not count: the client was the limit"] == "warn"
    assert "not counted" in text_of(view)
    words: Any = load_page(view, requests)["words"]
    assert "not counted" in words["probes"]


def test_a_client_that_cannot_have_decided_a_probe_is_a_caution(tmp_path: Path) -> None:
    made = searched(settings_of(highest=4.0), {}, count=40, stretched=frozenset({1}))
    view, _ = view_of(made, tmp_path)
    assert ended_as(view.summary, None) == ("completed", 0)
    (words,) = (words for state, words in verdicts(view) if state == "warn" and "client" in words)
    assert words.startswith("the client was the limit at 2 in flight: ")
    assert words.endswith("Its probes count: the client cannot have decided them")


@pytest.mark.parametrize("seed", range(25))
def test_page_terminal_json_and_exit_code_agree(seed: int, tmp_path: Path) -> None:
    dice = Random(seed)
    count, share = dice.choice((4, 12, 40, 140)), dice.choice((0.5, 0.9, 0.99, 1.0))
    settings = settings_of(
        share, count, lowest=float(dice.choice((1, 3))), highest=float(dice.choice((3, 4, 9, 4096))),
        repeats=dice.choice((1, 2, 3)), most_probes=dice.choice((1, 2, 4, 12)),
    )  # fmt: skip
    capacity = dice.choice((0, 1, 2, 5, 99))
    misses = {n: dice.choice((0, 1, count)) for n in range(12) if dice.random() < 0.3 or n > capacity}
    limited = frozenset(n for n in range(12) if dice.random() < dice.choice((0.0, 0.3)))
    most = dice.choice((3, 99))
    stretched = frozenset(n for n in range(12) if dice.random() < dice.choice((0.0, 0.3)))
    made = searched(settings, misses, count=count, limited=limited, stretched=stretched, most=most)
    view, requests = view_of(made, tmp_path)
    summary, search = view.summary, view.summary.search
    assert search is not None
    found, shown = verdicts(view), " ".join(text_of(view, 400).split())
    words: Any = load_page(view, requests)["words"]
    code = ended_as(summary, None)[1]
    states = [state for state, _ in found]
    assert (code == 0) == (found[0][0] == "ok") == (search.status in ("found", "at_least"))
    assert ("bad" in states) == (search.status in ("not_met", "client_limit"))
    assert (code == 1) == (search.status == "not_met")
    assert found[0][1] in shown
    assert LoadSummary.from_json(summary.to_json()).search == search
    assert [tuple(each) for each in words["verdicts"]] == found
    assert ("Largest load" in words["best"]["title"]) == (search.level is not None)
    best = LoadView.best_stage(summary)
    assert best is not None
    if search.level is not None:
        label = settings.label_of(search.level)
        assert best.label == label
        assert label in found[0][1]
        assert next(probe for probe in search.probes if probe.stage == best.stage).passed
    else:
        assert "is at least" not in found[0][1]
    if code == 0 or "the largest load that meets" in found[0][1]:
        assert search.requests >= search.needed
    if search.status == "unfinished":
        assert re.search(r"--max-probes \d+ ended|--search-seconds \d+ left", found[0][1])


def test_a_search_whose_lowest_level_fails_says_so_in_lists_too(tmp_path: Path) -> None:
    made = searched(settings_of(lowest=4.0, highest=16.0), dict.fromkeys(range(99), 30), count=40)
    view, _ = view_of(made, tmp_path)
    assert view.summary.search is not None
    assert view.summary.search.status == "not_met"
    assert "even at the lowest level" in verdicts(view)[0][1]
    assert "does not meet the limits even at the lowest level" in headline(view.summary)


def test_a_search_is_not_called_steady_if_most_probes_are_unclear(tmp_path: Path) -> None:
    view, _ = view_of(searched(settings_of(highest=8.0), {}, count=40), tmp_path)
    summary, found = view.summary, stages_of_interest(view.summary)[0].stage
    stages = tuple(
        replace(
            stage,
            steady=replace(stage.steady, verdict="steady" if stage.stage == found else "unclear", reasons=()),
        )
        for stage in summary.stages
    )
    seen = replace(view, summary=replace(summary, stages=stages))
    ((state, words),) = [pair for pair in verdicts(seen) if "steady" in pair[1]]
    count = len(stages)
    assert state == "warn"
    assert words.endswith(f"but not known to be so in {count - 1} of {count} probes")

"""Every Python block, every command and every shown output of the manual, executed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from page_blocks import Block, blocks_of, commands_of
from run_page import PROGRESS, pattern_of, steady

import warm
from waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LANGUAGES = {"bash", "console", "csv", "jinja", "json", "jsonl", "make", "python", "text", "toml", "yaml"}


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_does_what_it_says(page: Path) -> None:
    # A process of its own: blocks register fetchers and change folders. Its commands are forked, too. Each has its own
    # patience, so that of a page grows with them: a page of many commands does not hang because the machine is slow.
    blocks = blocks_of(page)
    pieces = sum(len(commands_of(block)) if block.language == "console" else 1 for block in blocks)
    done = warm.run(
        [sys.executable, "-W", "error", str(Path(__file__).with_name("run_page.py")), str(page)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S * (pieces + 1),
        env={**os.environ, warm.ORIGIN: "new"},
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_are_of_a_known_kind_and_executed_unless_a_reason_is_given(page: Path) -> None:
    for block in blocks_of(page):
        where = f"{page.name}:{block.line}"
        assert block.language in LANGUAGES, where
        assert block.mark != "not run" or block.value, f"{where}: say why it is not run"
        assert block.language != "console" or commands_of(block), f"{where}: no line starts with $"
        if block.language in ("csv", "jinja", "jsonl", "make", "text"):
            assert block.mark in ("file", "output", "not run"), f"{where}: neither written nor compared"


def test_exit_codes_and_output_are_read_from_a_console_block() -> None:
    block = Block("console", "$ one --two   # exit 3\nshown\n\n$ three\n", 10)
    first, second = commands_of(block)
    assert (first.text, first.exit_code, first.output, first.line) == ("one --two", 3, ["shown"], 10)
    assert (second.text, second.exit_code, second.output) == ("three", 0, [])


def test_times_may_differ_and_numbers_may_not() -> None:
    import re

    def agree(shown: list[str], printed: list[str]) -> bool:
        return bool(re.fullmatch(pattern_of(shown), "".join(f"{steady(line)}\n" for line in printed)))

    assert agree(["time  6 ms, 3 requests"], ["time  1.5 s, 3 requests"])
    assert not agree(["time  6 ms, 3 requests"], ["time  6 ms, 4 requests"])
    assert agree(["…", "last"], ["first", "second", "last"])
    assert not agree(["…", "last"], ["first", "last", "more"])
    assert agree(["a … c"], ["a b c"])


def test_further_counts_may_be_left_out() -> None:
    import re

    printed = "outcomes  scored 2 · unparsed 0 ·\n          empty 0 · skipped 1\n"
    assert re.fullmatch(pattern_of(["outcomes  scored 2 · …"]), printed)
    assert re.fullmatch(pattern_of(["outcomes  scored 2 · … skipped 1"]), printed)
    assert not re.fullmatch(pattern_of(["outcomes  scored 3 · …"]), printed)
    assert not re.fullmatch(pattern_of(["outcomes  scored 2 · … skipped 2"]), printed)


def test_lines_that_only_slow_machines_print_are_left_out() -> None:
    from benchwright.cli._code import progress_text
    from benchwright.cli._perf import load_line
    from benchwright.cli._progress import progress_line
    from benchwright.engine import Progress
    from benchwright.perf import LoadProgress, LoadSettings
    from benchwright.runs import ProgramProgress

    begun, asking = Progress("demo × test-mcq"), Progress("sums")
    asking.phase, asking.total = "asking", 12
    lines = [
        progress_line(begun),
        progress_line(asking),
        progress_text(ProgramProgress(1, "with_litellm", {"completed": 1}, {"mean": 0.5}, 6.0)),
        load_line(LoadProgress("qa", LoadSettings(requests=40))),
        load_line(LoadProgress("qa", LoadSettings(profile="poisson", levels=(1.0, 2.0), seconds=30.0))),
    ]
    assert [line for line in lines if not PROGRESS.match(line)] == []
    assert not PROGRESS.match("sums: completed, 12 samples")

"""Similar names in messages: every slip of the hand finds the name that was meant, and nothing else is offered with it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from benchwright.config import BY_NAME
from benchwright.core import Outcome, suggest

COMMANDS = ["run", "rm", "list", "show", "check", "compare", "resume", "rescore"]


def offered(name: str, known: list[str]) -> list[str]:
    return re.findall(r"'([^']*)'", suggest(name, known))


def slips(name: str) -> Iterator[str]:
    """A letter left out, doubled, swapped with the next or replaced; another separator; an ending more."""
    for at in range(1, len(name) - 1):
        yield name[:at] + name[at + 1 :]
        yield name[:at] + name[at] + name[at:]
        yield name[:at] + name[at + 1] + name[at] + name[at + 2 :]
        yield f"{name[:at]}q{name[at + 1 :]}"
    yield from (name.replace("_", "-"), name.replace("_", ""), f"{name}s", name.capitalize(), name.upper())


@pytest.mark.parametrize("name", [name for name in BY_NAME if len(name) > 4])
def test_every_slip_finds_the_name(name: str) -> None:
    for slip in slips(name):
        if slip in BY_NAME:
            continue
        found = offered(slip, list(BY_NAME))
        # Names of one letter's difference, such as num_x and num_y, are as near as each other.
        assert name in found, slip
        assert len(found) <= 2, (slip, found)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("temprature", ["temperature"]),
        ("timeout", ["request_timeout", "timeout_per_sample"]),
        ("retries", ["max_retries"]),
        ("workers", []),
        ("concurrency", []),
        ("x", []),
    ],
)
def test_only_what_may_be_meant_is_offered(name: str, expected: list[str]) -> None:
    assert offered(name, list(BY_NAME)) == expected


def test_short_names_have_slips_too() -> None:
    for slip, name in (("rnu", "run"), ("lst", "list"), ("shwo", "show"), ("chek", "check")):
        assert offered(slip, COMMANDS) == [name]
    assert offered("cvs", ["parquet", "csv", "tsv", "json"])[0] == "csv"


def test_names_of_other_lists() -> None:
    assert offered("request_faild", [outcome.value for outcome in Outcome]) == ["request_failed"]
    assert offered("anything", []) == []
    assert offered("--no-strict", ["--fewshot-strict", "--no-stream", "--limit"]) == []
    assert offered("--limt", ["--limit", "--timeout", "--quiet"]) == ["--limit"]

"""Prices stand in a dated file of the user's; the first entry that fits counts, and what is wrong has a line and a cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.config import Prices
from benchwright.core import ConfigError

GOOD = """
# what we pay
[[price]]
model = "big-*"
url = "https://one.example/*"
input = 2
cached_input = 0.5
output = 8.0
currency = "USD"
as_of = 2026-01-31
source = "https://one.example/prices"

[[price]]
model = "big-*"
input = 3
output = 9
currency = "USD"
as_of = 2026-02-01
"""


@pytest.fixture(autouse=True)
def _no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))


def test_the_first_entry_that_fits_model_and_server_counts(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(GOOD)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    prices = Prices.near(below)
    one, other = prices.find("big-1", "https://one.example/v1"), prices.find("big-1", "http://h/v1")
    assert one is not None
    assert other is not None
    assert (one.input, one.cached_input, one.as_of, one.file) == (2, 0.5, "2026-01-31", "prices.toml")
    assert other.input == 3
    assert prices.find("small", "http://h/v1") is None
    # 600 prompt tokens at full price, 400 from the cache, 100 completion tokens
    assert one.cost(1000, 100, 400) == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 8) / 1e6)
    assert other.cost(1000, 100, 400) == pytest.approx((1000 * 3 + 100 * 9) / 1e6)


def test_the_users_own_file_comes_after_the_folders(tmp_path: Path) -> None:
    home = tmp_path / "home" / "benchwright"
    home.mkdir(parents=True)
    (home / "prices.toml").write_text(GOOD.replace("big-*", "*").replace("input = 3", "input = 7"))
    found = Prices.near(tmp_path).find("anything", "")
    assert found is not None
    assert found.input == 7
    (tmp_path / "prices.toml").write_text(GOOD)
    found = Prices.near(tmp_path).find("big-1", "")
    assert found is not None
    assert found.input == 3
    given = tmp_path / "other.toml"
    given.write_text(GOOD.replace("big-*", "other"))
    assert Prices.near(tmp_path, str(given)).find("big-1", "") is None


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("input = 3", "input = -3", r"prices.toml:13: input is -3; expected the price of a million tokens"),
        ("input = 3", "input = true", "input is True"),
        ("output = 9", "outptu = 9", "prices.toml:13: unknown key 'outptu'. Did you mean 'output'"),
        ("output = 9\n", "", "prices.toml:13: output is missing"),
        ("2026-02-01", '"last week"', "as_of is 'last week'; expected a day without quotes"),
        (
            'currency = "USD"\nas_of = 2026-02-01',
            'currency = "$"\nas_of = 2026-02-01',
            "three capital letters",
        ),
        ("input = 3", "input = nan", "input is nan; expected the price of a million tokens"),
        ("input = 3", "input = inf", "input is inf"),
        (
            "input = 3",
            "input = 1e13",
            r"input is 10000000000000.0; expected the price of a million tokens, from 0 to 1e\+12",
        ),
        ("input = 3", 'input = "3"', "input is '3'"),
        ('model = "big-*"\ninput', 'model = " "\ninput', "model is ' '; expected a text"),
        ('model = "big-*"\ninput', "model = 7\ninput", "model is 7; expected a text"),
        ("2026-02-01", "12:30:00", "as_of is .*; expected a day without quotes"),
        ("[[price]]", "[[prices]]", "unknown key 'prices'. Did you mean 'price'"),
        ("input = 3", "input = ", "cannot be read as TOML.*line 15"),
    ],
)
def test_mistakes_are_named_with_line_and_cure(tmp_path: Path, before: str, after: str, says: str) -> None:
    (tmp_path / "prices.toml").write_text(GOOD.replace(before, after, 1))
    with pytest.raises(ConfigError, match=says):
        Prices.near(tmp_path)


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file of prices"):
        Prices.near(tmp_path, str(tmp_path / "none.toml"))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"price = 3\n", "price is not a list of tables; write"),
        (b"price = [1, 2]\n", "price is not a list of tables; write"),
        (b'[price]\nmodel = "m"\n', "price is not a list of tables; write"),
        (b"\xff\xfe", "cannot be read as TOML"),
        (
            GOOD.encode() + GOOD.encode(),
            r"prices.toml:21: big-\* already has a price, at .*prices.toml:3; keep one",
        ),
        (b'price = [{model = "m", input = 1}]', "prices.toml, entry 1: output is missing"),
    ],
    ids=["number", "numbers", "one table", "bytes", "twice", "inline"],
)
def test_files_that_are_something_else(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "prices.toml").write_bytes(content)
    with pytest.raises(ConfigError, match=says):
        Prices.near(tmp_path)


def test_byte_order_marks_empty_files_and_odd_model_ids_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_bytes(b"")
    assert Prices.near(tmp_path).find("m", "") is None
    with pytest.raises(ConfigError, match="has no prices"):  # somebody named it for its prices
        Prices.near(tmp_path, str(path))
    path.write_text("\ufeff" + GOOD.replace("big-*", "org/m[1]:latest"), encoding="utf-8")
    assert Prices.near(tmp_path).find("org/m[1]:latest", "http://h") is not None
    with pytest.raises(ConfigError, match="cannot be read"):
        Prices.near(tmp_path, str(tmp_path))


def test_a_file_that_others_can_write_to_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(GOOD)
    path.chmod(0o666)
    with pytest.raises(ConfigError, match=r"prices\.toml"):
        Prices.near(tmp_path)

"""Prices of models, from a dated file that users maintain. The program itself knows none, because prices change."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchwright.core import (
    ConfigError,
    JsonObject,
    TooDeepError,
    expand_home,
    late_pattern,
    own_ancestors,
    refuse_foreign,
    suggest,
)

PRICES_NAME = "prices.toml"
"""The name of the file."""
_NUMBERS = ("input", "cached_input", "output")
_TEXTS = ("model", "url", "currency", "source")
_KEYS = (*_TEXTS, *_NUMBERS, "as_of")
_REQUIRED = ("model", "input", "output", "currency", "as_of")
_CURRENCY = late_pattern(r"[A-Z]{3}")
_ENTRY = late_pattern(r"(?m)^[ \t]*\[\[[ \t]*price[ \t]*\]\]")
_MILLION = 1_000_000
_MOST = 1e12
_OLD_DAYS = 180
"""Age in days from which a note says how old a price is."""

_TEMPLATE = """\
# What the tokens of your models cost. benchwright has no built-in prices, because they change.
# The first entry that matches a model counts.

[[price]]
model = "demo"               # model id, or a pattern such as "small-*"
input = 0.50                 # per million prompt tokens; this number is invented
cached_input = 0.05          # optional: those that the server took from its cache
output = 1.50                # per million completion tokens
currency = "USD"
as_of = {today}           # the day of this price
source = "an example"        # optional: where it was published
# url = "https://api.example/*"   # optional: only on this server
"""


class Price(Struct, frozen=True):
    """The price of a model's tokens on one day."""

    model: str
    """Model id, or a pattern with `*`."""
    input: float
    """Price of a million prompt tokens."""
    output: float
    """Price of a million completion tokens."""
    currency: str
    """Three letters, as in ISO 4217."""
    as_of: str
    """The day of the price, as 2026-01-31."""
    file: str
    cached_input: float | None = None
    """Price of a million prompt tokens from the server's cache; None: the same as others."""
    url: str = "*"
    """URL of the server, or a pattern with `*`."""
    source: str = ""
    """Where the price was published."""

    def cost(self, prompt: int, completion: int, cached: int = 0) -> float:
        """The cost of this many tokens; `cached` ones are part of the prompt.

        >>> Price("m", 2.0, 8.0, "USD", "2026-01-31", "prices.toml", cached_input=1.0).cost(1000, 500, 400)
        0.0056
        """
        cached = min(cached, prompt)  # a server may count nonsense
        full, reply = Decimal(repr(self.input)), Decimal(repr(self.output))  # as the file has them
        reduced = full if self.cached_input is None else Decimal(repr(self.cached_input))
        return float(((prompt - cached) * full + cached * reduced + completion * reply) / _MILLION)

    @property
    def rates(self) -> tuple[object, ...]:
        """What decides costs: entries with the same rates cost the same."""
        cached = self.input if self.cached_input is None else self.cached_input
        return self.input, cached, self.output, self.currency

    def most(self, prompt: int, completion: int) -> float:
        """The most that this many tokens can cost, with or without the server's cache."""
        dearer = self.cached_input is not None and self.cached_input > self.input
        return self.cost(prompt, completion, prompt if dearer else 0)

    def figures(self, amount: float | None, spent: float | None, coverage: float) -> dict[str, Any]:
        """A cost in the form of records and JSON; `coverage` is the share of replies with known tokens."""
        return {
            "amount": amount, "spent": spent, "currency": self.currency, "as_of": self.as_of,
            "source": self.source or self.file, "coverage": coverage,
        }  # fmt: skip

    def estimate(
        self, prompt: float, longest_prompt: float | None, longest_replies: float | None
    ) -> JsonObject:
        """The cost of requests in the form of JSON, from empty replies to full-length ones. None: nothing limits the length of the
        replies, or of the prompts that contain them."""
        most = None
        if longest_prompt is not None and longest_replies is not None:
            most = self.cost(round(longest_prompt), round(longest_replies))
        return {
            "currency": self.currency, "as_of": self.as_of, "source": self.source or self.file,
            "prompts": self.cost(round(prompt), 0), "at_most": most,
            "doubt": self.doubt(datetime.now(UTC).date()) or None,
        }  # fmt: skip

    def doubt(self, day: date) -> str:
        """A warning about a price that is used on a day far from its own; empty otherwise."""
        days = (day - date.fromisoformat(self.as_of)).days
        if days > _OLD_DAYS:
            return f"the price of {self.model} in {self.file} dates from {self.as_of}, {days} days before the run: check it"
        if days < -1:  # time zones may differ by one day
            return f"the price of {self.model} in {self.file} dates from {self.as_of}, which is after the run: check it"
        return ""

    def to_json(self) -> JsonObject:
        """The form in records of runs."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


class Prices(Struct, frozen=True):
    """The entries of all files, in the order of precedence."""

    entries: tuple[Price, ...] = ()
    """In the order in which they are tried."""
    files: tuple[str, ...] = ()
    """The files that were read."""

    @staticmethod
    def first(today: date) -> dict[str, str]:
        """A file of prices to start from: its name and text."""
        return {PRICES_NAME: _TEMPLATE.format(today=today)}

    def find(self, model: str, url: str) -> Price | None:
        """The price of a model on a server."""
        for price in self.entries:
            named = model == price.model or fnmatchcase(model, price.model)
            if named and (url == price.url or fnmatchcase(url, price.url)):
                return price
        return None

    @classmethod
    def near(cls, start: Path, given: str | None = None) -> Prices:
        """The prices for a folder: only those of the `given` file, or those of `prices.toml` from `start` upwards and then of the
        user's file. Raises ConfigError with file, line and field."""
        if given is not None:
            found = cls._together([expand_home(given)])
            if not found.entries:
                raise ConfigError(
                    f"{given} has no prices: add a [[price]] table with {', '.join(_REQUIRED)}, or leave --prices out"
                )
            return found
        nearest = next(
            (folder / PRICES_NAME for folder in own_ancestors(start) if (folder / PRICES_NAME).is_file()),
            None,
        )
        if nearest is not None:
            refuse_foreign(nearest, "prices", start)
        own = Path(os.environ.get("XDG_CONFIG_HOME") or expand_home("~/.config"))
        # Some processes have no home folder.
        general = own / "benchwright" / PRICES_NAME if own.is_absolute() else None
        return cls._together([path for path in (nearest, general) if path is not None and path.is_file()])

    @classmethod
    def _together(cls, paths: Sequence[Path]) -> Prices:
        read = [_read(path) for path in paths]
        return cls(tuple(price for prices in read for price in prices), tuple(map(_shown, paths)))


def _shown(path: Path) -> str:
    """A path without parts that are specific to this machine."""
    home = expand_home("~")
    return (
        f"~/{path.relative_to(home)}"
        if path.is_relative_to(home) and path.name == PRICES_NAME and ".config" in path.parts
        else path.name
    )


def _read(path: Path) -> list[Price]:
    document, text = _document(path)
    if others := [name for name in document if name != "price"]:
        raise ConfigError(
            f"{path}: unknown key {others[0]!r}.{suggest(others[0], ['price'])} Prices belong in [[price]] tables"
        )
    tables = document.get("price", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigError(f"{path}: price is not a list of tables; write [[price]] before each of them")
    lines = [text.count("\n", 0, found.start()) + 1 for found in _ENTRY.finditer(text)]
    known = len(lines) == len(tables)  # not if a text contains such a line, or tables are inline
    found: dict[tuple[str, str], tuple[str, Price]] = {}
    for number, table in enumerate(tables):
        where = f"{path}:{lines[number]}" if known else f"{path}, entry {number + 1}"
        price = _price(table, where, _shown(path))
        key = (price.model, price.url)
        if key in found:
            raise ConfigError(
                f"{where}: {price.model} already has a price, at {found[key][0]}; keep one of them, or give them different urls"
            )
        found[key] = (where, price)
    return [price for _, price in found.values()]


def _document(path: Path) -> tuple[dict[str, Any], str]:
    import tomllib

    try:
        text = path.read_text(encoding="utf-8-sig")
        document = tomllib.loads(text)
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: there is no such file of prices; write one with: benchwright init --prices"
        ) from None
    except RecursionError:
        raise ConfigError(f"{path}: {TooDeepError()}") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{path}: cannot be read as TOML: {error}") from None
    return document, text


def _price(table: dict[str, Any], where: str, file: str) -> Price:
    for name in table:
        if name not in _KEYS:
            raise ConfigError(
                f"{where}: unknown key {name!r}.{suggest(name, _KEYS)} Known: {', '.join(_KEYS)}"
            )
    if missing := [name for name in _REQUIRED if name not in table]:
        raise ConfigError(f"{where}: {missing[0]} is missing; a price needs {', '.join(_REQUIRED)}")
    for name in _TEXTS:
        if name in table and not (isinstance(table[name], str) and table[name].strip()):
            raise ConfigError(f"{where}: {name} is {table[name]!r}; expected a text")
    for name in _NUMBERS:
        value = table.get(name, 0)
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= _MOST:
            raise ConfigError(
                f"{where}: {name} is {value!r}; expected the price of a million tokens, from 0 to {_MOST:g}"
            )
    if not _CURRENCY.fullmatch(table["currency"]):
        raise ConfigError(
            f"{where}: currency is {table['currency']!r}; expected three capital letters, such as USD"
        )
    day = table["as_of"]
    if not isinstance(day, date):
        raise ConfigError(
            f"{where}: as_of is {day!r}; expected a day without quotes, such as as_of = 2026-01-31"
        )
    return Price(**{**table, "as_of": day.isoformat()[:10], "file": file})

"""The declaration of a setting: its type, limits, aliases, and what it decides.

Flags, keys of files, Python keywords and the manual are derived from it and checked by it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from benchwright.core import (
    LEFT_OUT,
    JsonValue,
    TooDeepError,
    beyond_64_bits,
    finite_number,
    load_exact_json,
    load_json,
    suggest,
)

Kind: TypeAlias = Literal["int", "ints", "number", "bool", "text", "texts", "table", "steps"]
"""`texts` is a list of texts (one text is a list of one); `table` has JSON values by name; `steps` is a table or a list that
describes a request pipeline."""

Decides: TypeAlias = Literal[
    "everything", "data", "rows", "columns", "prompt", "questions", "replies", "scores", "summary", "source", "budget",
    "effort", "place",
]  # fmt: skip
"""What a setting decides. Comparisons, `--reuse`, `resume` and `rescore` are derived from it. They let a setting differ only
if they name its class, so that a new setting counts everywhere by default.

- `everything`: several of the following.
- `data`: which data are evaluated.
- `rows`: which rows of them.
- `columns`: what a row of a file of questions must contain.
- `prompt`: what a prompt says.
- `questions`: how a file of questions is sent and scored, as one recorded table.
- `replies`: the model, and how it generates.
- `scores`: how replies are scored.
- `summary`: what is computed from the scores.
- `source`: whether recorded replies may be reused.
- `budget`: how much a start of the run may do at once and spend. `resume` may change it.
- `effort`: how hard the run tries; it changes no reply.
- `place`: only names and places.
"""

HARMLESS: tuple[Decides, ...] = ("budget", "effort", "place")
"""Classes of settings that change no result."""

Table: TypeAlias = Literal["run", "benchmark", "suite", "dataset", "model", "demo", "perf"]
"""Tables of files in which a setting may be: `[run]`, `[benchmarks.NAME]`, a suite's `run`, an entry of its
`datasets`, `[models.NAME]`, that of a demo model, and `[perf]`."""

RUN_TABLES: tuple[Table, ...] = ("run", "benchmark", "suite", "dataset")
"""All tables with settings of runs."""

_EXPECTED: dict[Kind, str] = {
    "int": "a whole number",
    "ints": "a list of whole numbers",
    "number": "a number",
    "bool": "true or false",
    "text": "a text",
    "texts": "a list of texts",
    "table": "a table",
    "steps": "a table of pipeline settings or a list of steps",
}
_TYPES: dict[Kind, tuple[type, ...]] = {
    "int": (int,),
    "number": (int, float),
    "bool": (bool,),
    "text": (str, Path),
    "table": (Mapping,),
}


def _as_json(text: str) -> str:
    """What a text such as `n=3` may mean as JSON; else an example.

    >>> _as_json("n=3"), _as_json("model=demo"), _as_json("top_k")
    ('{"n": 3}', '{"model": "demo"}', '{"top_k": 5}')
    """
    pairs = [part.strip().partition("=") for part in text.split(",")]
    if "'" in text or not all(name.isidentifier() and equals and value for name, equals, value in pairs):
        return '{"top_k": 5}'

    def meant(value: str) -> JsonValue:
        try:
            found: JsonValue = json.loads(value)
        except ValueError:
            return value
        return found

    return json.dumps({name: meant(value) for name, _, value in pairs}, ensure_ascii=False)


class Setting(Struct, frozen=True):
    """A setting: its name and the values it takes.

    >>> Setting("limit", "int", "rows to evaluate", least=1).check(0)
    Traceback (most recent call last):
        ...
    ValueError: 0 is too small; expected a whole number of 1 or more
    """

    name: str
    """Canonical name, with underscores."""
    kind: Kind
    """Type of its values."""
    meaning: str
    """One line for help texts."""
    least: float | None = None
    """Smallest value."""
    above: float | None = None
    """Values must be greater than this."""
    most: float | None = None
    """Largest value."""
    choices: tuple[str, ...] = ()
    """The only texts allowed, if not all are."""
    plugins: str = ""
    """Kind of plugins whose names are allowed next to the choices; see `benchwright ls --plugins`."""
    aliases: tuple[str, ...] = ()
    """Other names of the setting."""
    group: str = ""
    """Heading in help texts."""
    can_be_left_out: bool = False
    """Whether `none` is a value: requests leave the setting out, and the server's default applies."""
    decides: Decides | None = None
    """What it decides. Settings of runs must say so."""
    default: JsonValue = None
    """Its value unless one is given."""
    otherwise: str = ""
    """The default in words, if it is not a single value."""
    metavar: str = ""
    """The placeholder of its value in help texts; empty: N or X."""
    tables: tuple[Table, ...] = RUN_TABLES
    """Tables of files it may be in."""
    body: bool = False
    """Whether it is sent in every request body, under its name."""
    commas: bool = False
    """Whether one text may contain several values, between commas."""
    only: str = ""
    """The type of question files (`mcq`, `qa`) that it is for; empty: all."""
    recorded: str = ""
    """Its name in the settings of an endpoint or a function-calling evaluation, if that differs."""
    judge: str = ""
    """The key in a judge's settings, if it is a setting of judges."""
    flag: bool = True
    """Whether the command line has a flag for it."""
    joined: bool = False
    """Whether the texts of a flag that is given more than once are joined by commas."""
    frequent: bool = False
    """Whether `--help` lists its flag; `--help-all` lists every flag."""
    more: str = ""
    """Further text for the manual."""
    see: str = ""
    """Page of the manual, with anchor, that explains it."""

    @property
    def help(self) -> str:
        """The line of the help text."""
        notes = [f"default: {self.otherwise or shown_value(self.default)}"] if self.default_known else []
        if self.can_be_left_out:
            notes.append(f"{LEFT_OUT}: not sent")
        text = self.meaning
        if self.choices:
            text += (": " if len(self.choices) == 1 else "; one of ") + ", ".join(self.choices)
        return f"{text} ({'; '.join(notes)})" if notes else text

    @property
    def default_known(self) -> bool:
        """Whether it has a default that can be shown."""
        return bool(self.otherwise) or self.default is not None

    @property
    def metavariable(self) -> str:
        """The placeholder of its value in help texts."""
        return self.metavar or ("N" if self.kind == "int" else "X")

    @property
    def flags(self) -> list[str]:
        """Its flags; the first has its name."""
        return [f"--{name.replace('_', '-')}" for name in (self.name, *self.aliases)]

    @property
    def limits(self) -> str:
        """The range of its values in words; empty if there is none.

        >>> Setting("top_p", "number", "", above=0, most=1).limits
        'above 0, at most 1'
        """
        if self.least is not None and self.most is not None:
            return f"from {self.least:g} to {self.most:g}"
        parts = [] if self.least is None else [f"{self.least:g} or more"]
        parts += [] if self.above is None else [f"above {self.above:g}"]
        parts += [] if self.most is None else [f"at most {self.most:g}"]
        return ", ".join(parts)

    @property
    def expected(self) -> str:
        """The expected values, in words."""
        text = _EXPECTED[self.kind]
        if self.can_be_left_out:
            return (
                f"{replace(self, can_be_left_out=False).expected}, or {LEFT_OUT} to leave it out of requests"
            )
        if self.choices:
            return "one of " + ", ".join(self.choices)
        limits = []
        if self.least is not None and self.most is not None:
            return f"{text} from {self.least:g} to {self.most:g}"
        if self.least is not None:
            limits.append(f"of {self.least:g} or more")
        if self.above is not None:
            limits.append(f"above {self.above:g}")
        if self.most is not None:
            limits.append(f"and at most {self.most:g}")
        return " ".join([text, *limits])

    def check(self, value: object) -> JsonValue:
        """Return the value in its proper type. Raises `ValueError` with the value and what is expected."""
        if self.can_be_left_out and value == LEFT_OUT:
            return [LEFT_OUT] if self.kind == "texts" else LEFT_OUT
        match self.kind:
            case "int":
                if isinstance(value, bool) or not isinstance(value, int):
                    raise self._wrong(value)
                if abs(value) >= 2**63:  # no server, file or column holds it
                    raise ValueError(
                        f"{value} has more than 64 bits; expected a whole number of at most 2^63 − 1"
                    )
                return self._in_range(value)
            case "ints":
                written = list(value) if isinstance(value, list | tuple) else [value]
                numbers = [each for each in written if isinstance(each, int) and not isinstance(each, bool)]
                if not written or len(numbers) < len(written):
                    raise self._wrong(value)
                return [self._in_range(each) for each in numbers]
            case "number":
                if (number := finite_number(value)) is None:
                    raise self._wrong(value)
                return self._in_range(number)
            case "bool":
                if not isinstance(value, bool):
                    raise self._wrong(value)
                return value
            case "text":
                if not isinstance(value, str) or not value.strip():
                    raise self._wrong(value)
                if "\0" in value:
                    raise ValueError(
                        f"{value!a} has the character \\0, which neither files nor commands can contain"
                    )
                check_whole(value)
                if self.choices and value not in self.choices and value not in self._installed():
                    known = (*self.choices, *self._installed())
                    raise ValueError(
                        f"{value!r} is not known; expected one of {', '.join(known)}.{suggest(value, known)}"
                    )
                return value
            case "texts":
                if isinstance(value, dict) and self.metavar == "FIELD=VALUE":
                    plain = all(isinstance(one, str | int | float) for one in value.values())
                    value = [f"{name}={one}" for name, one in value.items()] if plain else value
                texts = [value] if isinstance(value, str) else value
                if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
                    raise self._wrong(value)
                for text in texts:
                    check_whole(text)
                return list(texts)
            case "table":
                if not isinstance(value, dict):
                    raise self._wrong(value)
                return sendable(value)
            case "steps":  # `pipeline_settings` checks its content
                if not isinstance(value, dict | list):
                    raise self._wrong(value)
                return sendable(value)

    def wrong_type(self, value: object) -> str:
        """The Python types that a value must have, in words; empty if it has one of them."""
        types = _TYPES.get(self.kind, ())
        if not types or (isinstance(value, types) and (not isinstance(value, bool) or bool in types)):
            return ""
        if self.kind == "table":
            return 'a dict, such as {"top_k": 5}'
        return " or ".join(each.__name__ for each in types if each is not Path)

    def parse(self, text: str) -> JsonValue:
        """The value of a flag. Raises `ValueError` like `check`."""
        value: object = text
        if self.can_be_left_out and text == LEFT_OUT:
            return self.check(text)
        try:
            if self.kind == "int":
                value = int(text)
            elif self.kind == "ints":
                value = [int(each) for each in text.split(",")]
            elif self.kind == "number":
                value = float(text)
            elif self.kind in ("table", "steps"):
                exact = beyond_64_bits(
                    text.encode(errors="replace")
                )  # otherwise it would be rounded, and accepted
                value = load_exact_json(text) if exact else load_json(text)
        except json.JSONDecodeError as error:
            why = f": {error.msg} (character {error.pos + 1})" if text.lstrip()[:1] in ("{", "[") else ""
            raise ValueError(
                f"{text!r} is not JSON{why}. Write a JSON object, with names and texts in double quotes and the whole in single "
                f"quotes, such as '{_as_json(text)}'"
            ) from None
        except TooDeepError as error:
            raise ValueError(f"the value is not usable JSON: {error}") from None
        except ValueError:
            raise self._wrong(text) from None
        return self.check(value)

    def _installed(self) -> list[str]:
        """Names that installed packages add."""
        if not self.plugins:
            return []
        from benchwright.core import Registry

        return [entry.name for entry in Registry.entries_of(self.plugins)]

    def _wrong(self, value: object) -> ValueError:
        shown = str(value).lower() if isinstance(value, bool) else repr(value)
        kind = _EXPECTED[self.kind]
        return ValueError(
            f"{shown} is not {kind}" + (f"; expected {self.expected}" if self.expected != kind else "")
        )

    def _in_range(self, value: float) -> float:
        if (self.least is not None and value < self.least) or (
            self.above is not None and value <= self.above
        ):
            raise ValueError(f"{value:g} is too small; expected {self.expected}")
        if self.most is not None and value > self.most:
            raise ValueError(f"{value:g} is too large; expected {self.expected}")
        return value


_KINDS: dict[str, Kind] = {
    "int": "int",
    "float": "number",
    "bool": "bool",
    "str": "text",
    "Path": "text",
    "tuple[str,": "texts",
    "tuple[int,": "ints",
    "Mapping[str,": "table",
}
"""Kind of a setting by the first word of its field's type."""


def row(meaning: str, decides: Decides, *, kind: Kind | None = None, **details: Any) -> Any:
    """Declare a field of a class of options together with its setting. The name, and the kind unless given, come from the
    field. Any, because a type checker uses the annotation of the field."""
    declared = Setting("", kind or "text", meaning, decides=decides, **details)
    return field(default_factory=partial(_not_given, declared, kind))


def _not_given(setting: Setting, kind: Kind | None) -> None:
    """The default of a field. It carries the setting: fields of structs have no place for it."""
    return None


def settings_in(options: type[Struct]) -> tuple[Setting, ...]:
    """The settings of a class whose fields are rows, in its order."""
    types = options.__annotations__
    rows = zip(options.__struct_fields__, options.__struct_defaults__, strict=True)
    declared = ((name, *each.factory.args) for name, each in rows)
    return tuple(
        replace(setting, name=name, kind=kind or _KINDS[types[name].split(" ")[0]])
        for name, setting, kind in declared
    )


def shown_value(value: JsonValue) -> str:
    """A default in the form that people write.

    >>> shown_value(0.5), shown_value(4096), shown_value(True), shown_value(("1", "2"))
    ('0.5', '4096', 'on', '1,2')
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return ",".join(map(shown_value, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def check_whole(text: str) -> None:
    """Raise ValueError for a text with a lone surrogate, which can be neither sent nor written."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError(f"{text!a} has half a character, which cannot be sent; write the whole character")


def sendable(value: object) -> JsonValue:
    """The value as JSON. Raises ValueError for values that JSON, or the record of a run, cannot represent: dates, times, nan, inf, lone
    surrogates, integers beyond 64 bits."""
    if isinstance(value, dict):
        return {str(key): sendable(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [sendable(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} cannot be sent as JSON; expected a finite number")
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ValueError(
            "an integer beyond 64 bits cannot be sent or recorded as JSON; write it as a text in quotes"
        )
    if isinstance(value, str):
        check_whole(value)
    if value is None or isinstance(value, str | int | float | bool):
        return value
    kind = type(value).__name__
    shown = "a date or time" if kind in ("date", "datetime", "time") else f"a value of type {kind}"
    raise ValueError(f"{value} is {shown}, which JSON cannot represent; write it as a text in quotes")

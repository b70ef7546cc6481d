"""A policy: the requirements for a run. It is read from TOML, and every key is checked before anything is judged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Struct, structs

from benchwright.config import Setting, read_toml, read_values
from benchwright.core import ConfigError, NotFoundError, Outcome, clause, suggest

RuleKind: TypeAlias = str
"""A name in `KEYS`."""
Bound: TypeAlias = Literal["lower", "value", "upper"]
"""The value that must meet the limit: an end of the interval, or the value itself."""
FAILED = "share of failed samples"
"""What a rule about failures is called."""
USAGE_FIGURES = ("prompt_tokens", "completion_tokens", "total_tokens", "cost", "cost_per_right_answer")

_METRIC = Setting("metric", "text", "a metric, or a pattern such as acc_* that matches several")
_LIMITS = (
    Setting("min", "number", "the least that is allowed", otherwise="any"),
    Setting("max", "number", "the most that is allowed", otherwise="any"),
)
_BOUND = Setting(
    "bound", "text", "what must meet the limit: an end of the interval, or the value itself",
    choices=("lower", "value", "upper"),
)  # fmt: skip
_LEVEL = Setting("level", "number", "level of the interval", above=0.5, most=0.9999, default=0.95)
_SLICED = (
    Setting(
        "slices",
        "text",
        "a column of the data: the rule applies to each group of rows with an equal value there",
        otherwise="all rows together",
    ),
    Setting("min_rows", "int", "groups of fewer rows are left out and named", least=1, default=1),
)
_FAILURES = Setting("failures_as_wrong", "bool", "count failed samples as 0", default=False)
_STAGE = Setting(
    "stage", "text", "the level of a load test, as its table names it; all: every one of them", otherwise="the only one"
)  # fmt: skip

KEYS: dict[RuleKind, tuple[Setting, ...]] = {
    "threshold": (_METRIC, *_LIMITS, _BOUND, _LEVEL, *_SLICED, _FAILURES),
    "regression": (
        _METRIC,
        Setting("margin", "number", "the largest loss that is allowed", least=0, otherwise="0"),
        Setting("margin_percent", "number", "the same, in percent of the baseline's value", least=0, otherwise="0"),
        _BOUND,
        _LEVEL,
        Setting("detect", "number", "a loss that must not be missed: if the rows cannot show it, no GO", above=0, otherwise="none"),
        *_SLICED,
        _FAILURES,
        Setting("lower_is_better", "bool", "whether less is better", otherwise="as the run or its name says"),
        _STAGE,
    ),
    "failures": (
        Setting("outcome", "texts", "count samples with these outcomes", otherwise="all that failed"),
        Setting("max", "number", "the largest share that is allowed", least=0, most=1),
        structs.replace(_BOUND, default="value"),
        _LEVEL,
        *_SLICED,
    ),
    "usage": (
        Setting("figure", "text", "what is counted", choices=USAGE_FIGURES),
        *_LIMITS,
        Setting("per", "text", "of the whole run, or of one sample", choices=("run", "sample"), default="run"),
        Setting("currency", "text", "the currency that the price list must have", otherwise="any"),
    ),
    "load": (
        Setting("figure", "text", "a figure of load tests: ttft.p99, e2e.mean, goodput, error_share, request_throughput"),
        *_LIMITS,
        structs.replace(_BOUND, default="value"),
        _STAGE,
    ),
}  # fmt: skip
"""The keys of each kind of rule. A key without `default` and `otherwise` must be given."""
GATE_KEYS = (
    Setting("alpha", "number", "largest rate of false NO-GOs, over all tests together", above=0, most=0.5, default=0.05),
    Setting("power", "number", "power for which the smallest detectable effect and the rows needed are given", least=0.5, most=0.999, default=0.8),
    Setting("max_failed", "number", "share of failed samples above which the run is never GO", least=0, most=1, otherwise="the run's own"),
    Setting("may_differ", "texts", "settings in which run and baseline may differ", otherwise="none"),
)  # fmt: skip
"""The keys of the table `[gate]`."""


class Rule(Struct, frozen=True, kw_only=True):
    """One rule. `KEYS` has the keys of each kind."""

    kind: RuleKind
    where: str
    """File, line and table, for messages."""
    metric: str = ""
    figure: str = ""
    outcome: tuple[str, ...] = ()
    min: float | None = None
    max: float | None = None
    bound: Bound = "value"
    level: float = 0.95
    margin: float = 0.0
    margin_percent: float | None = None
    detect: float | None = None
    slices: str | None = None
    min_rows: int = 1
    failures_as_wrong: bool = False
    lower_is_better: bool | None = None
    per: Literal["run", "sample"] = "run"
    currency: str = ""
    stage: str | None = None

    @property
    def limits(self) -> list[tuple[float, int]]:
        """Each limit with its side: 1 for a minimum, -1 for a maximum."""
        return [(limit, side) for limit, side in ((self.min, 1), (self.max, -1)) if limit is not None]


class Policy(Struct, frozen=True, kw_only=True):
    """All rules, and how certain a gate must be."""

    source: str
    """The file, as the user named it."""
    rules: tuple[Rule, ...]
    alpha: float = 0.05
    power: float = 0.8
    max_failed: float | None = None
    may_differ: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path) -> Policy:
        """Read the policy in a TOML file. Raises NotFoundError if there is none, and ConfigError if it is not a policy."""
        if path.is_dir() or (path.is_file() and path.suffix.lower() != ".toml"):
            raise ConfigError(
                f"{path} is no policy: a policy is a TOML file whose name ends in .toml. {_EXAMPLE}"
            )
        try:
            document, text = read_toml(path)
        except NotFoundError:
            near = (
                suggest(path.name, [each.name for each in path.parent.glob("*.toml")])
                if path.parent.is_dir()
                else ""
            )
            raise NotFoundError(f"there is no policy {path}.{near} {_EXAMPLE}") from None
        except ConfigError as error:
            raise ConfigError(f"the policy {clause(error)}. {_EXAMPLE}") from None
        return cls.of(document, str(path), text)

    @classmethod
    def of(cls, document: Mapping[str, object], source: str, text: str = "") -> Policy:
        """Read the policy in the tables of a TOML document. `text` is the file, for line numbers."""
        known = ("gate", *KEYS)
        gate = document.get("gate", {})
        if not isinstance(gate, dict):
            raise ConfigError(f"{source}: gate is {gate!r}; expected a table, written as [gate]")
        problems = []  # all at once: a policy is often written in one go
        values: dict[str, Any] = {}
        try:
            values = read_values(f"{source}{_line(text, 'gate')}: [gate]", gate, GATE_KEYS, hints={})
        except ConfigError as error:
            problems.append(clause(error))
        for name, value in document.items():
            if name not in known:
                written = (
                    f"[[{name}]]"
                    if isinstance(value, list)
                    else f"[{name}]"
                    if isinstance(value, dict)
                    else name
                )
                problems.append(
                    f"{source}{_line(text, name)}: {written} is not known.{suggest(name, known)} Known: [gate] and the rules "
                    f"{', '.join(f'[[{kind}]]' for kind in KEYS)}"
                )
        values["may_differ"] = tuple(values.get("may_differ", ()))
        found = [
            (_line(text, kind, number), kind, table)
            for kind in KEYS
            for number, table in enumerate(_tables(document.get(kind, []), kind, source))
        ]
        found.sort(key=lambda each: int(each[0][1:] or 0))  # in the order of the file
        rules: list[Rule] = []
        for line, kind, table in found:
            try:
                rules.append(_rule(kind, table, f"{source}{line}: [[{kind}]]"))
            except ConfigError as error:
                problems.append(clause(error))
        if problems:
            raise ConfigError("\n".join(problems))
        if not rules:
            raise ConfigError(f"the policy {source} has no rules: there is nothing to check. {_EXAMPLE}")
        _refuse_twins(rules)
        return cls(source=source, rules=tuple(rules), **values)

    def check_figures(self) -> None:
        """Raise ConfigError for figures that no load test has."""
        from benchwright.results._gates.load_claims import (
            split_figure,
        )  # which needs the figures of load tests

        for rule in self.rules:
            if rule.kind == "load":
                split_figure(rule, rule.figure)

    @property
    def needs_baseline(self) -> bool:
        """Whether a rule compares with a baseline."""
        return any(rule.kind == "regression" for rule in self.rules)


_EXAMPLE = """To start, write one rule into a TOML file:
  [[threshold]]
  metric = "correct"
  min = 0.8
  bound = "lower"
See: docs/gates.md"""


def _tables(value: object, kind: str, source: str) -> list[Mapping[str, object]]:
    tables = [value] if isinstance(value, dict) else value
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigError(f"{source}: {kind} is {value!r}; expected a table, written as [[{kind}]]")
    return tables


def _rule(kind: RuleKind, table: Mapping[str, object], where: str) -> Rule:
    values: dict[str, Any] = read_values(where, table, KEYS[kind], hints=_HINTS.get(kind, {}))
    for setting in KEYS[kind]:
        if setting.default is None and not setting.otherwise and setting.name not in values:
            raise ConfigError(
                f"{where} has no {setting.name}; add it: {setting.meaning} ({setting.expected})"
            )
    if "min" in {each.name for each in KEYS[kind]} and not {"min", "max"} & values.keys():
        raise ConfigError(f"{where} has no limit; add min or max, a number")
    if {"margin", "margin_percent"} <= values.keys():
        raise ConfigError(f"{where} has margin and margin_percent; keep one of them")
    if "detect" in values and values["bound"] != "upper":
        raise ConfigError(
            f'{where} detect: only with bound = "upper", where a loss that the rows cannot show would pass. With "lower", '
            "a GO shows that no loss is larger than the margin"
        )
    if {"min", "max"} <= values.keys() and values["min"] > values["max"]:
        raise ConfigError(
            f"{where}: min {values['min']:g} is above max {values['max']:g}; nothing can meet both"
        )
    names = [outcome.value for outcome in Outcome]
    for outcome in values.get("outcome", ()):
        if outcome not in names:
            raise ConfigError(
                f"{where} outcome: {outcome!r} is not known.{suggest(outcome, names)} Known: {', '.join(names)}"
            )
    if "outcome" in values:
        values["outcome"] = tuple(values["outcome"])
    defaults = {each.name: each.default for each in KEYS[kind] if each.default is not None}
    return Rule(kind=kind, where=where, **{**defaults, **values})


_HINTS: dict[str, dict[str, str]] = {
    "threshold": {
        **dict.fromkeys(
            ("value", "threshold", "at_least", "above", "minimum"), "the limit is min or max: min = 0.8"
        ),
        "margin": "thresholds have min and max; a margin belongs to [[regression]]",
        "detect": "thresholds have min and max; detect belongs to [[regression]]",
    },
    "regression": {
        **dict.fromkeys(
            ("max_loss", "max_drop", "max_decrease", "max_regression", "tolerance", "threshold"),
            "the largest loss that is allowed is the margin: margin = 0.02",
        ),
        "min": "a regression has a margin, the largest loss that is allowed; min belongs to [[threshold]]",
        "max": "a regression has a margin, the largest loss that is allowed; max belongs to [[threshold]]",
    },
}


def _refuse_twins(rules: Sequence[Rule]) -> None:
    """Raise for two rules about the same figure, because they would be two tests, and one may be a mistake."""
    seen: dict[tuple[object, ...], str] = {}
    for rule in rules:
        ends = (rule.min is None, rule.max is None)
        key = (
            rule.kind, rule.metric, rule.figure, rule.outcome, rule.slices, rule.stage, rule.per, rule.failures_as_wrong, ends,
        )  # fmt: skip
        if key in seen:
            raise ConfigError(f"{rule.where} repeats the rule at {seen[key]}; keep one of them")
        seen[key] = rule.where


def _line(text: str, table: str, number: int = 0) -> str:
    """`:12`, the line where a table begins; empty if it is not known."""
    pattern = re.compile(
        rf"^\s*\[{{1,2}}\s*[\"']?{re.escape(table)}[\"']?\s*[\].]|^\s*{re.escape(table)}\s*="
    )
    found = [at for at, line in enumerate(text.splitlines(), start=1) if pattern.match(line)]
    return f":{found[number]}" if number < len(found) else ""

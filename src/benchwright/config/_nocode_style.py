"""`style` and `grader` of a described evaluation: the place of the right answer, and how a reply is compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct, field

from benchwright.config._setting import Setting
from benchwright.config._values import read_values
from benchwright.core import ConfigError, JsonObject, JsonValue, suggest

GraderType: TypeAlias = Literal[
    "exact_match", "contains", "regex", "numeric", "levenshtein", "llm_judge", "python", "leading_label",
    "scorer",
]  # fmt: skip
"""How a free reply is compared with the right answer. `leading_label` searches for a label at its beginning; `scorer` is a
built-in or installed scorer by name."""

GRADERS: tuple[GraderType, ...] = get_args(GraderType)
"""All types of graders, in the order in which messages list them."""

NORMALIZE = ("casefold", "punctuation", "space", "articles")
"""Differences that can be removed from replies and answers before they are compared."""

ALGORITHMS = ("sha256", "siphash13")
"""Hashes for shuffling choices."""

_ALIASES = {
    "strip_punctuation": "punctuation",
    "collapse_space": "space",
    "collapse_spaces": "space",
    "strip_articles": "articles",
}
_ONLY: dict[str, tuple[str, ...]] = {
    "tolerance": ("numeric",),
    "pattern": ("regex",),
    "threshold": ("levenshtein", "llm_judge"),
    "function": ("python",),
    "scorer": ("scorer",),
    "judge": ("llm_judge",),
    "judge_model": ("llm_judge",),
    "judge_template": ("llm_judge",),
    "criteria": ("llm_judge",),
    "labels": ("leading_label",),
    "tokens": ("leading_label",),
    "normalize": ("exact_match", "contains", "levenshtein"),
}
_GRADER = (
    Setting("type", "text", "how replies are compared"),
    Setting("golden_column", "text", "column of the right answer"),
    Setting("tolerance", "number", "relative tolerance for numbers", least=0),
    Setting("pattern", "text", "regular expression; without it the column contains one per row"),
    Setting(
        "threshold", "number", "similarity or judge's score from which a reply is right", least=0, most=1
    ),
    Setting("function", "text", "file.py:name or package.module:name"),
    Setting("scorer", "text", "a built-in or installed scorer by name"),
    Setting("judge", "table", "the judge: url, model_id, api_key_name, …"),
    Setting("judge_model", "text", "the judge by its name in [models.*]"),
    Setting("judge_template", "text", "how the judge is asked"),
    Setting("criteria", "text", "further instructions to the judge"),
    Setting("labels", "texts", "labels to look for"),
    Setting("tokens", "int", "how many of the first words to search", least=1),
)
_CHOICE = (
    Setting("type", "text", "multiple_choice"),
    Setting("choices", "table", "where the choices are"),
    Setting("choice_labels", "texts", "what choices are called"),
    Setting("answer", "table", "where the right one is"),
    Setting("shuffle", "table", "a new order for each row"),
)


class ChoiceStyle(Struct, frozen=True, kw_only=True):
    """Multiple choice: the choices of a row, their labels, and which is right."""

    column: str | None = None
    """Column with all choices: a list, an object by label, or either as JSON text."""
    columns: tuple[str, ...] = ()
    """One column for each choice, instead."""
    labels: tuple[str, ...]
    """The labels of choices; the first n label a row's n choices."""
    answer: Literal["label", "index", "choice"]
    """The content of the answer column: a label, a number, or (as one of `columns`) the right choice."""
    answer_column: str
    """Column of the right answer."""
    index_base: int = 0
    """The number of the first choice, if the answer is a number."""
    seed_column: str | None = None
    """Column that decides a row's order of choices; None: the order of the data."""
    algorithm: str = "sha256"
    """Hash that decides the order."""


class GraderStyle(Struct, frozen=True, kw_only=True):
    """Free replies: the right answer, and how a reply is compared with it."""

    type: GraderType
    """How they are compared."""
    golden_column: str
    """Column of the right answer."""
    normalize: tuple[str, ...] = ()
    """Differences that are removed from both before."""
    tolerance: float = 0.0
    """The largest difference of numbers, as a share of the right one."""
    pattern: str | None = None
    """Regular expression of `regex`; None: the column has one per row."""
    threshold: float | None = None
    """Similarity, or a judge's score, from which a reply counts as right; None: only the similarity or the score is reported."""
    function: str | None = None
    """`file.py:name` with an absolute path, or `package.module:name`."""
    scorer: str | None = None
    """Name of the scorer of type `scorer`."""
    judge: JsonObject = field(default_factory=dict)
    """Settings of the judge."""
    judge_model: str | None = None
    """The judge's name among the configured models, until it is looked up."""
    judge_template: str = "binary_qa"
    """How the judge is asked."""
    criteria: str = ""
    """Further instructions to the judge."""
    labels: tuple[str, ...] = ()
    """Labels of `leading_label`."""
    tokens: int = 5
    """How many of a reply's first words `leading_label` searches."""


def read_style(
    where: str, style: object, grader: object, normalize: object
) -> tuple[ChoiceStyle | None, GraderStyle | None]:
    """Read exactly one of the two from `style`, with the additions of `grader` and `normalize`."""
    if not isinstance(style, Mapping):
        found = "is missing" if style is None else f"is {style!r}"
        raise ConfigError(
            f'{where} style {found}; expected a table: style = {{ type = "exact_match", golden_column = "answer" }}'
        )
    values: dict[str, object] = {str(key): value for key, value in style.items()}
    if values.get("type") == "multiple_choice":
        if grader is not None or normalize is not None:
            what = "grader" if grader is not None else "normalize"
            raise ConfigError(
                f"{where} {what}: multiple choice is decided by labels; leave it out, or use another style"
            )
        return _choices(f"{where} style", values), None
    if isinstance(grader, str):
        grader = {"type": grader}
    if isinstance(grader, Mapping):
        if values.get("type", "exact_match") != "exact_match":
            raise ConfigError(f"{where} grader: style is {values['type']!r} already; keep one of them")
        values |= {str(key): value for key, value in grader.items()}
    elif grader is not None:
        raise ConfigError(f"{where} grader: {grader!r} is not known; expected one of {', '.join(GRADERS)}")
    if normalize is not None:
        values.setdefault("normalize", normalize)
    return None, _grader(f"{where} style", values)


def _grader(where: str, values: dict[str, object]) -> GraderStyle:
    written = values.get("type", "exact_match")
    if written in ("embedding", "cosine"):
        raise ConfigError(
            f"{where}: {written} compares embeddings, and there is no embedding model here (all-MiniLM-L6-v2 "
            "would have to be installed with its library). Use levenshtein, contains or llm_judge"
        )
    known = next((name for name in GRADERS if name == written), None)
    if known is None:
        names = ("multiple_choice", *GRADERS)
        raise ConfigError(
            f"{where} type: {written!r} is not known.{suggest(str(written), names)} Known: {', '.join(names)}. For a scorer by "
            'name: type = "scorer", scorer = "NAME"'
        )
    for key, only in _ONLY.items():
        if key in values and known not in only:
            raise ConfigError(f"{where} {key}: only {' and '.join(only)} take this; leave it out")
    kept = read_normalize(where, values.pop("normalize", None))
    checked: dict[str, Any] = dict(read_values(where, values, _GRADER, hints={}))
    if "golden_column" not in checked:
        raise ConfigError(
            f'{where} has no golden_column, the column of the right answer. Add: golden_column = "answer"'
        )
    if known == "python" and "function" not in checked:
        raise ConfigError(f'{where} has no function. Add, for example: function = "graders.py:grade"')
    if known == "scorer" and "scorer" not in checked:
        raise ConfigError(f'{where} has no scorer. Add its name, for example: scorer = "f1_token"')
    if known == "llm_judge" and ("judge" in checked) == ("judge_model" in checked):
        raise ConfigError(
            f'{where}: llm_judge needs one judge: judge_model = "NAME" of a [models.NAME] table, or '
            'judge = { url = "http://…/v1", model_id = "…" }'
        )
    if known == "leading_label" and not checked.get("labels"):
        raise ConfigError(f'{where} has no labels. Add, for example: labels = ["yes", "no"]')
    checked["labels"] = tuple(checked.get("labels", ()))
    return GraderStyle(**{**checked, "type": known, "normalize": kept})


def read_normalize(where: str, value: object) -> tuple[str, ...]:
    """Read the normalisations: `true`, a list of names, or a table of switches."""
    if value is None or value is False:
        return ()
    if value is True:
        return NORMALIZE
    names: list[object] = []
    if isinstance(value, str):
        names = [value]
    elif isinstance(value, list | tuple):
        names = list(value)
    elif isinstance(value, Mapping):
        names = [name for name, on in value.items() if on]
    found = []
    for name in names or [value]:
        plain = _ALIASES.get(str(name), str(name))
        if plain not in NORMALIZE:
            raise ConfigError(
                f"{where} normalize: {name!r} is not known.{suggest(str(name), NORMALIZE)} Known: "
                f"{', '.join(NORMALIZE)}"
            )
        found.append(plain)
    return tuple(name for name in NORMALIZE if name in found)


def _choices(where: str, values: dict[str, object]) -> ChoiceStyle:
    checked = read_values(where, values, _CHOICE, hints={})
    for key, example in (
        ("choices", '{ column = "choices" }'),
        ("choice_labels", '["A", "B", "C", "D"]'),
        ("answer", '{ label_column = "answer" }'),
    ):
        if key not in checked:
            raise ConfigError(f"{where} has no {key}. Add, for example: {key} = {example}")
    labels = _texts(checked["choice_labels"])
    if not labels:
        raise ConfigError(f"{where} choice_labels is empty; expected at least one label")
    if len({label.strip().casefold() for label in labels}) != len(labels):
        raise ConfigError(
            f"{where} choice_labels: {', '.join(labels)} names a label twice (case makes no difference)"
        )
    column, columns = _choice_columns(where, checked["choices"], labels)
    answer = _answer(f"{where} answer", checked["answer"], columns)
    return ChoiceStyle(
        column=column, columns=columns, labels=labels, **answer, **_shuffle(where, checked.get("shuffle"))
    )


def _choice_columns(
    where: str, value: JsonValue, labels: tuple[str, ...]
) -> tuple[str | None, tuple[str, ...]]:
    settings = (
        Setting("column", "text", "column with all choices"),
        Setting("columns", "texts", "one column a choice"),
    )
    found = read_values(f"{where} choices", _mapping(value), settings, hints={})
    if len(found) != 1:
        raise ConfigError(
            f'{where} choices: expected one of {{ column = "…" }} and {{ columns = ["…", "…"] }}'
        )
    column = found.get("column")
    columns = _texts(found.get("columns", []))
    if column is None and len(set(columns)) != len(columns):
        raise ConfigError(f"{where} choices names a column twice: {', '.join(columns)}")
    if column is None and len(columns) != len(labels):
        raise ConfigError(
            f"{where}: choices names {len(columns)} columns and choice_labels {len(labels)} labels; expected the "
            "same number"
        )
    return (None if column is None else str(column)), columns


def _answer(where: str, value: JsonValue, columns: tuple[str, ...]) -> dict[str, Any]:
    settings = (
        Setting("label_column", "text", "column with a label"),
        Setting("index_column", "text", "column with a number"),
        Setting("index_base", "int", "what the first choice is counted as", least=0),
        Setting("correct_choice_column", "text", "the choice column that is right"),
    )
    found = read_values(where, _mapping(value), settings, hints={})
    base = found.pop("index_base", None)
    if len(found) != 1:
        raise ConfigError(
            f"{where}: expected exactly one of label_column, index_column and correct_choice_column"
        )
    ((key, column),) = found.items()
    if base is not None and key != "index_column":
        raise ConfigError(f"{where} index_base: only an index_column is counted; leave it out")
    if key == "correct_choice_column" and column not in columns:
        raise ConfigError(
            f"{where} correct_choice_column: {column!r} is not one of the columns of choices"
            + (f" ({', '.join(columns)})" if columns else "; write choices = { columns = […] }")
        )
    kinds = {"label_column": "label", "index_column": "index", "correct_choice_column": "choice"}
    return {"answer": kinds[key], "answer_column": str(column), "index_base": base or 0}


def _shuffle(where: str, value: JsonValue | None) -> dict[str, Any]:
    if value is None:
        return {}
    settings = (
        Setting("seed_column", "text", "column that decides the order"),
        Setting("algorithm", "text", "hash", choices=ALGORITHMS),
    )
    found = read_values(f"{where} shuffle", _mapping(value), settings, hints={})
    if "seed_column" not in found:
        raise ConfigError(f'{where} shuffle has no seed_column. Add, for example: seed_column = "id"')
    return dict(found)


def _mapping(value: JsonValue) -> dict[str, object]:
    return dict(value) if isinstance(value, dict) else {}


def _texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(str(entry) for entry in value) if isinstance(value, list) else ()

"""The categories, groups and evaluation names of the published evaluation, declared once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from benchwright.core import UsageError, suggest
from benchwright.toolcalls import Language, language_of

Check: TypeAlias = Literal["ast", "irrelevance", "relevance", "multi_turn", "executable", "rest"]
"""How rows of a category are judged."""


class Category(Struct, frozen=True):
    """One kind of rows."""

    name: str
    """Its name in version 3 of the data."""
    check: Check
    """How its rows are judged."""
    rows: int
    """Rows of the published data, version 3."""
    v4_name: str = ""
    """Its name in version 4, if that differs; empty if version 4 has no such category."""

    @property
    def language(self) -> Language:
        """The language of the values in its calls."""
        return language_of(self.name)

    @property
    def by_place(self) -> bool:
        """Whether the only function of a row is the expected one, regardless of its name in the ground truth."""
        return self.check == "ast" and "multiple" not in self.name and "parallel" not in self.name

    @property
    def live(self) -> bool:
        """Whether users of a public demonstration wrote its questions."""
        return self.name.startswith("live_")

    def file_name(self, version: str) -> str:
        """The file with its rows, by the version of the data (`v3` or `v4`)."""
        return f"BFCL_{version}_{self.v4_name if version == 'v4' else self.name}.json"


def _same(name: str, check: Check, rows: int) -> Category:
    return Category(name, check, rows, name)


CATEGORIES: Mapping[str, Category] = {
    each.name: each
    for each in (
        Category("simple", "ast", 400, "simple_python"),
        _same("multiple", "ast", 200),
        _same("parallel", "ast", 200),
        _same("parallel_multiple", "ast", 200),
        Category("java", "ast", 100, "simple_java"),
        Category("javascript", "ast", 50, "simple_javascript"),
        _same("irrelevance", "irrelevance", 240),
        _same("live_simple", "ast", 258),
        _same("live_multiple", "ast", 1053),
        _same("live_parallel", "ast", 16),
        _same("live_parallel_multiple", "ast", 24),
        _same("live_irrelevance", "irrelevance", 882),
        _same("live_relevance", "relevance", 18),
        _same("multi_turn_base", "multi_turn", 200),
        _same("multi_turn_miss_func", "multi_turn", 200),
        _same("multi_turn_miss_param", "multi_turn", 200),
        _same("multi_turn_long_context", "multi_turn", 200),
        Category("exec_simple", "executable", 100),
        Category("exec_multiple", "executable", 50),
        Category("exec_parallel", "executable", 50),
        Category("exec_parallel_multiple", "executable", 40),
        Category("rest", "rest", 70),
    )
}
"""All scored categories, by name."""


def _names(keep: object) -> tuple[str, ...]:
    return tuple(name for name, category in CATEGORIES.items() if keep(category))  # type: ignore[operator]


_ALL = _names(lambda c: True)
_MULTI_TURN = _names(lambda c: c.check == "multi_turn")
_LIVE = _names(lambda c: c.live)
_EXECUTABLE = _names(lambda c: c.check in ("executable", "rest"))
_NON_PYTHON = _names(lambda c: c.language != "python")

GROUPS: Mapping[str, tuple[str, ...]] = {
    "all": _ALL,
    "multi_turn": _MULTI_TURN,
    "single_turn": _names(lambda c: c.check != "multi_turn"),
    "live": _LIVE,
    "non_live": _names(lambda c: not c.live and c.check != "multi_turn"),
    "ast": _names(lambda c: c.check in ("ast", "irrelevance", "relevance")),
    "executable": _EXECUTABLE,
    "non_python": _NON_PYTHON,
    "python": _names(lambda c: c.check != "multi_turn" and c.language == "python"),
    "python_ast": _names(lambda c: c.check in ("ast", "irrelevance", "relevance") and c.language == "python"),
}
"""Names of groups of categories."""


class BfclEvaluation(Struct, frozen=True):
    """A named evaluation: its categories, and how the model is asked for calls."""

    name: str
    task: str
    """Groups and categories, separated by commas."""
    native_calling: bool
    """Whether functions are sent as `tools`; otherwise in a system message."""
    summary: str
    """One line for lists."""


EVALUATIONS: Mapping[str, BfclEvaluation] = {
    each.name: each
    for each in (
        BfclEvaluation("bfclv3", "all", False, "function calling, every category, calls as text"),
        BfclEvaluation(
            "bfclv3_ast", "multi_turn,ast", True, "function calling, single and multi-turn, native calls"
        ),
        BfclEvaluation("bfclv3_ast_prompting", "multi_turn,ast", False, "the same, calls as text"),
        BfclEvaluation("bfclv2", "single_turn", False, "function calling, single turn, calls as text"),
        BfclEvaluation("bfclv2_ast", "ast", True, "function calling, single turn, native calls"),
        BfclEvaluation("bfclv2_ast_prompting", "ast", False, "the same, calls as text"),
    )
}
"""The evaluations by name."""

_SEARCH = "its functions search the web, and its answers change with it"
_MEMORY = "its functions keep what earlier conversations said, in stores that benchwright does not have"
_NOT_EVALUATED: Mapping[str, str] = {
    **dict.fromkeys(("web_search", "web_search_base", "web_search_no_snippet"), _SEARCH),
    **dict.fromkeys(("memory", "memory_kv", "memory_vector", "memory_rec_sum"), _MEMORY),
    "agentic": f"{_SEARCH}; and {_MEMORY}",
    "format_sensitivity": "it repeats rows with 26 system messages and is part of no score",
}
"""Categories and groups of version 4 that are not evaluated, and why."""

_ALIASES = {c.v4_name: c.name for c in CATEGORIES.values() if c.v4_name not in ("", c.name)}


def category_named(name: object) -> Category | None:
    """The category of a name, which may be that of version 4."""
    return CATEGORIES.get(_ALIASES.get(name, name)) if isinstance(name, str) else None


def categories_of(task: str) -> list[Category]:
    """The categories in a comma-separated list of groups and categories, each once, in the order of the table.

    >>> [category.name for category in categories_of("non_python, simple")]
    ['simple', 'java', 'javascript']
    """
    wanted: set[str] = set()
    for name in _words(task):
        if name in GROUPS:
            wanted.update(GROUPS[name])
        elif (category := category_named(name)) is not None:
            wanted.add(category.name)
        else:
            if name in _NOT_EVALUATED:
                raise UsageError(f"task: {name} of version v4 is not evaluated: {_NOT_EVALUATED[name]}")
            known = [*GROUPS, *CATEGORIES]
            raise UsageError(
                f"task: there is no category or group {name!r}.{suggest(name, known)} "
                f"Groups: {', '.join(GROUPS)}. Categories: {', '.join(CATEGORIES)}"
            )
    if not wanted:
        raise UsageError("task: name at least one category or group, as in task=simple,multiple")
    return [category for name, category in CATEGORIES.items() if name in wanted]


def _words(task: str) -> Iterator[str]:
    for word in task.split(","):
        if word.strip():
            yield word.strip()


def evaluation_of(name: str) -> BfclEvaluation | None:
    """The evaluation of a name: one of the table, or `bfcl_` and a category or group, with `_prompting` for calls as text.

    Categories that are not evaluated have one too; reading its categories raises an error with the reason.
    """
    if name in EVALUATIONS:
        return EVALUATIONS[name]
    if not name.startswith("bfcl_"):
        return None
    task = name.removeprefix("bfcl_")
    native = not task.endswith("_prompting")
    task = task.removesuffix("_prompting")
    if task in GROUPS or category_named(task) is not None or task in _NOT_EVALUATED:
        return BfclEvaluation(name, task, native, f"function calling: {task}")
    return None

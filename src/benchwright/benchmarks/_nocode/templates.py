"""Templates of described evaluations: Jinja2 with `row`, `choices` and, in examples, `answer`; and how their values read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from benchwright.benchmarks._template import Engine
from benchwright.core import ConfigError, MissingFieldError, Row, listed, nearest, suggest

if TYPE_CHECKING:
    from benchwright.benchmarks._bounded_templates import BoundedEnvironment


def scalar_text(row: Row, column: str, what: str) -> str:
    """The text of a column that must hold a text, a number or a boolean. Raises MissingFieldError."""
    if column not in row:
        raise MissingFieldError(column, reason=lambda: _not_there(column, row, what))
    text = text_of(row[column])
    if text is None:
        kind = "null" if row[column] is None else f"a {type(row[column]).__name__}"
        raise MissingFieldError(
            column, reason=f'{what} "{column}" is {kind}; expected a text, a number or a boolean'
        )
    return text


def text_of(value: object) -> str | None:
    """A scalar as text; None for anything else.

    >>> text_of(True), text_of(2.5), text_of(["a"])
    ('true', '2.5', None)
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def _not_there(column: str, row: Row, what: str) -> str:
    near = nearest(column, row)
    hint = f'. Did you mean "{near}"?' if near else ""
    return f'{what} "{column}" is missing; the row has: {listed(row)}{hint}'


Values: TypeAlias = Callable[[Row], Mapping[str, Any]]
"""What a template sees of a row in addition to `row`."""

_NO_ATTRIBUTE = re.compile(r"has no (?:attribute|element) '?(?P<name>[^']+?)'?$")


class RowTemplate:
    """A compiled template. A column is written `{{ row.question }}` or `{{ row["the question"] }}`."""

    engine: Engine = "jinja2"

    def __init__(
        self,
        text: str,
        what: str,
        *,
        values: Values | None = None,
        names: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        """`values` gives what else the template sees, `names` its names and the columns that each is made of.

        Raises ConfigError, with the line, for text that is not a template or reads anything else.
        """
        from benchwright.benchmarks._bounded_templates import BadTemplateError

        self.text = text
        """The template as written."""
        self.what = what
        """The template's name in messages."""
        self._values = values
        names = names or {}
        environment = _environment()
        try:
            tree, self._render, read = environment.compile_text(text)
        except BadTemplateError as error:
            raise ConfigError(f"{what}, {error}") from None
        self._begin = environment.begin
        known = ("row", *names)
        for name in sorted(read.difference(known)):
            hint = suggest(name, known) or f" Columns are written {{{{ row.{name} }}}}"
            raise ConfigError(f"{what} reads {name!r}, and templates see only {' and '.join(known)}.{hint}")
        computed = [columns for name, columns in names.items() if name in read]
        self.fields = _columns(tree).union(*computed)
        """Columns that it shows; `row` where it takes the row as a whole."""

    def render(self, row: Row) -> str:
        """Return the text for one row. Raises MissingFieldError if the template fails, for any reason."""
        more = {} if self._values is None else self._values(row)
        try:
            self._begin(row, more)
            return self._render(row=row, **more)
        except Exception as error:
            raise self._failure(error, row) from None

    def _failure(self, error: Exception, row: Row) -> MissingFieldError:
        from jinja2 import UndefinedError

        from benchwright.benchmarks._bounded_templates import template_reason

        text = template_reason(error)
        if not isinstance(error, UndefinedError):
            return MissingFieldError(self.what, reason=f"{self.what} cannot be rendered: {text}")
        named = _NO_ATTRIBUTE.search(text)
        if named is None or named["name"] not in self.fields or named["name"] in row:
            return MissingFieldError(text, reason=f"{self.what}: {text}; the row has: {listed(row)}")
        field = named["name"]
        near = nearest(field, row)
        hint = f'. Did you mean "{near}"? Write {{{{ row.{near} }}}} in it' if near else ""
        return MissingFieldError(
            field, reason=f'{self.what}: column "{field}" is missing; the row has: {listed(row)}{hint}'
        )


def _columns(tree: Any) -> frozenset[str]:
    """Columns that are read by name, and `row` if the template uses it as a whole."""
    from jinja2 import nodes

    found: set[str] = set()
    by_name: set[int] = set()
    for node in tree.find_all((nodes.Getattr, nodes.Getitem)):
        if not isinstance(node.node, nodes.Name) or node.node.name != "row":
            continue
        name = node.attr if isinstance(node, nodes.Getattr) else _constant(node.arg)
        if name is not None:
            found.add(name)
            by_name.add(id(node.node))
    if any(node.name == "row" and id(node) not in by_name for node in tree.find_all(nodes.Name)):
        found.add("row")
    return frozenset(found)


def _constant(node: Any) -> str | None:
    from jinja2 import nodes

    return node.value if isinstance(node, nodes.Const) and isinstance(node.value, str) else None


@cache
def _environment() -> BoundedEnvironment:
    from jinja2 import StrictUndefined

    from benchwright.benchmarks._bounded_templates import BoundedEnvironment

    class RowEnvironment(BoundedEnvironment):
        """A column comes before a method of dictionaries: `row.items` is the column, if there is one. Null is written as an
        empty text."""

        null = ""

        def getattr(self, obj: Any, attribute: str) -> Any:
            if isinstance(obj, dict) and attribute in obj:
                return obj[attribute]
            return super().getattr(obj, attribute)

    return RowEnvironment(undefined=StrictUndefined, autoescape=False)

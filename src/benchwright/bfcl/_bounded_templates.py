"""A sandbox for Jinja2 templates in which no template runs for long or grows large, whatever it repeats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_LOOPS = 100_000
"""How often all loops of one rendering may be repeated together."""
MAX_NUMBER = 10_000
"""The largest width, count, factor and exponent."""
MAX_ITEMS = 1_000_000
"""The most characters and items of a sum."""

_COUNT, _JOIN = "_counted", "_joined"
_WIDTH = re.compile("[0-9]{1,20}")
_SIZED_FILTERS = ("batch", "center", "format", "indent", "round", "slice", "wordwrap")


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox, which keeps templates from Python's objects, with limits on loops, numbers and sizes."""

    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._left = MAX_LOOPS
        self.filters |= {name: _bounded(self.filters[name]) for name in _SIZED_FILTERS}
        self.filters |= {_COUNT: self._counted, _JOIN: _joined}
        self._sized = [self.globals["range"], self.globals["lipsum"]]

    def begin(self) -> None:
        """Begin to count: call it before each rendering."""
        self._left = MAX_LOOPS

    def call(self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function or a method, unless a number is large that may be a width or a count."""
        owner = getattr(getattr(__obj, "__wrapped__", __obj), "__self__", None)  # Jinja2 wraps str.format
        if isinstance(owner, str | int) or __obj in self._sized:
            _check_numbers(owner, *args, *kwargs.values())
        return super().call(__context, __obj, *args, **kwargs)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute an operator, unless its result may be large."""
        if operator == "+":
            _check_size(left, right)
        else:
            _check_product(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        """Compile a template whose loops are counted, and whose joined texts are bounded."""
        for loop in list(source.find_all(nodes.For)):
            loop.iter = nodes.Filter(loop.iter, _COUNT, [], [], None, None)
        _bound_joins(source)
        return super()._generate(source, *args, **kwargs)

    def _counted(self, values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            self._left -= 1
            if self._left < 0:
                raise SecurityError(f"its loops are repeated more than {MAX_LOOPS:,} times")
            yield value


def _bound_joins(node: nodes.Node) -> None:
    """Replace each `a ~ b` below a node by a filter that joins a list."""
    for name, value in list(node.iter_fields()):
        found = value if isinstance(value, list) else [value]
        for place, child in enumerate(found):
            if not isinstance(child, nodes.Node):
                continue
            _bound_joins(child)
            if isinstance(child, nodes.Concat):
                joined = nodes.Filter(nodes.List(child.nodes), _JOIN, [], [], None, None)
                if isinstance(value, list):
                    value[place] = joined
                else:
                    setattr(node, name, joined)


def _joined(values: list[Any]) -> str:
    texts = list(map(str, values))
    _check_size(*texts)
    return "".join(texts)


def _bounded(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)  # with the marks that say what else Jinja2 passes to it
    def checked(value: Any, *args: Any, **kwargs: Any) -> Any:
        _check_numbers(value if isinstance(value, str) else None, *args, *kwargs.values())
        return function(value, *args, **kwargs)

    return checked


def _check_numbers(*values: object) -> None:
    """Refuse large numbers, also within texts, which may be patterns with widths."""
    for value in values:
        found = map(int, _WIDTH.findall(value)) if isinstance(value, str) else (value,)
        for number in found:
            if isinstance(number, int | float) and abs(number) > MAX_NUMBER:
                raise SecurityError(f"{number} is too large; numbers up to {MAX_NUMBER:,} are accepted there")


def _check_size(*values: Any) -> None:
    if sum(len(value) for value in values if isinstance(value, str | list | tuple)) > MAX_ITEMS:
        raise SecurityError(f"a text or list has more than {MAX_ITEMS:,} characters or items")


def _check_product(operator: str, left: Any, right: Any) -> None:
    """Refuse a repeated text or list, a power, or a formatted text that may be large."""
    if operator == "%" and isinstance(left, str):
        _check_numbers(left, *(right if isinstance(right, tuple) else (right,)))
    elif operator == "**":
        _check_numbers(left, right)
    elif operator == "*":
        for text, count in ((left, right), (right, left)):
            if isinstance(text, str | list | tuple) and isinstance(count, int):
                _check_numbers(len(text) * count)

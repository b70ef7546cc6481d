"""A sandbox for Jinja2 templates in which no template runs for long or grows large, whatever it repeats.

Every text and list is bounded where it is made. So no number of steps, which are counted, makes a large one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from math import inf
from typing import Any

from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_STEPS = 100_000
"""How often all loops of one rendering may be repeated, and functions be called, together."""
MAX_NUMBER = 10_000
"""The largest width, count, factor and exponent."""
MAX_ITEMS = 1_000_000
"""The most characters and items of a value, and the most characters that are written, for small rows."""
MAX_COPIES = 10
"""How often the text of a large row may be in a value, and be written."""
_MAX_PRODUCT = 50 * MAX_ITEMS
"""The most characters that a function may put together, such as a text whose letters are replaced by other texts."""
_MAX_BITS = 40_000
"""The longest product of two integers."""
_TEXT_PER_STEP = 100
"""Characters of a loop's body that count as another step."""

_COUNT, _JOIN, _KEEP = "_counted", "_joined", "_bounded"
_SIZED_FILTERS = frozenset(("batch", "center", "format", "indent", "round", "slice", "wordwrap"))
_SIZED_METHODS = frozenset(("center", "expandtabs", "ljust", "rjust", "to_bytes", "zfill"))
"""Functions of which a number is a width or a count. Patterns contain widths too."""
_SIZED_TYPES = (str, list, tuple, Mapping)
_FORMATS = frozenset(("format", "format_map"))
_SPEC = re.compile(r"%(?:\([^)]*\))?[-+ #0-9.*]*|\{[^{}]*:[^{}]*\{?")
_WIDTH = re.compile("[0-9]{1,20}")


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox, which keeps templates from Python's objects, with limits on steps, numbers and sizes."""

    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self, **options: Any) -> None:
        super().__init__(finalize=self._written, **options)
        self.begin({})
        self.filters = {name: self._bounded(name, function) for name, function in self.filters.items()}
        self.filters |= {_COUNT: self._counted, _JOIN: self._joined, _KEEP: self._kept}
        self._sized = [self.globals["range"], self.globals["lipsum"]]

    def begin(self, row: Mapping[str, Any]) -> None:
        """Begin to count: call it before each rendering."""
        self._steps = MAX_STEPS
        self._most = self._characters = max(MAX_ITEMS, MAX_COPIES * _size(row))

    def call(self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function or a method, unless its result may be large."""
        self._step()
        given = (*args, *kwargs.values())
        owner = getattr(getattr(__obj, "__wrapped__", __obj), "__self__", None)  # Jinja2 wraps str.format
        name = getattr(__obj, "__name__", "")
        if isinstance(owner, str):
            self._check_growth(_size(owner), sum(map(_size, given)))
            if name in _FORMATS:
                _check_pattern(owner, given)
        if __obj in self._sized or (isinstance(owner, str | int) and name in _SIZED_METHODS):
            _check_numbers(given)
            self._check_growth(_size(owner), sum(abs(number) for number in given if isinstance(number, int)))
        return self._kept(super().call(__context, __obj, *args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute an operator, unless its result may be large."""
        if operator == "+":
            self._kept((left, right))
        else:
            self._check_product(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        """Compile a template whose loops are counted, and whose texts and lists are bounded."""
        _bound_values(source)
        for loop in list(source.find_all(nodes.For)):
            text = sum(len(part.data) for part in loop.find_all(nodes.TemplateData))
            steps = nodes.Const(1 + text // _TEXT_PER_STEP)
            loop.iter = nodes.Filter(loop.iter, _COUNT, [steps], [], None, None)
        return super()._generate(source, *args, **kwargs)

    def _counted(self, values: Iterable[Any], steps: int) -> Iterator[Any]:
        for value in values:
            self._step(steps)
            yield value

    def _step(self, steps: int = 1) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise SecurityError(f"its loops and calls are repeated more than {MAX_STEPS:,} times")

    def _written(self, value: Any) -> Any:
        """A value that is written into the result."""
        self._characters -= _size(value, self._most)
        if self._characters < 0:
            raise self._too_long()
        return value

    def _kept(self, value: Any) -> Any:
        """A value, unless it is large."""
        if isinstance(value, _SIZED_TYPES) and _size(value, self._most) > self._most:
            raise self._too_long()
        return value

    def _joined(self, values: list[Any]) -> str:
        return "".join(map(str, self._kept(values)))

    def _bounded(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A filter that gives no large value."""
        place = 1 if hasattr(function, "jinja_pass_arg") else 0  # after the context or the environment

        @wraps(function)  # with the mark that says what else Jinja2 passes to it
        def checked(*args: Any, **kwargs: Any) -> Any:
            before, (value, *others) = args[:place], args[place:]
            if isinstance(value, Iterator):
                value = list(value)
            given = (*others, *kwargs.values())
            if name == "format":
                _check_pattern(str(value), given)
            elif name in _SIZED_FILTERS:
                _check_numbers(given)
            self._check_growth(_size(value), sum(map(_size, given)))
            return self._kept(function(*before, value, *others, **kwargs))

        return checked

    def _check_growth(self, size: int, factor: int) -> None:
        """Refuse a function that may put something between all parts of a value."""
        if factor > 1 and size * factor > max(_MAX_PRODUCT, self._most):
            raise self._too_long()

    def _check_product(self, operator: str, left: Any, right: Any) -> None:
        """Refuse a repeated text or list, a product, a power, or a formatted text that may be large."""
        if operator == "%" and isinstance(left, str):
            given = right if isinstance(right, tuple) else (right,)
            _check_pattern(left, given)
            self._check_growth(_size(left), sum(map(_size, given)))
        elif operator == "**":
            _check_numbers((left, right))
        elif operator == "*" and isinstance(left, int) and isinstance(right, int):
            if left.bit_length() + right.bit_length() > _MAX_BITS:
                raise SecurityError("a product has too many digits")
        elif operator == "*":
            for text, count in ((left, right), (right, left)):
                if isinstance(text, str | list | tuple) and isinstance(count, int):
                    _check_numbers([_size(text) * count])

    def _too_long(self) -> SecurityError:
        return SecurityError(f"a text or list has more than {self._most:,} characters or items")


def _bound_values(node: nodes.Node) -> None:
    """Bound each `a ~ b`, list, tuple and dict below a node: each becomes the value of a filter that looks at its size."""
    for name, value in list(node.iter_fields()):
        found = value if isinstance(value, list) else [value]
        for place, child in enumerate(found):
            if not isinstance(child, nodes.Node):
                continue
            _bound_values(child)
            if isinstance(child, nodes.Concat):
                bounded = nodes.Filter(nodes.List(child.nodes), _JOIN, [], [], None, None)
            elif isinstance(child, nodes.List | nodes.Dict) or (
                isinstance(child, nodes.Tuple) and child.ctx == "load"
            ):
                bounded = nodes.Filter(child, _KEEP, [], [], None, None)
            else:
                continue
            if isinstance(value, list):
                value[place] = bounded
            else:
                setattr(node, name, bounded)


def _size(value: Any, most: float = inf) -> int:
    """The characters and items of a value. Counting ends where there are more than `most`.

    >>> _size(["ab", {"c": [1, 2]}])
    10
    """
    size, open_ = 0, [value]
    while open_ and size <= most:
        one = open_.pop()
        size += len(one) if isinstance(one, _SIZED_TYPES) else 1
        if isinstance(one, Mapping):
            open_ += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            open_ += one
    return size


def _check_numbers(values: Iterable[Any]) -> None:
    for number in values:
        if isinstance(number, int | float) and abs(number) > MAX_NUMBER:
            raise SecurityError(f"{number} is too large; numbers up to {MAX_NUMBER:,} are accepted there")


def _check_pattern(pattern: str, given: Iterable[Any]) -> None:
    """Refuse a pattern with a large width, which may be one of the values."""
    for spec in _SPEC.findall(pattern):
        _check_numbers(map(int, _WIDTH.findall(spec)))
        if spec.endswith("{") or "*" in spec:
            _check_numbers(given)

"""The sandbox of all Jinja2 templates of users, in which none runs for long or grows large, whatever it repeats.

Every text and list is bounded where it is made. So no number of steps, which are counted, makes a large one. A large value
counts as many steps wherever it is used, so no number of steps takes long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from math import inf
from threading import local
from typing import Any

from jinja2 import StrictUndefined, meta, nodes
from jinja2.exceptions import SecurityError, TemplateError, TemplateSyntaxError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_STEPS = 100_000
"""How often all loops of one rendering may be repeated, and functions be called, together; more for large rows."""
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
_CHARACTERS_PER_STEP, _ITEMS_PER_STEP = 1000, 10
"""Characters and items of a value that count as another step, each time that it is used."""

_COUNT, _JOIN, _KEEP = "_counted", "_joined", "_bounded"
_SLOW_FILTERS = {"pprint": 20, "urlize": 20, "wordwrap": 5, "sort": 5, "tojson": 2}
"""Filters that take longer than others, and how many times as long."""
_SIZED_FILTERS = frozenset(("batch", "center", "format", "indent", "round", "slice", "tojson", "wordwrap"))
_INDENTING_FILTERS = {"indent": 1, "tojson": MAX_COPIES}
"""Filters that put as many spaces as a number says before each line, and how often: nested values are indented more."""
_SIZED_METHODS = frozenset(("center", "expandtabs", "ljust", "rjust", "to_bytes", "zfill"))
"""Functions of which a number is a width or a count. Patterns contain widths too."""
_REPEATED_TYPES = (str, bytes, list, tuple)
_SIZED_TYPES = (*_REPEATED_TYPES, Mapping)
_COUNTABLE = frozenset((list, tuple, dict, str, range))
_FORMATS = frozenset(("format", "format_map"))
_SPEC = re.compile(r"%(?:\([^)]*\))?[-+ #0-9.*]*|\{[^{}]*:[^{}]*\{?")
_WIDTH = re.compile("[0-9]{1,20}")


class BadTemplateError(ValueError):
    """A text that cannot be compiled, and why."""


class _Budget(local):
    """What one rendering has left. Several threads may render a template at once."""

    steps = MAX_STEPS
    most = MAX_ITEMS
    characters = MAX_ITEMS
    values: tuple[Any, ...] = ()
    """What the template sees, until a limit is reached: only then their size is counted."""

    def grown(self) -> bool:
        """Whether the limits are now larger, because what the template sees is large."""
        size, self.values = _size(self.values), ()
        steps, characters = size - MAX_STEPS, MAX_COPIES * size - MAX_ITEMS
        self.steps += max(0, steps)
        self.characters += max(0, characters)
        self.most += max(0, characters)
        return steps > 0 or characters > 0


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox, which keeps templates from Python's objects, with limits on steps, numbers and sizes."""

    intercepted_binops = frozenset(("+", "*", "**", "%"))

    null: str | None = None
    """What is written for null; None: `None`, as Jinja2 does."""

    def __init__(self, **options: Any) -> None:
        super().__init__(finalize=self._written, **options)
        self._left = _Budget()
        self.filters = {name: self._bounded(name, function) for name, function in self.filters.items()}
        self.filters |= {_COUNT: self._counted, _JOIN: self._joined, _KEEP: self._kept}
        tests: dict[str, Any] = dict(self.tests)
        self.tests = {name: self._weighed(function) for name, function in tests.items()}
        del self.globals["lipsum"]  # makes texts of any length
        self._sized = [self.globals["range"]]

    def begin(self, *values: Any) -> None:
        """Begin to count: call it before each rendering, with what the template sees."""
        left = self._left
        left.steps, left.most, left.characters, left.values = MAX_STEPS, MAX_ITEMS, MAX_ITEMS, values

    def compile_text(self, text: str) -> tuple[nodes.Template, Callable[..., str], frozenset[str]]:
        """The parsed template, its renderer, and the names that it reads. Raises BadTemplateError, with the line."""
        self.begin()
        try:
            tree = self.parse(text)
            # Names with a default are read from rows too, although not every row needs them.
            read = frozenset(meta.find_undeclared_variables(tree)) - frozenset(self.globals)
            return tree, self.from_string(text).render, read
        except TemplateSyntaxError as error:
            raise BadTemplateError(f"line {error.lineno}: {error.message} (Jinja2)") from None
        except (RecursionError, MemoryError, SyntaxError):  # Python's own limits on nested code
            raise BadTemplateError("it is nested too deeply (Jinja2)") from None
        except (TemplateError, ValueError) as error:
            raise BadTemplateError(f"{template_reason(error)} (Jinja2)") from None

    def call(self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function or a method, unless its result may be large."""
        self._step()
        given = (*args, *kwargs.values())
        owner = getattr(getattr(__obj, "__wrapped__", __obj), "__self__", None)  # Jinja2 wraps str.format
        name = getattr(__obj, "__name__", "")
        if isinstance(owner, str | bytes):
            self._check_growth(_size(owner), sum(map(_size, given)))
            if name in _FORMATS:
                _check_pattern(str(owner), given)
        self._weigh(owner)
        self._weigh(given)
        if __obj in self._sized or (isinstance(owner, str | bytes | int) and name in _SIZED_METHODS):
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

    def _counted(self, values: Iterable[Any], steps: int) -> Iterable[Any]:
        if type(values) in _COUNTABLE:
            self._step(steps * len(values))  # type: ignore[arg-type]  # all of them have a length
            return values
        return self._counted_one_by_one(values, steps)

    def _counted_one_by_one(self, values: Iterable[Any], steps: int) -> Iterator[Any]:
        for value in values:
            self._step(steps)
            yield value

    def _step(self, steps: int = 1) -> None:
        left = self._left
        left.steps -= steps
        if left.steps < 0 and not (left.grown() and left.steps >= 0):
            raise SecurityError(f"its loops and calls are repeated more than {MAX_STEPS:,} times")

    def _weigh(self, value: Any, factor: int = 1) -> int:
        """The size of a value, which counts as steps, unless it is too large."""
        left = self._left
        size, items = _measured(value, left.most)
        if size > left.most:
            if not left.grown():
                raise self._too_long()
            return self._weigh(value, factor)
        self._step(factor * (items // _ITEMS_PER_STEP + size // _CHARACTERS_PER_STEP))
        return size

    def _written(self, value: Any) -> Any:
        """A value that is written into the result."""
        kind = type(value)
        if kind is str:
            size = len(value)
        elif kind is int or kind is float:
            return value
        elif value is None:
            return self.null
        else:
            size = self._weigh(value)
        left = self._left
        left.characters -= size
        if left.characters < 0 and not (left.grown() and left.characters >= 0):
            raise self._too_long()
        return value

    def _kept(self, value: Any) -> Any:
        """A value, unless it is large."""
        if type(value) is str and len(value) < _CHARACTERS_PER_STEP:
            return value
        if isinstance(value, _SIZED_TYPES):
            self._weigh(value)
        return value

    def _weighed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A test of values, whose size counts."""

        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            self._weigh([one for one in args if isinstance(one, _SIZED_TYPES)])
            return function(*args, **kwargs)

        return checked

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
            self._step()
            if not given and type(value) is str and len(value) < _CHARACTERS_PER_STEP:
                return self._kept(function(*before, value))  # nearly all uses: a short text
            self._weigh(value, _SLOW_FILTERS.get(name, 1))
            if name == "format":
                _check_pattern(str(value), given)
            elif name in _SIZED_FILTERS:
                _check_numbers(given)
                times = _INDENTING_FILTERS.get(name, 0)
                self._check_growth(_size(value), times * sum(one for one in given if isinstance(one, int)))
            self._check_growth(_size(value), sum(map(_size, given)))
            return self._kept(function(*before, value, *others, **kwargs))

        return checked

    def _check_growth(self, size: int, factor: int) -> None:
        """Refuse a function that may put something between all parts of a value."""
        left = self._left
        if (
            factor > 1
            and size * factor > max(_MAX_PRODUCT, left.most)
            and not (left.grown() and size * factor <= left.most)
        ):
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
                if isinstance(text, _REPEATED_TYPES) and isinstance(count, int):
                    _check_numbers([_size(text) * count])

    def _too_long(self) -> SecurityError:
        return SecurityError(f"a text or list has more than {self._left.most:,} characters or items")


def data_template(text: str, filters: Mapping[str, Callable[..., Any]]) -> Callable[[Mapping[str, Any]], str]:
    """The renderer of a template that reads the fields of a row, which must exist, and the row itself as `item`.

    Raises ValueError, with the reason in plain words, if the template cannot be compiled, and the renderer if it cannot be rendered.
    """
    environment = BoundedEnvironment(undefined=StrictUndefined)
    environment.filters.update(filters)
    _, written, _ = environment.compile_text(text)

    def render(row: Mapping[str, Any]) -> str:
        environment.begin(row)
        try:
            return written({**row, "item": row})
        except Exception as error:  # filters raise anything on values that they do not expect
            raise ValueError(template_reason(error)) from None

    return render


def template_reason(error: Exception) -> str:
    """Why a template cannot be used, in plain words."""
    if isinstance(error, RecursionError):
        return "it calls itself without end"
    return str(error) or type(error).__name__


def _bound_values(node: nodes.Node) -> None:
    """Bound each `a ~ b`, list, tuple, dict, slice and comparison below a node: each becomes the value of a filter that looks
    at its size."""
    for name, value in list(node.iter_fields()):
        found = value if isinstance(value, list) else [value]
        for place, child in enumerate(found):
            if not isinstance(child, nodes.Node):
                continue
            _bound_values(child)
            _weigh_operands(child)
            if isinstance(child, nodes.Concat):
                bounded = nodes.Filter(nodes.List(child.nodes), _JOIN, [], [], None, None)
            elif (
                isinstance(child, nodes.List | nodes.Dict)
                or (isinstance(child, nodes.Tuple) and child.ctx == "load")
                or (isinstance(child, nodes.Getitem) and isinstance(child.arg, nodes.Slice))
            ):
                bounded = nodes.Filter(child, _KEEP, [], [], None, None)
            else:
                continue
            if isinstance(value, list):
                value[place] = bounded
            else:
                setattr(node, name, bounded)


def _weigh_operands(node: nodes.Node) -> None:
    """Let large values count where Python works on all of them without a call: in comparisons and slices."""
    if isinstance(node, nodes.Compare):
        # Comparing with a constant takes no longer than the constant is.
        if isinstance(node.expr, nodes.Const) and all(one.op not in ("in", "notin") for one in node.ops):
            return
        for operand in node.ops:
            if not isinstance(operand.expr, nodes.Const):
                operand.expr = nodes.Filter(operand.expr, _KEEP, [], [], None, None)
    elif isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice):
        node.node = nodes.Filter(node.node, _KEEP, [], [], None, None)


def _size(value: Any, most: float = inf) -> int:
    """The characters and items of a value. Counting ends where there are more than `most`.

    >>> _size(["ab", {"c": [1, 2]}])
    10
    """
    return _measured(value, most)[0]


def _measured(value: Any, most: float = inf) -> tuple[int, int]:
    """The size of a value, and its number of items at any depth."""
    size = items = 0
    open_ = [value]
    while open_ and size <= most:
        one = open_.pop()
        items += 1
        size += len(one) if isinstance(one, _SIZED_TYPES) else 1
        if isinstance(one, Mapping):
            open_ += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            open_ += one
    return size, items


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

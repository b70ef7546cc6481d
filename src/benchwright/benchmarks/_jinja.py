"""Jinja2 templates, in the immutable sandbox. Jinja2 itself is imported when the first one is compiled.

Undefined variables are errors, nothing is escaped, and Jinja2's own rule for the end of the text holds: one
final newline is dropped. There is no loader, so a template cannot include other files.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from benchwright.core import BenchmarkError, MissingFieldError, Row

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

_UNDEFINED = re.compile(r"^'(?P<name>[^']+)' is undefined$")


class JinjaTemplate:
    """A compiled Jinja2 template."""

    engine: Literal["jinja2"] = "jinja2"

    def __init__(self, text: str, what: str = "prompt") -> None:
        from jinja2 import TemplateSyntaxError, meta

        self.text = text
        """The template as written."""
        self.what = what
        """What messages call it: prompt, system_prompt, fewshot_template."""
        environment = _environment()
        try:
            tree = environment.parse(text)
            compiled = environment.from_string(text)
        except TemplateSyntaxError as error:
            raise BenchmarkError(f"{what}, line {error.lineno}: {error.message} (Jinja2)") from None
        # Names with a default are not needed from every row, yet they are read from it.
        self.fields = frozenset(meta.find_undeclared_variables(tree)) - frozenset(environment.globals)
        """Top-level field names that the template reads."""
        self._render = compiled.render

    def render(self, row: Row) -> str:
        """The text for one row; raises MissingFieldError, also for whatever else a template can fail with."""
        try:
            return self._render(row)
        except Exception as error:
            raise self._failure(error, row) from None

    def _failure(self, error: Exception, row: Row) -> MissingFieldError:
        from jinja2 import UndefinedError

        text = str(error)
        if isinstance(error, UndefinedError):
            named = _UNDEFINED.match(text)
            if named:
                return MissingFieldError(named["name"], row)
            return MissingFieldError(
                text, reason=f"{self.what}: {text}; the row has: {', '.join(map(str, row))}"
            )
        return MissingFieldError(
            self.what, reason=f"{self.what} cannot be rendered: {type(error).__name__}: {text}"
        )


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    options: dict[str, Any] = {"undefined": StrictUndefined, "autoescape": False}
    return ImmutableSandboxedEnvironment(**options)

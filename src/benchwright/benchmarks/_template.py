"""Compiles the user's prompt into a template: a file or text, in `{field}` syntax or Jinja2.

Jinja2 is imported when the first such template is compiled. Templates run in its immutable sandbox: undefined variables
are errors, nothing is escaped, and one final newline is dropped, as Jinja2 does. There is no loader, so a template cannot
include other files. `_bounded_templates.py` limits how long templates run and what they make.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from benchwright.core import BenchmarkError, BraceTemplate, MissingFieldError, Row, UsageError, late_pattern

if TYPE_CHECKING:
    from benchwright.benchmarks._bounded_templates import BoundedEnvironment


_FILE_ENDINGS = (".txt", ".md", ".jinja", ".jinja2")
_JINJA_ENDINGS = (".jinja", ".jinja2")
_FILE_NAME = late_pattern(r"[^\s{}<>|*?\"]{1,200}")

Engine: TypeAlias = Literal["format", "jinja2", "code", "turns"]
"""What a template is: text in one of two syntaxes, a function, or the first turn of a conversation."""


class Template(Protocol):
    """A compiled template: rows in, text out."""

    @property
    def text(self) -> str:
        """The template as written."""
        ...

    @property
    def engine(self) -> Engine:
        """Its syntax."""
        ...

    @property
    def fields(self) -> frozenset[str]:
        """Top-level field names that it reads."""
        ...

    @property
    def render(self) -> Callable[[Row], str]:
        """The text for one row. Raises MissingFieldError."""
        ...


class PlainText:
    """A text that is the same for every row, including its braces."""

    engine: Engine = "code"
    fields: frozenset[str] = frozenset()

    def __init__(self, text: str) -> None:
        self.text = text

    def render(self, row: Row) -> str:
        """Return the text, which is the same for every row."""
        return self.text


def compile_template(text: str, *, jinja: bool | None = None, what: str = "prompt") -> Template:
    """Compile template text.

    `jinja` decides the syntax; None: Jinja2 if the text contains `{%` or `{#`. `{{ x }}` alone does not mean Jinja2, because
    in the `{field}` syntax it is an escaped brace. `what` is the name used in messages.

    >>> compile_template("Q: {question}\\nA:").render({"question": "2+2?"})
    'Q: 2+2?\\nA:'

    Raises BenchmarkError for text that cannot be compiled, a positional `{}` included.
    """
    if jinja is None:
        jinja = "{%" in text or "{#" in text
    return JinjaTemplate(text, what) if jinja else BraceTemplate(text, what)


def load_template(value: str, base_dir: Path, *, what: str = "prompt", jinja: bool | None = None) -> Template:
    """Compile the template that a benchmark names.

    A value that ends in .txt, .md, .jinja or .jinja2 and is a file (relative to `base_dir`) is read from
    there; anything else is the template itself. `.jinja` and `.jinja2` files are always Jinja2.
    """
    path = template_file(value, base_dir)
    if path is None:
        return compile_template(value, jinja=jinja, what=what)
    if path.suffix.lower() in _JINJA_ENDINGS:
        jinja = True
    text = template_text(value, base_dir, what=what)
    return compile_template(text, jinja=jinja, what=f"{what} ({value})")


def text_or_file(value: str, base_dir: Path, what: str) -> str:
    """The text that a user names: that of the file, or the value itself. UsageError for a file that does not exist."""
    if looks_like_lost_file(value, base_dir):
        raise UsageError(f"{what}: there is no file {value} in {base_dir}")
    return template_text(value, base_dir, what=what.lstrip("-"))


def template_text(value: str, base_dir: Path, *, what: str = "prompt") -> str:
    """The text of a template value: the file's, or the value itself."""
    path = template_file(value, base_dir)
    if path is None:
        return value
    try:
        return path.read_text(encoding="utf-8-sig")  # the model must not see a byte-order mark
    except (OSError, UnicodeDecodeError) as error:
        raise BenchmarkError(f"{what}: cannot read the template file {path}: {error}") from None


def template_file(value: str, base_dir: Path) -> Path | None:
    """The file that a template value names, or None if the value is the template itself."""
    if not value.lower().endswith(_FILE_ENDINGS):
        return None
    try:
        path = base_dir / value
        return path if path.is_file() else None
    except (OSError, ValueError):  # a long prompt that ends in ".md" is not a valid file name
        return None


def looks_like_lost_file(value: str, base_dir: Path) -> bool:
    """Whether a value was probably meant as a template file that does not exist."""
    return (
        value.lower().endswith(_FILE_ENDINGS)
        and _FILE_NAME.fullmatch(value) is not None
        and template_file(value, base_dir) is None
    )


_UNDEFINED = late_pattern(r"^'(?P<name>[^']+)' is undefined$")


class JinjaTemplate:
    """A compiled Jinja2 template."""

    engine: Literal["jinja2"] = "jinja2"

    def __init__(self, text: str, what: str = "prompt") -> None:
        from benchwright.benchmarks._bounded_templates import BadTemplateError

        self.text = text
        """The template as written."""
        self.what = what
        """Its name in messages: prompt, system_prompt, fewshot_template."""
        environment = _environment()
        try:
            _, self._render, self.fields = environment.compile_text(text)
        except BadTemplateError as error:
            raise BenchmarkError(f"{what}, {error}") from None
        self._begin = environment.begin

    def render(self, row: Row) -> str:
        """The text for one row; raises MissingFieldError, also for all other failures of a template."""
        try:
            self._begin(row)
            return self._render(row)
        except Exception as error:
            raise self._failure(error, row) from None

    def _failure(self, error: Exception, row: Row) -> MissingFieldError:
        from jinja2 import UndefinedError

        from benchwright.benchmarks._bounded_templates import template_reason

        text = template_reason(error)
        if isinstance(error, UndefinedError):
            named = _UNDEFINED.match(text)
            if named:
                return MissingFieldError(named["name"], row)
            return MissingFieldError(
                text, reason=f"{self.what}: {text}; the row has: {', '.join(map(str, row))}"
            )
        return MissingFieldError(self.what, reason=f"{self.what} cannot be rendered: {text}")


@cache
def _environment() -> BoundedEnvironment:
    from jinja2 import StrictUndefined

    from benchwright.benchmarks._bounded_templates import BoundedEnvironment

    return BoundedEnvironment(undefined=StrictUndefined, autoescape=False)

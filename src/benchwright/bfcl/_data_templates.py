"""Data templates: JSON whose strings are Jinja2 templates. They turn rows of any format into a supported one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchwright.core import DatasetError, exact_json, load_data_json

Shape = Callable[[dict[str, Any]], Any]


def load_template(path: Path) -> Shape:
    """The template in a file, as a function that takes a row and returns its replacement."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DatasetError(f"File not found: {path} (the data template)") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: the data template cannot be read: {error}") from None
    try:
        value = load_data_json(text)
    except ValueError as error:
        raise DatasetError(f"{path}: the data template is not JSON: {error}") from None
    return _compiled(value, str(path))


def _compiled(value: Any, where: str) -> Shape:
    if isinstance(value, dict):
        shapes = {key: _compiled(item, f"{where}: {key}") for key, item in value.items()}
        return lambda row: {key: shape(row) for key, shape in shapes.items()}
    if isinstance(value, list):
        items = [_compiled(item, where) for item in value]
        return lambda row: [item(row) for item in items]
    if isinstance(value, str):
        return _text(value, where)
    return lambda row: value


def _as_json(value: Any) -> str:
    """For a missing field, Jinja2's own filter reports only that it cannot be serialized."""
    from jinja2 import Undefined

    if isinstance(value, Undefined):
        str(value)  # raises, with the name of the field
    return exact_json(value).decode()


def _text(source: str, where: str) -> Shape:
    from benchwright.benchmarks import data_template

    try:
        render = data_template(source, {"tojson": _as_json})
    except ValueError as error:
        raise DatasetError(f"{where}: the data template cannot be used: {error}") from None
    as_json = "tojson" in source

    def shape(row: dict[str, Any]) -> Any:
        try:
            text = render(row)
            return load_data_json(text) if as_json else text
        except ValueError as error:
            raise ValueError(f"the data template cannot be rendered ({where}): {error}") from None

    return shape

"""The modules of the pages agree with the types in their comments."""

from __future__ import annotations

import json
from pathlib import Path

import rest_types
import typescript
from benchwright.reports.pages.report import APP

_PROJECT = APP / "tsconfig.json"


def test_the_modules_have_no_type_error() -> None:
    assert typescript.checked(_PROJECT) == ""


def test_nothing_is_of_any_type_unless_it_says_so() -> None:
    options = json.loads(_PROJECT.read_text())["compilerOptions"]
    assert options["strict"] is True
    assert "noImplicitAny" not in options


def test_the_types_of_answers_are_those_of_the_openapi_document() -> None:
    assert rest_types.PLACE.read_text(encoding="utf-8") == rest_types.rest_types(), (
        "write them again: python tests/rest_types.py"
    )


def test_a_wrong_type_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "tsconfig.json").write_bytes(_PROJECT.read_bytes())
    (tmp_path / "wrong.js").write_text(
        "/** @param {number} value */\nexport const f = (value) => value.length;\nexport const g = (value) => value;\n"
    )
    found = typescript.checked(tmp_path / "tsconfig.json")
    assert "wrong.js(2,35): error TS2339" in found
    assert "wrong.js(3,19): error TS7006" in found

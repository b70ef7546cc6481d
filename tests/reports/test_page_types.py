"""The modules of the pages agree with the types in their comments."""

from __future__ import annotations

from pathlib import Path

import typescript
from benchwright.reports.pages.report import APP

_PROJECT = APP / "tsconfig.json"


def test_the_modules_have_no_type_error() -> None:
    assert typescript.checked(_PROJECT) == ""


def test_a_wrong_type_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "tsconfig.json").write_bytes(_PROJECT.read_bytes())
    (tmp_path / "wrong.js").write_text(
        "/** @param {number} value */\nexport const f = (value) => value.length;\n"
    )
    assert "wrong.js(2,35): error TS2339" in typescript.checked(tmp_path / "tsconfig.json")

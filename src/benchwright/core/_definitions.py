"""The definition that a run records: a JSON value from which any process makes the same benchmark again.

Every definition has the keys `kind`, a row of `TARGET_KINDS` in `benchwright.runs`, and `settings`, what the user chose
about rows, prompts and scores. `target` and `folder` say where the benchmark is loaded from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from benchwright.core._json import JsonObject

QUESTIONS: Final = "questions"
"""The kind of a file of questions."""
FUNCTION_CALLING: Final = "function_calling"
"""The kind of a function-calling evaluation."""


def defined_settings(settings: Mapping[str, Any], kind: str) -> JsonObject | None:
    """The settings of a recorded definition of this kind; None for a run of any other kind."""
    definition = settings.get("definition")
    if not isinstance(definition, dict) or definition.get("kind") != kind:
        return None
    found = definition.get("settings")
    return found if isinstance(found, dict) else {}

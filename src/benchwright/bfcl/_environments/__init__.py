"""Simulated classes that ship with benchwright, for tests, for runs without the published data, and as a pattern.

A simulated class is created without arguments and loaded by `_load_scenario(config, long_context=…)`. Its public methods
are its functions; attributes without an underscore are the state that is compared. Methods return dicts, and errors as
`{"error": …}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.bfcl._environments.corner_shop import CornerShop
from benchwright.bfcl._environments.task_board import TaskBoard

CLASSES: Mapping[str, Any] = {each.__name__: each for each in (TaskBoard, CornerShop)}
"""By name."""

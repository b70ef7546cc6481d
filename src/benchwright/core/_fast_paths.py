"""The switch of fast paths: code that does what other code does, only sooner. Each has its own file, with its price."""

from __future__ import annotations

import os

FAST_PATHS = os.environ.get("BENCHWRIGHT_PLAIN") != "1"
"""Whether fast paths are taken. `BENCHWRIGHT_PLAIN=1` leaves them out: everything must come out the same, only later."""

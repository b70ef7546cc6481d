"""Rows of steps as the store takes them, for tests of stores and reports."""

from __future__ import annotations

from benchwright.core import StepValues


def stored_step(
    key: str,
    input_hash: bytes,
    input: bytes | None,
    output: bytes,
    reusable: bool,
    started_at: float,
    finished_at: float,
    call_hash: bytes | None = None,
    call_input: bytes | None = None,
    call_output: bytes | None = None,
) -> StepValues:
    """One row, with its values by name."""
    return (
        key, input_hash, input, output, reusable, started_at, finished_at, call_hash, call_input, call_output
    )  # fmt: skip

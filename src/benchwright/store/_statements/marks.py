"""Marks: how far indexes are filled, and the last numbers given out."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.core import sample_of
from benchwright.store._driver import Connection

SET_MARK = "INSERT INTO marks VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
FIGURES = "figures/"
"""How the names of marks begin that say how far a figure of a run is indexed."""
INDEXING = "indexing/"
"""The same of marks that say at which sample the indexing of a figure goes on."""
INDEXING_UPTO = "indexing_upto/"
"""And up to which row number it then goes."""

INDEXES = ("sample_index", "sample_metrics", "reply_index")
"""Tables that are derived from steps, up to the row numbers in marks."""


def forget_indexes(connection: Connection) -> None:
    """Delete the marks of the indexes of a database whose steps have got other row numbers: new steps would pass for indexed."""
    connection.execute(
        "DELETE FROM marks WHERE name IN ('replies', 'samples') OR name >= 'figures/' AND name < 'figures0'"
        " OR name >= 'indexing/' AND name < 'indexing_v'"
    )


def lower_marks(connection: Connection) -> None:
    """Lower the marks of the indexes after steps were deleted, because their row numbers are reused for new steps. Figures that are half
    indexed begin again."""
    connection.execute("DELETE FROM marks WHERE name >= 'indexing/' AND name < 'indexing_v'")
    connection.execute(
        "UPDATE marks SET value = (SELECT coalesce(max(rowid), 0) FROM steps)"
        " WHERE (name IN ('replies', 'samples') OR name >= 'figures/' AND name < 'figures0')"
        " AND value > (SELECT coalesce(max(rowid), 0) FROM steps)"
    )


def forget_sample(connection: Connection, run_id: int, score: str, kinds: Sequence[str]) -> None:
    """Delete steps of the sample with this score. A call that shares the row of a deleted score stays, in a row of its own,
    unless calls are deleted too."""
    if "call" not in kinds:
        connection.execute(
            "UPDATE steps SET key = ?, input_hash = call_hash, input = call_input, output = call_output,"
            " call_hash = NULL, call_input = NULL, call_output = NULL"
            " WHERE run_id = ? AND key = ? AND call_output IS NOT NULL",
            (f"call/{sample_of(score)}", run_id, score),
        )
    for kind in kinds:
        prefix = f"{kind}/{sample_of(score)}"
        connection.execute(
            "DELETE FROM steps WHERE run_id = ? AND key >= ? AND key < ?", (run_id, prefix, prefix + "0")
        )

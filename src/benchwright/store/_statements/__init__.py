"""The statements of the store and the code that turns rows into values, for every driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from benchwright.store._ports import Store
from benchwright.store._records import RunRecord
from benchwright.store._statements.runs import Runs
from benchwright.store._statements.samples import Samples
from benchwright.store._statements.step_writer import SampleStepWriter
from benchwright.store._statements.workflow_steps import WorkflowLists


class OpenedStore(Runs, WorkflowLists, Samples):
    """One database, opened by one process. The two writers handle many steps at once."""

    def step_writer(self, run_id: int) -> SampleStepWriter:
        """Open a writer with a separate connection."""
        return SampleStepWriter(self._driver, self.lease(run_id))

    def copy_to(
        self, other: Store, numbers: Sequence[int], told: Callable[[RunRecord, int], None]
    ) -> tuple[list[int], list[int]]:
        """Copy runs to another store."""
        from benchwright.store._statements.copying import copy_runs

        return copy_runs(self, cast(OpenedStore, other), numbers, told)

"""The workspace database: runs, durable steps, events. One table of steps carries resume, cache and replay."""

from benchwright.store._database import StoreError, open_database
from benchwright.store._keys import call_key, judge_key, score_key
from benchwright.store._owner import DEAD_AFTER_S, HEARTBEAT_S, Owner, this_process
from benchwright.store._records import Event, RunRecord, RunStatus, SampleSteps, StepOutput, StepRow
from benchwright.store._store import Store
from benchwright.store._workspace import STATE_FOLDER, Workspace, find_workspace
from benchwright.store._writer import StepWriter

__all__ = [
    "DEAD_AFTER_S",
    "HEARTBEAT_S",
    "STATE_FOLDER",
    "Event",
    "Owner",
    "RunRecord",
    "RunStatus",
    "SampleSteps",
    "StepOutput",
    "StepRow",
    "StepWriter",
    "Store",
    "StoreError",
    "Workspace",
    "call_key",
    "find_workspace",
    "judge_key",
    "open_database",
    "score_key",
    "this_process",
]

"""The workspace database: runs, durable steps, metrics, events. Tables of steps carry resume, cache and replay."""

from benchwright.store._database import StoreError, not_read, open_database
from benchwright.store._keys import call_key, judge_key, moved_key, score_key
from benchwright.store._owner import DEAD_AFTER_S, HEARTBEAT_S, Owner, this_process
from benchwright.store._records import (
    CallStep,
    Event,
    RunKind,
    RunRecord,
    RunStatus,
    SampleSteps,
    StepOutput,
    StepRow,
    StepValues,
    is_redacted,
)
from benchwright.store._repair import Recovered, integrity_problems, recover_database
from benchwright.store._store import Store
from benchwright.store._workflow.decisions import StepRequest
from benchwright.store._workflow.errors import (
    InputChangedError,
    RecordRefusedError,
    RunClosedError,
    StaleAttemptError,
    StepHeldError,
)
from benchwright.store._workflow.records import (
    BeginDecision,
    InputChange,
    Lease,
    MetricPoint,
    MetricTotals,
    Page,
    StepStatus,
    WorkflowStep,
)
from benchwright.store._workflow.workflows import Workflows
from benchwright.store._workflow.writer import WorkflowWriter
from benchwright.store._workspace import STATE_FOLDER, Workspace, existing_workspace, find_workspace
from benchwright.store._writer import StepWriter

__all__ = [
    "DEAD_AFTER_S",
    "HEARTBEAT_S",
    "STATE_FOLDER",
    "BeginDecision",
    "CallStep",
    "Event",
    "InputChange",
    "InputChangedError",
    "Lease",
    "MetricPoint",
    "MetricTotals",
    "Owner",
    "Page",
    "RecordRefusedError",
    "Recovered",
    "RunClosedError",
    "RunKind",
    "RunRecord",
    "RunStatus",
    "SampleSteps",
    "StaleAttemptError",
    "StepHeldError",
    "StepOutput",
    "StepRequest",
    "StepRow",
    "StepStatus",
    "StepValues",
    "StepWriter",
    "Store",
    "StoreError",
    "WorkflowStep",
    "WorkflowWriter",
    "Workflows",
    "Workspace",
    "call_key",
    "existing_workspace",
    "find_workspace",
    "integrity_problems",
    "is_redacted",
    "judge_key",
    "moved_key",
    "not_read",
    "open_database",
    "recover_database",
    "score_key",
    "this_process",
]

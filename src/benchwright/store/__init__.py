"""The workspace database: runs, durable steps, metrics, events. Tables of steps carry resume, cache and replay."""

from benchwright.store._backends import (
    open_existing,
    open_store,
    plain_store_error,
    recover_store,
    store_problems,
)
from benchwright.store._owner import DEAD_AFTER_S, HEARTBEAT_S, Owner, this_process
from benchwright.store._protocols import (
    RunStore,
    SampleStore,
    StepStore,
    StepWriter,
    Store,
    WorkflowStore,
    WorkflowWriter,
)
from benchwright.store._records import (
    CallStep,
    Event,
    Recovered,
    RunRecord,
    SampleSteps,
    StepOutput,
    StoreError,
)
from benchwright.store._sample_filters import SampleFilter, Verdict, verdict_of
from benchwright.store._workflow_records import (
    BeginDecision,
    InputChange,
    Lease,
    MetricPoint,
    MetricTotals,
    Page,
    WorkflowStep,
)
from benchwright.store._workflow_rules import (
    InputChangedError,
    RecordRefusedError,
    RunClosedError,
    StaleAttemptError,
    StepHeldError,
    StepRequest,
)
from benchwright.store._workspace import STATE_FOLDER, Workspace, existing_workspace, find_workspace

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
    "RunRecord",
    "RunStore",
    "SampleFilter",
    "SampleSteps",
    "SampleStore",
    "StaleAttemptError",
    "StepHeldError",
    "StepOutput",
    "StepRequest",
    "StepStore",
    "StepWriter",
    "Store",
    "StoreError",
    "Verdict",
    "WorkflowStep",
    "WorkflowStore",
    "WorkflowWriter",
    "Workspace",
    "existing_workspace",
    "find_workspace",
    "open_existing",
    "open_store",
    "plain_store_error",
    "recover_store",
    "store_problems",
    "this_process",
    "verdict_of",
]

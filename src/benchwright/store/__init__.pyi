from benchwright.store._backends import (
    open_existing as open_existing,
)
from benchwright.store._backends import (
    open_store as open_store,
)
from benchwright.store._backends import (
    plain_store_error as plain_store_error,
)
from benchwright.store._backends import (
    recover_store as recover_store,
)
from benchwright.store._backends import (
    store_problems as store_problems,
)
from benchwright.store._owner import (
    DEAD_AFTER_S as DEAD_AFTER_S,
)
from benchwright.store._owner import (
    HEARTBEAT_S as HEARTBEAT_S,
)
from benchwright.store._owner import (
    Owner as Owner,
)
from benchwright.store._owner import (
    this_process as this_process,
)
from benchwright.store._protocols import (
    RunStore as RunStore,
)
from benchwright.store._protocols import (
    SampleStore as SampleStore,
)
from benchwright.store._protocols import (
    StepStore as StepStore,
)
from benchwright.store._protocols import (
    StepWriter as StepWriter,
)
from benchwright.store._protocols import (
    Store as Store,
)
from benchwright.store._protocols import (
    WorkflowStore as WorkflowStore,
)
from benchwright.store._protocols import (
    WorkflowWriter as WorkflowWriter,
)
from benchwright.store._records import (
    CallStep as CallStep,
)
from benchwright.store._records import (
    Event as Event,
)
from benchwright.store._records import (
    Recovered as Recovered,
)
from benchwright.store._records import (
    RunRecord as RunRecord,
)
from benchwright.store._records import (
    SampleSteps as SampleSteps,
)
from benchwright.store._records import (
    StepOutput as StepOutput,
)
from benchwright.store._records import (
    StoreError as StoreError,
)
from benchwright.store._records import (
    TakenOver as TakenOver,
)
from benchwright.store._sample_filters import (
    SampleFilter as SampleFilter,
)
from benchwright.store._sample_filters import (
    Verdict as Verdict,
)
from benchwright.store._sample_filters import (
    verdict_of as verdict_of,
)
from benchwright.store._workflow_records import (
    BeginDecision as BeginDecision,
)
from benchwright.store._workflow_records import (
    InputChange as InputChange,
)
from benchwright.store._workflow_records import (
    InputChangedError as InputChangedError,
)
from benchwright.store._workflow_records import (
    Lease as Lease,
)
from benchwright.store._workflow_records import (
    MetricPoint as MetricPoint,
)
from benchwright.store._workflow_records import (
    MetricTotals as MetricTotals,
)
from benchwright.store._workflow_records import (
    Page as Page,
)
from benchwright.store._workflow_records import (
    RecordRefusedError as RecordRefusedError,
)
from benchwright.store._workflow_records import (
    RunClosedError as RunClosedError,
)
from benchwright.store._workflow_records import (
    StaleAttemptError as StaleAttemptError,
)
from benchwright.store._workflow_records import (
    StepHeldError as StepHeldError,
)
from benchwright.store._workflow_records import (
    StepRequest as StepRequest,
)
from benchwright.store._workflow_records import (
    WorkflowStep as WorkflowStep,
)
from benchwright.store._workspace import (
    STATE_FOLDER as STATE_FOLDER,
)
from benchwright.store._workspace import (
    Workspace as Workspace,
)
from benchwright.store._workspace import (
    existing_workspace as existing_workspace,
)
from benchwright.store._workspace import (
    find_workspace as find_workspace,
)

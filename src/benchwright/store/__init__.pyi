from benchwright.store._backends import (
    find_workspace as find_workspace,
    open_existing as open_existing,
    open_store as open_store,
    plain_store_error as plain_store_error,
    store_problems as store_problems,
)
from benchwright.store._finding import (
    listed_run as listed_run,
    named_run as named_run,
    whole as whole,
)
from benchwright.store._labels import (
    LABEL_KINDS as LABEL_KINDS,
    Label as Label,
    Trial as Trial,
)
from benchwright.store._owner import (
    HEARTBEAT_S as HEARTBEAT_S,
    Lease as Lease,
    Owner as Owner,
)
from benchwright.store._ports import (
    StepWriter as StepWriter,
    Store as Store,
    WorkflowWriter as WorkflowWriter,
)
from benchwright.store._records import (
    Event as Event,
    RecordedStep as RecordedStep,
    Recovered as Recovered,
    RunRecord as RunRecord,
    SampleSteps as SampleSteps,
    StoreError as StoreError,
)
from benchwright.store._sample_filters import (
    SampleFilter as SampleFilter,
    SampleOrder as SampleOrder,
    labels_of as labels_of,
    place_of as place_of,
    value_in as value_in,
    verdict_of as verdict_of,
)
from benchwright.store._workflow_records import (
    BeginDecision as BeginDecision,
    InputChange as InputChange,
    MetricPoint as MetricPoint,
    MetricTotals as MetricTotals,
    Page as Page,
    RecordRefusedError as RecordRefusedError,
    RunClosedError as RunClosedError,
    StepRequest as StepRequest,
    WorkflowStep as WorkflowStep,
)
from benchwright.store._workspace import Workspace as Workspace

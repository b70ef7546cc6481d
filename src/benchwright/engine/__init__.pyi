from benchwright.engine._cost_estimate import estimated_cost as estimated_cost
from benchwright.engine._feed import WorkItem as WorkItem
from benchwright.engine._group import (
    RunGroup as RunGroup,
    StopAtOnce as StopAtOnce,
)
from benchwright.engine._life import InterruptedRunError as InterruptedRunError, RunLife as RunLife
from benchwright.engine._loop import in_event_loop as in_event_loop
from benchwright.engine._manifest import changed_manifest as changed_manifest
from benchwright.engine._models import (
    ChosenModel as ChosenModel,
)
from benchwright.engine._perform import RunStart as RunStart
from benchwright.engine._prepare import (
    Prepared as Prepared,
)
from benchwright.engine._progress import Progress as Progress, Watcher as Watcher
from benchwright.engine._reused import reused_replies as reused_replies
from benchwright.engine._settings import DECIDES as DECIDES, RunSettings as RunSettings
from benchwright.engine._side_calls import ask_judge as ask_judge
from benchwright.engine._stop import Budget as Budget, StopCause as StopCause
from benchwright.engine._worker import (
    Answering as Answering,
    RunContext as RunContext,
    SampleWorker as SampleWorker,
)

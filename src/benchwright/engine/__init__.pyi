from benchwright.engine._cost_estimate import estimated_cost as estimated_cost
from benchwright.engine._cost_estimate import tokens_cost as tokens_cost
from benchwright.engine._feed import WorkItem as WorkItem
from benchwright.engine._feed import failed_score as failed_score
from benchwright.engine._group import (
    InterruptedRunError as InterruptedRunError,
)
from benchwright.engine._group import (
    RunGroup as RunGroup,
)
from benchwright.engine._group import (
    stopped_twice as stopped_twice,
)
from benchwright.engine._manifest import changed_manifest as changed_manifest
from benchwright.engine._perform import Performed as Performed
from benchwright.engine._perform import perform as perform
from benchwright.engine._prepare import (
    Prepared as Prepared,
)
from benchwright.engine._prepare import (
    model_type_of as model_type_of,
)
from benchwright.engine._prepare import (
    prepare as prepare,
)
from benchwright.engine._prepare import (
    prepared_like as prepared_like,
)
from benchwright.engine._prepare import (
    row_settings as row_settings,
)
from benchwright.engine._prepare import (
    rows_and_prompts as rows_and_prompts,
)
from benchwright.engine._prepare import (
    start_problems as start_problems,
)
from benchwright.engine._progress import Phase as Phase
from benchwright.engine._progress import Progress as Progress
from benchwright.engine._progress import Watcher as Watcher
from benchwright.engine._settings import (
    DECIDES as DECIDES,
)
from benchwright.engine._settings import (
    ModelSettings as ModelSettings,
)
from benchwright.engine._settings import (
    RunSettings as RunSettings,
)
from benchwright.engine._side_calls import (
    judge_request as judge_request,
)
from benchwright.engine._side_calls import (
    judge_settings as judge_settings,
)
from benchwright.engine._side_calls import (
    judge_text as judge_text,
)
from benchwright.engine._stop import Budget as Budget
from benchwright.engine._stop import StopCause as StopCause
from benchwright.engine._worker import (
    Answering as Answering,
)
from benchwright.engine._worker import (
    OpenSample as OpenSample,
)
from benchwright.engine._worker import (
    RunContext as RunContext,
)
from benchwright.engine._worker import (
    SampleWorker as SampleWorker,
)

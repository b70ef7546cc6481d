from benchwright.config import (
    Caching as Caching,
    ExchangeReport as ExchangeReport,
    FailedRequests as FailedRequests,
    PayloadModifier as PayloadModifier,
    PipelineSettings as PipelineSettings,
    PipelineStep as PipelineStep,
    ProgressTracking as ProgressTracking,
    RaiseClientErrors as RaiseClientErrors,
    Reasoning as Reasoning,
    RequestLogging as RequestLogging,
    ResponseLogging as ResponseLogging,
    ResponseStats as ResponseStats,
    SystemMessage as SystemMessage,
    pipeline_settings as pipeline_settings,
)
from benchwright.core import ModelReply as ModelReply, ModelRequest as ModelRequest
from benchwright.pipeline._endpoint import PipelineEndpoint as PipelineEndpoint
from benchwright.pipeline._exchange_log import LOG_FILE as LOG_FILE
from benchwright.pipeline._load_test import (
    PipelinedModel as PipelinedModel,
    check_load_pipeline as check_load_pipeline,
)
from benchwright.pipeline._open import (
    STEP_PLUGINS as STEP_PLUGINS,
    check_pipeline as check_pipeline,
    compiled_steps as compiled_steps,
    open_pipeline as open_pipeline,
)
from benchwright.pipeline._progress import ProgressPoster as ProgressPoster
from benchwright.pipeline._step import (
    BodyChange as BodyChange,
    PreparedRequest as PreparedRequest,
    Step as Step,
    with_body as with_body,
)
from benchwright.pipeline._transport import HttpSide as HttpSide

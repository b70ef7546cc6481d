from benchwright.endpoints._addresses import Address as Address
from benchwright.endpoints._clock import LOOP_CLOCK as LOOP_CLOCK, Clock as Clock
from benchwright.endpoints._echo import EchoProfile as EchoProfile
from benchwright.endpoints._echo_checks import EchoRefusedError as EchoRefusedError
from benchwright.endpoints._endpoint import (
    SEND_ONCE as SEND_ONCE,
    USUAL as USUAL,
    Endpoint as Endpoint,
    ModelSettings as ModelSettings,
    OpenEndpoint as OpenEndpoint,
    SendPolicy as SendPolicy,
    TimedEndpoint as TimedEndpoint,
    captured_bodies as captured_bodies,
)
from benchwright.endpoints._gate import Allowance as Allowance, SendGate as SendGate
from benchwright.endpoints._likelihood import choice_likelihood as choice_likelihood
from benchwright.endpoints._limiter import Limiter as Limiter
from benchwright.endpoints._metrics_page import MetricsPage as MetricsPage
from benchwright.endpoints._model_list import listed_models as listed_models
from benchwright.endpoints._open import open_endpoint as open_endpoint
from benchwright.endpoints._pipeline.load_test import PipelinedModel as PipelinedModel
from benchwright.endpoints._pipeline.pipeline import Pipeline as Pipeline
from benchwright.endpoints._pipeline.step import Step as Step, with_body as with_body
from benchwright.endpoints._refused_settings import (
    AdaptedEndpoint as AdaptedEndpoint,
    RequestAdapter as RequestAdapter,
)
from benchwright.endpoints._replies import BadReply as BadReply
from benchwright.endpoints._reqwest import innermost_cause as innermost_cause
from benchwright.endpoints._settings import (
    SERVED_BY_DEMO as SERVED_BY_DEMO,
    EndpointSettings as EndpointSettings,
    ScriptedSettings as ScriptedSettings,
)
from benchwright.endpoints._transport import Headers as Headers
from benchwright.endpoints._wires.formats import (
    wire_format as wire_format,
)
from benchwright.endpoints._wires.openai import OpenAiWire as OpenAiWire
from benchwright.endpoints._wires.wire import (
    BadEventError as BadEventError,
    Collector as Collector,
    EventCollector as EventCollector,
    RouteUrls as RouteUrls,
    UnsendableRequestError as UnsendableRequestError,
    Wire as Wire,
)

from benchwright.core import KeyHeader as KeyHeader
from benchwright.core import WireFormat as WireFormat
from benchwright.endpoints._addresses import Address as Address
from benchwright.endpoints._addresses import model_in_url as model_in_url
from benchwright.endpoints._clock import LOOP_CLOCK as LOOP_CLOCK
from benchwright.endpoints._clock import Clock as Clock
from benchwright.endpoints._clock import Timer as Timer
from benchwright.endpoints._echo import EchoProfile as EchoProfile
from benchwright.endpoints._echo import learn_echo as learn_echo
from benchwright.endpoints._echo_checks import EchoRefusedError as EchoRefusedError
from benchwright.endpoints._endpoint import (
    SEND_ONCE as SEND_ONCE,
)
from benchwright.endpoints._endpoint import (
    USUAL as USUAL,
)
from benchwright.endpoints._endpoint import (
    Endpoint as Endpoint,
)
from benchwright.endpoints._endpoint import (
    OpenableSettings as OpenableSettings,
)
from benchwright.endpoints._endpoint import (
    OpenEndpoint as OpenEndpoint,
)
from benchwright.endpoints._endpoint import (
    Policy as Policy,
)
from benchwright.endpoints._endpoint import (
    TimedEndpoint as TimedEndpoint,
)
from benchwright.endpoints._endpoint import (
    captured_bodies as captured_bodies,
)
from benchwright.endpoints._gate import Allowance as Allowance
from benchwright.endpoints._gate import SendGate as SendGate
from benchwright.endpoints._gate import not_sent as not_sent
from benchwright.endpoints._likelihood import (
    ChoiceLikelihood as ChoiceLikelihood,
)
from benchwright.endpoints._likelihood import (
    EmptyContinuationError as EmptyContinuationError,
)
from benchwright.endpoints._likelihood import (
    continuation_likelihood as continuation_likelihood,
)
from benchwright.endpoints._limiter import Limiter as Limiter
from benchwright.endpoints._metrics_page import MetricsPage as MetricsPage
from benchwright.endpoints._model_list import listed_models as listed_models
from benchwright.endpoints._open import open_endpoint as open_endpoint
from benchwright.endpoints._reasoning import SplitText as SplitText
from benchwright.endpoints._reasoning import split_reasoning as split_reasoning
from benchwright.endpoints._refused_settings import (
    AdaptedEndpoint as AdaptedEndpoint,
)
from benchwright.endpoints._refused_settings import (
    RequestAdapter as RequestAdapter,
)
from benchwright.endpoints._refused_settings import (
    setting_advice as setting_advice,
)
from benchwright.endpoints._replies import BadReply as BadReply
from benchwright.endpoints._reqwest import innermost_cause as innermost_cause
from benchwright.endpoints._scripted import (
    Script as Script,
)
from benchwright.endpoints._scripted import (
    ScriptedAnswer as ScriptedAnswer,
)
from benchwright.endpoints._scripted import (
    ScriptedEndpoint as ScriptedEndpoint,
)
from benchwright.endpoints._settings import (
    SERVED_BY_DEMO as SERVED_BY_DEMO,
)
from benchwright.endpoints._settings import (
    EndpointSettings as EndpointSettings,
)
from benchwright.endpoints._settings import (
    ScriptedSettings as ScriptedSettings,
)
from benchwright.endpoints._settings import (
    changes_no_reply as changes_no_reply,
)
from benchwright.endpoints._transport import (
    AroundHttp as AroundHttp,
)
from benchwright.endpoints._transport import (
    Headers as Headers,
)
from benchwright.endpoints._transport import (
    HttpReply as HttpReply,
)
from benchwright.endpoints._transport import (
    HttpStream as HttpStream,
)
from benchwright.endpoints._transport import (
    Pieces as Pieces,
)
from benchwright.endpoints._transport import (
    Stamps as Stamps,
)
from benchwright.endpoints._transport import (
    Transport as Transport,
)
from benchwright.endpoints._transport import (
    TransportFailure as TransportFailure,
)
from benchwright.endpoints._wires.formats import WIRE_PLUGINS as WIRE_PLUGINS
from benchwright.endpoints._wires.formats import as_sent as as_sent
from benchwright.endpoints._wires.formats import wire_format as wire_format
from benchwright.endpoints._wires.openai import OpenAiWire as OpenAiWire
from benchwright.endpoints._wires.plain_text import (
    TextCollector as TextCollector,
)
from benchwright.endpoints._wires.plain_text import (
    openai_reply as openai_reply,
)
from benchwright.endpoints._wires.plain_text import (
    parameters_of as parameters_of,
)
from benchwright.endpoints._wires.plain_text import (
    prompt_of as prompt_of,
)
from benchwright.endpoints._wires.wire import (
    BadEventError as BadEventError,
)
from benchwright.endpoints._wires.wire import (
    Collector as Collector,
)
from benchwright.endpoints._wires.wire import (
    EventCollector as EventCollector,
)
from benchwright.endpoints._wires.wire import (
    RouteUrls as RouteUrls,
)
from benchwright.endpoints._wires.wire import (
    UnsendableRequestError as UnsendableRequestError,
)
from benchwright.endpoints._wires.wire import (
    Wire as Wire,
)

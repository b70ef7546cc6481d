"""Models behind one method: HTTP servers and scripts; the demo model of the room `demo` is opened by its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchwright.core import KeyHeader, WireFormat
from benchwright.endpoints._addresses import Address, model_in_url
from benchwright.endpoints._clock import LOOP_CLOCK, Clock, Timer
from benchwright.endpoints._endpoint import (
    SEND_ONCE,
    USUAL,
    Endpoint,
    OpenableSettings,
    OpenEndpoint,
    Policy,
    TimedEndpoint,
)
from benchwright.endpoints._gate import Allowance, SendGate, not_sent
from benchwright.endpoints._open import open_endpoint
from benchwright.endpoints._settings import (
    SERVED_BY_DEMO,
    EndpointSettings,
    ScriptedSettings,
    changes_no_reply,
)
from benchwright.endpoints._wires.formats import WIRE_PLUGINS, wire_format

if TYPE_CHECKING:
    from benchwright.endpoints._echo import EchoProfile, learn_echo
    from benchwright.endpoints._echo_checks import EchoRefusedError
    from benchwright.endpoints._endpoint import captured_bodies
    from benchwright.endpoints._likelihood import (
        ChoiceLikelihood,
        EmptyContinuationError,
        continuation_likelihood,
    )
    from benchwright.endpoints._limiter import Limiter
    from benchwright.endpoints._model_list import listed_models
    from benchwright.endpoints._reasoning import SplitText, split_reasoning
    from benchwright.endpoints._refused_settings import AdaptedEndpoint, RequestAdapter, setting_advice
    from benchwright.endpoints._replies import BadReply
    from benchwright.endpoints._scripted import Script, ScriptedAnswer, ScriptedEndpoint
    from benchwright.endpoints._wires.openai import OpenAiWire
    from benchwright.endpoints._wires.plain_text import TextCollector, openai_reply, parameters_of, prompt_of
    from benchwright.endpoints._wires.wire import (
        BadEventError,
        Collector,
        EventCollector,
        RouteUrls,
        UnsendableRequestError,
        Wire,
    )

__all__ = [
    "LOOP_CLOCK",
    "SEND_ONCE",
    "SERVED_BY_DEMO",
    "USUAL",
    "WIRE_PLUGINS",
    "AdaptedEndpoint",
    "Address",
    "Allowance",
    "BadEventError",
    "BadReply",
    "ChoiceLikelihood",
    "Clock",
    "Collector",
    "EchoProfile",
    "EchoRefusedError",
    "EmptyContinuationError",
    "Endpoint",
    "EndpointSettings",
    "EventCollector",
    "KeyHeader",
    "Limiter",
    "OpenAiWire",
    "OpenEndpoint",
    "OpenableSettings",
    "Policy",
    "RequestAdapter",
    "RouteUrls",
    "Script",
    "ScriptedAnswer",
    "ScriptedEndpoint",
    "ScriptedSettings",
    "SendGate",
    "SplitText",
    "TextCollector",
    "TimedEndpoint",
    "Timer",
    "UnsendableRequestError",
    "Wire",
    "WireFormat",
    "captured_bodies",
    "changes_no_reply",
    "continuation_likelihood",
    "learn_echo",
    "listed_models",
    "model_in_url",
    "not_sent",
    "open_endpoint",
    "openai_reply",
    "parameters_of",
    "prompt_of",
    "setting_advice",
    "split_reasoning",
    "wire_format",
]

# Loaded on first use: a limiter needs an event loop, which `--help` does not, and only ranking reads echoes and
# likelihoods.
_LAZY = {
    "AdaptedEndpoint": "_refused_settings",
    "BadEventError": "_wires.wire",
    "BadReply": "_replies",
    "ChoiceLikelihood": "_likelihood",
    "Collector": "_wires.wire",
    "EchoProfile": "_echo",
    "EchoRefusedError": "_echo_checks",
    "EmptyContinuationError": "_likelihood",
    "EventCollector": "_wires.wire",
    "Limiter": "_limiter",
    "OpenAiWire": "_wires.openai",
    "RequestAdapter": "_refused_settings",
    "RouteUrls": "_wires.wire",
    "Script": "_scripted",
    "ScriptedAnswer": "_scripted",
    "ScriptedEndpoint": "_scripted",
    "SplitText": "_reasoning",
    "TextCollector": "_wires.plain_text",
    "UnsendableRequestError": "_wires.wire",
    "Wire": "_wires.wire",
    "captured_bodies": "_endpoint",
    "continuation_likelihood": "_likelihood",
    "learn_echo": "_echo",
    "listed_models": "_model_list",
    "openai_reply": "_wires.plain_text",
    "parameters_of": "_wires.plain_text",
    "prompt_of": "_wires.plain_text",
    "setting_advice": "_refused_settings",
    "split_reasoning": "_reasoning",
}


def __getattr__(name: str) -> Any:
    home = _LAZY.get(name)
    if home is None:
        raise AttributeError(f"module 'benchwright.endpoints' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"benchwright.endpoints.{home}"), name)
    globals()[name] = value
    return value

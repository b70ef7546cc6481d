"""Models behind one method: HTTP servers, scripts and the embedded demo model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchwright.core import WireFormat
from benchwright.endpoints._addresses import Address, model_in_url
from benchwright.endpoints._demo.settings import DemoSettings, FaultMix
from benchwright.endpoints._endpoint import Endpoint, OpenEndpoint
from benchwright.endpoints._gate import SendGate
from benchwright.endpoints._open import open_endpoint
from benchwright.endpoints._settings import (
    MODEL_TYPES,
    SERVED_BY_DEMO,
    EndpointSettings,
    ModelType,
    ScriptedSettings,
    changes_no_reply,
)
from benchwright.endpoints._wires.formats import WIRE_PLUGINS, wire_format

if TYPE_CHECKING:
    from benchwright.endpoints._captured import captured_bodies
    from benchwright.endpoints._demo.endpoint import DemoEndpoint
    from benchwright.endpoints._demo.model import DemoModel
    from benchwright.endpoints._demo.server import DemoServer, demo_server, serve_demo, start_demo
    from benchwright.endpoints._echo import EchoProfile, learn_echo
    from benchwright.endpoints._echo_verdict import EchoRefusedError
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
        RouteUrls,
        UnsendableRequestError,
        Wire,
    )

__all__ = [
    "MODEL_TYPES",
    "SERVED_BY_DEMO",
    "WIRE_PLUGINS",
    "AdaptedEndpoint",
    "Address",
    "BadEventError",
    "BadReply",
    "ChoiceLikelihood",
    "Collector",
    "DemoEndpoint",
    "DemoModel",
    "DemoServer",
    "DemoSettings",
    "EchoProfile",
    "EchoRefusedError",
    "EmptyContinuationError",
    "Endpoint",
    "EndpointSettings",
    "FaultMix",
    "Limiter",
    "ModelType",
    "OpenAiWire",
    "OpenEndpoint",
    "RequestAdapter",
    "RouteUrls",
    "Script",
    "ScriptedAnswer",
    "ScriptedEndpoint",
    "ScriptedSettings",
    "SendGate",
    "SplitText",
    "TextCollector",
    "UnsendableRequestError",
    "Wire",
    "WireFormat",
    "captured_bodies",
    "changes_no_reply",
    "continuation_likelihood",
    "demo_server",
    "learn_echo",
    "listed_models",
    "model_in_url",
    "open_endpoint",
    "openai_reply",
    "parameters_of",
    "prompt_of",
    "serve_demo",
    "setting_advice",
    "split_reasoning",
    "start_demo",
    "wire_format",
]

# Loaded on first use: the demo model compiles many expressions (20 ms), which an HTTP run does not need, a limiter
# needs an event loop, which `--help` does not, and only ranking reads echoes and likelihoods.
_LAZY = {
    "AdaptedEndpoint": "_refused_settings",
    "BadEventError": "_wires.wire",
    "BadReply": "_replies",
    "ChoiceLikelihood": "_likelihood",
    "Collector": "_wires.wire",
    "DemoEndpoint": "_demo.endpoint",
    "DemoModel": "_demo.model",
    "DemoServer": "_demo.server",
    "EchoProfile": "_echo",
    "EchoRefusedError": "_echo_verdict",
    "EmptyContinuationError": "_likelihood",
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
    "captured_bodies": "_captured",
    "continuation_likelihood": "_likelihood",
    "demo_server": "_demo.server",
    "learn_echo": "_echo",
    "listed_models": "_model_list",
    "openai_reply": "_wires.plain_text",
    "parameters_of": "_wires.plain_text",
    "prompt_of": "_wires.plain_text",
    "serve_demo": "_demo.server",
    "setting_advice": "_refused_settings",
    "split_reasoning": "_reasoning",
    "start_demo": "_demo.server",
}


def __getattr__(name: str) -> Any:
    home = _LAZY.get(name)
    if home is None:
        raise AttributeError(f"module 'benchwright.endpoints' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"benchwright.endpoints.{home}"), name)
    globals()[name] = value
    return value

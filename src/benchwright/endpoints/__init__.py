"""Models behind one method: HTTP servers, scripts and the embedded demo model."""

from benchwright.endpoints._echo import EchoProfile, EchoRefusedError, learn_echo
from benchwright.endpoints._endpoint import Endpoint, OpenEndpoint
from benchwright.endpoints._likelihood import (
    ChoiceLikelihood,
    EmptyContinuationError,
    continuation_likelihood,
)
from benchwright.endpoints._open import open_endpoint
from benchwright.endpoints._reasoning import SplitText, split_reasoning
from benchwright.endpoints._scripted import Script, ScriptedAnswer, ScriptedEndpoint
from benchwright.endpoints._settings import MODEL_TYPES, EndpointSettings, ModelType

__all__ = [
    "MODEL_TYPES",
    "ChoiceLikelihood",
    "EchoProfile",
    "EchoRefusedError",
    "EmptyContinuationError",
    "Endpoint",
    "EndpointSettings",
    "ModelType",
    "OpenEndpoint",
    "Script",
    "ScriptedAnswer",
    "ScriptedEndpoint",
    "SplitText",
    "continuation_likelihood",
    "learn_echo",
    "open_endpoint",
    "split_reasoning",
]

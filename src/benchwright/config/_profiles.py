"""Model profiles: back-ends that people know by name. A profile says how to ask; the address is the user's."""

from __future__ import annotations

from msgspec import Struct

from benchwright.core import Api, ConfigError, Route

DEFAULT_PROFILE_URL = "http://localhost:8080"
"""Where a profile's server is by default."""


class Profile(Struct, frozen=True):
    """How to call one kind of server."""

    name: str
    """The name users type."""
    api: Api
    """Wire format."""
    type: Route
    """Messages, or one text."""
    stream: bool
    """Whether replies are streamed by default."""
    description: str
    """One line for listings."""


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("vllm_api_general", "openai", "completions", False, "OpenAI completions (vLLM, SGLang and others)"),
        Profile("vllm_api_general_stream", "openai", "completions", True, "OpenAI completions, streamed"),
        Profile("vllm_api_general_chat", "openai", "chat", False, "OpenAI chat (vLLM, SGLang, MindIE and others)"),
        Profile("vllm_api_stream_chat", "openai", "chat", True, "OpenAI chat, streamed"),
        Profile("vllm_api_stream_chat_multiturn", "openai", "chat", True, "OpenAI chat, streamed, for conversations"),
        Profile("vllm_api_function_call_chat", "openai", "chat", False, "OpenAI chat, for function calling"),
        Profile("openai_responses", "responses", "chat", False, "OpenAI responses"),
        Profile("mindie_stream_api_general", "mindie", "completions", True, "MindIE's own /infer, streamed"),
        Profile("tgi_api_general", "tgi", "completions", False, "Text Generation Inference, /generate"),
        Profile("tgi_stream_api_general", "tgi", "completions", True, "Text Generation Inference, /generate_stream"),
        Profile("triton_api_general", "triton", "completions", False, "Triton, /v2/models/NAME/generate"),
        Profile("triton_stream_api_general", "triton", "completions", True, "Triton, /v2/models/NAME/generate_stream"),
    )
}  # fmt: skip
"""All profiles by name."""

_CLASSES = {
    "VLLMCustomAPI": "vllm_api_general",
    "VLLMCustomAPIStream": "vllm_api_general_stream",
    "VLLMCustomAPIChat": "vllm_api_general_chat",
    "VLLMCustomAPIChatStream": "vllm_api_stream_chat",
    "VllmMultiturnAPIChatStream": "vllm_api_stream_chat_multiturn",
    "VLLMFunctionCallAPIChat": "vllm_api_function_call_chat",
    "MindieStreamApi": "mindie_stream_api_general",
    "TGICustomAPI": "tgi_api_general",
    "TGICustomAPIStream": "tgi_stream_api_general",
    "TritonCustomAPI": "triton_api_general",
    "TritonCustomAPIStream": "triton_stream_api_general",
}
_IN_PROCESS = ("hf_", "vllm_offline", "huggingface", "vllmoffline", "mindformer")


def find_profile(name: str) -> Profile | None:
    """The profile of a name. ConfigError for names of models that would run in this process."""
    if name not in PROFILES and name.lower().startswith(_IN_PROCESS):
        raise ConfigError(
            f"{name} runs the model in this process, which benchwright does not. Start a server for it (vllm serve "
            "MODEL, for example) and use --model vllm_api_general_chat --model-url http://localhost:8000"
        )
    return PROFILES.get(name)


def profile_of_class(written: object) -> Profile | None:
    """The profile that a class, or the name of one, stands for in files of other tools.

    >>> profile_of_class("VLLMCustomAPIChat").name
    'vllm_api_general_chat'
    """
    name = written if isinstance(written, str) else getattr(written, "__name__", "")
    name = name.rpartition(".")[2]
    known = _CLASSES.get(name)
    return PROFILES[known] if known is not None else find_profile(name)

"""Lists the models of a server, so that users need not name the only one. Requested once, before a run."""

from __future__ import annotations

from benchwright.core import ConfigError, load_json, redact
from benchwright.endpoints._messages import words_of_body
from benchwright.endpoints._open import proxy_of
from benchwright.endpoints._settings import EndpointSettings, read_api_key
from benchwright.endpoints._transport import TransportFailure
from benchwright.endpoints._wires.formats import wire_format

_TIMEOUT_S = 30.0
"""A server that is busy with requests answers this one late too; one that is not there refuses at once."""
_CURE = "Name the model (--model-id NAME), or check the address"


async def listed_models(settings: EndpointSettings) -> list[str]:
    """The models that the server lists, at least one. The model id of the settings is ignored.

    Raises ConfigError with the server's message if it cannot be reached or lists none.
    """
    from benchwright.endpoints._http_endpoint import request_headers  # asyncio: not for `--help`
    from benchwright.endpoints._reqwest import ReqwestTransport

    key = read_api_key(settings.api_key_name) if settings.api_key_name else None
    headers = request_headers(settings, key)
    transport = ReqwestTransport(1, proxy=proxy_of(settings), verify=settings.verify, http2=settings.http2)
    problem, cure = "", _CURE
    try:
        for url in _urls(settings):
            try:
                reply = await transport.get(url, headers, _TIMEOUT_S)
            except TransportFailure as failure:
                raise ConfigError(
                    f"no model is named, and the server's list of models could not be read: {redact(str(failure))}"
                ) from None
            if reply.status == 200:
                names = _names(reply.body)
                if any(redact(name) != name for name in names):
                    raise ConfigError(
                        "the server lists a model whose name is a secret of yours. Name the model: --model-id NAME"
                    )
                if names:
                    return names
                words = "lists no models"
            else:
                words = f"says {reply.status}: {words_of_body(reply.body, redact)}"
                if reply.status in (401, 403):
                    cure = (
                        f"Check the key in the environment variable {settings.api_key_name}"
                        if settings.api_key_name
                        else "Name the environment variable that contains the key: --api-key-name NAME"
                    )
            problem = problem or f"{url} {words}"
    finally:
        await transport.aclose()
    raise ConfigError(f"no model is named, and {problem.rstrip('.')}. {cure}")


def _urls(settings: EndpointSettings) -> list[str]:
    """Where the list may be, the most likely URL first."""
    address = settings.address
    addresses = [address, address.without_guess()] if address.guessed else [address]
    routes = wire_format(settings.api).model_lists
    return [place.url_of(route) for place in addresses for route in routes]


def _names(body: bytes) -> list[str]:
    """The names in OpenAI's list, or in TGI's description of itself."""
    try:
        data = load_json(body)
    except ValueError:
        return []
    if not isinstance(data, dict):
        return []
    listed = data.get("data")
    entries = listed if isinstance(listed, list) else [{"id": data.get("model_id")}]
    names = (entry.get("id") for entry in entries if isinstance(entry, dict))
    return list(dict.fromkeys(name for name in names if isinstance(name, str) and name))

"""The REST interface of a workspace, on loopback: runs, durable steps, metrics, events, and datasets by batches.

For clients in any language. Web pages cannot drive it, and writers need its token.
"""

from benchwright.server._openapi import openapi_document
from benchwright.server._serving import ServerAddress, ServerSettings, serve, serving
from benchwright.server._state import ServerState

__all__ = ["ServerAddress", "ServerSettings", "ServerState", "openapi_document", "serve", "serving"]

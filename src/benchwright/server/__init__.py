"""The REST interface of a workspace, on loopback: runs, durable steps, metrics, events, and datasets by batches.

Clients in any language may use it. It refuses requests of web pages, and requests without its token.
"""

from benchwright.server._routes import openapi_document
from benchwright.server._serving import ServerAddress, ServerSettings, serve, serving

__all__ = ["ServerAddress", "ServerSettings", "openapi_document", "serve", "serving"]

"""The server of a workspace, on loopback unless told otherwise: a REST interface for runs, durable steps, metrics, events and batches of datasets, and pages.

Clients in any language may use it. It refuses requests of other web pages, and requests for data without a token.
"""

from benchwright.server._opening import new_open_url, opened_page
from benchwright.server._people import People
from benchwright.server._serving import ServerAddress, serve, serving
from benchwright.server._settings import ServerSettings

__all__ = [
    "People",
    "ServerAddress",
    "ServerSettings",
    "new_open_url",
    "opened_page",
    "serve",
    "serving",
]

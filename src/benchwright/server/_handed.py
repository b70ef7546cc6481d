"""Documents that a command hands over for a page: what `check` and `gate` say. The server computes none of them itself, because that would
run what a target names."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import msgspec

from benchwright.server._guard import Refusal

MOST_DOCUMENTS = 100
"""Most documents that are kept; the oldest is forgotten first."""
MOST_BYTES = 32 * 1024 * 1024
"""Most bytes of all of them."""


class Handed:
    """The documents, by the address of their page, as JSON."""

    def __init__(self) -> None:
        self._documents: OrderedDict[str, bytes] = OrderedDict()

    def keep(self, page: str, document: dict[str, Any]) -> None:
        """Keep a document in place of an earlier one."""
        encoded = msgspec.json.encode(document)
        if len(encoded) > MOST_BYTES:
            raise Refusal(413, "too_large", f"the document is larger than {MOST_BYTES} bytes")
        self._documents.pop(page, None)
        self._documents[page] = encoded
        while len(self._documents) > MOST_DOCUMENTS or self._size > MOST_BYTES:
            self._documents.popitem(last=False)

    def get(self, page: str) -> bytes | None:
        """The document of a page."""
        return self._documents.get(page)

    @property
    def _size(self) -> int:
        return sum(map(len, self._documents.values()))

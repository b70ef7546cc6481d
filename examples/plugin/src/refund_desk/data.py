"""A source and a file format: both return rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

TICKETS = {
    "open": [("How much is 12 + 30?", "42"), ("How much is 7 + 8?", "15")],
    "closed": [("How much is 20 + 5?", "25")],
}
"""A stand-in for a database."""


def tickets(uri: str) -> Iterator[dict[str, str]]:
    """Yield the tickets of one queue, such as `tickets://open`. Called again for each pass over the rows."""
    queue = urlsplit(uri).netloc
    if queue not in TICKETS:
        raise ValueError(f"no queue {queue!r}; there are: {', '.join(TICKETS)}")
    for question, answer in TICKETS[queue]:
        yield {"question": question, "answer": answer}


def read_qna(path: Path) -> Iterator[dict[str, str]]:
    """Read lines of the form `question => answer`."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        question, arrow, answer = line.partition("=>")
        if not arrow:
            raise ValueError(f"line {number} has no '=>'")
        yield {"question": question.strip(), "answer": answer.strip()}

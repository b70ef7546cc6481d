"""`report.html` of a benchmark run: a page that never changes, with the run inside as JSON, which the page's script shows.

Every run writes this page, and a template engine takes longer to load than a short run takes to score. The script only sets
texts, and a policy in the page forbids every other script and every request, so nothing in a reply can become markup or
leave the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from benchwright.core import exact_json, known_secrets, printable
from benchwright.reports.files.parquet import dump_each
from benchwright.reports.html.policy import part, policy
from benchwright.results import RunPageView

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def run_page(page: RunPageView, samples: Sequence[dict[str, Any]]) -> bytes:
    """The complete page, without external resources."""
    script, style = part("run.js"), part("style.css") + part("run.css")
    parts = {
        b"TITLE": _escaped(page.title),
        b"SENTENCE": _escaped(page.sentence),
        b"STATE": b"" if page.summary.comparable else b' class="bad"',
        b"POLICY": policy(style, script).encode(),
        b"STYLE": style,
        b"SCRIPT": script,
        b"DATA": _data(page, samples),
    }
    shell = part("run.html").split(b"@@")  # every second part is the name of what belongs there
    shell[1::2] = [parts[name] for name in shell[1::2]]
    return b"".join(shell)


def _escaped(text: str) -> bytes:
    return known_secrets().clean(printable(text)).translate(_ESCAPES).encode()


def _data(page: RunPageView, samples: Sequence[dict[str, Any]]) -> bytes:
    """The JSON of the page. Without `<`, no text can end the element that holds it."""
    document = known_secrets().clean_value(page.to_json())
    records = b",".join(filter(None, dump_each(samples)))
    try:
        encoded = orjson.dumps(document)
    except TypeError:  # a setting is nested so deeply that it can only be written alone
        encoded = exact_json(document)
    return (b'%b,"samples":[%b]}' % (encoded[:-1], records)).replace(b"<", b"\\u003c")

"""Pages in one file, such as `report.html`: a page that never changes, with JSON inside, which the page's script shows.

Every run writes such a page, and a template engine takes longer to load than a short run takes to score. The script only sets
texts, and a policy in the page forbids every other script and every request, so nothing in a reply can become markup or
leave the machine.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from benchwright.core import JsonObject, exact_json, known_secrets, late_pattern, printable
from benchwright.results import dump_each

APP = Path(__file__).with_name("app")
"""The modules, the style sheet and the shells of all pages."""
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
_IMPORT = late_pattern(r'^import \{ (.+) \} from "\./(\w+)\.js";$', re.MULTILINE)
_COMMENT = late_pattern(
    r"^ *//[^\n]*\n|^ */\*\*(?:(?!\*/).)*\*/\n|/\*\*(?:(?!\*/).)*\*/ ?", re.MULTILINE | re.DOTALL
)
"""A comment of a module: lines of its own, or a type in the middle of a line. No text of a module has such marks in it."""
_EXPORT = late_pattern(r"^export ((?:async )?(?:function|const|class) (\w+))", re.MULTILINE)


def report_page(
    kind: str,
    document: JsonObject,
    *,
    title: str,
    heading: str | None = None,
    bad: bool = False,
    elsewhere: str,
    samples: Sequence[dict[str, Any]] | None = None,
) -> bytes:
    """The complete page of a document, without external resources. `kind`: the module of `app` that shows it; `elsewhere`: where
    people without JavaScript find its figures."""
    style, script, policy = _constant(kind)
    parts = {
        b"TITLE": _escaped(title),
        b"HEADING": _escaped(title if heading is None else heading),
        b"KIND": kind.encode(),
        b"STATE": b"bad" if bad else b"",
        b"ELSEWHERE": _escaped(elsewhere),
        b"POLICY": policy,
        b"STYLE": style,
        b"SCRIPT": script,
        b"DATA": _data(document, samples),
    }
    shell = (
        (APP / "report.html").read_bytes().split(b"@@")
    )  # every second part is the name of what belongs there
    shell[1::2] = [parts[name] for name in shell[1::2]]
    return b"".join(shell)


@cache
def _constant(kind: str) -> tuple[bytes, bytes, bytes]:
    """The style sheet, the script, and the policy that allows exactly these."""
    style, script = (APP / "style.css").read_bytes(), one_script(kind)
    sources = f"style-src {_source(style)}; script-src {_source(script)}"
    return (
        style,
        script,
        f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'".encode(),
    )


def one_script(kind: str) -> bytes:
    """The module that shows a kind of page, with all that it imports, as one script: a browser loads no module from a file. Each
    module becomes a function that returns its exports, after those that it needs."""
    modules = [*_modules(kind, set()), *_modules("report", set())]
    return "".join(['"use strict";\n', *modules, f"from_report.open(from_{kind}.{kind});\n"]).encode()


@cache
def page_files() -> dict[str, bytes]:
    """All files of the pages as browsers get them, by name."""
    served = (path for path in sorted(APP.iterdir()) if path.suffix in (".js", ".css", ".svg", ".html"))
    return {path.name: _bare(path.name) for path in served}


def _bare(name: str) -> bytes:
    """A file; a module without its comments, which are a fifth of it."""
    content = (APP / name).read_bytes()
    return _COMMENT.sub("", content.decode()).encode() if name.endswith(".js") else content


def _modules(name: str, seen: set[str]) -> Iterator[str]:
    if name in seen:
        return
    seen.add(name)
    text = _bare(f"{name}.js").decode()
    for needed in _IMPORT.findall(text):
        yield from _modules(needed[1], seen)
    exports = ", ".join(found[1] for found in _EXPORT.findall(text))
    text = _EXPORT.sub(r"\1", _IMPORT.sub(r"const { \1 } = from_\2;", text))
    yield f"const from_{name} = (() => {{\n{text}return {{ {exports} }};\n}})();\n"


def _source(text: bytes) -> str:
    return f"'sha256-{b64encode(sha256(text).digest()).decode()}'"


def _escaped(text: str) -> bytes:
    return known_secrets().clean(printable(text)).translate(_ESCAPES).encode()


def _data(document: JsonObject, samples: Sequence[dict[str, Any]] | None) -> bytes:
    """The JSON of the page. Without `<`, no text can end the element that holds it."""
    cleaned = known_secrets().clean_value(document)
    try:
        encoded = orjson.dumps(cleaned)
    except TypeError:  # a setting is nested so deeply that it can only be written alone
        encoded = exact_json(cleaned)
    if samples is not None:
        encoded = b'%b,"samples":[%b]}' % (encoded[:-1], b",".join(filter(None, dump_each(samples))))
    return encoded.replace(b"<", b"\\u003c")

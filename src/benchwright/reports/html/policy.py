"""What a page may do. Its policy lets a browser load nothing, and run only the styles and the script that are part of this package, so
that no text in the page can become either."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

_TEMPLATES = Path(__file__).with_name("templates")


def part(name: str) -> bytes:
    """A style sheet, a script or a shell of this package."""
    return (_TEMPLATES / name).read_bytes()


def policy(style: bytes, script: bytes) -> str:
    """The Content-Security-Policy of a page with exactly this style sheet and this script, if any."""
    sources = f"style-src {_source(style)}; script-src {_source(script)}"
    return f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"


def _source(text: bytes) -> str:
    return f"'sha256-{b64encode(sha256(text).digest()).decode()}'" if text else "'none'"

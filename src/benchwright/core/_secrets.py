"""What is secret, and how it is kept out of everything that is stored or shown.

Two sources of knowledge: names (`is_secret_name`), and values. Every value that is read from the environment by
name is remembered here for the life of the process. The places where text leaves the process (the database, files,
the terminal, the REST interface, messages of errors) replace it by `[redacted]`, in whatever spelling it stands.
What a scorer sees is never changed.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus, unquote_plus

import orjson

from benchwright.core._exact import exact_json
from benchwright.core._json import load_exact_json

REDACTED = "[redacted]"
"""What stands in place of a secret."""
SHORTEST_SECRET = 8
"""Shorter values (`EMPTY`, `none`) are words of honest answers too: they are removed from messages only."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRET_WORDS = frozenset(
    [
        "key",
        "keys",
        "token",
        "secret",
        "secrets",
        "password",
        "passwd",
        "passphrase",
        "pass",
        "pwd",
        "pw",
        "cookie",
        "cookies",
        "signature",
        "sig",
        "hmac",
        "credential",
        "credentials",
        "cred",
        "creds",
        "bearer",
        "jwt",
        "apikey",
        "apikeys",
        "authtoken",
        "accesskey",
        "accesstoken",
        "secretkey",
    ]
)
_SECRET_PARTS = re.compile(
    "apikey|secret|password|passwd|passphrase|credential|signature|accesskey|authtoken|cookie"
)
_HARMLESS = re.compile(
    r"(cache|idempotency|public|primary|sort|partition)key"
    r"|(eos|bos|pad|unk|stop|sep|cls|mask|image|special|think|max|min)token"
    r"|token(id|ids|type|limit|count|budget)",
)
"""Parameters of requests that only sound like secrets, as `prompt_cache_key` and `stop_token_ids` do."""

_LETTERS = bytes(c + 32 if 65 <= c <= 90 else c for c in range(256))
_OTHERS = bytes(c for c in range(256) if not (48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122))
_SCHEME = re.compile(r"(?:bearer|basic|token|apikey|digest)\s+(?=\S)", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(?:u00|x)([0-9a-fA-F]{2})")
_PLAIN_WORDS = re.compile(r"[A-Za-z]+(?:[-_. ][A-Za-z]+)*|[0-9]{1,15}")
_HOST = re.compile(r"(localhost|\[[0-9a-fA-F:.]+\]|[\w-]+(\.[\w-]+)+)(:\d+)?(?:[/?#]|$)")
_RANDOM = re.compile(r"(?=.*[A-Za-z])(?=.*(?:[0-9]|[a-z][A-Z]))(?![/~.])(?!.*://)\S+")
"""What a key looks like, and a path, an address or a word does not."""
_SECRET_END = re.compile("(?:key|token|pass|pwd|pw|auth)$", re.IGNORECASE)
"""How variables end that hold a secret, such as `MYKEY`. Values that look like no secret are none all the same."""
_FIELD = re.compile("[a-z_]{1,24}")
_MOST_DECODINGS = 3


@lru_cache(maxsize=1024)
def is_secret_name(name: str) -> bool:
    """Whether a header, query parameter or setting of this name is likely to hold a secret.

    >>> [is_secret_name(name) for name in ("X-Signature", "apiKey", "pwd", "max_tokens", "author", "prompt_cache_key")]
    [True, True, True, False, False, False]
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    joined = "".join(words)
    if joined == "code":  # the key of an Azure function
        return True
    rest = _HARMLESS.sub(" ", joined)
    if rest != joined:
        return _SECRET_PARTS.search(rest) is not None
    return (
        not _SECRET_WORDS.isdisjoint(words)
        or _SECRET_PARTS.search(joined) is not None
        or any(word.startswith("auth") and not re.match(r"author(?!i[sz])", word) for word in words)
    )


def public_url(url: str) -> str:
    """The URL without user name, password and values of parameters that look like secrets.

    >>> public_url("https://me:p/w?@host/v1?api_key=sk-1&version=2")
    'https://host/v1?api_key=…&version=2'
    """
    if (owner := url_owner(url)) is not None:
        url = url.replace(owner + "@", "", 1)
    head, mark, query = url.partition("?")
    pairs = []
    for pair in re.split("([&#])", query) if mark else ():
        name, equals, value = pair.partition("=")
        pairs.append(name + equals + ("…" if value and is_secret_name(name) else value))
    return head + mark + "".join(pairs)


def url_owner(url: str) -> str | None:
    """What stands before the host in a URL: `user:password`, however the password is written; None for nothing.

    >>> url_owner("http://me:a/b@host/v1"), url_owner("http://host:80/v1/@cf/llama")
    ('me:a/b', None)
    """
    _, slashes, rest = url.partition("://")
    owner, at, host = rest.rpartition("@")
    if not slashes or not at:
        return None
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" in authority:
        while re.split(r"[/?#]", owner, maxsplit=1)[0] != owner and not _HOST.match(host):
            owner, _, host = owner.rpartition("@")  # the last @ stands in the path
        return owner
    # A password may hold / ? # as they are. A path may hold an @, but seldom one with a host behind it.
    name, colon, _ = authority.partition(":")
    port = colon and authority[len(name) + 1 :].isdigit()
    return owner if colon and (not port or _HOST.match(host)) else None


class Redactor:
    """Removes a set of secrets from texts, in every spelling."""

    __slots__ = ("_escaped", "_exact", "_needles", "_pieces", "_short", "guards")

    def __init__(self, secrets: Iterable[str]) -> None:
        known = sorted({s for s in secrets if s}, key=len, reverse=True)
        self._short = [re.compile(rf"(?<!\w){re.escape(s)}(?!\w)") for s in known if len(s) < SHORTEST_SECRET]
        self._needles: list[bytes] = []
        self._escaped: list[bytes] = []
        self._exact: dict[str, None] = {}
        self._pieces: list[_Piece] = []
        for secret in known:
            if len(secret) >= SHORTEST_SECRET:
                self._learn(secret)
        self.guards = bool(self._pieces)
        """Whether there is anything to look for in records."""

    def _learn(self, secret: str) -> None:
        plain = _squeezed(secret.encode())
        ends = _ends(secret)
        if len(plain) < SHORTEST_SECRET:  # little but punctuation: found as it stands
            self._exact.update(dict.fromkeys(_quoted(secret)))
        else:
            last = len(plain) - SHORTEST_SECRET
            # A part that a server cut off, or broke in two, holds the beginning or the end.
            self._look_for(self._needles, plain[:SHORTEST_SECRET])
            self._look_for(self._needles, plain[last:])
            for start in (*range(0, last, SHORTEST_SECRET), last):
                piece = plain[start : start + SHORTEST_SECRET].decode()
                self._pieces.append(_Piece(piece, plain.decode(), start, *ends))
        for form, escaped in _spellings(secret):
            if len(form) >= SHORTEST_SECRET:
                head, tail = form[: 2 * SHORTEST_SECRET], form[-2 * SHORTEST_SECRET :]
                self._look_for(self._escaped if escaped else self._needles, head)
                self._pieces.append(_Piece(head.decode(), form.decode(), 0, *ends))
                self._pieces.append(_Piece(tail.decode(), form.decode(), len(form) - len(tail), *ends))

    def _look_for(self, needles: list[bytes], form: bytes) -> None:
        """Fewer needles, less to search: one that holds another is not needed."""
        if not any(known in form for known in (*self._needles, *needles)):
            needles.append(form)

    def found_in(self, data: bytes) -> bool:
        """Whether records may hold a secret. Quick: every record passes here."""
        squeezed = data.translate(_LETTERS, _OTHERS)
        for needle in self._needles:  # a generator in `any` costs more than most of the searches
            if needle in squeezed:
                return True
        if self._escaped and _may_hold_escapes(data):
            for needle in self._escaped:
                if needle in squeezed:
                    return True
        return bool(self._exact) and any(form.encode() in data for form in self._exact)

    def clean(self, text: str) -> str:
        """A message without secrets or long parts of them. Clean first and cut afterwards: what is cut to
        less than eight characters cannot be told from other words."""
        text = self.clean_record(text)
        for short in self._short:
            text = short.sub(REDACTED, text)
        return text

    def clean_record(self, text: str) -> str:
        """A text that is stored; values of fewer than eight characters stay."""
        if not self.guards:
            return text
        decoded = text = self._without(text)
        for _ in range(_MOST_DECODINGS):
            before, decoded = decoded, _decoded(decoded)
            if decoded == before:
                break
            found = self._without(decoded)
            if found != decoded:
                return found
        return text

    def clean_json(self, data: bytes, keep: Iterable[str] = ()) -> bytes:
        """Encoded JSON without secrets; the very same object where there are none. Texts under the names `keep` of
        an object are its own words, such as a status, and stay."""
        if not self.guards or not self.found_in(data):
            return data
        try:
            value = load_exact_json(data)
        except ValueError:
            return self.clean_record(data.decode("utf-8", "replace")).encode()
        cleaned = self.clean_value(value)
        if isinstance(value, dict):
            cleaned.update({name: value[name] for name in keep if isinstance(value.get(name), str)})
        return data if cleaned == value else exact_json(cleaned)

    def clean_value(self, value: Any) -> Any:
        """A JSON value without secrets, names included."""
        if isinstance(value, str):
            return self.clean_record(value)
        if isinstance(value, dict):
            return {self._clean_name(name): self.clean_value(entry) for name, entry in value.items()}
        if isinstance(value, (list, tuple)):
            entries = [self.clean_value(entry) for entry in value]
            texts = [entry for entry in value if isinstance(entry, str)]
            if len(texts) > 1 and entries == list(value):
                joined = "".join(texts)  # tokens of one text, each too short to be recognised
                if self.clean_record(joined) != joined:
                    return [REDACTED if isinstance(entry, str) else entry for entry in value]
            return entries
        return value

    def _clean_name(self, name: str) -> str:
        """Fields keep their names, also where somebody uses such a word as a key."""
        return name if _FIELD.fullmatch(name) else self.clean_record(name)

    def _without(self, text: str) -> str:
        for form in self._exact:
            text = text.replace(form, REDACTED)
        places = [at for at, c in enumerate(text) if c.isascii() and c.isalnum()]
        squeezed = "".join([text[at] for at in places]).lower()
        spans = []
        for piece in self._pieces:
            at = squeezed.find(piece.text)
            while at >= 0:
                first, last = piece.widened(squeezed, at)
                spans.append(piece.with_ends(text, places[first], places[last - 1] + 1))
                at = squeezed.find(piece.text, at + 1)
        if not spans:
            return text
        pieces, after = [], 0
        for start, end in sorted(spans):  # one may reach into another
            if start >= after:
                pieces += [text[after:start], REDACTED]
            after = max(after, end)
        return "".join([*pieces, text[after:]])


class _Piece(NamedTuple):
    """A part of a spelling of a secret, squeezed, which tells that the spelling stands there."""

    text: str
    whole: str
    offset: int
    before: str
    after: str

    def widened(self, squeezed: str, at: int) -> tuple[int, int]:
        """How far the secret goes on around the part: start and end in the squeezed text."""
        whole, offset = self.whole, self.offset
        first, last = at, at + len(self.text)
        while first > 0 and at - first < offset and squeezed[first - 1] == whole[offset - (at - first) - 1]:
            first -= 1
        while last < len(squeezed) and (into := offset + last - at) < len(whole):
            if squeezed[last] != whole[into]:
                break
            last += 1
        return first, last

    def with_ends(self, text: str, start: int, end: int) -> tuple[int, int]:
        """The place in the text, with the punctuation that the secret begins and ends with."""
        while start > 0 and text[start - 1] in self.before:
            start -= 1
        while end < len(text) and text[end] in self.after:
            end += 1
        return start, end


def _ends(secret: str) -> tuple[str, str]:
    """The punctuation in front of a secret's first letter or digit, and behind its last."""
    inner = [at for at, c in enumerate(secret) if c.isascii() and c.isalnum()]
    return (secret[: inner[0]], secret[inner[-1] + 1 :]) if inner else ("", "")


def _squeezed(data: bytes) -> bytes:
    """Letters and digits alone, in lower case: breaks, escapes of slashes, quotes and case make no difference."""
    return data.translate(_LETTERS, _OTHERS)


def _may_hold_escapes(data: bytes) -> bool:
    """Whether letters may be written as escapes of JSON, Python, pages or URLs. A single character is looked for first:
    that takes a hundredth of the time."""
    return (
        (b"\\" in data and (b"\\u00" in data or b"\\x" in data))
        or (b"&" in data and b"&#" in data)
        or (b"%" in data and b"%u00" in data)
    )


def _spellings(secret: str) -> Iterator[tuple[bytes, bool]]:
    """How a secret may be spelled, squeezed: in hexadecimal, URLs, pages, base64 at any offset, JSON; and whether
    only with escapes that are quickly looked for."""
    import html  # 1.5 ms

    raw = secret.encode()
    yield _squeezed(raw.hex().encode()), False  # also a URL in which every character is quoted
    for text in (quote(secret), quote(secret, safe=""), quote_plus(secret), html.escape(secret)):
        yield _squeezed(text.encode()), False
    for offset in range(3):
        # Without the characters that the neighbours take part in.
        skipped, kept = (0, 2, 3)[offset], (offset + len(raw)) * 8 // 6
        yield _squeezed(base64.b64encode(b"\0" * offset + raw)[skipped:kept]), False
    for form in ("\\u{:04x}", "&#{};", "\\x{:02x}"):  # the last is squeezed like an entity in hexadecimal
        yield _squeezed("".join(form.format(ord(c)) for c in secret).encode()), True
        yield (
            _squeezed("".join(c if c.isalnum() else form.format(ord(c)) for c in secret).encode()),
            True,
        )


def _decoded(text: str) -> str:
    """The text with escapes of URLs, JSON and pages resolved."""
    if "%" in text:
        text = unquote_plus(text)
    if "\\" in text:
        text = _ESCAPE.sub(lambda found: chr(int(found.group(1), 16)), text).replace("\\/", "/")
    if "&" in text:
        import html

        text = html.unescape(text)
    return text


def _quoted(secret: str) -> list[str]:
    import html

    plain = orjson.dumps(secret)[1:-1].decode()
    forms = [secret, plain, plain.replace("/", "\\/"), quote(secret), quote(secret, safe="")]
    return [*forms, html.escape(secret), repr(secret)[1:-1]]


# -- what this process has read --

_known: dict[str, str] = {}
"""Secret values of this process, with the variable each came from."""


def environment_secret(variable: str) -> str:
    """The value of an environment variable, remembered as a secret; empty where there is none."""
    value = os.environ.get(variable, "")
    remember_secret(value, variable)
    return value


def remember_secret(value: str, source: str) -> None:
    """From now on this value is not stored or shown. `source` names where it came from."""
    value = value.strip()
    scheme = _SCHEME.match(value)  # "Bearer abc": the word Bearer is no secret
    if scheme is not None:
        value = value[scheme.end() :]
    if value:
        _known.setdefault(value, source)


def forget_secrets() -> None:
    """Start anew, for tests."""
    _known.clear()


_current: tuple[list[object], Redactor] | None = None
"""What was known when the redactor was made, and the redactor."""


def known_secrets() -> Redactor:
    """Removes what this process has read from the environment so far, and what is in the environment under a name
    that says so: a user's own code may have read it there."""
    global _current
    # Asked for with each group of records, so looking through the environment each time would be dear. Its values,
    # as CPython keeps them, are quickly compared.
    kept = getattr(os.environ, "_data", None)
    now: list[object] = [*_known, *(os.environ.items() if kept is None else kept.values())]
    if _current is None or now != _current[0]:
        redactor = _redactor_of((*_known, *_named_secrets()))
        _current = now, redactor
        return redactor
    return _current[1]


def redact(text: str) -> str:
    """A message without any secret that this process knows."""
    return known_secrets().clean(text)


@lru_cache(maxsize=8)
def _redactor_of(secrets: tuple[str, ...]) -> Redactor:
    return Redactor(secrets)


def _named_secrets() -> list[str]:
    """Values in the environment that are secrets by the name of their variable and by their looks."""
    return [
        value
        for name, value in os.environ.items()
        if (is_secret_name(name) or _SECRET_END.search(name))
        and len(value) >= 12
        and _RANDOM.fullmatch(value)
    ]


def doubtful_secrets(variables: Iterable[str]) -> list[str]:
    """What users should know of values that are too short or too common to be recognised for certain."""
    notes = []
    wanted = set(variables)
    for value, source in _known.items():
        if source not in wanted:
            continue
        if len(value) < SHORTEST_SECRET:
            notes.append(
                f"the value of {source} has {len(value)} characters: values shorter than {SHORTEST_SECRET} are "
                "not removed from replies and records, only from messages"
            )
        elif _PLAIN_WORDS.fullmatch(value):
            notes.append(
                f"the value of {source} is a plain word or number, which honest replies may hold too: wherever it "
                f"occurs, it is stored and shown as {REDACTED}. Scores are not affected; use a random value"
            )
    return notes

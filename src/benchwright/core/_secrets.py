"""Which values are secret, and how they stay out of everything that is stored or shown.

A value is secret if its name says so (`is_secret_name`), or if a setting names the environment variable that it was
read from. Wherever text leaves the process (database, files, terminal, REST interface, error messages), `[redacted]`
replaces such a value, however it is written there. Scorers see the text unchanged.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from benchwright.core._redactor import REDACTED, SHORTEST_SECRET, Redactor

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRET_WORDS = frozenset((
    "key", "keys", "token", "secret", "secrets", "password", "passwd", "passphrase", "pass", "pwd", "pw",
    "cookie", "cookies", "signature", "sig", "hmac", "credential", "credentials", "cred", "creds", "bearer",
    "jwt", "apikey", "apikeys", "authtoken", "accesskey", "accesstoken", "secretkey",
))  # fmt: skip
_SECRET_PARTS = re.compile(
    "apikey|secret|password|passwd|passphrase|credential|signature|accesskey|authtoken|cookie"
)
_HARMLESS = re.compile(
    r"(cache|idempotency|public|primary|sort|partition)key"
    r"|(eos|bos|pad|unk|stop|sep|cls|mask|image|special|think|max|min)token"
    r"|token(id|ids|type|limit|count|budget)",
)
"""Parameters of requests whose names only sound like secrets, such as `prompt_cache_key` and `stop_token_ids`."""
_HOST = re.compile(r"(localhost|\[[0-9a-fA-F:.]+\]|[\w-]+(\.[\w-]+)+)(:\d+)?(?:[/?#]|$)")


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
    """The part before the host in a URL: `user:password`, with any characters in the password; None if there is none.

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
            owner, _, host = owner.rpartition("@")  # the last @ is in the path
        return owner
    # A password may contain / ? # unescaped. A path may contain an @, but seldom one with a host after it.
    name, colon, _ = authority.partition(":")
    port = colon and authority[len(name) + 1 :].isdigit()
    return owner if colon and (not port or _HOST.match(host)) else None


def url_secrets(url: str) -> list[str]:
    """The parts of a URL that may be secret: user name and password, values of parameters, and parts of the path that are
    not words. Scheme and host are not secret: others use the same.

    >>> url_secrets("https://me:p%2Fw@host:81/v1/hooks/T0B1C2D3E4F5?to=all&token=x1")
    ['me:p%2Fw', 'p%2Fw', 'me:p/w', 'p/w', 'T0B1C2D3E4F5', 'x1']
    """
    found: list[str] = []
    if (owner := url_owner(url)) is not None:
        url = url.replace(owner + "@", "", 1)
        for text in (owner, unquote(owner)):
            found += [text, *text.split(":", 1)[1:]]
    for part in re.split("[/?#&]", url.partition("://")[2])[1:]:
        name, equals, value = part.partition("=")
        if equals and (is_secret_name(name) or len(value) >= SHORTEST_SECRET):
            found += [value, unquote(value)]
        elif not equals and len(part) >= _LONGEST_WORD and _RANDOM.fullmatch(part):
            found += [part, unquote(part)]
    return list(dict.fromkeys(found))


_SCHEME = re.compile(r"(?:bearer|basic|token|apikey|digest)\s+(?=\S)", re.IGNORECASE)
_PLAIN_WORDS = re.compile(r"[A-Za-z]+(?:[-_. ][A-Za-z]+)*|[0-9]{1,15}")
_RANDOM = re.compile(r"(?=.*[A-Za-z])(?=.*(?:[0-9]|[a-z][A-Z]))(?![/~.])(?!.*://)\S+")
"""Matches text that looks like a key; does not match paths, addresses or words."""
_LONGEST_WORD = 12
"""Shorter values and parts of paths may be names, such as `gpt-4o-mini`."""
_SECRET_END = re.compile("(?:key|token|pass|pwd|pw|auth)$", re.IGNORECASE)
"""Endings of variables that contain a secret, such as `MYKEY`. Their values count only if they look like a secret."""

_VARIABLE = re.compile(r"\$\{(\w+)\}")

_known: dict[str, str] = {}
"""Secret values of this process, with the variable each came from."""


def environment_secret(variable: str) -> str:
    """The value of an environment variable, remembered as a secret; empty if there is none."""
    value = os.environ.get(variable, "")
    remember_secret(value, variable)
    return value


def remember_secret(value: str, source: str) -> None:
    """Keep a value out of everything stored or shown from now on; of a URL, only the parts that may be secret.

    `source` names where the value came from.
    """
    value = value.strip()
    if "://" in value:
        _known.update({part: source for part in url_secrets(value) if part not in _known})
        return
    scheme = _SCHEME.match(value)  # "Bearer abc": the word Bearer is not a secret
    if scheme is not None:
        value = value[scheme.end() :]
    if value:
        _known.setdefault(value, source)


def remember_if_secret(value: str, *names: str) -> None:
    """Remember a value as a secret if one of its names says so, or if it looks like a key."""
    if any(map(is_secret_name, names)) or (len(value) >= _LONGEST_WORD and _RANDOM.fullmatch(value)):
        remember_secret(value, names[-1])


def forget_secrets() -> None:
    """Forget every value, for tests."""
    _known.clear()


_current: tuple[list[object], Redactor] | None = None
"""The values that were known when the redactor was made, and the redactor."""


def known_secrets() -> Redactor:
    """The redactor for all secrets this process has read from the environment, and for values in the environment under
    the name of a secret, which a user's code may have read."""
    global _current
    # This runs for every group of records, and searching the environment each time would be slow. Comparing its values,
    # as CPython keeps them, is fast.
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
    """Values in the environment that are secrets by the name of their variable and by their looks, and passwords in URLs."""
    return [secret for name, value in os.environ.items() for secret in _secrets_of(name, value)]


def _secrets_of(name: str, value: str) -> list[str]:
    found: list[str] = []
    if is_secret_name(name) or _SECRET_END.search(name):
        found = url_secrets(value) if "://" in value else [value] if len(value) >= _LONGEST_WORD else []
    elif "@" in value and url_owner(value) is not None:
        found = url_secrets(value)
    return [secret for secret in found if _RANDOM.fullmatch(secret)]


def doubtful_secrets(variables: Iterable[str]) -> list[str]:
    """Warnings about values that are too short or too common to be recognised for certain."""
    notes = []
    named = set(variables)
    for value, source in _known.items():
        if source not in named:
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


def secret_within(value: Any) -> tuple[str, str] | None:
    """Where a JSON value holds the whole value of an environment variable that is a secret, and the variable. Variables that
    the value itself names, for keys and in headers, count too. Short values, plain words and paths do not: honest settings hold
    them."""
    texts = list(_texts(value, ""))
    named = {text for place, text in texts if "key" in place.rpartition(".")[2]}
    named |= {name for place, text in texts if "headers" in place for name in _VARIABLE.findall(text)}
    secrets = {os.environ.get(name, ""): name for name in named} | _known
    secrets |= {found: name for name, text in os.environ.items() for found in _secrets_of(name, text)}
    for secret, variable in secrets.items():
        if len(secret) >= SHORTEST_SECRET and not (
            _PLAIN_WORDS.fullmatch(secret) or secret.startswith(("/", "~"))
        ):
            for place, text in texts:
                if secret in text:
                    return place, variable
    return None


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield from _texts(entry, f"{place}.{name}" if place else str(name))
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _texts(entry, place)

"""Which values are secret, and how they stay out of everything that is stored or shown.

A value is secret if its name says so (`is_secret_name`), or if a setting names the environment variable that it was
read from. Wherever text leaves the process (database, files, terminal, REST interface, error messages), `[redacted]`
replaces such a value, however it is written there. Scorers see the text unchanged. Representations of values leave out fields
that may contain secrets or are very long (`HidesFields`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, ClassVar
from urllib.parse import unquote, unquote_plus

from benchwright.core._late_patterns import late_pattern
from benchwright.core._redactor import REDACTED, SHORTEST_SECRET, Redactor

_WORDS = late_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRET_WORDS = frozenset((
    "key", "keys", "token", "secret", "secrets", "password", "passwd", "passphrase", "pass", "pwd", "pw",
    "cookie", "cookies", "signature", "sig", "hmac", "credential", "credentials", "cred", "creds", "bearer",
    "jwt", "apikey", "apikeys", "authtoken", "accesskey", "accesstoken", "secretkey", "otp",
))  # fmt: skip
_SECRET_PARTS = late_pattern(
    "apikey|secret|password|passwd|passphrase|credential|signature|accesskey|authtoken|cookie"
)
_HARMLESS = late_pattern(
    r"(cache|idempotency|public|primary|sort|partition)key"
    r"|(eos|bos|pad|unk|stop|sep|cls|mask|image|special|think|max|min)token"
    r"|token(id|ids|type|limit|count|budget)",
)
"""Parameters of requests whose names only sound like secrets, such as `prompt_cache_key` and `stop_token_ids`."""
_SECRET_PARAMETERS = frozenset(
    ("k", "session", "sessionid", "sess", "sid", "ticket", "pin", "access", "private")
)
"""Names that mean a secret in a URL, and something else in other places."""
_PUBLIC_PARAMETERS = frozenset((
    "apiversion", "version", "v", "model", "modelid", "modelname", "deployment", "deploymentid", "engine", "region", "location",
    "zone", "provider", "format", "alt", "stream", "timeout", "language", "lang", "mode", "type", "api", "backend",
))  # fmt: skip
_NAME = late_pattern("[A-Za-z][A-Za-z_.-]{0,24}")
_PLAIN_VALUE = late_pattern(
    r"true|false|none|null|auto|default|[0-9]{1,6}|v?[0-9]+(\.[0-9]+)*|[0-9]{4}-[0-9]{2}-[0-9]{2}(-[a-z]+)?",
    re.IGNORECASE,
)
_NAMES_FOLLOW = frozenset(
    ("models", "model", "deployments", "deployment", "engines", "projects", "locations", "publishers")
)
"""Segments of paths after which the name of something comes."""
_KEY_FORMS = late_pattern(
    r"(?:^|[^A-Za-z0-9])(?:(?:sk|pk|rk|hf|gh[a-z]|glpat|xox[a-z]|nvapi|gsk|r8|key|token|secret)[-_](?=.*[0-9])\S{6,}"
    r"|(?:AKIA|ASIA|AIza|eyJ|ya29)[\w.-]{8,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
)
"""Beginnings of keys of well-known services, and ids as programs make them up."""
_HOST = late_pattern(r"(localhost|\[[0-9a-fA-F:.]+\]|[\w-]+(\.[\w-]+)+)(:\d+)?(?:[/?#]|$)")


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
    """The URL without what may be secret: user name and password, the fragment, what is no number in the port's place, values of
    parameters that are not known to be harmless, and parts of the path that look like keys.

    >>> public_url("https://me:p/w?@host/v1?api_key=sk-1&version=2")
    'https://host/v1?api_key=…&version=2'
    >>> public_url("http://host:hunter2/v1/T0B1C2D3E4F5G6#k")
    'http://host:…/v1/…#…'
    """
    if (owner := url_owner(url)) is not None:
        url = url.replace(owner + "@", "", 1)
    scheme, slashes, rest = url.partition("://")
    if not slashes:
        scheme, rest = "", url
    rest, hash, fragment = rest.partition("#")
    rest, mark, query = rest.partition("?")
    authority, slash, path = rest.partition("/")
    name, colon, port = authority.rpartition(":")
    if colon and not port.isdigit() and not port.endswith("]"):
        authority = f"{name}:…" if port else authority
    pairs = [_public_pair(pair) for pair in re.split("([&;])", query)]
    return f"{scheme}{slashes}{authority}{slash}{_public_path(path)}{mark}{''.join(pairs)}{hash}{'…' if fragment else ''}"


def _public_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if _is_public_parameter(unquote_plus(name), unquote_plus(value)):
        return pair
    return f"{name}=…" if equals and _NAME.fullmatch(name) else "…"


def _public_path(path: str) -> str:
    segments = path.split("/")
    for number in _key_segments(segments):
        segments[number] = "…"
    return "/".join(segments)


def key_in_url(url: str) -> str | None:
    """The part of a URL that looks like a key, in words: a URL is recorded with the run. None if there is none. A part that is
    `${VARIABLE}` is none: the variable's value is not recorded.

    >>> key_in_url("https://host/v1?api-version=2024-06-01"), key_in_url("https://host/v1?session=1f3a-77")
    (None, "the query parameter 'session'")
    >>> key_in_url("https://host/v1?api_key=${MY_KEY}"), key_in_url("https://host/v1?api_key")
    (None, 'its query')
    """
    rest, _, fragment = url.partition("://")[2].partition("#")
    rest, _, query = rest.partition("?")
    for pair in re.split("[&;]", query) if query else ():
        name, _, value = pair.partition("=")
        if not _is_public_parameter(unquote_plus(name), unquote_plus(value)):
            # A name without a value may be the secret itself.
            return (
                f"the query parameter {unquote_plus(name)!r}"
                if value and not _looks_like_key(name)
                else "its query"
            )
    if _key_segments(rest.split("/")[1:]):
        return "a part of its path"
    return "its fragment (after #), which is never sent" if fragment else None


def _key_segments(segments: list[str]) -> list[int]:
    """The numbers of a path's segments that may be keys: they look random, follow a word such as `token`, or have a parameter
    (`v1;key=…`) that may be one."""
    found, before = [], ""
    for number, segment in enumerate(map(unquote, segments)):
        named = before.lower() in _NAMES_FOLLOW
        if (
            segment
            and not named
            and (
                _looks_like_key(segment)
                or (_names_secret(before) and not _plain(segment))
                or any(
                    "=" in part and not _is_public_parameter(*part.split("=", 1))
                    for part in segment.split(";")
                )
            )
        ):
            found.append(number)
        before = segment
    return found


def _names_secret(name: str) -> bool:
    return is_secret_name(name) or name.lower() in _SECRET_PARAMETERS


def _is_public_parameter(name: str, value: str) -> bool:
    """Whether the value of a query parameter may be recorded: deny by default."""
    given, value = value, _VARIABLE.sub("", value)
    if given and not value:  # a variable, whose value is not recorded
        return not _looks_like_key(name)
    if _names_secret(name) and value:
        return False
    if not value:
        return not (is_secret_name(name) or _looks_like_key(name)) or name.lower() in _PUBLIC_PARAMETERS
    if re.sub("[-_.]", "", name.lower()) in _PUBLIC_PARAMETERS:
        return not _looks_like_key(value)
    return _plain(value)


def _plain(value: str) -> bool:
    return len(value) <= 3 or _PLAIN_VALUE.fullmatch(value) is not None


def _looks_like_key(text: str) -> bool:
    """Whether a text looks random rather than like a name, such as that of a model.

    >>> [_looks_like_key(text) for text in ("sk-proj-a8Jd92kd", "Qwen2.5-VL-72B-Instruct-AWQ", "gpt-4o-mini-2024-07-18")]
    [True, False, False]
    """
    text = _VARIABLE.sub("", text)
    if _KEY_FORMS.search(text):
        return True
    for piece in re.findall("[A-Za-z0-9]+", re.sub("[+/=]", "", text)):
        groups = len(re.findall("[0-9]+", piece))
        digits = sum(map(str.isdigit, piece))
        turns = len(re.findall("[a-z](?=[A-Z])", piece)) + len(re.findall("[A-Z]{2}(?=[a-z])", piece))
        if digits == len(piece):
            continue
        if (
            (len(piece) >= 12 and groups >= 3)
            or (len(piece) >= 16 and digits >= 4)
            or (len(piece) >= 20 and turns >= 5)
        ):
            return True
    return False


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


_SCHEME = late_pattern(r"(?:bearer|basic|token|apikey|digest)\s+(?=\S)", re.IGNORECASE)
_PLAIN_WORDS = late_pattern(r"[A-Za-z]+(?:[-_. ][A-Za-z]+)*|[0-9]{1,15}")
_RANDOM = late_pattern(r"(?=.*[A-Za-z])(?=.*(?:[0-9]|[a-z][A-Z]))(?![/~.])(?!.*://)\S+")
"""Matches text that looks like a key; does not match paths, addresses or words."""
_LONGEST_WORD = 12
"""Shorter values and parts of paths may be names, such as `gpt-4o-mini`."""
_SECRET_END = late_pattern("(?:key|token|pass|pwd|pw|auth)$", re.IGNORECASE)
"""Endings of variables that contain a secret, such as `MYKEY`. Their values count only if they look like a secret."""

_VARIABLE = late_pattern(r"\$\{(\w+)\}")

_known: dict[str, str] = {}
"""Secret values of this process, with the variable each came from."""


def environment_secret(variable: str) -> str:
    """The value of an environment variable, remembered as a secret; empty if there is none."""
    value = os.environ.get(variable, "")
    remember_secret(value, variable)
    return value


def remember_secret(value: str, source: str, *, named: Iterable[str] | None = None) -> None:
    """Keep a value out of everything stored or shown from now on; of a URL, only the parts that may be secret.

    `source` names where the value came from. With `named`, only if one of these names says that it is a secret, or if it looks
    like a key.
    """
    like_a_key = len(value) >= _LONGEST_WORD and _RANDOM.fullmatch(value)
    if named is not None and not like_a_key and not any(map(is_secret_name, named)):
        return
    value = value.strip()
    if "://" in value:
        _known.update({part: source for part in url_secrets(value) if part not in _known})
        return
    scheme = _SCHEME.match(value)  # "Bearer abc": the word Bearer is not a secret
    if scheme is not None:
        value = value[scheme.end() :]
    if value:
        _known.setdefault(value, source)


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
                f"the value of {source} is a plain word or number, which ordinary replies may contain too: wherever it "
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


class HidesFields:
    """A struct with this base, before `Struct`, shows no field of `hidden`."""

    __slots__ = ()
    __struct_fields__: ClassVar[tuple[str, ...]]
    hidden: ClassVar[tuple[str, ...]] = ()
    """Fields that neither `repr` nor rich shows."""

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name in self.__struct_fields__ if name not in self.hidden]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__qualname__}({shown})"

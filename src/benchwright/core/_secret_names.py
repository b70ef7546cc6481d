"""Which names say that a value is a secret, and where URLs hold one."""

from __future__ import annotations

import re
from functools import lru_cache

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
"""Parameters of requests that only sound like secrets, as `prompt_cache_key` and `stop_token_ids` do."""
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
    """The part before the host in a URL: `user:password`, however the password is written; None for nothing.

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
    # A password may hold / ? # as they are. A path may hold an @, but seldom one with a host after it.
    name, colon, _ = authority.partition(":")
    port = colon and authority[len(name) + 1 :].isdigit()
    return owner if colon and (not port or _HOST.match(host)) else None

"""The hub's API, as much of it as reading takes: which commit, which files, their bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from benchwright.core import DatasetError, JsonObject, JsonValue, load_json
from benchwright.datasets._hf.complaints import Asked, HubError, complaint
from benchwright.datasets._hf.failures import HubRefusedError, HubUnreachableError
from benchwright.datasets._hf.settings import HubSettings
from benchwright.datasets._hf.transport import Answer, Transport

COMMIT = re.compile(r"[0-9a-f]{40}")
"""A full commit id."""
MOST_PAGES = 20_000
"""Of a listing; at 1000 entries each more than any repository has."""

_NEXT = re.compile(r'<([^>]+)>\s*;[^,]*\brel="?next"?')


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a repository at one commit."""

    path: str
    """Where it is in the repository."""
    size: int
    """Bytes."""
    digest: str
    """`sha256:…` of the content for files in large-file storage, `git:…` (the blob id) for the others."""

    def to_json(self) -> JsonObject:
        """For the records."""
        return {"path": self.path, "size": self.size, "digest": self.digest}

    @classmethod
    def from_json(cls, value: JsonValue) -> HubFile:
        """Back again. Raises ValueError for anything else."""
        if isinstance(value, dict):
            path, size, digest = value.get("path"), value.get("size"), value.get("digest")
            if isinstance(path, str) and isinstance(size, int) and isinstance(digest, str):
                return cls(path, size, digest)
        raise ValueError("not a file")


@dataclass(frozen=True, slots=True)
class RepoInfo:
    """What the hub says about a repository at a revision."""

    repo: str
    """Its name now; another than the one asked for when it was renamed."""
    commit: str
    """The commit the revision stands for."""


class Hub:
    """Asks the hub on behalf of one URI; refusals come out as DatasetError with the cure."""

    def __init__(self, settings: HubSettings, transport: Transport | None = None) -> None:
        self.settings = settings
        self.transport = transport or Transport(settings)

    def info(self, asked: Asked) -> RepoInfo:
        """The commit behind a revision. HubUnreachableError when there is no answer at all."""
        base = f"{self.settings.endpoint}/api/datasets/{quote(asked.repo)}"
        url = base if asked.revision is None else f"{base}/revision/{quote(asked.revision, safe='')}"
        found, _ = self._json(url, asked)
        commit = found.get("sha") if isinstance(found, dict) else None
        if not isinstance(found, dict) or not isinstance(commit, str) or not COMMIT.fullmatch(commit):
            raise self._strange(url, asked, "no commit id")
        name = found.get("id")
        return RepoInfo(name if isinstance(name, str) and name else asked.repo, commit)

    def files(self, asked: Asked, commit: str) -> list[HubFile]:
        """All files of a commit, by path."""
        base = f"{self.settings.endpoint}/api/datasets/{quote(asked.repo)}/tree"
        url: str | None = f"{base}/{quote(commit, safe='')}?recursive=true&expand=false"
        found: list[HubFile] = []
        seen: set[str] = set()
        while url is not None:
            if url in seen or len(seen) >= MOST_PAGES:
                raise self._strange(url, asked, "a listing that never ends")
            seen.add(url)
            page, answer = self._json(url, asked)
            if not isinstance(page, list):
                raise self._strange(url, asked, "no list of files")
            found += [file for entry in page if (file := _file(entry)) is not None]
            url = self._next_page(answer)
        return sorted(found, key=lambda file: file.path)

    def refs(self, asked: Asked) -> list[str]:
        """Names of branches and tags; empty when the hub does not tell."""
        url = f"{self.settings.endpoint}/api/datasets/{quote(asked.repo)}/refs"
        try:
            found = load_json(self.transport.whole(url)[0])
        except (HubRefusedError, HubUnreachableError, ValueError):
            return []
        if not isinstance(found, dict):
            return []
        kinds = [found.get(kind) for kind in ("branches", "tags")]
        refs = [ref for kind in kinds if isinstance(kind, list) for ref in kind]
        return [name for ref in refs if isinstance(ref, dict) and isinstance(name := ref.get("name"), str)]

    def address(self, repo: str, commit: str, path: str) -> str:
        """Where a file's bytes are."""
        return (
            f"{self.settings.endpoint}/datasets/{quote(repo)}/resolve/{quote(commit, safe='')}/{quote(path)}"
        )

    def tail(self, asked: Asked, commit: str, file: HubFile, count: int) -> bytes:
        """The last bytes of a file, for formats that keep their index there. May be fewer, or all of them."""
        first = max(0, file.size - count)

        def once() -> bytes:
            url = self.address(asked.repo, commit, file.path)
            with self.transport.get(url, {"Range": f"bytes={first}-{file.size - 1}"}) as answer:
                if answer.status != 206:
                    return b""  # the whole file: not worth it for its end
                return answer.body.read()

        try:
            return self.transport.retried(once)
        except HubRefusedError as failure:
            raise self.complaint(failure, asked) from None

    def complaint(self, failure: HubRefusedError | HubUnreachableError, asked: Asked) -> HubError:
        """A failure in words."""
        known: tuple[str, ...] = ()
        if isinstance(failure, HubRefusedError) and failure.code == "RevisionNotFound":
            known = tuple(self.refs(asked))
        return complaint(failure, asked, self.settings, known)

    def _json(self, url: str, asked: Asked) -> tuple[JsonValue, Answer]:
        try:
            body, answer = self.transport.whole(url)
        except HubRefusedError as failure:
            raise self.complaint(failure, asked) from None
        try:
            return load_json(body), answer
        except ValueError:
            raise self._strange(url, asked, "no JSON") from None

    def _next_page(self, answer: Answer) -> str | None:
        match = _NEXT.search(answer.headers.get("link", ""))
        if match is None:
            return None
        # A mirror may pass on the address that the hub behind it wrote; the pages are the mirror's all the same.
        link, base = urlsplit(match[1]), urlsplit(self.settings.endpoint)
        prefix = "" if link.netloc == base.netloc else base.path
        return f"{base.scheme}://{base.netloc}{prefix}{link.path}?{link.query}"

    def _strange(self, url: str, asked: Asked, what: str) -> DatasetError:
        return DatasetError(
            f"{asked.uri}: {url} gave {what}. Is HF_ENDPOINT ({self.settings.endpoint}) the address of a hub?"
        )


def _file(entry: JsonValue) -> HubFile | None:
    if not isinstance(entry, dict) or entry.get("type") != "file":
        return None
    path, size, digest = entry.get("path"), entry.get("size"), entry.get("oid")
    large = entry.get("lfs")
    if isinstance(large, dict):
        size, digest = large.get("size", size), large.get("oid") or large.get("sha256")
    if not isinstance(path, str) or not isinstance(size, int) or not isinstance(digest, str):
        return None
    digest = digest.removeprefix("sha256:").lower()
    return HubFile(path, size, f"{'sha256' if isinstance(large, dict) else 'git'}:{digest}")

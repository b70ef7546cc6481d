"""What the hub knows of a repository: the commit of a revision, the files of a commit, branches and tags."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

from msgspec import Struct

from benchwright.core import BenchwrightError, DatasetError, JsonObject, JsonValue, load_json
from benchwright.datasets._hf.client import Answer, Client
from benchwright.datasets._hf.errors import HubError, HubRefusedError, HubUnreachableError, RepoRef, complaint
from benchwright.datasets._hf.settings import HubSettings

COMMIT = re.compile(r"[0-9a-f]{40}")
"""A full commit id."""
MOST_PAGES = 20_000
"""Of a listing; at 1000 entries each more than any repository has."""

_NEXT = re.compile(r'<([^>]+)>\s*;[^,]*\brel="?next"?')


class HubFile(Struct, frozen=True):
    """A file of a repository at one commit."""

    path: str
    """Where it is in the repository."""
    size: int
    """Bytes."""
    digest: str
    """`sha256:…` of the content for files in large-file storage, `git:…` (the blob id) for the others."""
    xet: bool = False
    """Whether the hub offers it by the Xet protocol."""

    def to_json(self) -> JsonObject:
        """For the records."""
        known: JsonObject = {"path": self.path, "size": self.size, "digest": self.digest}
        return {**known, "xet": True} if self.xet else known

    @classmethod
    def from_json(cls, value: JsonValue) -> HubFile:
        """Back again. Raises ValueError for anything else."""
        if isinstance(value, dict):
            path, size, digest = value.get("path"), value.get("size"), value.get("digest")
            if isinstance(path, str) and isinstance(size, int) and isinstance(digest, str):
                return cls(path, size, digest, value.get("xet") is True)
        raise ValueError("not a file")


class RepoInfo(Struct, frozen=True):
    """A repository at a revision."""

    repo: str
    """Its present name, which differs from the requested one after a renaming."""
    commit: str
    """The commit of the revision."""


class Hub:
    """Answers questions about repositories; refusals come out as DatasetError with the cure."""

    def __init__(self, settings: HubSettings, client: Client | None = None) -> None:
        self.client = client or Client(settings)

    @property
    def settings(self) -> HubSettings:
        """The settings of all requests."""
        return self.client.settings

    def info(self, ref: RepoRef) -> RepoInfo:
        """The commit of a revision. HubUnreachableError when there is no answer at all."""
        limit = self.settings.timeout_s
        try:
            found = self.client.api(
                lambda hub: hub.dataset_info(ref.repo, revision=ref.revision, timeout=limit)
            )
        except HubRefusedError as failure:
            raise self.complaint(failure, ref) from None
        except BenchwrightError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError) as exc:  # a name or an answer that is none
            raise self._strange(self.settings.endpoint, ref, f"no dataset ({exc})") from exc
        if not isinstance(found.sha, str) or not COMMIT.fullmatch(found.sha):
            raise self._strange(self.settings.endpoint, ref, "no commit id")
        return RepoInfo(found.id or ref.repo, found.sha)

    def files(self, ref: RepoRef, commit: str) -> list[HubFile]:
        """All files of a commit, by path."""
        # Not `HfApi.list_repo_tree`: it follows the address of the next page to any host, with the token, and from the
        # second page on it waits as long as the hub demands.
        base = f"{self.settings.endpoint}/api/datasets/{quote(ref.repo)}/tree"
        url: str | None = f"{base}/{quote(commit, safe='')}?recursive=true&expand=false"
        found: list[HubFile] = []
        seen: set[str] = set()
        while url is not None:
            if url in seen or len(seen) >= MOST_PAGES:
                raise self._strange(url, ref, "a listing that never ends")
            seen.add(url)
            try:
                answer = self.client.whole(url)
                page = load_json(answer.body)
            except HubRefusedError as failure:
                raise self.complaint(failure, ref) from None
            except ValueError:
                raise self._strange(url, ref, "no JSON") from None
            if not isinstance(page, list):
                raise self._strange(url, ref, "no list of files")
            found += [file for entry in page if (file := _file(entry)) is not None]
            url = self._next_page(answer)
        return sorted(found, key=lambda file: file.path)

    def refs(self, ref: RepoRef) -> list[str]:
        """Names of branches and tags; empty when the hub does not name them."""
        try:
            found = self.client.api(lambda hub: hub.list_repo_refs(ref.repo, repo_type="dataset"))
        except (HubRefusedError, HubUnreachableError, ValueError, TypeError, KeyError, AttributeError):
            return []
        return [branch.name for branch in (*found.branches, *found.tags)]

    def address(self, repo: str, commit: str, path: str) -> str:
        """Where a file's bytes are."""
        return (
            f"{self.settings.endpoint}/datasets/{quote(repo)}/resolve/{quote(commit, safe='')}/{quote(path)}"
        )

    def complaint(self, failure: HubRefusedError | HubUnreachableError, ref: RepoRef) -> HubError:
        """A failure in words."""
        known: tuple[str, ...] = ()
        if isinstance(failure, HubRefusedError) and failure.code == "RevisionNotFound":
            known = tuple(self.refs(ref))
        return complaint(failure, ref, self.settings, known)

    def _next_page(self, answer: Answer) -> str | None:
        match = _NEXT.search(answer.headers.get("link", ""))
        if match is None:
            return None
        # A mirror may pass on the address that its own hub wrote; the pages are the mirror's all the same.
        link, base = urlsplit(match[1]), urlsplit(self.settings.endpoint)
        prefix = "" if link.netloc == base.netloc else base.path
        return f"{base.scheme}://{base.netloc}{prefix}{link.path}?{link.query}"

    def _strange(self, url: str, ref: RepoRef, what: str) -> DatasetError:
        return DatasetError(
            f"{ref.uri}: {url} gave {what}. Is HF_ENDPOINT ({self.settings.endpoint}) the address of a hub?"
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
    kind = "sha256" if isinstance(large, dict) else "git"
    return HubFile(path, size, f"{kind}:{digest}", bool(entry.get("xetHash")))

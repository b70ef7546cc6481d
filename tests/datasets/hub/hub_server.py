"""A hub on the loopback interface: enough of the API that the real client libraries read from it.

Two ports: the hub itself, and object storage, which refuses requests that still carry the reader's token.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from hub_content import DATE, Blob, Repo
from hub_viewer import viewer_answer

PAGE = 1000
KNOWN_TOKENS = {"hf_good": "ann", "hf_other": "bob"}


@dataclass
class Fault:
    """Something that goes wrong for requests whose path matches, a number of times."""

    pattern: re.Pattern[str]
    times: int
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drop: bool = False
    """Close the connection without an answer."""
    cut: int | None = None
    """Send only so many bytes of the body, with the full Content-Length."""
    corrupt: bool = False
    """Flip a byte of the body."""
    act: Callable[[], Any] | None = None
    """Do something first: move a branch, make a repository private."""


@dataclass(frozen=True)
class Seen:
    """A request that came in."""

    method: str
    path: str
    authorized: bool
    range: str | None
    port: str


class LoopbackHub:
    """The hub; `url` is its address."""

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.renamed: dict[str, str] = {}
        self.faults: list[Fault] = []
        self.seen: list[Seen] = []
        self.url = ""
        self.storage_url = ""
        self.linked_url: str | None = None
        """The host that links to further pages name; None for the hub itself."""
        self._lock = threading.Lock()

    def repo(self, id: str, **options: Any) -> Repo:
        """A new, empty repository."""
        self.repos[id] = Repo(id, **options)
        return self.repos[id]

    def fault(self, pattern: str, times: int = 1, **options: Any) -> None:
        """Something to go wrong."""
        self.faults.append(Fault(re.compile(pattern), times, **options))

    def take_fault(self, path: str) -> Fault | None:
        with self._lock:
            for fault in self.faults:
                if fault.times > 0 and fault.pattern.search(path):
                    fault.times -= 1
                    return fault
        return None

    def paths(self, pattern: str = "") -> list[str]:
        """Paths of requests so far that match."""
        return [seen.path for seen in self.seen if re.search(pattern, seen.path)]

    def blob(self, sha256: str) -> Blob | None:
        for repo in self.repos.values():
            for tree in repo.commits.values():
                for blob in tree.values():
                    if blob.large and blob.sha256 == sha256:
                        return blob
        return None


@contextmanager
def running_hub() -> Iterator[LoopbackHub]:
    """A hub for the time of a test."""
    hub = LoopbackHub()
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub, kind)) for kind in (_Hub, _Storage)]
    # The real hub keeps large files on another host; clients tell the two apart by the host's name.
    hub.url = f"http://127.0.0.1:{servers[0].server_address[1]}"
    hub.storage_url = f"http://localhost:{servers[1].server_address[1]}"
    threads = [
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        for server in servers
    ]
    for server, thread in zip(servers, threads, strict=True):
        server.daemon_threads = True
        thread.start()
    try:
        yield hub
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
        for thread in threads:
            thread.join()


def _handler(hub: LoopbackHub, kind: type[_Base]) -> type[_Base]:
    return type(kind.__name__, (kind,), {"hub": hub})


class _Dropped(Exception):
    """The connection is to be closed without an answer."""


class _Base(BaseHTTPRequestHandler):
    hub: LoopbackHub
    protocol_version = "HTTP/1.1"
    fault: Fault | None = None

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self._serve()

    do_HEAD = do_POST = do_GET

    def answer(self) -> None:
        raise NotImplementedError

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self.form = parse_qs(self.rfile.read(length).decode()) if length else {}
        parts = urlsplit(self.path)
        self.route = parts.path
        self.query = {
            key: values[-1] for key, values in parse_qs(parts.query, keep_blank_values=True).items()
        }
        bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
        self.token = bearer or None
        self.hub.seen.append(
            Seen(self.command, self.path, bool(bearer), self.headers.get("Range"), type(self).__name__)
        )
        self.fault = self.hub.take_fault(self.path)
        try:
            if self.fault is not None:
                if self.fault.act is not None:
                    self.fault.act()
                time.sleep(self.fault.delay_s)
                if self.fault.drop:
                    raise _Dropped
                if self.fault.status is not None:
                    self.send_json({"error": "injected"}, self.fault.status, self.fault.headers)
                    return
            self.answer()
        except (_Dropped, BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def send_json(self, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value).encode()
        self.send_body(body, status, {"Content-Type": "application/json", **(headers or {})})

    def send_error_json(
        self, status: int, code: str | None, message: str, headers: dict[str, str] | None = None
    ) -> None:
        found = {"X-Error-Message": message, **(headers or {})}
        if code is not None:
            found["X-Error-Code"] = code
        self.send_json({"error": message}, status, found)

    def send_file(self, content: bytes, headers: dict[str, str]) -> None:
        headers = {"Accept-Ranges": "bytes", "Content-Type": "application/octet-stream", **headers}
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range") or "")
        if not wanted:
            self.send_body(content, 200, headers)
            return
        size = len(content)
        first = int(wanted[1]) if wanted[1] else max(0, size - int(wanted[2] or 0))
        last = min(int(wanted[2]), size - 1) if wanted[1] and wanted[2] else size - 1
        if first >= size:
            self.send_body(b"", 416, {**headers, "Content-Range": f"bytes */{size}"})
            return
        self.send_body(
            content[first : last + 1], 206, {**headers, "Content-Range": f"bytes {first}-{last}/{size}"}
        )

    def send_body(self, body: bytes, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if self.fault is not None and self.fault.corrupt and body:
            body = body[:-1] + bytes([body[-1] ^ 1])
        if self.fault is not None and self.fault.cut is not None:
            self.wfile.write(body[: self.fault.cut])
            self.wfile.flush()
            raise _Dropped
        self.wfile.write(body)


class _Storage(_Base):
    def answer(self) -> None:
        if self.token is not None:
            self.send_error_json(400, None, "Only one auth mechanism allowed")
            return
        blob = self.hub.blob(self.route.rpartition("/")[2])
        if blob is None:
            self.send_error_json(404, None, "no such object")
        else:
            self.send_file(blob.content, {"ETag": f'"{blob.sha256}"'})


class _Hub(_Base):
    def answer(self) -> None:
        if self.token is not None and self.token not in KNOWN_TOKENS:
            self.send_error_json(401, None, "Invalid credentials in Authorization header")
        elif self.route == "/api/whoami-v2":
            if self.token is None:
                self.send_error_json(401, None, "Invalid username or password.")
            else:
                self.send_json({"type": "user", "name": KNOWN_TOKENS[self.token], "orgs": []})
        elif self.route.startswith("/api/datasets/"):
            self._api(self.route.removeprefix("/api/datasets/"))
        elif match := re.fullmatch(r"/datasets/(.+?)/resolve/([^/]+)/(.+)", self.route):
            self._resolve(*map(unquote, match.groups()))
        else:
            status, body, headers = viewer_answer(self.hub.repos, self.token, self.route, self.query)
            self.send_json(body, status, headers)

    def _api(self, route: str) -> None:
        # The raw path is matched, then decoded: revisions arrive as `refs%2Fconvert%2Fparquet`.
        match = re.fullmatch(
            r"([^/]+(?:/[^/]+)??)(?:/(revision|tree|paths-info|refs)(?:/([^/]+)(?:/(.+))?)?)?", route
        )
        if match is None:
            self.send_error_json(404, None, "no such route")
            return
        id, what, revision, path = (None if group is None else unquote(group) for group in match.groups())
        if id in self.hub.renamed:
            target = f"{self.hub.url}/api/datasets/{self.hub.renamed[id]}{route[len(match[1]) :]}"
            self.send_body(b"", 307, {"Location": target})
            return
        repo = self._visible(id or "")
        if repo is None:
            return
        if what == "refs":
            self.send_json(_refs(repo))
            return
        commit = repo.resolve(revision or "main")
        if commit is None:
            self.send_error_json(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        elif what == "tree":
            self._tree(repo, commit, path or "", revision or "main")
        elif what == "paths-info":
            wanted = self.form.get("paths", [])
            tree = repo.commits[commit]
            self.send_json([entry for entry in _entries(tree, "", True, repo) if entry["path"] in wanted])
        else:
            self.send_json(_info(repo, commit, self.query.get("blobs", "").lower() == "true"))

    def _visible(self, id: str) -> Repo | None:
        """The repository, or None behind an answer that says why not."""
        repo = self.hub.repos.get(id)
        if repo is None or (repo.private and self.token not in repo.readers):
            status = 401 if self.token is None else 404
            self.send_error_json(status, "RepoNotFound", "Repository not found")
            return None
        if repo.disabled:
            self.send_error_json(403, None, "Access to this resource is disabled.")
            return None
        return repo

    def _tree(self, repo: Repo, commit: str, path: str, revision: str) -> None:
        recursive = self.query.get("recursive", "").lower() in ("true", "1")
        entries = _entries(repo.commits[commit], path, recursive, repo)
        if path and not entries:
            self.send_error_json(404, "EntryNotFound", f"{path} does not exist on {revision}")
            return
        if self.query.get("expand", "").lower() in ("true", "1"):
            last = {"id": commit, "title": "a commit", "date": DATE}
            entries = [{**entry, "lastCommit": last} for entry in entries]
        start, limit = int(self.query.get("cursor") or 0), int(self.query.get("limit") or PAGE)
        headers = {}
        if start + limit < len(entries):
            rest = "&".join(f"{key}={quote(value)}" for key, value in self.query.items() if key != "cursor")
            headers["Link"] = (
                f'<{self.hub.linked_url or self.hub.url}{self.route}?{rest}&cursor={start + limit}>; rel="next"'
            )
        self.send_json(entries[start : start + limit], headers=headers)

    def _resolve(self, id: str, revision: str, path: str) -> None:
        if id in self.hub.renamed:
            self.send_body(
                b"",
                307,
                {"Location": f"/datasets/{self.hub.renamed[id]}/resolve/{quote(revision, safe='')}/{path}"},
            )
            return
        repo = self._visible(id)
        if repo is None:
            return
        if repo.gated and self.token not in repo.readers:
            if self.token is None:
                self.send_error_json(
                    401, "GatedRepo", f"Access to dataset {id} is restricted. You must be authenticated."
                )
            else:
                self.send_error_json(
                    403, "GatedRepo", f"Access to dataset {id} is restricted. Ask for access."
                )
            return
        commit = repo.resolve(revision)
        if commit is None:
            self.send_error_json(404, "RevisionNotFound", f"Invalid rev id: {revision}")
            return
        blob = repo.commits[commit].get(path)
        if blob is None:
            self.send_error_json(404, "EntryNotFound", "Entry not found", {"X-Repo-Commit": commit})
        elif blob.large:
            xet = {} if repo.xet_route is None else {
                "X-Xet-Hash": blob.sha256[::-1], "X-Xet-Refresh-Route": repo.xet_route,
            }  # fmt: skip
            self.send_body(
                b"",
                302,
                xet
                | {
                    "X-Repo-Commit": commit,
                    "X-Linked-Size": str(len(blob.content)),
                    "X-Linked-ETag": f'"{blob.sha256}"',
                    "Location": f"{self.hub.storage_url}/objects/{blob.sha256}",
                },
            )
        else:
            self.send_file(blob.content, {"X-Repo-Commit": commit, "ETag": f'"{blob.git_id}"'})


def _entries(tree: dict[str, Blob], folder: str, recursive: bool, repo: Repo) -> list[dict[str, Any]]:
    prefix = f"{folder}/" if folder else ""
    folders: set[str] = set()
    files = []
    for path, blob in sorted(tree.items()):
        if not path.startswith(prefix):
            continue
        inside = path[len(prefix) :].split("/")
        folders |= {
            prefix + "/".join(inside[:depth])
            for depth in range(1, len(inside) if recursive else min(2, len(inside)))
        }
        if recursive or len(inside) == 1:
            files.append(blob.listed(path, repo.xet_route is not None))
    return [
        {"type": "directory", "oid": "0" * 40, "size": 0, "path": path} for path in sorted(folders)
    ] + files


def _info(repo: Repo, commit: str, blobs: bool) -> dict[str, Any]:
    siblings: list[dict[str, Any]] = []
    for path, blob in sorted(repo.commits[commit].items()):
        entry: dict[str, Any] = {"rfilename": path}
        if blobs:
            entry |= {"size": len(blob.content), "blobId": blob.git_id}
            if blob.large:
                entry["lfs"] = {
                    "sha256": blob.sha256,
                    "size": len(blob.content),
                    "pointerSize": len(blob.pointer),
                }
        siblings.append(entry)
    return {
        "_id": "0" * 24, "id": repo.id, "author": repo.id.partition("/")[0], "sha": commit, "lastModified": DATE,
        "createdAt": DATE, "private": repo.private, "gated": repo.gated, "disabled": repo.disabled, "tags": [],
        "downloads": 0, "likes": 0, "siblings": siblings,
    }  # fmt: skip


def _refs(repo: Repo) -> dict[str, Any]:
    found: dict[str, list[dict[str, str]]] = {"branches": [], "tags": [], "converts": [], "pullRequests": []}
    for name, commit in repo.refs.items():
        if name.startswith("refs/convert/"):
            kind, short, ref = "converts", name.removeprefix("refs/convert/"), name
        elif name in repo.tags:
            kind, short, ref = "tags", name, f"refs/tags/{name}"
        else:
            kind, short, ref = "branches", name, f"refs/heads/{name}"
        found[kind].append({"name": short, "ref": ref, "targetCommit": commit})
    return found

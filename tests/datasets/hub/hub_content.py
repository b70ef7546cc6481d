"""What a loopback hub holds: repositories, their commits, the viewer's picture of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

DATE = "2026-01-02T03:04:05.000Z"


@dataclass(frozen=True)
class Blob:
    """A file's content."""

    content: bytes
    large: bool
    """Whether it is in large-file storage."""

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def git_id(self) -> str:
        content = self.pointer if self.large else self.content
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()

    @property
    def pointer(self) -> bytes:
        size = len(self.content)
        return f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.sha256}\nsize {size}\n".encode()

    def listed(self, path: str, xet: bool = False) -> dict[str, Any]:
        entry: dict[str, Any] = {"type": "file", "oid": self.git_id, "size": len(self.content), "path": path}
        if self.large and xet:
            entry["xetHash"] = self.sha256[::-1]
        if self.large:
            entry["lfs"] = {"oid": self.sha256, "size": len(self.content), "pointerSize": len(self.pointer)}
        return entry


Tree = dict[str, Blob]


@dataclass
class Repo:
    """A dataset repository."""

    id: str
    private: bool = False
    gated: Literal[False, "auto", "manual"] = False
    disabled: bool = False
    readers: set[str] = field(default_factory=set)
    """Tokens that may read it."""
    commits: dict[str, Tree] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    tags: set[str] = field(default_factory=set)
    shown: dict[str, dict[str, list[dict[str, Any]]]] = field(default_factory=dict)
    """What the viewer shows: rows by configuration and split."""
    shown_revision: str | None = None
    """The commit the viewer says it shows; None for that of main."""
    partial: bool = False
    truncated: tuple[str, ...] = ()
    feature_types: dict[str, Any] = field(default_factory=dict)
    xet_route: str | None = None
    """Where readers get the token for large files by the Xet protocol; None where they are not offered that way."""

    def commit(
        self,
        files: Mapping[str, bytes | str],
        *,
        branch: str = "main",
        large: Sequence[str] = (),
        tag: str | None = None,
    ) -> str:
        """A new commit on a branch that holds exactly these files; large are those named, and all Parquet."""
        tree: Tree = {}
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            tree[path] = Blob(data, path in large or path.endswith(".parquet"))
        parent = self.refs.get(branch, "")
        listed = json.dumps([self.id, parent, sorted((path, blob.git_id) for path, blob in tree.items())])
        commit = hashlib.sha1(listed.encode()).hexdigest()
        self.commits[commit] = tree
        self.refs[branch] = commit
        if tag is not None:
            self.refs[tag] = commit
            self.tags.add(tag)
        return commit

    def resolve(self, revision: str) -> str | None:
        if revision in self.commits:
            return revision
        return self.refs.get(revision)


def jsonl(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def parquet(rows: Sequence[Mapping[str, Any]], **options: Any) -> bytes:
    """Rows as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(list(rows)), out, **options)
    return bytes(out.getvalue())


def numbered(count: int, what: str = "row", start: int = 0) -> list[dict[str, Any]]:
    """Some rows that can be told apart."""
    return [{"id": number, "text": f"{what} {number}"} for number in range(start, start + count)]


def card(configs: str) -> str:
    """A dataset card with a `configs:` section."""
    return f"---\nlicense: mit\nconfigs:\n{configs}---\n# A dataset\n"

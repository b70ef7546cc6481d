"""The cache of the `huggingface_hub` library, looked into for what is there already; never written.

<hub cache>/datasets--<org>--<name>/refs/<revision>             text: the commit
                                   /snapshots/<commit>/<path>   links to ../blobs/<hash>
"""

from __future__ import annotations

import os
from pathlib import Path

from benchwright.datasets._hf.hub import COMMIT, HubFile


def _home(hub_cache: Path, repo: str) -> Path:
    return hub_cache / f"datasets--{repo.replace('/', '--')}"


def snapshot(hub_cache: Path, repo: str, commit: str) -> Path | None:
    """The folder of exactly that commit, if any of its files are there."""
    folder = _home(hub_cache, repo) / "snapshots" / commit
    return folder if folder.is_dir() else None


def snapshot_commits(hub_cache: Path, repo: str) -> list[str]:
    """The commits of which files are there."""
    try:
        names = os.listdir(_home(hub_cache, repo) / "snapshots")
    except OSError:
        return []
    return sorted(name for name in names if COMMIT.fullmatch(name))


def snapshot_ref(hub_cache: Path, repo: str, revision: str | None) -> str | None:
    """The commit that the library last saw behind a revision."""
    try:
        text = (_home(hub_cache, repo) / "refs" / (revision or "main")).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    return text if COMMIT.fullmatch(text) else None


def snapshot_files(folder: Path) -> list[HubFile]:
    """The files of a snapshot. Each is a link to a blob named by the hash the hub announced."""
    found = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = os.path.basename(os.path.realpath(path))
        kind = {40: "git", 64: "sha256"}.get(len(name))
        if kind and all(char in "0123456789abcdef" for char in name):
            found.append(HubFile(path.relative_to(folder).as_posix(), path.stat().st_size, f"{kind}:{name}"))
    return found

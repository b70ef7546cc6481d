"""What reading a dataset requests from the hub and writes to disk: only what benchwright means to."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hub_content import jsonl, numbered
from hub_server import LoopbackHub

MEANT = re.compile(
    r"/api/datasets/a/quiz(/revision/[^/]+|/tree/[^?]+|/refs|/xet-read-token/main|/paths-info/[^/]+)?(\?.*)?"
    r"|/datasets/a/quiz/resolve/[0-9a-f]{40}/.+"
    r"|/[^?]*[0-9a-f]{64}(\?.*)?"
)
"""Questions about the dataset, its files, and their place in object storage."""

READ = "from benchwright import load_dataset; assert len(load_dataset('hf://a/quiz{query}')) == 40"
PROGRAMS = {
    "the library": READ,
    "a library that was imported before": f"import huggingface_hub.constants; {READ}",
    "a library that was used before": f"from huggingface_hub.utils import get_session; get_session(); {READ}",
}


@pytest.mark.parametrize(
    ("program", "stored"),
    [(PROGRAMS["the library"], stored) for stored in ("in the repository", "as a large file")]
    + [(program, "by Xet") for program in PROGRAMS.values()],
)
def test_nothing_is_requested_or_written_that_nobody_meant(
    hub: LoopbackHub, tmp_path: Path, program: str, stored: str
) -> None:
    route = f"{hub.url}/api/datasets/a/quiz/xet-read-token/main" if stored == "by Xet" else None
    repo = hub.repo("a/quiz", xet_route=route) if route else hub.repo("a/quiz")
    large = [] if stored == "in the repository" else ["train.jsonl"]
    repo.commit({"train.jsonl": jsonl(numbered(40))}, large=large)
    ran(hub, tmp_path, program.replace("{query}", ""))
    assert written(tmp_path) == []


def test_the_datasets_library_too(hub: LoopbackHub, tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    hub.repo("a/quiz").commit({"train.jsonl": jsonl(numbered(40))})
    ran(hub, tmp_path, READ.replace("{query}", "?loader=datasets&split=train"))
    assert [path for path in written(tmp_path) if "harness" in path or "logs" in path] == []


def ran(hub: LoopbackHub, folder: Path, program: str) -> None:
    """Run a program in a new process whose home and caches are below the folder; fail if it requests more than it may."""
    for name in ("home", "hf-home", "cache"):
        (folder / name).mkdir(exist_ok=True)
    switches = {
        "HF_HUB_DISABLE_TELEMETRY",
        "DISABLE_TELEMETRY",
        "DO_NOT_TRACK",
        "HF_XET_CACHE",
        "HF_XET_LOG_DEST",
    }
    env = {name: value for name, value in os.environ.items() if name not in switches}
    env |= {
        "HOME": str(folder / "home"),
        "AI_AGENT": "some-agent",
        "XDG_CACHE_HOME": str(folder / "home" / ".cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    hidden = [seen.path for seen in hub.seen if not MEANT.fullmatch(seen.path)]
    assert hidden == []


def written(folder: Path) -> list[str]:
    """Files outside of benchwright's own cache."""
    found = (path for name in ("home", "hf-home") for path in (folder / name).rglob("*") if path.is_file())
    return [str(path.relative_to(folder)) for path in found]

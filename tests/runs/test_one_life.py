"""Runs of every kind live the same life: started, beating, ended, finished; none stays `running` when its work breaks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright.engine import RunLife
from benchwright.store import RunRecord, find_workspace, open_store

PROGRAM = """
[benchmarks.one]
type = "custom_code"
command = ["true"]
"""
KINDS: dict[str, Callable[[], Any]] = {
    "benchmark": lambda: benchwright.run("rows.csv", model="demo"),
    "load": lambda: benchwright.perf("rows.csv", model="demo", requests=3),
    "workflow": lambda: benchwright.run("one"),
}


@pytest.fixture(params=KINDS)
def perform(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], Any]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("question,answer\n1+1=,2\n2+2=,4\n", encoding="utf-8")
    (tmp_path / "benchwright.toml").write_text(PROGRAM, encoding="utf-8")
    return KINDS[request.param]


def recorded() -> RunRecord:
    with open_store(find_workspace(Path.cwd())) as store:
        (run,) = store.runs()
        return store.run(run.id)


def test_every_kind_lives_the_same_life(perform: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    lived: list[str] = []
    for name in ("__enter__", "beat", "end", "finish"):
        whole = getattr(RunLife, name)

        def step(self: RunLife, *given: Any, whole: Any = whole, name: str = name, **named: Any) -> Any:
            lived.append(name)
            return whole(self, *given, **named)

        monkeypatch.setattr(RunLife, name, step)
    perform()
    assert [name for name in lived if name not in ("beat", "finish")] == ["__enter__", "end"]
    if (
        perform is not KINDS["workflow"]
    ):  # a program may end before its first heartbeat, and finishes by its steps
        assert "beat" in lived[1 : lived.index("end")]
        assert lived[-1] == "finish"
    run = recorded()
    assert (run.status, run.owner) == ("completed", None)


def test_no_kind_stays_running_when_its_work_breaks(
    perform: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: RunLife, *given: Any, **named: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(RunLife, "end", broken)
    with pytest.raises(RuntimeError, match="broken"):
        perform()
    run = recorded()
    assert (run.status, run.owner, run.error) == ("failed", None, "RuntimeError: broken")

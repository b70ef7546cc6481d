"""Nobody else's configuration is obeyed, and nobody else reads the records."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from benchwright.cli import main
from benchwright.config import find_config
from benchwright.core import ConfigError
from benchwright.store import Workspace, find_workspace, open_store

OTHER = 54321
"""A user that is not us."""
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
BENCH = """
from benchwright import benchmark, scorer

@benchmark(name="x", dataset=[{"q": "1", "a": "1"}], prompt="{q}", target_field="a")
@scorer
def check(sample):
    return {"correct": True}
"""


@pytest.fixture
def below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder below one with a configuration, entered."""
    (tmp_path / "benchwright.toml").write_text('[benchmarks.x]\nfile = "bench.py"\n')
    (tmp_path / "bench.py").write_text(BENCH)
    folder = tmp_path / "below"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@as_root
@pytest.mark.parametrize("name", ["benchwright.toml", ".benchwright.toml", "quantiles.toml"])
def test_a_configuration_of_another_user_is_refused(below: Path, name: str) -> None:
    file = (below.parent / "benchwright.toml").rename(below.parent / name)
    os.chown(file, OTHER, OTHER)
    with pytest.raises(ConfigError, match="belongs to another user") as caught:
        find_config(below)
    assert str(file) in str(caught.value)


@as_root
def test_a_link_of_another_user_to_our_own_file_is_refused(below: Path) -> None:
    file = below.parent / "benchwright.toml"
    real = file.rename(below.parent / "mine.toml")
    file.symlink_to(real)
    assert find_config(below) is not None
    os.chown(file, OTHER, OTHER, follow_symlinks=False)
    with pytest.raises(ConfigError, match="belongs to another user"):
        find_config(below)


@as_root
def test_code_of_another_user_is_not_reached_through_our_configuration(below: Path) -> None:
    os.chown(below.parent / "bench.py", OTHER, OTHER)
    with pytest.raises(ConfigError, match="this benchmark belongs to another user"):
        find_config(below)


@as_root
def test_a_listing_runs_no_code_of_another_user(below: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("mine.py", "theirs.py"):
        (below / name).write_text(BENCH + f"open({name + '.ran'!r}, 'w').close()\n")
    os.chown(below / "theirs.py", OTHER, OTHER)
    assert main(["ls"]) == 0
    assert "belongs to another user" in " ".join(capsys.readouterr().out.split())
    assert (below / "mine.py.ran").exists()
    assert not (below / "theirs.py.ran").exists()


@as_root
def test_a_model_that_is_found_by_name_runs_no_code_of_another_user(
    below: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = below / "configs" / "models"
    models.mkdir(parents=True)
    (models / "theirs.py").write_text("open('theirs.ran', 'w').close()\nmodels = ['demo']\n")
    os.chown(models / "theirs.py", OTHER, OTHER)
    (below / "q.jsonl").write_text('{"question": "q", "answer": "a"}\n')
    words = ["run", "--models", "theirs", "--custom-dataset-path", "q.jsonl", "-q"]
    assert main(words) == 2
    assert "belongs to another user" in capsys.readouterr().err
    assert not (below / "theirs.ran").exists()
    (below / "configs").rename(below / "shared")
    assert main([*words, "--config-dir", "shared"]) == 0, "a folder that is named is meant"


@as_root
def test_a_workspace_of_another_user_is_refused(below: Path) -> None:
    state = below.parent / ".benchwright"
    state.mkdir()
    os.chown(state, OTHER, OTHER)
    with pytest.raises(ConfigError, match="this workspace belongs to another user"):
        find_workspace(below)
    assert find_workspace(below, below).root == below, "a folder that is named is meant"


@as_root
def test_root_in_a_clone_of_somebody_else_works_for_its_owner(below: Path) -> None:
    for path in (below, below.parent / "benchwright.toml", below.parent / "bench.py"):
        os.chown(path, OTHER, OTHER)
    assert find_config(below) is not None


@pytest.mark.parametrize("mode", [0o666, 0o646, 0o777])
def test_a_configuration_that_everybody_can_write_is_refused(below: Path, mode: int) -> None:
    file = below.parent / "benchwright.toml"
    file.chmod(mode)
    with pytest.raises(ConfigError, match="chmod go-w"):
        find_config(below)
    file.chmod(0o644)
    assert find_config(below) is not None


def test_a_group_of_ones_own_may_write(below: Path) -> None:
    file = below.parent / "benchwright.toml"
    file.chmod(0o664)
    assert find_config(below) is not None
    if os.geteuid() == 0:
        os.chown(file, 0, OTHER)
        with pytest.raises(ConfigError, match="others may write"):
            find_config(below)


def test_a_run_names_a_configuration_that_is_not_here(
    below: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "x", "--quiet"]) == 0
    said = capsys.readouterr()
    assert said.err.splitlines()[0] == f"configuration: {below.parent / 'benchwright.toml'}"
    os.chdir(below.parent)
    assert main(["run", "x", "--quiet"]) == 0
    assert "configuration:" not in capsys.readouterr().err


def rights(folder: Path) -> dict[str, int]:
    paths = [folder, *folder.rglob("*")]
    return {str(p.relative_to(folder)): stat.S_IMODE(p.stat().st_mode) for p in paths}


def test_records_and_files_are_for_their_owner_alone(below: Path) -> None:
    before = os.umask(0o022)
    try:
        assert main(["run", "x", "--quiet", "--workspace", str(below)]) == 0
        files = below / "files"
        files.mkdir()
        files.chmod(0o755)
        assert main(["run", "x", "--quiet", "--workspace", str(below), "--output-dir", str(files)]) == 0
    finally:
        os.umask(before)
    found = rights(below / ".benchwright")
    assert found["."] == 0o700
    assert {
        name: mode
        for name, mode in found.items()
        if mode & 0o077 and name.endswith((".db", ".parquet", ".yml"))
    } == {}
    assert stat.S_IMODE(files.stat().st_mode) == 0o755, "a folder that the user gave keeps its rights"
    assert all(mode & 0o077 == 0 for name, mode in rights(files).items() if name != ".")


def test_an_older_workspace_is_closed_to_others_when_its_owner_opens_it(tmp_path: Path) -> None:
    place = Workspace(tmp_path)
    open_store(place).close()
    place.state.chmod(0o755)
    place.database.chmod(0o644)
    open_store(place).close()
    assert stat.S_IMODE(place.state.stat().st_mode) == 0o700
    assert stat.S_IMODE(place.database.stat().st_mode) == 0o600

"""What holds for the files of a run wherever they are. A new place is tested by one more row here."""

from __future__ import annotations

import os
import stat
import string
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tests.memory_files import MemoryPlaces

from benchwright.core import Artifacts, UsageError, open_artifacts
from benchwright.core._artifacts import LocalFolder

KINDS: dict[str, Callable[[], Callable[[str], Artifacts]]] = {
    "folder": lambda: LocalFolder.at,
    "memory": lambda: MemoryPlaces().open,
}


@pytest.fixture(params=KINDS)
def opened(request: pytest.FixtureRequest) -> Callable[[str], Artifacts]:
    return KINDS[request.param]()


@pytest.fixture
def files(opened: Callable[[str], Artifacts], tmp_path: Path) -> Artifacts:
    return opened(str(tmp_path / "run"))


def test_what_is_written_is_read(files: Artifacts) -> None:
    files.write("results.yml", b"old and long")
    files.write("results.yml", b"new")
    files.write("score/my-model/a.json", (b"one\n", b"two\n"))
    assert files.read("results.yml") == b"new"
    assert files.exists("results.yml")
    with files.open("score/my-model/a.json") as file:
        file.seek(4)
        assert file.read() == b"two\n"
    assert files.names() == ["results.yml", "score/"]
    assert files.names("score") == files.names("score/") == ["score/my-model/"]
    assert files.names("score/my-model") == ["score/my-model/a.json"]
    assert files.modified("results.yml") > 0 < files.modified()
    assert files.location("results.yml") == f"{files.location()}/results.yml"


def test_what_is_not_there_is_not_there(files: Artifacts) -> None:
    assert files.names() == files.names("score") == []
    assert not files.exists("results.yml")
    for read in (files.read, files.open, files.modified):
        with pytest.raises(FileNotFoundError):
            read("results.yml")
    files.write("score/a.json", b"")
    assert not files.exists("score"), "a folder is not a file"
    files.remove("results.yml", "score/a.json")
    assert not files.exists("score/a.json")


def test_a_file_appears_whole_or_not_at_all(files: Artifacts) -> None:
    files.write("results.yml", b"old")
    with files.create("results.yml") as file:
        file.write(b"half")
        assert files.read("results.yml") == b"old"
        file.write(b" and half")
    assert files.read("results.yml") == b"half and half"

    def fail(name: str) -> None:
        with files.create(name) as file:
            file.write(b"part")
            raise OSError("no space")

    for name in ("results.yml", "more.yml"):
        with pytest.raises(OSError, match="no space"):
            fail(name)
    assert files.read("results.yml") == b"half and half"
    assert files.names() == ["results.yml"]


def test_files_that_grow_are_readable_at_once(files: Artifacts) -> None:
    with files.append("log/a.jsonl") as first, files.append("log/a.jsonl") as second:
        first.write(b"1\n")
        second.write(b"2\n")
        first.write(b"3\n")
        assert files.read("log/a.jsonl") == b"1\n2\n3\n"
    with files.append("log/a.jsonl") as again:
        assert again.tell() == 6
        again.truncate(0)
        again.write(b"4\n")
    assert files.read("log/a.jsonl") == b"4\n"


@given(
    st.lists(
        st.one_of(
            st.sampled_from(["", ".", "..", "a", "\0"]), st.text(string.ascii_letters + "./", max_size=4)
        ),
        min_size=1,
        max_size=4,
    )
)
@pytest.mark.parametrize("kind", KINDS)
def test_no_name_leads_out_of_its_place(
    tmp_path_factory: pytest.TempPathFactory, kind: str, parts: list[str]
) -> None:
    name = "/".join(parts)
    above = tmp_path_factory.mktemp("above")
    files = KINDS[kind]()(str(above / "run"))
    try:
        files.write(name, b"x")
    except (ValueError, OSError):  # refused, or the name of the place itself
        pass
    else:
        assert files.read(name) == b"x"
    assert {path.name for path in above.iterdir()} <= {"run"}
    for act in (
        files.read,
        files.open,
        files.append,
        files.modified,
        files.exists,
        files.location,
        files.names,
    ):
        for bad in ("../x", "/etc/passwd", "a/../../x", "a//b", "./a", "a/.", "a\0"):
            with pytest.raises(ValueError, match="is not the name of a file"):
                act(bad)


def test_one_keeps_the_place_at_a_time(files: Artifacts) -> None:
    files.prepare()
    with files.lock() as first, files.lock() as second:
        assert (first, second) == (True, False)
    with files.lock() as again:
        assert again


def test_code_that_needs_a_path_gets_one_and_what_it_writes_is_kept(files: Artifacts) -> None:
    files.prepare()
    files.write("results.yml", b"results")
    with files.local() as folder:
        assert (folder / "results.yml").read_bytes() == b"results"
        (folder / "more").mkdir()
        (folder / "more" / "page.html").write_text("page")
    assert files.read("more/page.html") == b"page"


def test_discarding_takes_all_files_or_none(files: Artifacts) -> None:
    files.write("score/a.json", b"a")

    def fail() -> None:
        with files.discard():
            assert files.names() == []
            raise OSError("locked")

    with pytest.raises(OSError, match="locked"):
        fail()
    assert files.read("score/a.json") == b"a"
    with files.discard():
        pass
    assert files.names() == []


def test_a_folder_is_taken_back_while_it_is_empty(tmp_path: Path) -> None:
    place = tmp_path / "a" / "b" / "c"
    undo = open_artifacts(place).prepare()
    assert place.is_dir()
    (tmp_path / "a" / "kept").touch()
    undo()
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "kept"]
    again = open_artifacts(place)
    undo = again.prepare()
    again.write("results.yml", b"")
    undo()
    assert again.exists("results.yml")


def test_a_killed_deletion_is_finished_by_the_next(tmp_path: Path) -> None:
    files = open_artifacts(tmp_path / "run")
    for name in (".removed-run", "run"):
        open_artifacts(tmp_path / name).write("results.yml", b"")
    with files.discard():
        pass
    assert list(tmp_path.iterdir()) == []


def test_only_their_owner_may_read_files(tmp_path: Path) -> None:
    files = open_artifacts(tmp_path)
    before = os.umask(0)
    try:
        files.write("a", b"a")
        files.append("b").close()
    finally:
        os.umask(before)
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "ab"} == {0o600}


def test_a_place_that_nothing_can_open_is_named_with_the_cure() -> None:
    for written in ("s3://bucket/runs", Path("s3://bucket/runs")):
        with pytest.raises(UsageError, match=r"cannot be at s3://bucket/runs: .* Give its path"):
            open_artifacts(written)

"""Named tokens: made once, kept as hashes, and taken away at once."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from benchwright import NotFoundError, UsageError
from benchwright.server import People
from benchwright.server._people import Access
from benchwright.store import Workspace


def test_a_token_is_kept_as_its_hash_and_works_until_it_is_taken_away(tmp_path: Path) -> None:
    people, server = People(Workspace(tmp_path)), People(Workspace(tmp_path))
    ann = people.add("ann", read_only=True)
    bob = people.add("bob", read_only=False)
    file = tmp_path / ".benchwright" / "tokens.json"
    assert ann.token not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert ann.token not in repr(ann)
    assert [(each.name, each.read_only) for each in server.listed()] == [("ann", True), ("bob", False)]
    assert (server.matching(ann.token), server.matching(bob.token)) == ([Access.READ], [Access.FULL])
    assert server.matching(server.listed()[0].digest) == []
    people.remove("ann")
    assert (server.matching(ann.token), server.matching(bob.token)) == ([], [Access.FULL])
    people.remove("bob")
    assert server.listed() == ()


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x" * 65, "<b>", "a\n"])
def test_names_are_plain(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="not a name for a token"):
        People(Workspace(tmp_path)).add(name, read_only=False)


def test_a_name_is_given_once_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    people = People(Workspace(tmp_path))
    people.add("ann", read_only=False)
    with pytest.raises(UsageError, match="token rm ann"):
        people.add("ann", read_only=True)
    with pytest.raises(NotFoundError, match="ann"):
        people.remove("anm")


def test_a_damaged_file_lets_nobody_in(tmp_path: Path) -> None:
    people = People(Workspace(tmp_path))
    token = people.add("ann", read_only=False).token
    (tmp_path / ".benchwright" / "tokens.json").write_text("{")
    assert people.matching(token) == []
    with pytest.raises(UsageError, match="benchwright token add"):
        people.listed()

"""Scorers may copy and take apart their input, also those written for dataclasses."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from benchwright import ScorerInput


def test_inputs_are_made_by_position_and_by_keyword() -> None:
    given = ScorerInput("r", "t", {"a": 1}, None, {"k": 2}, [{"role": "user"}], 3)
    assert given == ScorerInput(
        response="r",
        target="t",
        metadata={"a": 1},
        config={"k": 2},
        conversation=[{"role": "user"}],
        turn_index=3,
    )
    assert ScorerInput("r", "t", {}).config is not ScorerInput("r", "t", {}).config
    with pytest.raises(TypeError):
        ScorerInput("r", "t")  # type: ignore[call-arg]


def test_dataclasses_copy_inputs_and_take_them_apart() -> None:
    given = ScorerInput("r", "t", {"a": 1}, ask=print)  # type: ignore[arg-type]
    changed = dataclasses.replace(given, response="other")
    assert (changed.response, changed.metadata, changed.ask) == ("other", {"a": 1}, print)
    assert dataclasses.asdict(changed)["metadata"] == {"a": 1}
    assert dataclasses.is_dataclass(given)
    assert [field.name for field in dataclasses.fields(given)] == list(given.__struct_fields__)


def test_inputs_can_be_changed_copied_and_sent_to_another_process() -> None:
    given = ScorerInput("r", "t", {"a": 1})
    assert copy.deepcopy(given) == pickle.loads(pickle.dumps(given)) == given
    given.response = "other"
    assert repr(given).startswith("ScorerInput(response='other', target='t', metadata={'a': 1}")
    assert "ask" not in repr(given)

"""Every kind of model has the same methods, so that no code asks which kind it has, and a new kind is one class."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from typing import Any

import pytest

from benchwright import ScriptedEndpoint
from benchwright.config import SystemMessage, pipeline_settings
from benchwright.core import JsonObject, ModelReply, ModelRequest, UsageError, encode_json, open_artifacts
from benchwright.demo import DemoSettings
from benchwright.endpoints import (
    EndpointSettings,
    ModelSettings,
    Pipeline,
    PipelinedModel,
    ScriptedSettings,
    open_endpoint,
)
from benchwright.engine._settings import MODEL_KINDS

MODELS: list[Any] = [
    EndpointSettings(
        url="http://host:8000", model_id="m", api_key_name="A_KEY", headers={"X-Team": "${A_TEAM}"}
    ),
    DemoSettings(),
    ScriptedSettings(),
]
BODY: JsonObject = {"model": "m", "messages": [{"role": "user", "content": "2 + 2 ="}], "temperature": 0}
REQUEST = ModelRequest("chat", BODY, encode_json(BODY))


def test_the_table_has_every_kind() -> None:
    assert {each.kind: type(each) for each in MODELS} == MODEL_KINDS
    own = {each for each in ModelSettings.__subclasses__() if each.__module__.startswith("benchwright.")}
    assert own == {*MODEL_KINDS.values(), PipelinedModel}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.kind)
def test_a_model_answers_what_runs_ask_of_any(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "k1")
    monkeypatch.setenv("A_TEAM", "search")
    assert bool(model.url) == model.by_http
    assert model.fingerprint() == model.at_server().fingerprint() != ""
    assert model.type_for("chat", conversation=True, tools=True) == "chat"
    model.check_secrets()
    assert model.variables() == (["A_TEAM", "A_KEY"] if model.by_http else [])
    assert model.as_sent(REQUEST).body == BODY
    assert (model.at_server(model_id="other").model_id == "other") == model.by_http
    assert pickle.loads(pickle.dumps(model)) == model  # processes of load tests get it


def test_a_script_cannot_be_opened_from_its_record() -> None:
    with pytest.raises(UsageError, match="give it again"):
        open_endpoint(ScriptedSettings())


class Parrot(ModelSettings, frozen=True):
    """A kind of model of its own: it repeats the last message."""

    def fingerprint(self) -> str:
        return "parrot://"

    def open(self, **_: object) -> Any:
        return ScriptedEndpoint(lambda request: str(request.body["messages"][-1]["content"]))  # type: ignore[call-overload,index]


def test_a_new_kind_is_one_class_also_within_a_pipeline(tmp_path: Path) -> None:
    async def reply_of(model: ModelSettings) -> ModelReply:
        endpoint = open_endpoint(model)
        try:
            return await endpoint.send(REQUEST)
        finally:
            await endpoint.aclose()

    steps = pipeline_settings([SystemMessage("Be brief.")])
    parrot = Parrot()
    assert asyncio.run(reply_of(parrot)).text == "2 + 2 ="
    assert Pipeline(steps, parrot).http is None
    assert asyncio.run(reply_of(PipelinedModel(parrot, steps, open_artifacts(tmp_path)))).text == "2 + 2 ="

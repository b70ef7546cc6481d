"""`--web` and `--open`: the server of the workspace is used, or started, and the printed URL opens the page."""

from __future__ import annotations

import json
import os
import signal
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from benchwright.cli import main
from benchwright.store import Workspace, open_store
from waiting import until


def test_a_server_is_started_once_and_every_page_opens_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)

    def said(*words: str) -> Any:
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    with open_store(Workspace(tmp_path)) as store:
        for kind in ("benchmark", "workflow", "load"):
            run = store.create_run(kind=kind, name=kind, target="t")
            store.finish_run(run.id, "completed", summary=None)
    first = said("show", "1", "--web")
    try:
        assert first["started"]
        told = [said(*words) for words in (("show", "2", "--web"), ("show", "3", "--web"), ("compare", "1", "last", "--by", "a&b", "--web"), ("show", "1", "2/1", "--web"))]  # fmt: skip
        assert [(one["pid"], one["started"]) for one in told] == [(first["pid"], False)] * 4
        pages = [one["open_url"].partition("#")[2] for one in (first, *told)]
        assert pages == [
            "/runs/1",
            "/workflows/2",
            "/load/3",
            "/compare?runs=1,3&by=a%26b",
            "/runs/1/samples/2/1",
        ]
        base, _, rest = first["open_url"].partition("/?code=")
        request = urllib.request.Request(
            f"{base}/api/token", json.dumps({"code": rest.partition("#")[0]}).encode()
        )
        with urllib.request.urlopen(request) as answer:
            assert not json.load(answer)["read_only"]
    finally:
        os.kill(first["pid"], signal.SIGINT)
        until(lambda: not (tmp_path / ".benchwright" / "server.json").exists())


def test_tokens_of_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def said(*words: str) -> tuple[int, Any]:
        code = main([*words, "--json"])
        return code, json.loads(capsys.readouterr().out)

    code, made = said("token", "add", "ann", "--read-only")
    assert (code, made["name"], made["read_only"], len(made["token"]) >= 32) == (0, "ann", True, True)
    assert said("token", "list")[1]["tokens"][0].items() >= {"name": "ann", "read_only": True}.items()
    assert said("token", "rm", "ann") == (0, {"removed": "ann"})
    assert said("token", "rm", "ann")[0] == 4
    for words in (("add",), ("list", "ann"), ("rm", "ann", "--read-only")):
        assert said("token", *words)[0] == 2

"""Every value that came from the environment, quoted back from every side and in every spelling: found nowhere."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Collection, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
from quoted_secrets import FORMS, PLACES, SECRETS, everything_in, quoting_server, traces

from benchwright.cli import main
from benchwright.cli._commands import COMMANDS
from benchwright.core import RunKind
from benchwright.core._secrets import forget_secrets
from benchwright.server import serving
from benchwright.store import Workspace, open_store

BENCH = """
import os
from benchwright import ScorerInput, benchmark, judge_score, scorer
from benchwright.scorers import exact_match

JUDGE = {{"url": "{url}", "model_id": "judge", "api_key": "JUDGE_KEY"}}

@benchmark(name="planted", dataset="rows.jsonl", prompt="{{place}} {{text}}", target_field="answer",
           extra={{"judge": JUDGE}})
@scorer
def check(sample: ScorerInput) -> dict:
    if sample.metadata["place"] == "scorer":
        raise RuntimeError(os.environ.get(sample.metadata["text"], sample.metadata["text"]))
    if sample.metadata["place"] == "score":
        return {{"correct": True, "found": sample.metadata["text"]}}
    if sample.metadata["place"].startswith("judge"):
        return judge_score(sample, template="binary_qa", criteria="right?")
    return exact_match(sample)
"""


JUDGED = """
from benchwright import ScorerInput, benchmark, judge_panel, scorer

FIRST = {{"url": "{url}", "model_id": "judge", "api_key": "JUDGE_KEY", "max_retries": 0}}

@benchmark(name="judged", dataset="rows.jsonl", prompt="{{place}} {{text}}", target_field="answer",
           judge=FIRST, judge_1={{**FIRST, "api_key": "PANEL_KEY"}})
@scorer
def check(sample: ScorerInput) -> dict:
    return judge_panel(sample, quorum=1)
"""

FLOW = """
import json
import os
from pathlib import Path
from benchwright import call_llm, entrypoint, workflow

LINES = Path(__file__).with_name("questions.jsonl").read_text().splitlines()

async def ask(number):
    question = {{"role": "user", "content": json.loads(LINES[number])["question"]}}
    return await call_llm("quoting", None, [question], retries=0)

async def handler(ctx):
    for number in range(len(LINES)):
        try:
            await ctx.emit(f"row-{{number}}", await ctx.do(ask, number))
        except Exception as error:
            await ctx.emit(f"row-{{number}}", repr(error))
    raise RuntimeError(os.environ["HF_TOKEN"])

if __name__ == "__main__":
    entrypoint(workflow("flow", handler))
"""

CONFIG = """
[models.quoting]
url = "{url}"
model_id = "m"
api_key_name = "MY_KEY"
headers = {{ X-Team = "${{TEAM}}", X-Added = "${{ADDED}}" }}
max_retries = 0
"""

STEPS = {
    "use_request_logging": True, "max_logged_requests": 99, "use_response_logging": True, "log_failed_requests": True,
    "save_requests": True, "save_responses": True, "tracking_requests_stats": True, "generate_html_report": True,
    "include_json": True, "use_progress_tracking": True, "headers_to_add": {"X-More": "${ADDED}"},
}  # fmt: skip


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The quoting server; the current folder is empty, and rows that name all places and spellings are in ../data."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "data").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    with quoting_server() as url:
        yield url


def written(name: str, rows: Iterable[dict[str, Any]]) -> None:
    Path("../data", name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def planted(
    places: Iterable[str], forms: Iterable[str], names: Iterable[str] = SECRETS
) -> list[dict[str, Any]]:
    """A row for each place, spelling and key."""
    kinds = itertools.product(places, names, forms)
    return [
        {"place": place.replace(" ", "_"), "text": FORMS[form](SECRETS[name]), "answer": "fine"}
        for place, name, form in kinds
    ]


def searched(words: list[str], capfd: pytest.CaptureFixture[str], codes: Collection[int] = (0, 1, 3)) -> str:
    """What a command prints, in a process that knows no key yet; none of it is one."""
    forget_secrets()
    code = main(words)
    said = capfd.readouterr()
    assert not traces(said.out + said.err), words
    assert code in codes, (words, said.err)
    return said.out + said.err


def test_values_of_the_environment_are_found_nowhere(url: str, capfd: pytest.CaptureFixture[str]) -> None:
    rows = planted(PLACES, FORMS, ["MY_KEY", "TEAM", "JUDGE_KEY"])
    rows.append({"place": "scorer", "text": "HF_TOKEN", "answer": "fine"})  # read by the user's code alone
    written("rows.jsonl", rows)
    Path("../data/bench.py").write_text(BENCH.format(url=url))
    run = ["run", "../data/bench.py", "--model-url", url, "--model-id", "m", "--api-key-name", "MY_KEY"]
    run += ["--header", "X-Team=${TEAM}", "--max-retries", "0"]
    printed = ""
    for words in (
        [*run, "--output-dir", "files", "--debug"],
        ["show", "1"], ["show", "1", "--json"], ["show", "1", "3"], ["list"], ["list", "--json"],
        ["export", "1", "--format", "csv"], ["export", "1", "--format", "jsonl"],
        ["rescore", "1"], ["compare", "1", "2"], ["report", "1", "-o", "page.html"], ["report", "1", "2", "-o", "both.html"], ["resume", "1", "--retry-failed", "--json"],
        [*run, "--stream", "--json"],
    ):  # fmt: skip
        printed += searched(words, capfd)
    assert "[redacted]" in printed
    assert "contained the value of an environment variable" in printed
    for name, text in everything_in(Path()):
        assert not traces(text), name
    with serving(Workspace(Path())) as (address, _):
        for path in ("/runs", "/runs/1", "/runs/1/events", "/runs/1/samples"):
            request = Request(address.url + path, headers={"Authorization": f"Bearer {address.token}"})
            try:
                text = urlopen(request).read().decode()
            except OSError as error:
                text = str(error)
            assert not traces(text), path


SERVERS = {"serve", "simulate"}
"""Commands that only end when somebody stops them. What the first sends is searched above, and the second has no key of others."""


def test_no_command_and_no_kind_of_run_writes_a_value_of_the_environment(
    url: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "HOOK", f"{url.replace('//', '//me:' + quote(SECRETS['PASSWORD'], safe='') + '@')[:-3]}/progress"
    )
    spread = [place for place in PLACES if place not in ("scorer", "cell", "score")]
    rows = planted(spread, ["plain"], ["TEAM"]) + planted(["reply", "error"], FORMS, ["TEAM"])
    rows += planted(["error", "reply"], ["plain"])
    written("rows.jsonl", rows)
    written(
        "questions.jsonl", [{"question": f"{row['place']} {row['text']}", "answer": "fine"} for row in rows]
    )
    written("calls.jsonl", [
        {"messages": [{"role": "user", "content": f"{row['place']} {row['text']}"}], "tools": [TOOL], "tool_calls_ground_truth": [
            {"name": "f", "arguments": {"k": "v"}}]} for row in rows
    ])  # fmt: skip
    written("labels.jsonl", [{"sample_id": number, "label": "C"} for number in range(len(rows))])
    judge = {"url": url, "model_id": "judge", "api_key": "JUDGE_KEY", "max_retries": 0}
    written(
        "judged.jsonl",
        [
            {"question": row["text"], "response": "r", "target": "t", "label": "C"}
            for row in planted(["judge", "judge error"], FORMS, ["JUDGE_KEY"])
        ],
    )
    Path("../data/judged.py").write_text(JUDGED.format(url=url))
    Path("../data/flow.py").write_text(FLOW.format())
    Path("../data/plain.py").write_text(LOCAL.replace("rows.jsonl", "few.jsonl"))
    written("few.jsonl", [{"place": "a", "text": "b", "answer": "c"}])
    Path("../data/policy.toml").write_text(
        '[[threshold]]\nmetric = "*"\nmin = 0.5\nbound = "value"\nslices = "text"\n'
    )
    steps = {**STEPS, "progress_tracking_url": "${HOOK}"}
    Path("benchwright.toml").write_text(CONFIG.format(url=url))
    endpoint = {
        "url": url,
        "model_id": "m",
        "type": "chat",
        "api_key_name": "MY_KEY",
        "headers": {"X-Team": "${TEAM}", "X-Added": "${ADDED}"},
    }
    target = {"api_endpoint": {**endpoint, "adapter_config": steps}}
    one = {
        "config": {"type": "../data/judged.py:judged", "output_dir": "eval", "params": {"max_retries": 0}},
        "target": target,
    }
    several = {
        "execution": {"output_dir": "tasks"},
        "target": target,
        "evaluation": {
            "nemo_evaluator_config": {"config": {"params": {"max_retries": 0}}},
            "tasks": [{"name": "../data/judged.py:judged"}],
        },
    }
    Path("../data/one.yaml").write_text(json.dumps(one))
    Path("../data/several.yaml").write_text(json.dumps(several))
    suite = {
        "models": [{"name": "a", **endpoint, "max_retries": 0}, "demo"],
        "datasets": ["questions.jsonl"],
    }
    suite["models"][0].pop("type")
    Path("../data/suite.json").write_text(json.dumps(suite))
    model = ["--model", "quoting"]
    loaded = ["perf", "../data/questions.jsonl", *model, "--stop-error-share", "1", "--concurrency", "4"]
    tried = [
        ["init", "start"], ["ls"], ["check", "../data/questions.jsonl", *model], ["validate", "../data/questions.jsonl"],
        ["run_eval", "--run-config", "../data/one.yaml", "--dry-run"],
        ["run_eval", "--run-config", "../data/one.yaml", "--explain-config"],
        ["run_eval", "--run-config", "../data/one.yaml"],
        ["run_eval", "--run-config", "../data/several.yaml", "-o", "target.api_endpoint.stream=true", "--json"],
        ["run", "bfcl_simple", "--tool-data", "../data/calls.jsonl", *model, "--output-dir", "native"],
        ["run", "bfcl_simple_prompting", "--tool-data", "../data/calls.jsonl", *model, "--stream", "--lenient-calls"],
        ["run", "../data/suite.json"],
        [*loaded, "--format", "aisbench", "--output-dir", "load"], [*loaded, "--score", "--no-stream"],
        ["run", "../data/flow.py"],
        *(["show", str(number), *more] for number in range(1, 9) for more in ([], ["--json"])),
        ["show", "1", "3"], ["show", "3", "20"], ["list"], ["list", "--json"], ["compare", "1", "2"], ["compare", "7", "8", "--json"],
        ["export", "7", "--format", "csv"], ["export", "3", "--format", "jsonl"], ["export", "1", "--baseline", "base", "--force"],
        *(["report", str(number), "-o", f"{number}.html"] for number in range(1, 10)), ["report", "1", "2", "-o", "both.html"],
        ["token", "add", "ann"], ["token", "list"], ["store", "copy", ".", "copied.db"],
        ["gate", "1", "--policy", "../data/policy.toml", "--junit", "gate.xml", "--markdown", "gate.md"],
        ["gate", "1", "--policy", "../data/policy.toml", "--baseline", "base", "--json"],
        ["bless", "1", "--as", "main", "--force"], ["bless", "--list"],
        ["labels", "1", "--export", "labels.csv"], ["labels", "1", "--import", "labels.csv"], ["labels", "1"],
        ["judge-calibrate", "../data/labels.jsonl", "--run", "1"],
        ["judge-calibrate", "../data/judged.jsonl", "--judge", json.dumps(judge)],
        ["compile", "../data/plain.py", "--no-install", "--install-dir", "wheels"],
        ["tag", "1", "kept=yes"], ["rename", "1", "first"], ["rescore", "1"], ["resume", "9"], ["cancel", "1"], ["cache", "info"], ["fetch", "nothing"], ["doctor"], ["rm", "2", "--yes"],
    ]  # fmt: skip
    assert {words[0] for words in tried} == set(COMMANDS) - SERVERS
    printed = "".join(searched(words, capfd, codes=(0, 1, 2, 3)) for words in tried)
    assert printed.count("[redacted]") > 20
    for name, text in everything_in(Path()):
        assert not traces(text), name
    with open_store(Workspace(Path()), read_only=True) as store:
        assert {run.kind for run in store.runs()} == set(RunKind)
    written("few.jsonl", [{"place": "a", "text": SECRETS["MY_KEY"], "answer": "c"}])
    refused = searched(["compile", "../data/plain.py", "--no-install", "--install-dir", "wheels"], capfd)
    assert "few.jsonl:1: this line contains the value of an environment variable" in refused


TOOL = {"type": "function", "function": {"name": "f", "description": "Does it.", "parameters": {
    "type": "object", "properties": {"k": {"type": "string"}}, "required": ["k"]}}}  # fmt: skip

LOCAL = """
from benchwright import ScorerInput, benchmark, scorer
from benchwright.scorers import exact_match

@benchmark(name="local", dataset="rows.jsonl", prompt="{place} {text}", target_field="answer")
@scorer
def check(sample: ScorerInput) -> dict:
    return exact_match(sample)
"""


class Echo(BaseHTTPRequestHandler):
    """Answers `localhost`, and counts."""

    protocol_version = "HTTP/1.1"
    asked = 0

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        type(self).asked += 1
        raw = json.dumps(
            {"choices": [{"message": {"content": "localhost"}, "finish_reason": "stop"}]}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


def test_a_reply_is_scored_as_it_came_and_stored_without_the_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_KEY", "localhost")
    rows = [{"place": "where", "text": f"is it {n}", "answer": "localhost"} for n in range(3)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "bench.py").write_text(LOCAL)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    Echo.asked = 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    run = ["run", "bench.py", "--model-url", f"http://127.0.0.1:{server.server_port}/v1", "--model-id", "m"]

    def told(*words: str) -> dict[str, Any]:
        main([*words, "--json"])
        printed = json.loads(capfd.readouterr().out)
        summary: dict[str, Any] = (printed["results"][0] if "results" in printed else printed)["summary"]
        return summary

    try:
        first = told(*run, "--api-key-name", "MY_KEY")
        assert Echo.asked == 3
        again = told(*run, "--api-key-name", "MY_KEY")
        assert Echo.asked == 6, "a reply that is not stored whole must not answer another run"
    finally:
        server.shutdown()
        server.server_close()
    for result in (first, again):
        assert (result["metrics"]["correct"]["value"], result["outcomes"]["scored"]) == (1.0, 3)
        notes = " ".join(result["notes"])
        assert "replies of 3 samples contained the value of an environment variable" in notes
        assert "MY_KEY is a plain word" in notes
    main(["show", "1", "0"])
    assert "[redacted]" in capfd.readouterr().out
    scored_again = told("rescore", "1")
    assert scored_again["outcomes"]["skipped"] == 3, "what is not stored whole is not scored again"


TYPED = {
    "extra_body.user": ["--extra-body", '{"user": "KEY"}'],
    "metadata.who": ["--metadata", '{"who": ["KEY"]}'],
    "system": ["--system", "You are KEY."],
    "definition.settings.template": ["--template", "{question} KEY"],
    "model.headers.X-Team": ["--header", "X-Team=KEY"],
    "model.headers.X-Other": ["--header", "X-Other=TEAM", "--header", "X-Team=${TEAM}"],
}


@pytest.mark.parametrize("place", TYPED)
@pytest.mark.parametrize("command", ["run", "perf"])
def test_what_is_recorded_as_a_setting_may_hold_no_value_of_the_environment(
    url: str, capfd: pytest.CaptureFixture[str], command: str, place: str
) -> None:
    written("questions.jsonl", [{"question": "reply", "answer": "fine"}])
    typed = [
        word.replace("KEY", SECRETS["MY_KEY"]).replace("=TEAM", f"={SECRETS['TEAM']}")
        for word in TYPED[place]
    ]
    direct = ["--model-url", url, "--model-id", "m", "--api-key-name", "MY_KEY"]
    if command == "perf" and place.startswith("metadata"):
        pytest.skip("no setting of load tests")
    said = searched([command, "../data/questions.jsonl", *direct, *typed], capfd, codes=(2,))
    variable = "TEAM" if "Other" in place else "MY_KEY"
    assert f"{place}: this contains the value of the environment variable {variable}" in said
    for name, text in everything_in(Path()):
        assert not traces(text), name


def test_the_input_and_tags_of_a_program_may_hold_no_value_of_the_environment(
    url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("../data/questions.jsonl").touch()
    Path("../data/flow.py").write_text(FLOW.format())
    for words in (["--input", json.dumps({"a": SECRETS["MY_KEY"]})], ["--tag", f"who={SECRETS['MY_KEY']}"]):
        assert "recorded" in searched(["run", "../data/flow.py", *words], capfd, codes=(2,))
    for name, text in everything_in(Path()):
        assert not traces(text), name

"""Whatever file, flags and overrides say: what arrives is what the dry run, the check and the record of the run say.

The expected bodies are computed here from the tables that were drawn, not with the code under test.
"""

from __future__ import annotations

import json
import shlex
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, example, given, settings, strategies as st

from benchwright.cli import main
from recording_server import Received, RecordingServer, recording

BENCHMARKS = """
from benchwright import benchmark, judge_score, scorer

COMMON = dict(dataset="rows.jsonl", prompt="{question}?", target_field="answer", fewshot_dataset="pool.jsonl")

@benchmark(name="plain", **COMMON)
@scorer
def plain(sample):
    return {"right": sample.response == sample.target}

@benchmark(name="judged", judge={"url": "URL", "model_id": "judge", "max_retries": 0}, **COMMON)
@scorer
def judged(sample):
    return judge_score(sample)
"""
ROWS = [{"question": f"q{number}", "answer": "fine", "kind": "ab"[number % 2]} for number in range(3)]
POOL = [{"question": "p", "answer": "fine"}]
TOOL = {"type": "function", "function": {"name": "f", "description": "Does it.", "parameters": {
    "type": "object", "properties": {"k": {"type": "string"}}, "required": ["k"]}}}  # fmt: skip
CALLS = [
    {"messages": [{"role": "user", "content": row["question"]}], "tools": [TOOL],
     "tool_calls_ground_truth": [{"name": "f", "arguments": {"k": "v"}}]}
    for row in ROWS
]  # fmt: skip
TASKS: dict[str, dict[str, Any]] = {
    "bench.py:plain": {},
    "bench.py:judged": {},
    "rows.jsonl": {},
    "bfcl_simple": {"custom_dataset": {"path": "calls.jsonl"}},
    "bfcl_simple_prompting": {"custom_dataset": {"path": "calls.jsonl"}},
}
"""What is evaluated, and what it needs in `config.params.extra`."""
KEY = "sk-of-this-test-4711"


def optional(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=values)


KEYS: dict[str, tuple[str, st.SearchStrategy[Any]]] = {
    "temperature": ("config.params.temperature", st.sampled_from([0.0, 0.5, "none"])),
    "top_p": ("config.params.top_p", st.sampled_from([0.5, 0.9, "none"])),
    "max_tokens": ("config.params.max_new_tokens", st.sampled_from([7, 9, "none"])),
    "stop": ("config.params.extra.stop", st.sampled_from([["END"], ["a, b", "=c"]])),
    "seed": ("config.params.extra.seed", st.sampled_from([0, 1, "none"])),
    "extra_body": (
        "config.params.extra.extra_body",
        st.sampled_from([{"top_k": 1}, {"min_p": 0.1}, {"top_k": 2}]),
    ),
    "headers": (
        "target.api_endpoint.headers",
        st.sampled_from([{"X-Team": "red; x"}, {"X-Org": "a=b"}, {"X-Team": "blue"}]),
    ),
    "api_key_name": ("target.api_endpoint.api_key_name", st.just("KEY_OF_TEST")),
    "stream": ("target.api_endpoint.stream", st.booleans()),
    "limit": ("config.params.limit_samples", st.integers(1, 3)),
    "repeats": ("config.params.extra.n_repeats", st.integers(1, 2)),
    "parallelism": ("config.params.parallelism", st.integers(1, 3)),
    "num_fewshot": ("config.params.extra.dataset.num_fewshot", st.integers(0, 1)),
    "filters": ("config.params.extra.filters", st.just(["kind=a"])),
    "judge": (
        "config.params.extra.judge",
        st.sampled_from([{"temperature": 0.5}, {"temperature": 0.25}, {"max_tokens": 9}]),
    ),
    "system": (
        "config.params.extra.system",
        st.sampled_from(["Be brief.", "Be {kind}, {{so}} {question}: 100%."]),
    ),
    "native_calling": ("config.params.extra.native_calling", st.booleans()),
}
"""Settings with their keys in run configurations. Null takes a value back."""
ONLY = {"judge": ("bench.py:judged",), "num_fewshot": ("bench.py:plain", "bench.py:judged"),
        "filters": ("bench.py:plain", "bench.py:judged", "rows.jsonl"),
        "native_calling": ("bfcl_simple", "bfcl_simple_prompting")}  # fmt: skip
"""Settings that only some evaluations take."""
TABLES = {name: values for name, (_, values) in KEYS.items()}
IN_TOML = {name: values for name, values in TABLES.items() if name not in ("headers", "api_key_name")}
"""What the table [run] of benchwright.toml takes."""
OR_NULL = {name: st.none() | values for name, values in TABLES.items()}


def fitting(table: Mapping[str, Any], *tasks: str) -> dict[str, Any]:
    return {
        name: value for name, value in table.items() if all(task in ONLY.get(name, tasks) for task in tasks)
    }


def nested(table: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as a file has them."""
    document: dict[str, Any] = {}
    for name, value in table.items():
        *tables, last = KEYS[name][0].split(".")
        place = document
        for word in tables:
            place = place.setdefault(word, {})
        place[last] = value
    return document


def merged(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that hold: those of the last layer, tables by their keys."""
    found: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            if value is None:
                found.pop(name, None)
            elif isinstance(value, dict):
                found[name] = {**found.get(name, {}), **value}
            else:
                found[name] = value
    return found


def over_toml(toml: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that hold over those of benchwright.toml. Fields of bodies add up; null goes back to the file."""
    bodies = {**toml.get("extra_body", {}), **chosen.get("extra_body", {})}
    return {**toml, **chosen, **({"extra_body": bodies} if bodies else {})}


def typed(table: Mapping[str, Any]) -> list[str]:
    """The settings as flags."""
    words: list[str] = []
    for name, value in table.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(flag if value else f"--no-{flag.removeprefix('--')}")
        elif name == "headers":
            words += [f"--header={header}={text}" for header, text in value.items()]
        elif isinstance(value, list):
            words += [f"{flag.removesuffix('s')}={each}" for each in value]
        else:
            words.append(f"{flag}={json.dumps(value) if isinstance(value, dict) else value}")
    return words


def overrides(table: Mapping[str, Any]) -> list[str]:
    return [f"-o={KEYS[name][0]}={json.dumps(value)}" for name, value in table.items()]


def expected_fields(chosen: Mapping[str, Any], model: str) -> dict[str, Any]:
    """What each body to the model holds besides its messages and tools."""
    body: dict[str, Any] = {"model": model, "temperature": 0.0, "max_tokens": 4096, "top_p": 1.0}
    body |= {name: chosen[name] for name in (*body, "stop", "seed") if name in chosen}
    body = {name: value for name, value in body.items() if value != "none"}
    if chosen.get("stream"):
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body | chosen.get("extra_body", {})


def expected_count(chosen: Mapping[str, Any]) -> int:
    rows = [row for row in ROWS if row["kind"] == "a" or "filters" not in chosen]
    return len(rows[: chosen.get("limit")]) * int(chosen.get("repeats", 1))


@pytest.fixture(scope="module")
def recorder() -> Iterator[RecordingServer]:
    def answer(body: dict[str, Any]) -> str:
        return "GRADE: C" if body["model"] == "judge" else "fine"

    with recording(answer) as running:
        yield running


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """What a command prints as JSON."""
    monkeypatch.setenv("KEY_OF_TEST", KEY)
    monkeypatch.setattr("sys.dont_write_bytecode", True)

    def run(*words: str) -> Any:
        capsys.readouterr()
        code = main([*words, "--json"])
        said = capsys.readouterr()
        assert code in (0, 3), f"{words}: {said.out}{said.err}"
        return json.loads(said.out)

    return run


def by_body(received: list[Received]) -> list[str]:
    """What arrived, sorted: path, headers that settings make, and body."""
    names = ("x-team", "x-org", "authorization")
    return sorted(
        json.dumps([each.path, {name: each.headers.get(name) for name in names}, each.body], sort_keys=True)
        for each in received
    )


def assert_as_chosen(
    task: str, chosen: Mapping[str, Any], received: list[Received], model: str = "m"
) -> None:
    """What arrived is what the settings mean; judges have settings of their own."""
    asked = [each for each in received if each.body["model"] != "judge"]
    native = chosen.get("native_calling", task == "bfcl_simple")
    assert len(asked) == expected_count(chosen)
    assert len(received) - len(asked) == (len(asked) if task == "bench.py:judged" else 0)
    for each in asked:
        rest = {name: value for name, value in each.body.items() if name not in ("messages", "tools")}
        assert rest == expected_fields(chosen, model)
        assert ("tools" in each.body) == native
        assert each.path == "/v1/chat/completions"
        headers = {name.lower(): value for name, value in chosen.get("headers", {}).items()}
        headers |= {"authorization": f"Bearer {KEY}"} if "api_key_name" in chosen else {}
        for name in ("x-team", "x-org", "authorization"):
            assert each.headers.get(name) == ([headers[name]] if name in headers else None), name
        said = json.dumps(each.body["messages"])
        assert ("p? fine" in said) == (chosen.get("num_fewshot") == 1)
        system = [message["content"] for message in each.body["messages"] if message["role"] == "system"]
        assert (task.startswith("bfcl") and not native) or system == [
            chosen[n] for n in ("system",) if n in chosen
        ]
    for each in received:
        if each.body["model"] == "judge":
            assert not {"x-team", "x-org", "authorization"} & set(each.headers)
            asked_for = {"temperature": 0.0, "max_tokens": 4096, **chosen.get("judge", {})}
            assert {name: each.body[name] for name in asked_for} == asked_for


def said_by(document: Mapping[str, Any], key: str) -> Any:
    place: Any = document
    for word in key.split("."):
        place = (place or {}).get(word)
    return place


def assert_promised(
    chosen: Mapping[str, Any], document: Mapping[str, Any], values: list[dict[str, Any]]
) -> None:
    """The dry run and the explanation have each setting that holds, and none that was taken back."""
    explained = {value["key"]: value["value"] for value in values}
    for name, (key, _) in KEYS.items():
        found = {
            k.removeprefix(f"{key}."): v for k, v in explained.items() if k == key or k.startswith(f"{key}.")
        }
        found = found.get(key, found or None)
        assert said_by(document, key) == found, key
        if name == "judge" and found:  # the rest of it is the benchmark's
            found = {each: found[each] for each in chosen.get(name, {})} or None
        assert name not in chosen or found == chosen[name], key


def folder_for(url: str, toml: Mapping[str, Any] | None = None) -> None:
    if toml is not None:
        lines = ["[run]", *(f"{name} = {as_toml(value)}" for name, value in toml.items())]
        Path("benchwright.toml").write_text("\n".join(lines), encoding="utf-8")
    Path("bench.py").write_text(BENCHMARKS.replace("URL", url), encoding="utf-8")
    for name, rows in (("rows.jsonl", ROWS), ("pool.jsonl", POOL), ("calls.jsonl", CALLS)):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


FEW = settings(
    max_examples=10, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate],  # an example takes long: not shrunk
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)  # fmt: skip


@FEW
@example(  # each reset to what holds without the file, or to another value than the file's
    task="bench.py:judged", door="run",
    toml={"stream": True, "seed": 1, "repeats": 2, "temperature": 0.5, "judge": {"temperature": 0.5}, "max_tokens": 9},
    file={"judge": {"temperature": 0.25}, "max_tokens": "none"}, flags={"stream": False, "seed": "none", "repeats": 1},
    over={"temperature": 0.0},
)  # fmt: skip
@given(
    task=st.sampled_from(sorted(TASKS)), door=st.sampled_from(["run", "run_eval"]),
    toml=optional(**IN_TOML), file=optional(**TABLES), flags=optional(**TABLES), over=optional(**OR_NULL),
)  # fmt: skip
def test_a_run_configuration(
    recorder: RecordingServer, told: Callable[..., Any], task: str, door: str, **layers: dict[str, Any]
) -> None:
    toml, file, flags, over = (fitting(layers[name], task) for name in ("toml", "file", "flags", "over"))
    if door == "run_eval":  # has the flags of its published form
        flags = {name: value for name, value in flags.items() if name in ("num_fewshot", "api_key_name")}
    chosen = over_toml(toml, merged(file, flags, over))
    with tempfile.TemporaryDirectory() as name, chdir(name):
        folder_for(recorder.url, toml)
        document = nested(file)
        config = document.setdefault("config", {})
        config |= {"type": task, "output_dir": "out"}
        params = config.setdefault("params", {})
        params["max_retries"] = 0
        params["extra"] = {**params.get("extra", {}), **TASKS[task], "cache": False}
        endpoint = document.setdefault("target", {}).setdefault("api_endpoint", {})
        endpoint |= {"url": recorder.url, "model_id": "m", "type": "chat"}
        Path("run.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
        layered = [*typed(flags), *overrides(over)]
        words = [door, "--run-config", "run.yaml", *layered]
        recorder.take()
        (dry,) = told(*words, "--dry-run")["configs"]
        (explained,) = told(*words, "--explain-config")["configs"]
        checked = told("check", "--config", "run.yaml", *layered)["checks"]
        assert not recorder.take()
        assert_promised(chosen, dry["config"], explained["values"])
        told(*words)
        received = recorder.take()
        assert_as_chosen(task, chosen, received)
        arrived = Counter(json.dumps(each.body, sort_keys=True) for each in received)
        for report in checked:
            examples = (report["fewshot"] or {"examples": []})["examples"]
            assert [each["text"] for each in examples] == ["p? fine"] * chosen.get("num_fewshot", 0)
        for sample in (sample for report in checked for sample in report["samples"]):
            for request in sample["requests"]:
                assert arrived[json.dumps(request["body"], sort_keys=True)]
        recorded = yaml.safe_load(Path("out/run_config.yml").read_text(encoding="utf-8"))
        again = {
            "recorded": ["run_eval", "--run-config", "out/run_config.yml", "--output-dir", "again"],
            "dry run": [*shlex.split(dry["command"])[1:], "--output-dir", "by command"],
            "command": [*shlex.split(recorded["command"])[1:], "--no-cache"],
        }
        for which, same in again.items():
            told(*same)
            assert by_body(recorder.take()) == by_body(received), which


@FEW
@given(
    tasks=st.permutations(sorted(TASKS)).map(lambda every: every[:2]), toml=optional(**IN_TOML), shared=optional(**TABLES),
    own=st.tuples(optional(**OR_NULL), optional(**OR_NULL)), over=optional(**OR_NULL), at_once=st.booleans(),
)  # fmt: skip
def test_the_tasks_of_a_launchers_file(
    recorder: RecordingServer,
    told: Callable[..., Any],
    tasks: list[str],
    toml: dict[str, Any],
    shared: dict[str, Any],
    own: tuple[dict[str, Any], dict[str, Any]],
    over: dict[str, Any],
    at_once: bool,
) -> None:
    toml, shared, over = (fitting(each, *tasks) for each in (toml, shared, over))
    mine = [fitting(each, task) for each, task in zip(own, tasks, strict=True)]
    chosen = [over_toml(toml, merged(shared, each, over)) for each in mine]
    with tempfile.TemporaryDirectory() as name, chdir(name):
        folder_for(recorder.url, toml)
        entries = []
        for number, (task, table) in enumerate(zip(tasks, mine, strict=True)):
            document = nested(table)
            extra = document.setdefault("config", {}).setdefault("params", {}).setdefault("extra", {})
            extra |= TASKS[task]
            document.setdefault("target", {}).setdefault("api_endpoint", {})["model_id"] = f"m{number}"
            entries.append({"name": task, "nemo_evaluator_config": document})
        document = nested(shared)
        params = document.setdefault("config", {}).setdefault("params", {})
        params["max_retries"] = 0
        params["extra"] = {**params.get("extra", {}), "cache": False}
        target = {"api_endpoint": {"url": recorder.url, "type": "chat"}}
        launcher = {
            "execution": {"output_dir": "out"},
            "target": target,
            "evaluation": {"nemo_evaluator_config": document, "tasks": entries},
        }
        Path("all.yaml").write_text(yaml.safe_dump(launcher), encoding="utf-8")
        words = ["run_eval", "--run-config", "all.yaml", *overrides(over)]
        recorder.take()
        dry = told(*words, "--dry-run")["configs"]
        explained = told(*words, "--explain-config")["configs"]
        assert not recorder.take()
        done = told(*words, *(["--parallel-tasks"] if at_once else []))["tasks"]
        received = recorder.take()
        for number, task in enumerate(tasks):
            assert dry[number]["task"] == explained[number]["task"] == done[number]["task"] == task
            assert_promised(chosen[number], dry[number]["config"], explained[number]["values"])
            of_task = {f"m{number}", "judge"} if task == "bench.py:judged" else {f"m{number}"}
            of_model = [each for each in received if each.body["model"] in of_task]
            assert_as_chosen(task, chosen[number], of_model, f"m{number}")
            file = Path(done[number]["result"]["folder"]) / "run_config.yml"
            told("run", "--config", str(file), "--output-dir", f"again-{number}")
            assert by_body(recorder.take()) == by_body(of_model)


PIECES = (
    "{", "}", "{question}", "{answer}", "{{ row.question }}", "{% raw %}", "{# note #}", "{0}", "{}", "%s", "100%", "$HOME", "\n", "\t",
    " ", "-", "--json", "'", '"', "\\", "~", "#", "é", "漢", "🙂", "\u2028", "none", "null", "1", "@", ":", "a",
)  # fmt: skip
MESSAGES = st.lists(st.sampled_from(PIECES) | st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])), min_size=1).map(
    "".join
).filter(str.strip)  # fmt: skip
"""Texts with what templates, shells, YAML and TOML read as their own."""


@FEW
@example(task="rows.jsonl", says="Be {brief}.")
@example(task="rows.jsonl", says="{% if %}{{question}}\n")
@example(task="bench.py:plain", says="- Be brief.")
@given(task=st.sampled_from(sorted(TASKS)), says=MESSAGES)
def test_the_system_message_of_a_models_table(
    recorder: RecordingServer, told: Callable[..., Any], task: str, says: str
) -> None:
    table = {"base_url": recorder.url, "model": "m", "type": "chat", "system": says}
    tools = ["--tool-data=calls.jsonl"] if task.startswith("bfcl") else []
    with tempfile.TemporaryDirectory() as name, chdir(name):
        folder_for(recorder.url)
        lines = [f"{key} = {as_toml(value)}" for key, value in table.items()]
        Path("benchwright.toml").write_text("\n".join(["[models.mine]", *lines]), encoding="utf-8")
        told("run", task, *tools, "--model=mine", "--no-cache", "--output-dir=out")
        sent = recorder.take()
        for each in (each for each in sent if each.body["model"] == "m"):
            system = [message["content"] for message in each.body["messages"] if message["role"] == "system"]
            assert len(system) == 1
            assert system[0].endswith(says) if task == "bfcl_simple_prompting" else system[0] == says
        received = by_body(sent)
        recorded = yaml.safe_load(Path("out/run_config.yml").read_text(encoding="utf-8"))
        for again in (
            ["run_eval", "--run-config", "out/run_config.yml", "--output-dir", "again"],
            ["run", "--config", "out/run_config.yml", "--output-dir", "and again"],
            shlex.split(recorded["command"])[1:],
        ):
            told(*again)
            assert by_body(recorder.take()) == received, again


def test_a_second_system_message_is_refused_before_anything_is_sent(
    recorder: RecordingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with tempfile.TemporaryDirectory() as name, chdir(name):
        folder_for(recorder.url)
        own = (
            Path("bench.py")
            .read_text(encoding="utf-8")
            .replace("COMMON = dict(", 'COMMON = dict(system_prompt="Hi.", ')
        )
        Path("bench.py").write_text(own, encoding="utf-8")
        assert (
            main(["run", "bench.py:plain", "--model-url", recorder.url, "--model-id=m", "--system=No."]) == 2
        )
        assert "--system: plain has a system prompt of its own" in capsys.readouterr().err
        assert not recorder.take()


LOADS = (
    "temperature",
    "top_p",
    "max_tokens",
    "stop",
    "seed",
    "extra_body",
    "headers",
    "api_key_name",
    "stream",
    "limit",
)
LOADED = {name: TABLES[name] for name in LOADS}


@FEW
@given(
    task=st.sampled_from(["bench.py:plain", "rows.jsonl", "bfcl_simple"]),
    file=optional(**LOADED),
    flags=optional(**LOADED),
)
def test_a_load_test(
    recorder: RecordingServer,
    told: Callable[..., Any],
    task: str,
    file: dict[str, Any],
    flags: dict[str, Any],
) -> None:
    limit = file.pop("limit", None)  # which rows are sent is no setting of a model
    chosen = merged({"stream": True}, file, flags)
    with tempfile.TemporaryDirectory() as name, chdir(name):
        folder_for(recorder.url)
        model = {"base_url": recorder.url, "model": "m", **file}
        lines = [f"{key} = {as_toml(value)}" for key, value in model.items()]
        if limit is not None and "limit" not in flags:
            chosen["limit"] = limit
            lines = [*lines, "[run]", f"limit = {limit}"]
        Path("benchwright.toml").write_text("\n".join(["[models.mine]", *lines]), encoding="utf-8")
        tools = ["--tool-data=calls.jsonl"] if task == "bfcl_simple" else []
        words = ["perf", task, *tools, "--model=mine", "--concurrency=2", "-q", *typed(flags)]
        recorder.take()
        told(*words)
        received = [each for each in recorder.take() if each.body]
        assert_as_chosen(task, chosen, received)


def as_toml(value: Any) -> str:
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)  # TOML has no pairs of surrogates
    return "{" + ", ".join(f"{name} = {as_toml(each)}" for name, each in value.items()) + "}"

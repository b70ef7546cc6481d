"""Configurations for the older packages and for this one: what is typed, and the files that stand there.

`record_renderings.py` has the older packages render them into `golden_renderings.jsonl`; a test renders them here.
"""

# fmt: off
from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import yaml

URL = "http://localhost:8000/v1/chat/completions"
COMPLETIONS = "http://localhost:8000/v1/completions"
FOLDER = "{DIR}"
"""Stands for the folder of the benchmark in recorded values."""

BENCH = '''
from PACKAGE import benchmark, scorer

QA = dict(dataset="data.jsonl", prompt="Q: {question}", target_field="answer")

@benchmark(name="my-qa", num_fewshot=1, **QA)
@scorer
def my_qa(sample):
    return {"correct": sample.response == sample.target}

@benchmark(name="plain", endpoint_type="completions", **QA)
@scorer
def plain(sample):
    return {"correct": sample.response == sample.target}

@benchmark(name="ranked", choices=["A", "B"], endpoint_type="completions_logprob", **QA)
@scorer
def ranked(sample):
    return {"correct": 1.0}

@benchmark(name="mapped", dataset="other data.csv", prompt="{frage}", target_field="answer", field_mapping={"question": "frage"},
           fewshot_dataset="data.jsonl", fewshot_prefix="Examples:\\n", num_fewshot=2)
@scorer
def mapped(sample):
    return {"correct": sample.response == sample.target}

@benchmark(name="judged", judge={"url": "http://localhost:9/v1", "model_id": "j", "temperature": 0.5}, **QA)
@scorer
def judged(sample):
    return {"correct": True}

@benchmark(name="own", extra={"offset": 3, "weights": {"a": 1, "b": 2}}, **QA)
@scorer
def own(sample):
    return {"correct": True}
'''
DATA = {
    "data.jsonl": "".join(json.dumps({"question": f"q{n}", "answer": "AB"[n % 2]}) + "\n" for n in range(6)),
    "other data.csv": "question,answer\n" + "".join(f"c{n},A\n" for n in range(5)),
}
HOSTILE = (
    "m; touch PWNED #", "$(touch PWNED)", "`touch PWNED`", "a b", "a'b", 'a"b', "a\\b", "a|b", "a&&b", "a>b", "$HOME", "${HOME}",
    "{{ 7*7 }}", "{{config.type}}", "{% if 1 %}x{% endif %}", "a\nb", "a\tb", "*", "~", "!x", "-x", "--model-id", "é模", "a%20b",
    "#x", "{x}", "\\$x", "a;b", "''", "%s",
)
"""Values that a shell, a template or YAML could take for more than a text."""

P = "config.params."
M = "target.api_endpoint.model_id="
A = "target.api_endpoint.adapter_config."
TYPES = {
    "byob_my_qa.my_qa": ("chat", URL), "byob_plain.plain": ("completions", COMPLETIONS), "byob_mapped.mapped": ("chat", URL),
    "byob_ranked.ranked": ("completions_logprob", COMPLETIONS), "byob_judged.judged": ("chat", URL), "byob_own.own": ("chat", URL),
    "bfclv3": ("chat", URL), "bfclv3_ast": ("chat", URL), "bfclv3_ast_prompting": ("chat", URL), "bfclv2": ("chat", URL),
    "bfclv2_ast": ("chat", URL), "bfclv2_ast_prompting": ("chat", URL),
}


class Cases:
    """Collects cases under names that occur once."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, Any]] = {}

    def add(self, name: str, args: Sequence[str], files: dict[str, str] | None = None, env: dict[str, str] | None = None) -> None:
        assert name not in self.found, name
        more = {"files": files} if files else {}
        self.found[name] = {"name": name, "args": list(args), **more, **({"env": env} if env else {})}

    def flags(self, name: str, *more: str, **given: str | None) -> None:
        self.add(name, [*typed(**given), *more])

    def file(self, name: str, content: Any, *more: str, file: str = "run.yaml", env: dict[str, str] | None = None) -> None:
        text = content if isinstance(content, str) else dump(content)
        self.add(name, ["run_eval", "--dry_run", "--run_config", file, *more], {file: text}, env)

    def launch(self, name: str, content: Any, *overrides: str, env: dict[str, str] | None = None) -> None:
        words = [word for each in overrides for word in ("-o", each)]
        text = content if isinstance(content, str) else dump(content)
        self.add(f"launcher {name}", ["run", "--config", "exp.yaml", "--dry-run", *words], {"exp.yaml": text}, env)


def typed(eval_type: str | None = "byob_my_qa.my_qa", model_id: str | None = "m", model_url: str | None = URL,
          model_type: str | None = "chat", output_dir: str | None = "out") -> list[str]:
    given = {"eval_type": eval_type, "model_id": model_id, "model_url": model_url, "model_type": model_type, "output_dir": output_dir}
    return ["run_eval", "--dry_run", *[f"--{name}={value}" for name, value in given.items() if value is not None]]


def dump(content: Any) -> str:
    return str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000))


def doc(params: Any = None, eval_type: str = "byob_my_qa.my_qa", **api: Any) -> dict[str, Any]:
    endpoint = {"model_id": "m", "url": TYPES[eval_type][1], "type": TYPES[eval_type][0], **api}
    config = {"type": eval_type, "output_dir": "out", **({} if params is None else {"params": params})}
    return {"config": config, "target": {"api_endpoint": endpoint}}


def all_cases() -> list[dict[str, Any]]:
    cases = Cases()
    for part in (_flags, _params, _precedence, _overrides, _hostile, _extra, _adapter, _files, _launcher, _launcher_overrides):
        part(cases)
    return list(cases.found.values())


def _flags(cases: Cases) -> None:
    for name, (kind, url) in TYPES.items():
        cases.flags(f"flags {name}", eval_type=name, model_type=kind, model_url=url)
    for name in ("bfcl.bfclv3_ast", "bfcl.simple", "bfcl.live_simple", "my_qa", "byob_my_qa", "nothing", "byob_none.none", "a.b.c",
                 "byob_my_qa.other", ""):
        cases.flags(f"type {name!r}", eval_type=name)
    for kind in ("completions", "completions_logprob", "embedding", "vlm", "Chat", ""):
        cases.flags(f"model type {kind!r}", model_type=kind)
        cases.flags(f"bfcl model type {kind!r}", eval_type="bfclv3_ast", model_type=kind)
    for name in ("eval_type", "model_id", "model_url", "model_type", "output_dir"):
        cases.flags(f"flags without {name}", **{name: None})
    for url in ("http://localhost:8000", "http://localhost:8000/", "http://localhost:8000/v1", "http://u:8000/v1?api-version=1", "h:8000"):
        cases.flags(f"url {url}", model_url=url)
    cases.flags("api key name", "--api_key_name", "MY_KEY")
    cases.flags("unknown flag", "--modelid", "x")
    cases.flags("num fewshot flag", "--num-fewshot", "0")
    cases.add("no flags", ["run_eval", "--dry_run"])


def _params(cases: Cases) -> None:
    values: dict[str, list[Any]] = {
        "limit_samples": [1, 5, 100000, 0, -1, 0.5, 0.01, 1.0, 1.5, None, "5", "0.5", "all", True, [5]],
        "parallelism": [1, 8, 0, -2, "4", None, 2.0, 2.5, True],
        "temperature": [0, 0.7, 1, 2, "0.3", None, -1, True, "warm", "1e-3"],
        "top_p": [0, 1, 0.95, "0.9", None, 1.5],
        "max_new_tokens": [1, 16384, "256", None, 0, -5, 10.0, 1.5],
        "max_retries": [0, 3, "2", None, -1],
        "request_timeout": [30, 3600, "60", None, 0, 0.5, 12.0],
        "task": ["other", "my_qa", None, 5],
    }
    for key, each in itertools.chain.from_iterable(((key, each) for each in listed) for key, listed in values.items()):
        cases.file(f"{key} {each!r}", doc({key: each}))
    cases.file("params of all kinds", doc({"limit_samples": 3, "parallelism": 4, "temperature": 0.2, "top_p": 0.8, "max_retries": 1}))
    cases.file("params empty", doc({}))
    for key, value in (("limit_sample", 3), ("max_tokens", 5), ("n", 1), ("timeout", 5), ("Temperature", 1), ("top-p", 0.5)):
        cases.file(f"params unknown {key}", doc({key: value}))
    for value in (True, False, None, "true", 1):
        cases.file(f"stream {value!r}", doc(stream=value))
    for value in ("MY_KEY", None, "", "my-key", 5):
        cases.file(f"api_key_name {value!r}", doc(api_key_name=value))
    for key, value in (("api_key", "MY_KEY"), ("headers", {"X-A": "b"}), ("modelid", "x"), ("base_url", "x")):
        cases.file(f"endpoint unknown {key}", doc(**{key: value}))
    for value in (["chat"], "completions", "vlm", "CHAT", None, "undefined"):
        cases.file(f"endpoint type {value!r}", doc(type=value))
    for value in ("m", 5, 1.0, True, None, "007", "null", "on", "1e3", "~", "", " m ", "ü/模型", "a: b", "m # 1"):
        cases.file(f"model_id {value!r}", doc(model_id=value))
    for value in ("out dir", "./a/../b", "~/x", "ü", 5, None, ""):
        content = doc()
        content["config"]["output_dir"] = value
        cases.file(f"output_dir {value!r}", content)


def _precedence(cases: Cases) -> None:
    places = (("model_id", "--model_id", M[:-1]), ("url", "--model_url", "target.api_endpoint.url"), ("output_dir", "--output_dir", "config.output_dir"))
    for there, (key, flag, dotted) in itertools.product(itertools.product((0, 1), repeat=3), places):
        value = "http://of-{}:1/v1" if key == "url" else "of-{}"
        content = doc()
        table = content["config"] if key == "output_dir" else content["target"]["api_endpoint"]
        table[key] = value.format("file")
        if not there[0]:
            del table[key]
        more = [flag, value.format("flag")] if there[1] else []
        more += ["--overrides", f"{dotted}={value.format('override')}"] if there[2] else []
        cases.file(f"precedence {key} {there}", content, *more)
    below = {
        "limit_samples": ({"limit_samples": 3}, 7), "temperature": ({"temperature": 0.1}, 0.9), "parallelism": ({"parallelism": 2}, 6),
        "extra.dataset.num_fewshot": ({"extra": {"dataset": {"num_fewshot": 0}}}, 2), "extra.n_repeats": ({"extra": {"n_repeats": 2}}, 3),
    }
    for key, (params, other) in below.items():
        cases.file(f"override over file {key}", doc(params), "--overrides", f"{P}{key}={other}")
        cases.file(f"null over file {key}", doc(params), "--overrides", f"{P}{key}=null")
    cases.file("null over url", doc(), "--overrides", "target.api_endpoint.url=null")
    cases.file("null over a table", doc({"temperature": 0.5, "top_p": 0.5}), "--overrides", "config.params=null")
    cases.file("type by flag over file", doc(eval_type="byob_plain.plain"), "--eval_type", "byob_my_qa.my_qa", "--model_type", "chat")


def _overrides(cases: Cases) -> None:
    limit = P + "limit_samples"
    for text in (
        f"{limit}=5", f"{limit}=5,{P}temperature=0.7", f"{limit} = 5 , {P}temperature = 0.7 ", f"{limit}=5,", f",{limit}=5",
        f"{limit}=5,,{P}top_p=0.5", f"{limit}='5'", f'{limit}="5"', f"{limit}=0x10", f"{limit}=010", f"{limit}=null", f"{limit}=~",
        f"{limit}=", limit, "=5", "", f"{P}temperature=1e-3", f"{P}temperature=.5", f"{P}parallelism=1_000",
        f"{P}temperature=0.1,{P}temperature=0.2", f"{P}temprature=1", "confg.params.temperature=1", "config.param.temperature=1", "a=1",
        *(M + each for each in (
            "a,b", "'a,b'", '"a,b"', "'it''s'", "it's", '"a\\nb"', "'a=b,c=d'", "a=b", "5", "'5'", "true", "yes", "null", "2024-01-01", "1.10",
            "a:b", "a: b", "org/model@v1", "*a", "&a", "!x", "%x", "@x", "a #b", "#b", "- a", "[a]", "{a}", "'unclosed", "模型-é")),
        "target.api_endpoint.stream=true", "target.api_endpoint.stream=on", "target.api_endpoint.api_key_name=MY_KEY",
        "target.api_endpoint.type=completions", "target.api_endpoint.typ=chat", "metadata.team=x", "command=x",
        "config.type=byob_own.own", "config.output_dir=elsewhere", "config.output_dir=a b",
        *(P + "extra." + each for each in (
            "dataset.path=data.jsonl", "dataset.path='other data.csv'", "dataset.path=hf://org/name?split=test",
            "dataset.path='hf://org/name?split=test&filter_field=lang&filter_value=hi'", "dataset.path=hf://o/n?split=test[:10]&a=b",
            "dataset.num_fewshot=0", "dataset.num_fewshot=5", "dataset.num_fewshot=null", "n_repeats=3", "save_predictions=false",
            "dataset={path: data.jsonl}", "foo=1", "dataset.pth=x", "dataset.path.more=1")),
        P + "extra={n_repeats: 2}",
        *(A + each for each in (
            "use_caching=false", "params_to_add={top_k: 5}", "params_to_add.top_k=5", "params_to_remove=[top_p,seed]",
            "interceptors=[caching,endpoint]", "use_cachin=false")),
        f"{A}use_system_prompt=true,{A}custom_system_prompt='Be brief, please.'",
    ):
        cases.flags(f"over {text}", f"--overrides={text}")
    for text in (
        P + "task=simple", P + "task='simple,parallel'", P + 'task="simple,multiple"', P + "task=[simple,parallel]", limit + "=3",
        P + "extra.native_calling=false", P + "extra.custom_dataset.format=native", P + "parallelism=50",
    ):
        cases.flags(f"bfcl over {text}", f"--overrides={text}", eval_type="bfclv3_ast")


def _hostile(cases: Cases) -> None:
    for each in HOSTILE:
        cases.flags(f"hostile flag {each!r}", model_id=each)
        cases.file(f"hostile file {each!r}", doc({"extra": {"dataset": {"path": each}}}, model_id=each))
        content = doc(adapter_config={"use_system_prompt": True, "custom_system_prompt": each})
        content["config"]["output_dir"] = each
        cases.file(f"hostile folder {each!r}", content)
        quoted = each.replace("'", "''")
        cases.flags(f"hostile override {each!r}", f"--overrides={M}'{quoted}'")


def _extra(cases: Cases) -> None:
    for extra in (
        {"dataset": {"path": "other data.csv"}}, {"dataset": {"num_fewshot": 0}}, {"dataset": {"path": "data.jsonl", "num_fewshot": 3}},
        {"dataset": {"field_mapping": {"question": "frage"}}}, {"dataset": {"choices": ["A", "B"]}}, {"requirements": []},
        {"requirements": ["x"]}, {"n_repeats": 2}, {"n_repeats": "2"}, {"save_predictions": False}, {"foo": {"bar": 1}},
        {"dataset": {"pth": "x"}}, {"judge": {"model_id": "k"}}, {}, None, {"dataset": None}, {"dataset": {"path": None}}, {"dataset": "x"},
    ):
        cases.file(f"extra {json.dumps(extra)}", doc({"extra": extra}))
    cases.file("own extra", doc({"extra": {"offset": 5, "weights": {"b": 9}}}, "byob_own.own"))
    cases.file("judged extra", doc({"extra": {"judge": {"model_id": "k", "url": "http://localhost:1/v1"}}}, "byob_judged.judged"))
    cases.file("ranked choices", doc({"extra": {"dataset": {"choices": ["A", "B"]}}}, "byob_ranked.ranked"))
    cases.file("mapped path", doc({"extra": {"dataset": {"path": "data.jsonl"}}}, "byob_mapped.mapped"))
    cases.file("mapped fewshot", doc({"extra": {"dataset": {"num_fewshot": 0}}}, "byob_mapped.mapped"))
    for extra in ({"native_calling": False}, {"custom_dataset": {"path": None, "format": None}}, {"custom_dataset": {"format": "jsonl"}}, {"custom_dataset": {"pth": 1}}):
        cases.file(f"bfcl extra {json.dumps(extra)}", doc({"task": "simple", "extra": extra}, "bfclv3_ast"))
    for task in ("simple", "ast", "multi_turn,ast", "all", "simple,parallel", "nonsense", ["simple", "parallel"]):
        cases.file(f"bfcl task {task!r}", doc({"task": task}, "bfclv3"))


def _adapter(cases: Cases) -> None:
    tracked = {"use_progress_tracking": True, "progress_tracking_url": "http://localhost:1/p"}
    for adapter in (
        {}, None, {"use_caching": False}, {"use_caching": True, "caching_dir": "c"}, {"use_request_logging": True, "max_logged_requests": 7},
        {"use_system_prompt": True, "custom_system_prompt": "Hi"}, {"custom_system_prompt": "Hi"}, {"use_system_prompt": True},
        {"params_to_add": {"top_k": 1, "nested": {"a": [1, None]}}}, {"params_to_rename": {"max_tokens": "max_completion_tokens"}},
        {"headers_to_add": {"X-A": "b"}}, {"headers_to_rename": {"Authorization": "api-key"}}, {**tracked, "progress_tracking_interval": 5},
        {**tracked, "progress_tracking_interval": 0}, {"html_report_size": None}, {"html_report_size": "3"}, {"mode": "client"},
        {"endpoint_type": "chat"}, {"output_dir": "o"}, {"use_omni_info": False, "use_nvcf": False}, {"use_nvcf": True}, {"use_chaching": True},
        {"use_caching": None}, {"use_caching": "false"}, {"interceptors": []}, {"interceptors": ["caching", "endpoint"]},
        {"interceptors": [{"name": "caching", "enabled": False}, "endpoint"]}, {"interceptors": ["endpoint"], "use_caching": True},
        {"interceptors": ["endpoint"], "log_failed_requests": True, "mode": "client", "endpoint_type": "chat"}, {"interceptors": ["nothing"]},
        {"interceptors": ["endpoint"], "post_eval_hooks": [{"name": "post_eval_report", "config": {"report_types": ["html"]}}]},
        {"interceptors": [{"config": {}}]}, {"discovery": {"modules": [], "dirs": []}}, {"discovery": {"dirs": ["x"]}},
    ):
        cases.file(f"adapter {json.dumps(adapter)}", doc(adapter_config=adapter))


def _files(cases: Cases) -> None:
    text = dump(doc({"temperature": 0.5}))
    cases.file("empty file", "", *typed()[2:])
    cases.file("only config", {"config": doc()["config"]}, *typed()[2:])
    cases.file("only target", {"target": doc()["target"]}, "--eval_type", "byob_my_qa.my_qa", "--output_dir", "out")
    for key, value in (("confg", {}), ("metadata", {"team": "x"}), ("command", "echo hi"), ("framework_name", "x"), ("evaluations", []),
                       ("global_adapter_config", {"use_caching": False}), ("config.params.temperature", 0.5)):
        cases.file(f"top {key}", {**doc(), key: value})
    for key, value in (("supported_endpoint_types", ["chat"]), ("required_capabilities", ["tools"]), ("required_capabilities", None), ("params", [])):
        cases.file(f"config {key} {value}", {**doc(), "config": {**doc()["config"], key: value}})
    cases.file("alias", text.replace("output_dir: out", "output_dir: &o out").replace("model_id: m", "model_id: *o"))
    for name, content in (
        ("byte order mark", "\ufeff" + text), ("carriage returns", text.replace("\n", "\r\n")), ("comments", f"# hello\n{text}# bye\n"),
        ("document marks", f"---\n{text}...\n"), ("two documents", f"{text}---\n{text}"), ("tab", "config:\n\ttype: x\n"), ("a list", "- a\n- b\n"),
        ("a key twice", text.replace("temperature: 0.5", "temperature: 0.5\n    temperature: 0.6")),
        ("python tag", text + "x: !!python/object/apply:os.system ['touch PWNED']\n"),
    ):
        cases.file(f"file with {name}", content)
    cases.file("json file", json.dumps(doc({"temperature": 0.5})), file="run.json")
    cases.file("yml file", text, file="run.yml")
    cases.add("missing file", ["run_eval", "--dry_run", "--run_config", "none.yaml"])
    cases.file("target without endpoint", {"config": doc()["config"], "target": {}}, *typed()[3:])
    cases.file("target null", {"config": doc()["config"], "target": None}, *typed()[3:])


QA = {"name": "byob_my_qa.my_qa"}
OWN = {"name": "byob_own.own"}
NEC = "nemo_evaluator_config"


def launcher(tasks: Any, evaluation: Any = None, endpoint: Any = None, execution: Any = None, **more: Any) -> dict[str, Any]:
    api = {"api_key_name": None, "model_id": "m", "url": URL, **(endpoint or {})}
    return {
        "defaults": [{"execution": "local"}, {"deployment": "none"}, "_self_"], "execution": {"output_dir": "results", **(execution or {})},
        "target": {"api_endpoint": api}, "evaluation": {**(evaluation or {}), "tasks": tasks}, **more,
    }


def own(task: dict[str, Any], adapter: Any = None, **params: Any) -> dict[str, Any]:
    """A task with values of its own."""
    config: dict[str, Any] = {"config": {"params": params}} if params else {}
    return {**task, NEC: {**config, **({} if adapter is None else {"target": {"api_endpoint": {"adapter_config": adapter}}})}}


def _launcher(cases: Cases) -> None:
    launch = cases.launch
    launch("one task", launcher([QA]))
    launch("several kinds", launcher([QA, {"name": "bfclv3_ast_prompting"}, {"name": "byob_ranked.ranked"}, {"name": "bfcl.bfclv3_ast"}]))
    launch("same task twice", launcher([QA, own(QA, temperature=0.9)]))
    launch("params of all and of one", launcher([QA, own(OWN, limit_samples=2)], own({}, limit_samples=5, temperature=0.6)))
    merged = own({}, extra={"dataset": {"path": "other data.csv"}, "n_repeats": 2})
    launch("extra deep merge", launcher([own(QA, extra={"dataset": {"num_fewshot": 0}})], merged))
    launch("file of seed 000", launcher([own(QA, extra={"dataset": {"path": "hf://other/foo?split=test", "num_fewshot": 5}})]))
    launch("endpoint in task", launcher([{**QA, NEC: {"target": {"api_endpoint": {"model_id": "own", "url": "http://own:1/v1"}}}}]))
    launch("adapter of all and of one", launcher([own(QA, {"params_to_add": {"b": 2}})], own({}, {"use_caching": False, "params_to_add": {"a": 1}})))
    launch("list of one instead of all", launcher([own(QA, {"params_to_remove": ["b"]})], own({}, {"params_to_remove": ["a", "c"]})))
    launch("null of one", launcher([own(QA, temperature=None)], own({}, temperature=0.5)))
    launch("wrong parameter", launcher([own(QA, temprature=1)]))
    launch("folder of a task", launcher([{**QA, NEC: {"config": {"output_dir": "mine"}}}]))
    launch("type of a task", launcher([{**QA, NEC: {"config": {"type": "byob_own.own"}}}]))
    for key, value in (("config", {"config": {}}), ("overrides", {"config.params.temperature": 0.5}), ("endpoint_type", "completions"),
                       ("endpoint_type", "chat"), ("pre_cmd", "touch PWNED"), ("post_cmd", "touch PWNED"), ("pre_cmd", ""), ("nemo_config", {}),
                       ("dataset_dir", "/data")):
        launch(f"task {key} {value!r}", launcher([{**QA, key: value}]))
    for name, variables, env in (
        ("host", {"HF_TOKEN": "host:HF_TOKEN"}, {"HF_TOKEN": "hf_x"}), ("plain", {"HF_TOKEN": "HF_TOKEN"}, {"HF_TOKEN": "hf_x"}),
        ("literal", {"LEVEL": "lit:5"}, {}), ("literal that is so", {"LEVEL": "lit:5"}, {"LEVEL": "5"}),
        ("not set", {"NOT_THERE": "host:NOT_THERE"}, {}),
        ("runtime", {"HF_TOKEN": "runtime:HF_TOKEN"}, {}), ("other name", {"HF_TOKEN": "host:MY_TOKEN"}, {"MY_TOKEN": "t"}),
    ):
        launch(f"variables of a task {name}", launcher([{**QA, "env_vars": variables}]), env=env)
        launch(f"variables of all {name}", launcher([QA], env_vars=variables), env=env)
    launch("api key", launcher([QA], endpoint={"api_key_name": "MY_KEY"}), env={"MY_KEY": "secret-value"})
    launch("api key missing", launcher([QA], endpoint={"api_key_name": "NOT_THERE"}))
    for key, value in (("mode", "parallel"), ("mode", "fast"), ("type", "local"), ("extra_docker_args", "--gpus all"), ("outputdir", "x"),
                       ("endpoint_readiness_timeout", 60), ("auto_export", {"destinations": ["wandb"]}), ("mounts", {"evaluation": {"/a": "/b"}})):
        launch(f"execution {key} {value!r}", launcher([QA], execution={key: value}))
    for key, value in (("deployment", {"type": "none"}), ("export", {"wandb": {}}), ("metadata", {"team": "x"}), ("extras", {"a": 1}),
                       ("auxiliary_deployments", {}), ("env_vars", {})):
        launch(f"top {key} {value!r}", launcher([QA], **{key: value}))
    for key in ("execution", "defaults"):
        launch(f"without {key}", {name: value for name, value in launcher([QA]).items() if name != key})
    for name, tasks in (("none", []), ("nameless", [{NEC: {}}]), ("unknown", [{"name": "nothing_here"}])):
        launch(f"tasks {name}", launcher(tasks))
    for model in ("${oc.env:MY_MODEL}", "${execution.output_dir}-x", "${no.where}", "${nowhere}", "a$b $(touch PWNED)", "???"):
        launch(f"model {model}", launcher([QA], endpoint={"model_id": model}), env={"MY_MODEL": "from-env"})


def _launcher_overrides(cases: Cases) -> None:
    content = launcher([own(QA, extra={"dataset": {"path": "data.jsonl", "num_fewshot": 5}}), OWN])
    task, all_tasks = f"evaluation.tasks.byob_my_qa.my_qa.{NEC}.", f"evaluation.{NEC}."
    fewshot, temperature = "config.params.extra.dataset.num_fewshot", "config.params.temperature"
    adapter = f"++{task}{A}"
    for overrides in (
        [f"{task}config.params.extra.dataset.path=hf://other/foo?split=test", f"{task}{fewshot}=0"], [f"++{task}{temperature}=0.3"],
        [f"+{task}{temperature}=0.3"], [f"{task}{temperature}=0.3"], [f"~{task}{fewshot}"], [f"evaluation.tasks.my_qa.{NEC}.{fewshot}=1"],
        [f"++evaluation.tasks.0.{NEC}.{temperature}=0.3"], [f"evaluation.tasks.nothing.{NEC}.{temperature}=1"],
        [f"evaluation.tasks.9.{NEC}.{temperature}=1"], [M + "other"], [M + "'a b'"], [M + "a b"], [M + '"x,y"'], [M + "5"], [M + "null"],
        ["target.api_endpoint.url=http://other:1/v1"], ["execution.output_dir=elsewhere"], ["execution.mode=parallel"], ["deployment=none"],
        ["deployment.type=none"], [f"++{all_tasks}{temperature}=0.4"], [f"+{all_tasks}config.params.limit_samples=3"],
        [f"{all_tasks}config.params.limit_samples=3"], [f"++{task}config.params.extra={{n_repeats: 2}}"], [f"++{task}config.params.limit_samples=null"],
        [f"{adapter}params_to_remove=[top_p,seed]"], [f"{adapter}custom_system_prompt=Be brief, please.", f"{adapter}use_system_prompt=true"],
        ["++target.api_endpoint.api_key_name=MY_KEY"], ["target.api_endpoint.nothing=1"], ["~target.api_endpoint.api_key_name"],
        [f"{task}config.params.extra.dataset.path="], [f"{task}config.params.extra.dataset.path"], ["evaluation.tasks=[{name: byob_own.own}]"],
        [f"++{task}{temperature}=0.1", f"++{task}{temperature}=0.2"], [f"++{task}config.params.temprature=0.1"],
        [f"++evaluation.tasks.byob_own.own.{NEC}.config.params.extra.offset=9"], [f"{task}config.params.extra.dataset.path='$(touch PWNED)'"],
    ):
        cases.launch(f"-o {' '.join(overrides)}", content, *overrides, env={"MY_KEY": "secret-value"})

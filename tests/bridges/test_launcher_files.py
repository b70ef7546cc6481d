"""Files of a launcher: several tasks, what holds for all of them and for one, and what is not done here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from benchwright.config import RunConfig, RunConfigs
from benchwright.core import ConfigError


def document(tasks: Any, **more: Any) -> dict[str, Any]:
    return {
        "defaults": [{"execution": "local"}, "_self_"],
        "execution": {"output_dir": "res ults"},
        "deployment": "none",
        "target": {"api_endpoint": {"model_id": "m", "url": "http://h/v1"}},
        "evaluation": {"nemo_evaluator_config": own(parallelism=3), "tasks": tasks},
        **more,
    }


def own(**params: Any) -> dict[str, Any]:
    return {"config": {"params": params}}


TASKS = [
    {"name": "a", "nemo_evaluator_config": own(limit_samples=5, extra={"dataset": {"path": "x.jsonl", "num_fewshot": 2}})},
    {"name": "b.c", "nemo_evaluator_config": own(parallelism=9)},
    "d",
]  # fmt: skip


def read(
    folder: Path, content: Any, *pairs: str, name: str = "my_config.yaml", **flags: Any
) -> list[RunConfig]:
    file = folder / name
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return list(RunConfigs.read(file, flags, None, pairs).configs)


def test_each_task_has_the_shared_values_its_own_and_a_folder(tmp_path: Path) -> None:
    first, second, third = read(tmp_path, document(TASKS))
    model = {"model_id": "m", "model_url": "http://h/v1"}
    assert first.options == {
        **model, "parallelism": 3, "limit": 5, "dataset": "x.jsonl", "num_fewshot": 2, "output_dir": "res ults/a",
    }  # fmt: skip
    assert (second.target, second.options) == (
        "b.c",
        {**model, "parallelism": 9, "output_dir": "res ults/b.c"},
    )
    assert (third.label, third.options["output_dir"]) == ("d", "res ults/d")


def test_a_table_of_tasks_is_as_good_as_a_list_and_yml_as_yaml(tmp_path: Path) -> None:
    table = {"a": {"nemo_evaluator_config": own(limit_samples=5)}, "d": None}
    found = read(tmp_path, document(table), name="my_config.yml")
    assert [(each.target, each.options.get("limit")) for each in found] == [("a", 5), ("d", None)]


@pytest.mark.parametrize("prefix", ["", "+", "++"])
def test_overrides_reach_one_task_by_name_or_number_and_siblings_survive(tmp_path: Path, prefix: str) -> None:
    """The two overrides of seed 000, and others."""
    of = f"{prefix}evaluation.tasks.%s.nemo_evaluator_config.config.params"
    first, second, third = read(
        tmp_path, document(TASKS),
        f"{of % 'a'}.extra.dataset.path=hf://other/foo?split=test",
        f"{of % 'a'}.extra.dataset.num_fewshot=0",
        f"{of % 'b.c'}.temperature=0.5",
        f"{of % 2}.task='x, y'",
    )  # fmt: skip
    assert first.options["dataset"] == "hf://other/foo?split=test"
    assert (first.options["num_fewshot"], first.options["limit"]) == (0, 5)
    assert (second.options["temperature"], second.options["parallelism"]) == (0.5, 9)
    assert third.options["task"] == "x, y"
    assert not {"temperature", "dataset"} & set(third.options)


def test_who_wins_over_whom(tmp_path: Path) -> None:
    """All tasks < one task < flags < overrides of all < overrides of one."""
    shared = "evaluation.nemo_evaluator_config.config.params.parallelism=20"
    one = "evaluation.tasks.a.nemo_evaluator_config.config.params.parallelism=30"

    def parallelism(*pairs: str, **flags: Any) -> list[Any]:
        return [each.options["parallelism"] for each in read(tmp_path, document(TASKS), *pairs, **flags)]

    assert parallelism() == [3, 9, 3]
    assert parallelism(parallelism=10) == [10, 10, 10]
    assert parallelism(shared, parallelism=10) == [20, 20, 20]
    assert parallelism(one, shared) == [30, 20, 20]
    assert parallelism("config.params.parallelism=40") == [40, 40, 40]


def test_the_model_and_the_folder_can_be_overridden(tmp_path: Path) -> None:
    found = read(tmp_path, document(["a"]), "target.api_endpoint.model_id=n", "execution.output_dir=other")
    assert (found[0].options["model_id"], found[0].options["output_dir"]) == ("n", "other/a")
    assert read(tmp_path, document(["a"]), output_dir="typed")[0].options["output_dir"] == "typed/a"


def test_a_task_that_stands_twice_has_two_labels(tmp_path: Path) -> None:
    found = read(
        tmp_path, document(["a", "a"]), "evaluation.tasks.a.nemo_evaluator_config.config.params.top_p=1"
    )
    assert [each.label for each in found] == ["a.1", "a.2"]
    assert [each.options["output_dir"] for each in found] == ["res ults/a.1", "res ults/a.2"]
    assert [each.options["top_p"] for each in found] == [1.0, 1.0]


def test_no_two_tasks_have_one_folder(tmp_path: Path) -> None:
    """Names that differ only in what no folder is called, a name that looks numbered, and folders that the file gives."""
    names = ["./b.py:x", "b.py:x", "a", "a", "a.1"]
    found = read(tmp_path, document(names))
    assert [each.label for each in found] == ["./b.py:x", "b.py:x", "a.2", "a.3", "a.1"]
    folders = [each.options["output_dir"] for each in found]
    assert folders == [f"res ults/{name}" for name in ("b.py_x.1", "b.py_x.2", "a.2", "a.3", "a.1")]
    same = [{"name": name, "nemo_evaluator_config": {"config": {"output_dir": place}}} for name, place in (("a", "o"), ("b", "x/../o"))]  # fmt: skip
    with pytest.raises(ConfigError, match=r"a and b would both write their results into x/\.\./o"):
        read(tmp_path, document(same))


def test_what_is_ignored_is_noted(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    tasks = [{"name": "a", "container": "registry/image", "env_vars": {"HF_TOKEN": "HF_TOKEN"}}]
    content = document(
        tasks, execution={"mode": "parallel", "auto_export": {"destinations": ["x"]}}, export={}
    )
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    found = RunConfigs.read(file, {})
    assert (found.several, found.at_once) == (True, True)
    for word in ("defaults", "container", "auto_export", "export"):
        assert any(word in note for note in found.notes), word


def test_values_still_to_be_given_can_be_given(tmp_path: Path) -> None:
    content = document(["a"], execution={"output_dir": "???"}, target={"api_endpoint": {"model_id": "???"}})
    with pytest.raises(ConfigError, match=r"execution.output_dir is \?\?\?"):
        read(tmp_path, content)
    with pytest.raises(ConfigError, match=r"target.api_endpoint.model_id is \?\?\?.*-o target"):
        read(tmp_path, content, "execution.output_dir=o")
    found = read(tmp_path, content, "execution.output_dir=o", "target.api_endpoint.model_id=m")
    assert (found[0].options["model_id"], found[0].options["output_dir"]) == ("m", "o/a")
    assert (
        read(tmp_path, content, "target.api_endpoint.model_id=m", output_dir="typed")[0].options["output_dir"]
        == "typed/a"
    )


@pytest.mark.parametrize(
    ("changes", "pairs", "reason"),
    [
        ({"deployment": {"type": "vllm"}}, (), "deployment is 'vllm', and servers are not started here"),
        ({"execution": {"type": "slurm"}}, (), "execution.type is 'slurm'"),
        ({"execution": {"mode": "both"}}, (), "expected parallel or sequential"),
        ({"evaluaton": {}}, (), "evaluaton is not known. Did you mean 'evaluation'"),
        ({"evaluation": {"tasks": []}}, (), "expected a list of tasks"),
        ({"evaluation": {"tasks": [{"nam": "a"}]}}, (), "evaluation.tasks.0.name is missing"),
        ({"evaluation": {"tasks": [{"name": "a", "pre_cmd": "rm -rf x"}]}}, (), "runs no commands"),
        ({"evaluation": {"tasks": [{"name": "a", "nemo_evaluator_confg": {}}]}}, (), "nemo_evaluator_config"),
        ({"evaluation": {"tasks": ["a"], "env_vars": {"K": "sk-secret"}}}, (), "env_vars.K is neither host:NAME"),
        ({}, ("evaluation.tasks.aa.nemo_evaluator_config.config.params.top_p=1",), "Did you mean 'a'"),
        ({}, ("evaluation.tasks.a.config.params.top_p=1",), "evaluation.tasks.0.config is not known"),
        ({}, ("evaluation.tasks.a.nemo_evaluator_config.config.params.topp=1",), "Did you mean 'top_p'"),
    ],
)  # fmt: skip
def test_what_is_refused(
    tmp_path: Path, changes: dict[str, Any], pairs: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason) as raised:
        read(tmp_path, document(["a"], **changes), *pairs)
    assert "sk-secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("key", "word"),
    [
        (key, word)
        for key in (
            "execution.output_dir",
            "evaluation.env_vars",
            "evaluation.nemo_evaluator_config.config.params.top_p",
            "evaluation.tasks.a.endpoint_type",
            "evaluation.tasks.a.nemo_evaluator_config.config.params.top_p",
            "target.api_endpoint.type",
            "deployment.type",
            "user_config_path",
        )
        for word in range(1 if key == "deployment.type" else key.count(".") + 1)
    ],
)
def test_no_word_of_an_override_may_be_mistyped(tmp_path: Path, key: str, word: int) -> None:
    words = key.split(".")
    words[word] = f"{words[word][:-1]}_"
    with pytest.raises(ConfigError, match=r"is not known|no task of that name"):
        read(tmp_path, document(["a"]), f"{'.'.join(words)}=chat")


@pytest.mark.parametrize("name", ["b.c", "c", "1"])
def test_a_task_may_be_overridden_as_a_table(tmp_path: Path, name: str) -> None:
    table = "{nemo_evaluator_config: {config: {params: {top_p: 0.5}}}, endpoint_type: chat}"
    found = read(tmp_path, document(TASKS), f"evaluation.tasks.{name}={table}")
    assert [each.options.get("top_p") for each in found] == [None, 0.5, None]
    assert found[1].options["parallelism"] == 9
    assert found[1].options["model_type"] == "chat"
    with pytest.raises(ConfigError, match=rf"-o evaluation.tasks.{name} is None; expected a table, or a key"):
        read(tmp_path, document(TASKS), f"~evaluation.tasks.{name}")


def test_a_task_is_also_named_without_its_file(tmp_path: Path) -> None:
    pair = "evaluation.tasks.two.nemo_evaluator_config.config.params.top_p=0.5"
    found = read(tmp_path, document(["my.py:one", "my.py:two"]), pair)
    assert [each.options.get("top_p") for each in found] == [None, 0.5]
    with pytest.raises(ConfigError, match="several tasks whose names end so"):
        read(tmp_path, document(["my.py:two", "frame.two"]), pair)


def test_a_task_is_also_named_without_its_framework(tmp_path: Path) -> None:
    key = "evaluation.tasks.%s.nemo_evaluator_config.config.params.top_p=0"
    assert read(tmp_path, document(["f.x", "g.y"]), key % "y")[1].options["top_p"] == 0
    with pytest.raises(ConfigError, match="has several tasks whose names end so"):
        read(tmp_path, document(["f.x", "g.x"]), key % "x")


def test_overrides_reach_what_is_no_run_configuration(tmp_path: Path) -> None:
    content = document(["a", {"name": "b"}])
    first, second = read(
        tmp_path, content, "evaluation.tasks.b.endpoint_type=completions", "deployment.type=none"
    )
    assert ("model_type" in first.options, second.options["model_type"]) == (False, "completions")
    assert [each.target for each in read(tmp_path, content, "evaluation.tasks=[{name: c}]")] == ["c"]
    shared = "evaluation.nemo_evaluator_config={config: {params: {top_p: 0.5}}}"
    assert [each.options["top_p"] for each in read(tmp_path, content, shared)] == [0.5, 0.5]


def test_a_folder_of_a_task_wins_over_that_of_all_but_not_over_a_typed_one(tmp_path: Path) -> None:
    content = document(["a", {"name": "b", "nemo_evaluator_config": {"config": {"output_dir": "mine"}}}])
    assert [each.options["output_dir"] for each in read(tmp_path, content)] == ["res ults/a", "mine"]
    assert read(tmp_path, content, output_dir="typed")[1].options["output_dir"] == "typed/b"


def test_references_stand_for_other_values_and_other_dollars_for_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM", "search")
    endpoint = {"model_id": "${oc.env:TEAM}-${oc.env:NO_SUCH_VARIABLE,small}", "url": "http://h/v1"}
    path = "${execution.output_dir}/${HOME}/$(id)/${target.api_endpoint.model_id}/\\${a.b}"
    task = {"name": "a", "nemo_evaluator_config": own(extra={"dataset": {"path": path}})}
    options = read(tmp_path, document([task], target={"api_endpoint": endpoint}))[0].options
    assert options["model_id"] == "search-small"
    assert options["dataset"] == "res ults/${HOME}/$(id)/search-small/${a.b}"
    for wrong, reason in (
        ("${target.api_endpoint.modl}", "there is no such key"),
        ("${oc.env:NO_SUCH_VARIABLE}", "the variable is not set"),
        ("${oc.env:MY_API_KEY}", "api_key_name: MY_API_KEY"),
        ("${target.api_endpoint.model_id}", "refers to itself"),
        ("x ${target.api_endpoint}", "refers to itself"),
        ("x ${execution}", "puts a table into a text"),
        ("${.nothing}", "there is no such key"),
        ("${oc.decode:5}", "oc.decode is not known here"),
        ("${now:%Y}", "now is not known here"),
    ):
        with pytest.raises(ConfigError, match=reason):
            read(tmp_path, document(["a"], target={"api_endpoint": {"model_id": wrong}}))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("${oc.env:NO_SUCH_VARIABLE,null}", None),
        ("${oc.env:NO_SUCH_VARIABLE, 'a, b'}", "a, b"),
        ('${oc.env:NO_SUCH_VARIABLE,"a"}', "a"),
        ("${oc.env:NO_SUCH_VARIABLE,${oc.env:TEAM}}", "${execution.output_dir}"),
        ("${oc.env:TEAM}", "${execution.output_dir}"),
        ("${.type}-${...user}", "chat-bob"),
        ("${user}-${USER_}-${HOME:-x}-$user-${", "bob-${USER_}-${HOME:-x}-$user-${"),
        ("${evaluation.tasks[0].name}${evaluation.tasks.0.name}", "aa"),
        ("${metadata.on}/${metadata.none}/${metadata.five}", "true/null/5"),
        ("${metadata.nested}", "bob!"),
        ("\\${user}", "${user}"),
    ],
)  # fmt: skip
def test_what_a_reference_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, meant: str | None
) -> None:
    """In the file and in an override. The value of a variable is data, whatever it looks like."""
    monkeypatch.setenv("TEAM", "${execution.output_dir}")
    metadata = {"on": True, "none": None, "five": 5, "nested": "${user}!"}
    content = document(["a"], user="bob", metadata=metadata)
    content["target"] = {"api_endpoint": {"type": "chat", "url": "http://h/v1", "model_id": written}}
    assert read(tmp_path, content)[0].options.get("model_id") == meant
    content["target"]["api_endpoint"]["model_id"] = "other"
    pair = f"target.api_endpoint.model_id={written}"
    assert read(tmp_path, content, pair)[0].options.get("model_id") == meant


def test_references_that_multiply_end_in_an_error_and_not_in_hours(tmp_path: Path) -> None:
    metadata = {"a0": "x"} | {f"a{n}": f"${{metadata.a{n - 1}}}" * 2 for n in range(1, 20)}
    with pytest.raises(ConfigError, match="more than 10,000 references"):
        read(tmp_path, document(["a"], metadata=metadata))


def test_a_reference_means_the_value_that_holds_in_the_end(tmp_path: Path) -> None:
    content = document(["a", "b"], execution={"output_dir": "of ${target.api_endpoint.model_id}"})
    own_limit = "evaluation.tasks.1.nemo_evaluator_config.config.params.limit_samples"
    content["metadata"] = {"label": f"${{{own_limit}}}"}
    content["evaluation"]["tasks"][1] = {"name": "b", "nemo_evaluator_config": own(limit_samples=1)}
    pairs = ["target.api_endpoint.model_id=overridden", f"{own_limit}=7"]
    found = read(tmp_path, content, *pairs)
    assert [each.options["output_dir"] for each in found] == ["of overridden/a", "of overridden/b"]
    assert found[0].metadata == {"label": 7}
    typed = read(tmp_path, content, model_id="typed")
    assert [each.options["output_dir"] for each in typed] == ["of typed/a", "of typed/b"]
    both = read(tmp_path, content, *pairs, model_id="typed")
    assert both[0].options["output_dir"] == "of overridden/a"


def test_variables_of_a_file_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEVEL", "5")
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    good = {
        "A": "lit:5 x",
        "B": "host:LEVEL",
        "LEVEL": "host:LEVEL",
        "HF_TOKEN": "runtime:HF_TOKEN",
        "PYTHONHASHSEED": "lit:0",
    }
    read(tmp_path, document([{"name": "a", "env_vars": {"A": "lit:6"}}], env_vars=good))
    (found,) = RunConfigs.read(tmp_path / "my_config.yaml", {}).configs
    assert found.variables == {"A": "lit:6", "B": "host:LEVEL", "PYTHONHASHSEED": "lit:0"}
    for variables, cure in (
        ({"B": "host:NOT_THERE"}, "NOT_THERE is not set; export it"),
        ({"MY_API_KEY": "sk-secret"}, "neither host:NAME, .* nor lit:VALUE"),
        ({"PYTHONHASHSEED": "lit:1"}, "only when a process starts; export it"),
        ({"LD_PRELOAD": "lit:x"}, "only when a process starts; export it"),
        ({"A=B": "lit:sk-secret"}, "env_vars: 'A=B' is not the name of a variable"),
        ({"": "lit:sk-secret"}, "env_vars: '' is not the name of a variable"),
        ({"A\0": "lit:sk-secret"}, "is not the name of a variable"),
        ({"A": "lit:sk-secret\0"}, "env_vars: 'A' has a value with the character NUL"),
    ):
        with pytest.raises(ConfigError, match=cure) as raised:
            read(tmp_path, document([{"name": "a", "env_vars": variables}]))
        assert "sk-secret" not in str(raised.value)


@pytest.mark.parametrize("kept", ["host:LEVEL", "LEVEL", "$LEVEL", "runtime:LEVEL", None])
def test_a_task_has_its_own_variables_and_the_shared_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: str | None
) -> None:
    monkeypatch.setenv("LEVEL", "5")
    tasks = [
        {"name": "a", "env_vars": {"A": "lit:a"}},
        {"name": "b", "env_vars": {"A": "lit:b", "B": "lit:b", "LEVEL": kept}},
        {"name": "c"},
    ]
    shared = {"C": "lit:all", "LEVEL": "lit:all"}
    assert [each.variables for each in read(tmp_path, document(tasks, env_vars=shared))] == [
        {**shared, "A": "lit:a"},
        {"C": "lit:all", "A": "lit:b", "B": "lit:b"},  # as it is in the process
        shared,
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"defaults": [{"deployment": "vllm"}], "deployment": {"image": "x"}},
        {"auxiliary_deployments": {"judge": {"type": "vllm"}}},
        {"defaults": [{"execution": "slurm/default"}]},
        {"evaluation": {"tasks": [{"name": "a", "post_cmd": "rm -rf x"}]}},
    ],
)
def test_servers_clusters_and_commands_are_refused_wherever_they_are_named(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError, match=r"servers are not started|run on this machine|runs no commands"):
        read(tmp_path, document(["a"], **changes))


def test_a_name_on_the_command_line_is_one_too_many(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"lists what is evaluated as evaluation.tasks"):
        read(tmp_path, document(["a"]), eval_type="b")

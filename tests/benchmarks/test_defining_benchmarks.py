"""`@benchmark` and `@scorer`: what they accept, what they refuse while the file is read, what they leave behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchwright import benchmark, scorer
from benchwright.benchmarks import BenchmarkSpec, strategy_of
from benchwright.core import BenchmarkError, UsageError

BASIC: dict[str, Any] = {"dataset": "data.jsonl", "prompt": "Q: {q}"}


def define(name: str = "b", **parameters: Any) -> BenchmarkSpec:
    """Define a benchmark in a module of its own, as a file would."""
    scope: dict[str, Any] = {"benchmark": benchmark, "scorer": scorer, "__name__": f"module_{name}"}
    scope["parameters"] = {**BASIC, **parameters, "name": name}
    exec("@benchmark(**parameters)\n@scorer\ndef check(sample): return {'correct': True}", scope)
    spec = scope["check"]._benchmark
    assert isinstance(spec, BenchmarkSpec)
    return spec


def no_parameters() -> dict[str, bool]:
    return {}


def test_both_decorators_return_the_function_itself() -> None:
    def check(sample: object) -> dict[str, bool]:
        """Doc."""
        return {"correct": True}

    marked = scorer(check)
    assert marked is check
    assert marked._is_scorer is True  # type: ignore[attr-defined]
    decorated = benchmark(name="itself", **BASIC)(check)
    assert decorated is check
    assert decorated(object()) == {"correct": True}
    assert decorated._benchmark.key == "itself"  # type: ignore[attr-defined]


def test_the_definition_knows_its_file_folder_and_line() -> None:
    @benchmark(name="where am i", **BASIC)
    def check(sample: object) -> dict[str, bool]:
        return {}

    spec: BenchmarkSpec = check._benchmark  # type: ignore[attr-defined]
    assert spec.source == Path(__file__).resolve()
    assert spec.base_dir == Path(__file__).resolve().parent
    assert spec.where.startswith("test_defining_benchmarks.py:")


def test_names_are_normalised() -> None:
    spec = define("My QA Benchmark!")
    assert (spec.name, spec.key) == ("My QA Benchmark!", "my_qa_benchmark")
    assert spec.eval_type == "byob_my_qa_benchmark.my_qa_benchmark"


def test_every_documented_parameter_lands_under_its_name() -> None:
    given: dict[str, Any] = {
        "target_field": "answer", "endpoint_type": "completions", "field_mapping": {"a": "b"},
        "response_field": "r", "system_prompt": "s", "choices_field": "c.text", "num_fewshot": 3,
        "fewshot_dataset": "f.jsonl", "fewshot_prefix": "P", "fewshot_split": "dev", "fewshot_template": "T",
        "fewshot_separator": "|",
    }  # fmt: skip
    spec = define("all", **given)
    assert {name: getattr(spec, name) for name in given} == given
    assert define("all2", choices=[" A", " B"]).choices == (" A", " B")
    assert define("defaults").target_field == "target"


def test_further_keywords_go_to_config_and_extra_wins() -> None:
    spec = define("cfg", judge={"url": "u"}, level=1, extra={"level": 2})
    assert spec.config == {"judge": {"url": "u"}, "level": 2}
    assert spec.extra is spec.config


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("target_feild", "target_field"),
        ("choice", "choices"),
        ("num_fewshots", "num_fewshot"),
        ("systemprompt", "system_prompt"),
        ("responsefield", "response_field"),
        ("extras", "extra"),
    ],
)
def test_a_keyword_that_is_nearly_a_parameter_is_refused(slip: str, meant: str) -> None:
    with pytest.raises(BenchmarkError) as caught:
        define("slip", **{slip: "x"})
    assert str(caught.value) == (
        f"benchmark 'slip': {slip!r} is not a parameter of @benchmark. Did you mean {meant!r}? To hand it to the scorer "
        f'on purpose, write extra={{"{slip}": …}}'
    )
    assert define("slip", extra={slip: "x"}).config == {slip: "x"}


def test_a_slip_in_a_required_parameter_is_named_rather_than_its_absence() -> None:
    with pytest.raises(BenchmarkError, match="'promt' is not a parameter of @benchmark"):
        benchmark("b", "data.jsonl", promt="{q}")  # type: ignore[call-arg]
    with pytest.raises(BenchmarkError, match=r"^'names' is not a parameter"):
        benchmark(names="b", **BASIC)


@pytest.mark.parametrize(
    "name", ["judge", "judge_1", "max_tokens", "level", "temperature", "target", "field"]
)
def test_a_keyword_of_its_own_is_left_alone(name: str) -> None:
    assert define("own", **{name: 1}).config == {name: 1}


def test_requirements_come_from_a_list_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "req.txt"
    path.write_text("# needed\nnumpy>=1\n\n  scipy  \n")
    assert define("req", requirements=str(path)).requirements == ("numpy>=1", "scipy")
    assert define("req2", requirements=["x==1"]).requirements == ("x==1",)
    with pytest.raises(FileNotFoundError, match="no requirements file"):
        define("req3", requirements=str(tmp_path / "none.txt"))


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"name": "!!!"}, "no letter"),
        (
            {"endpoint_type": "chatt"},
            r"not one of chat, completions, completions_logprob\. Did you mean 'chat'",
        ),
        ({"endpoint_type": "completions_logprob"}, "give choices=.* or choices_field"),
        ({"num_fewshot": -1}, "num_fewshot is -1"),
        ({"num_fewshot": True}, "num_fewshot is True"),
        ({"prompt": 3}, "prompt is int, not text"),
        ({"prompt": ""}, "the prompt is empty"),
        ({"choices": "ABCD"}, "give a list of texts"),
        ({"choices": []}, "give a list of texts"),
        ({"field_mapping": [("a", "b")]}, "field_mapping is list, not a dict"),
        ({"turns_field": "t", "next_turn": lambda c: None}, "not both"),
        ({"turns_field": "t", "endpoint_type": "completions"}, "needs endpoint_type='chat'"),
        ({"turns_field": "t", "max_turns": 0}, "max_turns is 0"),
        ({"next_turn": "x"}, "next_turn is str"),
        ({"next_turn": lambda: None}, "takes no arguments"),
    ],
)
def test_definitions_that_cannot_work_are_refused_at_once(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(BenchmarkError, match=said) as caught:
        define(**parameters)
    assert isinstance(caught.value, ValueError)


def test_an_async_next_turn_is_refused() -> None:
    async def next_turn(conversation: object) -> None: ...

    with pytest.raises(BenchmarkError, match="write a plain one"):
        define("a", next_turn=next_turn)


def test_benchmark_without_arguments_is_explained() -> None:
    with pytest.raises(BenchmarkError, match="needs its arguments"):
        benchmark(lambda sample: {}, "x", "y")  # type: ignore[arg-type]


def test_two_definitions_of_one_file_may_not_share_a_normalised_name() -> None:
    benchmark(name="Twin One", **BASIC)(lambda sample: {})
    with pytest.raises(
        BenchmarkError, match=r"'twin-one' has the same normalised name \(twin_one\) as 'Twin One'"
    ):
        benchmark(name="twin-one", **BASIC)(lambda sample: {})


def test_without_a_file_a_definition_may_be_repeated() -> None:
    assert define("cell").source is None
    assert define("cell").key == "cell"


def test_a_built_in_scorer_may_serve_several_benchmarks() -> None:
    def shared(sample: object) -> dict[str, bool]:
        return {}

    one = benchmark(name="shared one", **BASIC)(shared)
    two = benchmark(name="shared two", **BASIC)(shared)
    assert one is two is shared


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (no_parameters, "takes no parameters"),
        (lambda *args, **kwargs: {}, "takes no parameters"),
        (lambda response, target, metadata: {}, r"3 required parameters \(response, target, metadata\)"),
        (lambda *, sample: {}, "by keyword only"),
        (lambda sample, *, strictness: {}, "strictness by keyword only"),
    ],
)
def test_scorers_that_cannot_be_called_get_the_migration_hint(function: Any, said: str) -> None:
    for decorate in (scorer, benchmark(name="sig", **BASIC)):
        with pytest.raises(TypeError, match=said) as caught:
            decorate(function)
        assert "sample.response, sample.target and sample.metadata" in str(caught.value)


@pytest.mark.parametrize(
    ("function", "passes_config"),
    [
        (lambda sample: {}, False),
        (lambda sample=None: {}, False),
        (lambda sample, config: {}, True),
        (lambda sample, cfg: {}, True),
        (lambda sample, config=None: {}, True),
        (lambda sample, threshold=0.5: {}, False),
        (lambda sample, *rest, **named: {}, False),
        (max, False),
    ],
)
def test_the_signature_tells_whether_config_is_passed(function: Any, passes_config: bool) -> None:
    from benchwright.benchmarks._scoring import check_scorer

    assert check_scorer(function) is passes_config


def test_strategy_follows_responses_then_log_probabilities_then_turns() -> None:
    assert strategy_of(define("s1")).name == "generate"
    assert strategy_of(define("s2", response_field="r")).name == "score_only"
    assert strategy_of(define("s3", response_field="r"), "completions_logprob").name == "score_only"
    assert strategy_of(define("s4", choices=["a"], endpoint_type="completions_logprob")).name == "choices"
    assert strategy_of(define("s5", choices=["a"]), "completions_logprob").name == "choices"
    assert strategy_of(define("s6", choices=["a"])).name == "generate"
    assert strategy_of(define("s7", turns_field="t", prompt="")).name == "multi_turn"
    with pytest.raises(UsageError, match="ranks choices"):
        strategy_of(define("s8"), "completions_logprob")
    with pytest.raises(UsageError, match="needs --model-type chat"):
        strategy_of(define("s9", turns_field="t"), "completions")

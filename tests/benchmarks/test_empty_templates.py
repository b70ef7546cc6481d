"""Templates that are empty or come out empty, and files that open with a byte-order mark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchwright import benchmark, scorer
from benchwright.benchmarks import BenchmarkSpec, Generation
from benchwright.benchmarks._fewshot import resolve_fewshot
from benchwright.benchmarks._prompts import build_prompts
from benchwright.benchmarks._requests import chat_request, completions_request, open_conversation
from benchwright.scorers import ScorerInput

BOM = b"\xef\xbb\xbf"


def spec_of(**parameters: Any) -> BenchmarkSpec:
    settings: dict[str, Any] = {
        "prompt": "Q: {q}",
        "dataset": [{"q": "hi", "a": "x"}],
        "base_dir": Path(),
        "target_field": "a",
    }
    return BenchmarkSpec(name="x", key="x", scorer=lambda s: {}, **{**settings, **parameters})


@pytest.mark.parametrize(
    "system", [None, "", "{tone}", "{# nothing #}", "{% if tone %}{{ tone }}{% endif %}"]
)
def test_an_empty_system_prompt_is_none(system: str | None) -> None:
    prompt = build_prompts(spec_of(system_prompt=system)).build({"q": "hi", "tone": ""})
    user = {"role": "user", "content": "Q: hi"}
    assert chat_request(prompt, Generation("m")).body["messages"] == [user]
    assert open_conversation(prompt) == [user]
    assert completions_request(prompt, Generation("m")).body["prompt"] == "Q: hi"
    assert prompt.flat == "Q: hi", "the context of choices"


def test_a_system_prompt_may_be_empty_for_some_rows_only() -> None:
    build = build_prompts(spec_of(system_prompt="{tone}")).build
    assert build({"q": "hi", "tone": ""}).system is None
    assert build({"q": "hi", "tone": "Be dry."}).flat == "Be dry.\nQ: hi"


def test_an_empty_example_template_means_the_usual_example(tmp_path: Path) -> None:
    (tmp_path / "example.txt").write_bytes(BOM)
    for template in (None, "", "example.txt"):
        fewshot = resolve_fewshot(spec_of(fewshot_template=template, base_dir=tmp_path, num_fewshot=1))
        assert fewshot is not None
        assert [example.text for example in fewshot.examples] == ["Q: hi x"]


def test_a_byte_order_mark_of_a_template_file_is_not_sent(tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_bytes(BOM + b"Q: {q}\r\nA:")
    (tmp_path / "system.md").write_bytes(BOM + b"Be brief.")
    (tmp_path / "example.jinja").write_bytes(BOM + b"{{ q }}!")
    spec = spec_of(
        prompt="prompt.txt",
        system_prompt="system.md",
        fewshot_template="example.jinja",
        base_dir=tmp_path,
        num_fewshot=1,
        fewshot_separator="|",
    )
    prompt = build_prompts(spec, resolve_fewshot(spec)).build({"q": "other"})
    assert (prompt.system, prompt.text) == ("Be brief.", "hi!|Q: other\nA:")


def test_a_byte_order_mark_is_no_part_of_a_requirement(tmp_path: Path) -> None:
    (tmp_path / "needs.txt").write_bytes(BOM + b"rich\n")

    @benchmark(name="marked", dataset=[], prompt="{q}", requirements=tmp_path / "needs.txt")
    @scorer
    def check(sample: ScorerInput) -> dict[str, bool]:
        return {"correct": True}

    found: Any = check
    assert found._benchmark.requirements == ("rich",)

"""Few-shot examples: which rows, in which order, written how, and never the row under test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from msgspec.structs import replace

from benchwright import benchmark, register_fetcher, scorer
from benchwright.benchmarks import BenchmarkSpec, CheckReport, RowSettings
from benchwright.benchmarks._examples import Example, FewShot
from benchwright.benchmarks._fewshot import fewshot_problem, resolve_fewshot, strict_problem
from benchwright.benchmarks._leak_guard import SelfExampleGuard, normalised
from benchwright.benchmarks._prompts import build_prompts
from benchwright.benchmarks._scan import scan_rows
from benchwright.benchmarks._template import compile_template
from benchwright.core import BenchmarkError, UsageError
from benchwright.datasets import Filter, RowRange, Sampling, open_dataset
from benchwright.scorers import ScorerInput

Rows = list[dict[str, Any]]
HUNDRED: Rows = [{"q": f"question {i}", "a": f"answer {i}"} for i in range(100)]


def spec_of(dataset: Any = HUNDRED, **parameters: Any) -> BenchmarkSpec:
    usual: dict[str, Any] = {"prompt": "Q: {q}\nA:", "target_field": "a", "base_dir": Path()}
    return BenchmarkSpec(name="x", key="x", dataset=dataset, scorer=lambda s: {}, **{**usual, **parameters})


def resolved(spec: BenchmarkSpec, **options: Any) -> FewShot:
    fewshot = resolve_fewshot(spec, **options)
    assert fewshot is not None
    return fewshot


def row_numbers(fewshot: FewShot) -> list[int]:
    return [int(example.text.rsplit(" ", 1)[1]) for example in fewshot.examples]


def write_rows(path: Path, rows: Rows) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize(("count", "rows"), [(2, [93, 92]), (5, [83, 80, 88, 87, 96])])
def test_the_documented_rows_are_chosen(count: int, rows: list[int]) -> None:
    assert row_numbers(resolved(spec_of(num_fewshot=count))) == rows
    # A limit that leaves enough rows over chooses the same ones, and they are evaluated no more.
    outside = resolved(spec_of(num_fewshot=count), limit=50)
    assert row_numbers(outside) == rows
    assert (outside.source, outside.overlapping, outside.warnings) == ("outside_rows", False, ())


def test_the_block_is_prefix_examples_separators_then_the_prompt() -> None:
    spec = spec_of(num_fewshot=2, fewshot_prefix="Examples:\n", fewshot_separator="\n--\n")
    prompt = build_prompts(spec, resolved(spec)).build(HUNDRED[0])
    assert prompt.text == (
        "Examples:\nQ: question 93\nA: answer 93\n--\nQ: question 92\nA: answer 92\n--\nQ: question 0\nA:"
    )


def test_an_example_template_is_used_as_it_is() -> None:
    spec = spec_of(num_fewshot=1, fewshot_template="<{q}|{a}>  ")
    assert resolved(spec).examples[0].text == "<question 96|answer 96>  "
    by_main_prompt = spec_of(num_fewshot=1, prompt="{# #}{{ q }}", fewshot_template="<{{ q }}>")
    assert resolved(by_main_prompt).examples[0].text == "<question 96>"
    by_its_own_looks = spec_of(num_fewshot=1, fewshot_template="{% if q %}<{{ q }}>{% endif %}")
    assert resolved(by_its_own_looks).examples[0].text == "<question 96>"


def test_trailing_white_space_of_a_default_example_is_stripped() -> None:
    spec = spec_of([{"q": "x", "a": "y \n"}, {"q": "z", "a": ""}], num_fewshot=2)
    assert [example.text for example in resolved(spec).examples] == ["Q: x\nA: y", "Q: z\nA:"]


def test_the_number_comes_from_the_run_zero_included() -> None:
    assert resolve_fewshot(spec_of(num_fewshot=5), num_fewshot=0) is None
    assert resolve_fewshot(spec_of()) is None
    assert row_numbers(resolved(spec_of(), num_fewshot=2)) == [93, 92]
    with pytest.raises(UsageError, match="num_fewshot is -1"):
        resolve_fewshot(spec_of(), num_fewshot=-1)


def test_the_seed_decides() -> None:
    assert row_numbers(resolved(spec_of(num_fewshot=2), seed=7)) == row_numbers(
        resolved(spec_of(num_fewshot=2), seed=7)
    )
    assert row_numbers(resolved(spec_of(num_fewshot=2), seed=7)) != [93, 92]


def test_evaluated_rows_as_examples_are_said_aloud_or_refused() -> None:
    fewshot = resolved(spec_of(num_fewshot=2))
    assert (fewshot.source, fewshot.overlapping) == ("overlapping_rows", True)
    assert "taken from rows that are evaluated too" in fewshot.warnings[0]
    assert "fewshot_dataset=" in fewshot.warnings[0]
    with pytest.raises(BenchmarkError, match="evaluated too; give the examples a source of their own"):
        resolve_fewshot(spec_of(num_fewshot=2), strict=True)
    assert resolved(spec_of(num_fewshot=2), limit=90, strict=True).source == "outside_rows"


def test_too_few_rows_outside_fall_back_rather_than_change_the_number() -> None:
    fewshot = resolved(spec_of(num_fewshot=5), limit=97)
    assert (fewshot.source, fewshot.overlapping) == ("overlapping_rows", True)
    assert len(fewshot.examples) == 5
    assert row_numbers(fewshot)[:3] == [97, 98, 99]


@pytest.mark.parametrize(("limit", "outside"), [(97, [97, 98, 99]), (98, [98, 99]), (99, [99]), (100, [])])
def test_rows_outside_come_first_however_few_they_are(limit: int, outside: list[int]) -> None:
    fewshot = resolved(spec_of(num_fewshot=3), limit=limit)
    numbers = row_numbers(fewshot)
    assert numbers[: len(outside)] == outside
    assert len(set(numbers)) == 3
    assert all(88 <= number < limit for number in numbers[len(outside) :])
    assert fewshot.overlapping == (len(outside) < 3)
    assert any("evaluated too" in text for text in fewshot.warnings) == fewshot.overlapping


def test_the_row_under_test_is_replaced_by_a_spare() -> None:
    spec = spec_of(num_fewshot=2)
    fewshot = resolved(spec)
    prompts = build_prompts(spec, fewshot)
    assert prompts.build(HUNDRED[93]).text == (
        "Q: question 94\nA: answer 94\n\nQ: question 92\nA: answer 92\n\nQ: question 93\nA:"
    )
    assert prompts.build(HUNDRED[92]).text.count("question 92") == 1


def test_copies_of_the_row_under_test_count_as_itself() -> None:
    rows: Rows = [{"q": "same", "a": 1}] * 4 + [{"q": "other", "a": 2}]
    spec = spec_of(rows, num_fewshot=2, prompt="{q}:")
    prompts = build_prompts(spec, resolved(spec))
    assert prompts.build(rows[0]).text == "other: 2\n\nsame:"
    assert prompts.build(rows[4]).text == "same: 1\n\nsame: 1\n\nother:"


@given(st.lists(st.integers(0, 6), min_size=1, max_size=12), st.integers(1, 5), st.integers(0, 3))
def test_no_row_ever_sees_itself(values: list[int], count: int, seed: int) -> None:
    rows: Rows = [{"q": f"<{value}>", "a": f"[{value}]"} for value in values]
    spec = spec_of(rows, num_fewshot=count, prompt="{q}")
    prompts = build_prompts(spec, resolved(spec, seed=seed))
    for row in rows:
        text = prompts.build(row).text
        assert text.endswith(row["q"])
        assert text.count(row["q"]) == 1
        assert row["a"] not in text


ROW = {"q": "Where does the caf\u00e9 stand?", "a": "IN PARIS"}


@pytest.mark.parametrize(
    "copy",
    [
        "Where does the caf\u00e9 stand? ",
        "  Where  does\tthe caf\u00e9\nstand?",
        "WHERE DOES THE CAF\u00c9 STAND?",
        "Where does the cafe\u0301 stand?",
        "Where does the caf\u00e9\u00a0stand?",
    ],
)
def test_a_copy_that_only_looks_different_is_the_row_itself(copy: str) -> None:
    pool: Rows = [{"id": 7, "q": copy, "a": "in Paris"}, {"q": "Which city?", "a": "Rome"}]
    spec = spec_of([ROW], num_fewshot=1, fewshot_dataset=[pool[0]])
    assert build_prompts(spec, resolved(spec)).build(ROW).text == f"Q: {ROW['q']}\nA:"
    spec = spec_of([ROW], num_fewshot=2, fewshot_dataset=pool)
    assert (
        build_prompts(spec, resolved(spec)).build(ROW).text.startswith("Q: Which city?\nA: Rome\n\nQ: Where")
    )


def test_a_long_prompt_is_told_from_its_neighbours_to_the_last_word() -> None:
    rows: Rows = [{"q": "the same words " * 40 + f"end {i}", "a": f"<{i}>"} for i in range(12)]
    spec = spec_of(rows, num_fewshot=3)
    prompts = build_prompts(spec, resolved(spec))
    for row in rows:
        text = prompts.build({"q": row["q"].upper() + " "}).text
        assert row["a"] not in text
        assert text.count("<") == 3


def test_short_questions_are_not_taken_for_longer_ones() -> None:
    rows: Rows = [{"q": f"q{i}", "a": f"a{i}"} for i in (1, 10, 100)]
    for template in (None, "<{q}> {a}"):
        spec = spec_of(rows, num_fewshot=3, prompt="{q}", fewshot_template=template, fewshot_dataset=rows[1:])
        prompts = build_prompts(spec, resolved(spec))
        assert prompts.build(rows[0]).text.count("a1") == 2
        assert prompts.build(rows[1]).text.count("a10") == 1
    foreign = [{"frage": row["q"], "antwort": row["a"]} for row in rows]
    spec = spec_of(
        rows, num_fewshot=3, prompt="{q}", fewshot_template="<{frage}> {antwort}", fewshot_dataset=foreign
    )
    # Other names and a short question: what stands in the examples by chance is left alone.
    assert build_prompts(spec, resolved(spec)).build({"q": "q"}).text.count("<") == 3


def test_a_question_under_another_name_is_recognised_by_its_words() -> None:
    rows: Rows = [{"q": f"How many are {i} and {i}?", "a": f"[{2 * i}]"} for i in range(5)]
    pool = [{"frage": row["q"].replace(" ", "  ") + " ", "antwort": row["a"]} for row in rows]
    spec = spec_of(
        rows, num_fewshot=2, fewshot_template="F: {frage}\nA: {antwort}", fewshot_dataset=pool, prompt="{q}\n"
    )
    fewshot = resolved(spec)
    assert all(example.prompt is None for example in fewshot.examples)
    prompts = build_prompts(spec, fewshot)
    for row in rows:
        text = prompts.build(row).text
        assert row["a"] not in text
        assert text.count("F: ") == 2


def test_every_text_that_the_prompt_shows_must_be_in_the_example() -> None:
    pool: Rows = [{"t": "Translate this sentence:", "s": "Guten Tag", "e": "good day"}]
    spec = spec_of(
        [], num_fewshot=1, prompt="{task} {s}", fewshot_template="{t} {s} {e}", fewshot_dataset=pool
    )
    prompts = build_prompts(spec, resolved(spec))
    task = "Translate this sentence:"
    assert prompts.build({"task": task, "s": "Gute Nacht"}).text.startswith(
        "Translate this sentence: Guten Tag"
    )
    assert prompts.build({"task": task, "s": "Guten Tag"}).text == "Translate this sentence: Guten Tag"
    # Nested values count where there is no text beside them; what is only tested for does not.
    nested = replace(spec, prompt="{m[q]}")
    asked = {"m": {"q": "Translate this sentence: guten tag"}}
    assert build_prompts(nested, resolved(nested)).build(asked).text == "Translate this sentence: guten tag"
    tested = replace(
        spec, prompt="{% if lang %}{{ task }} {{ s2 }}{% endif %}", fewshot_template="{{ t }} {{ s }} {{ e }}"
    )
    row = {"lang": "de", "task": task, "s2": "Guten Tag"}
    assert build_prompts(tested, resolved(tested)).build(row).text == "Translate this sentence: Guten Tag"


def test_an_own_source_with_evaluated_rows_is_noticed_and_told(tmp_path: Path) -> None:
    write_rows(tmp_path / "pool.jsonl", [{"q": f"{row['q']} ", "a": row["a"]} for row in HUNDRED[:3]])
    spec = spec_of(num_fewshot=3, fewshot_dataset="pool.jsonl", base_dir=tmp_path)
    fewshot = resolved(spec)
    scan = scan_rows(spec, open_dataset(HUNDRED), build_prompts(spec, fewshot))
    assert scan.own_examples == 3
    told = fewshot_problem(fewshot, scan)
    assert told is not None
    assert told.startswith("3 evaluated rows are also among the few-shot examples. No row sees itself, but")
    assert told.endswith("not every row is shown 3 examples: 2.97 on average, at least 2, since rows that are "
                         "examples are left out and there are too few others")  # fmt: skip
    assert told in CheckReport.of(spec).warnings
    strict = CheckReport.of(spec, RowSettings(fewshot_strict=True))
    assert told in strict.errors
    assert told not in strict.warnings
    assert fewshot_problem(None, scan) is None
    # Of a pool that is known to overlap, only how many examples rows are shown is news.
    known = fewshot_problem(replace(fewshot, overlapping=True), scan)
    assert known is not None
    assert known.startswith("not every row is shown 3 examples")
    beyond = scan_rows(spec, open_dataset(HUNDRED[3:]), build_prompts(spec, fewshot))
    assert beyond.own_examples == 0
    assert fewshot_problem(fewshot, beyond) is None


def test_examples_that_are_copies_of_one_another_are_told_and_refused_by_strict() -> None:
    pool: Rows = [{"q": "Nine by nine?", "a": "81"}] * 4
    spec = spec_of(HUNDRED, num_fewshot=3, fewshot_dataset=pool)
    told = "1 of the 3 few-shot examples are different, the others copies of these"
    assert any(told in warning for warning in CheckReport.of(spec).warnings)
    assert any(told in error for error in CheckReport.of(spec, RowSettings(fewshot_strict=True)).errors)


def test_filters_hold_for_the_dataset_and_its_splits_but_not_for_another_dataset() -> None:
    rows: Rows = [{**row, "lang": "hi" if i % 2 else "en"} for i, row in enumerate(HUNDRED)]
    spec = spec_of(rows, num_fewshot=4, filters=(Filter("lang", "hi"),))
    assert all(number % 2 for number in row_numbers(resolved(spec)))
    few = resolved(spec, limit=48)
    assert row_numbers(few)[:2] == [97, 99]
    assert few.overlapping
    own = replace(spec, fewshot_dataset=rows[:4:2])
    assert row_numbers(resolved(own)) == [0, 2]


def test_shortages_are_told() -> None:
    fewshot = resolved(spec_of(HUNDRED[:3], num_fewshot=5))
    assert row_numbers(fewshot) == [0, 1, 2]
    assert "5 examples were requested, 3 could be found" in fewshot.warnings


def test_rows_that_lack_a_field_are_replaced_and_told() -> None:
    rows = [dict(row) for row in HUNDRED]
    del rows[93]["a"]
    rows[95] = {"q": "no answer", "a": None}
    fewshot = resolved(spec_of(rows, num_fewshot=2))
    assert row_numbers(fewshot) == [94, 92]
    assert "2 rows lack a field that examples need" in fewshot.warnings


def test_no_usable_example_gives_no_block_and_no_prefix() -> None:
    for rows in ([], [{"q": "x"}, {"q": "y"}]):
        spec = spec_of(rows, num_fewshot=2, fewshot_prefix="Examples:")
        assert resolved(spec).examples == ()
        assert build_prompts(spec, resolved(spec)).build({"q": "x"}).text == "Q: x\nA:"


def test_a_source_of_its_own_is_taken_from_the_benchmark_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: Rows = [{"question": f"pool {i}", "a": i} for i in range(50)]
    write_rows(tmp_path / "pool.jsonl", rows)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    spec = spec_of(
        num_fewshot=2, fewshot_dataset="pool.jsonl", base_dir=tmp_path, field_mapping={"question": "q"}
    )
    fewshot = resolved(spec)
    assert (fewshot.source, fewshot.overlapping, fewshot.warnings) == ("fewshot_dataset", False, ())
    # Of the first max(4n, 16) rows.
    assert row_numbers(fewshot) == [3, 0]
    assert len(fewshot.examples) + len(fewshot.spares) == 16


def test_rows_of_an_own_source_are_recognised_too(tmp_path: Path) -> None:
    write_rows(tmp_path / "pool.jsonl", HUNDRED[:3])
    spec = spec_of(num_fewshot=2, fewshot_dataset="pool.jsonl", base_dir=tmp_path)
    fewshot = resolved(spec)
    prompts = build_prompts(spec, fewshot)
    for row in HUNDRED[:3]:
        assert prompts.build(row).text.count(row["q"]) == 1
        assert row["a"] not in prompts.build(row).text


def test_an_own_source_that_is_the_dataset_itself_is_no_own_source(tmp_path: Path) -> None:
    write_rows(tmp_path / "d.jsonl", HUNDRED)
    spec = spec_of("d.jsonl", num_fewshot=2, fewshot_dataset="./d.jsonl", base_dir=tmp_path)
    fewshot = resolved(spec)
    assert fewshot.overlapping
    assert "reads the very rows that are evaluated" in fewshot.warnings[0]
    with pytest.raises(BenchmarkError, match="very rows that are evaluated"):
        resolve_fewshot(spec, strict=True)


def test_a_source_that_fails_is_marked_and_told(tmp_path: Path) -> None:
    spec = spec_of(num_fewshot=2, fewshot_dataset="lost.jsonl", base_dir=tmp_path)
    fewshot = resolved(spec)
    assert (fewshot.source, fewshot.failed_sources) == ("overlapping_rows", ("fewshot_dataset",))
    assert any(text.startswith("fewshot_dataset cannot be used: ") for text in fewshot.warnings)
    with pytest.raises(BenchmarkError, match="fewshot_dataset cannot be used"):
        resolve_fewshot(spec, strict=True)
    (tmp_path / "empty.jsonl").write_text("")
    empty = resolved(replace(spec, fewshot_dataset="empty.jsonl"))
    assert "fewshot_dataset has no rows" in empty.warnings


def test_a_split_of_a_local_file_is_ignored_with_a_word() -> None:
    fewshot = resolved(spec_of(num_fewshot=2, fewshot_split="dev"))
    assert "fewshot_split is ignored: only hf:// datasets have splits" in fewshot.warnings


@dataclass
class Found:
    path: Path
    format: str = "jsonl"


class Hub:
    """A stand-in for the hub: any hf:// URI is a file named in a table."""

    def __init__(self, files: dict[str, Path]) -> None:
        self.files = files
        self.asked: list[str] = []

    def supports(self, uri: str) -> bool:
        return uri.startswith("hf://fewshot-test/")

    def fetch(self, uri: str, cache_dir: Path | None = None) -> Found:
        self.asked.append(uri)
        split = uri.partition("split=")[2].partition("&")[0]
        return Found(self.files[split])


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    files = {"test": tmp_path / "test.jsonl", "dev": tmp_path / "dev.jsonl"}
    write_rows(files["test"], HUNDRED)
    write_rows(files["dev"], [{"q": f"dev {i}", "a": i} for i in range(20)])
    stand_in = Hub(files)
    register_fetcher(stand_in)
    yield stand_in
    stand_in.supports = lambda uri: False  # type: ignore[method-assign]


def test_a_split_keeps_all_other_options_of_the_uri(hub: Hub) -> None:
    uri = "hf://fewshot-test/d/cfg?split=test&filter_field=lang&filter_value=hi&trust_remote_code=true&revision=abc"
    fewshot = resolved(spec_of(uri, num_fewshot=2, fewshot_split="dev"))
    assert (fewshot.source, fewshot.overlapping) == ("fewshot_split", False)
    asked = next(uri for uri in hub.asked if "split=dev" in uri)
    for part in (
        "config=cfg",
        "filter_field=lang",
        "filter_value=hi",
        "trust_remote_code=true",
        "revision=abc",
    ):
        assert part in asked
    assert "split=test" not in asked


@pytest.mark.parametrize(
    ("query", "split"), [("split=test&data_files=a.json", "dev"), ("split=test", "test")]
)
def test_a_split_that_reads_the_same_rows_is_overlapping(hub: Hub, query: str, split: str) -> None:
    fewshot = resolved(spec_of(f"hf://fewshot-test/d?{query}", num_fewshot=2, fewshot_split=split))
    assert fewshot.source == "fewshot_split"
    assert fewshot.overlapping


def test_filters_hold_for_another_split(hub: Hub) -> None:
    rows: Rows = [{"q": f"dev {i}", "a": i, "lang": "hi" if i % 2 else "en"} for i in range(20)]
    write_rows(hub.files["dev"], rows)
    uri = "hf://fewshot-test/d?split=test"
    fewshot = resolved(spec_of(uri, num_fewshot=2, fewshot_split="dev", filters=(Filter("lang", "hi"),)))
    assert fewshot.source == "fewshot_split"
    assert all(number % 2 for number in row_numbers(fewshot))


def test_a_split_that_fails_falls_on_with_a_word(hub: Hub) -> None:
    fewshot = resolved(spec_of("hf://fewshot-test/d?split=test", num_fewshot=2, fewshot_split="nope"))
    assert (fewshot.source, fewshot.failed_sources) == ("overlapping_rows", ("fewshot_split",))
    assert any("fewshot_split cannot be used" in text for text in fewshot.warnings)


def test_a_row_recognises_its_question_under_another_id(tmp_path: Path) -> None:
    rows = [
        {"id": n, "question": f"How many apples does Mary number {n} have?", "answer": f"a{n}"}
        for n in range(12)
    ]
    copies = [{**row, "id": 1000 + row["id"]} for row in rows]

    @benchmark(
        name="ids",
        dataset=rows,
        prompt="[{id}] Q: {question}\nA:",
        target_field="answer",
        num_fewshot=3,
        fewshot_dataset=copies,
    )
    @scorer
    def check(sample: ScorerInput) -> dict[str, bool]:
        return {"correct": True}

    spec = check._benchmark  # type: ignore[attr-defined]
    prompts = build_prompts(spec, resolve_fewshot(spec))
    for row in rows:
        text = prompts.build(row).text
        assert text.count("Q: ") == 4
        assert text.count(f"{row['question']}") == 1, "its own question stands there once: as the question"
        assert f"A: {row['answer']}\n" not in text


@pytest.mark.parametrize("prompt", ["What is {id} squared?", "{task} Error {error_id}:", "{task}: {user_id}"])
def test_ids_that_make_the_question_tell_rows_apart(prompt: str) -> None:
    """Without its id each row would ask the same, and every example would pass for the row under test."""

    def row(n: int) -> dict[str, Any]:
        return {"id": n, "error_id": f"E{n}", "user_id": n, "task": "What does this mean?", "a": f"a{n % 2}"}

    spec = spec_of(
        [row(n) for n in range(20)],
        prompt=prompt,
        num_fewshot=3,
        fewshot_dataset=[row(n) for n in range(50, 53)],
    )
    fewshot = resolved(spec, strict=True)
    scan = scan_rows(spec, open_dataset([row(n) for n in range(20)]), build_prompts(spec, fewshot))
    assert (scan.fewest_examples, scan.examples_shown, scan.own_examples) == (3, 60, 0)
    assert strict_problem(fewshot, scan) is None


@pytest.mark.parametrize(
    ("copy", "same"),
    [
        ("What is the capital of France", True),
        ("what is the capital of 'France' ?", True),
        ("What is the capital of “France”?!", True),
        ("What is the capital of Francesco?", False),
        ("Which is the capital of France?", False),
    ],
)
def test_near_copies_are_the_same_row(copy: str, same: bool) -> None:
    spec = spec_of(
        [{"q": "What is the capital of France?", "a": "Paris"}],
        num_fewshot=1,
        fewshot_dataset=[{"q": copy, "a": "Paris"}],
    )
    shown = build_prompts(spec, resolved(spec)).build({"q": "What is the capital of France?"}).examples
    assert shown == (0 if same else 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5! - 3", "5 - 3"),
        ("3.5 + 1", "35 + 1"),
        ("2 + 3", "2 - 3"),
        ("1:2", "12"),
        ("a < b", "a > b"),
        ("C++?", "C?"),
    ],
)
def test_marks_that_make_another_question_count(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


def test_options_in_another_order_are_the_same_row() -> None:
    first = "Which is red?\nA. blood\nB. grass\nC. sky"
    turned = "Which is red?\nA) sky\nB) blood\nC) grass"
    other = "Which is red?\nA. blood\nB. grass\nC. sun"
    spec = spec_of(
        [{"q": first, "a": "A"}],
        num_fewshot=2,
        fewshot_dataset=[{"q": turned, "a": "B"}, {"q": other, "a": "A"}],
    )
    prompt = build_prompts(spec, resolved(spec)).build({"q": first})
    assert prompt.examples == 1
    assert "sky\nB) blood" not in prompt.text


@given(st.text(max_size=60), st.sampled_from(["", " ", "\n", "?", "!", ".", '"', "’"]))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_near_copy_is_passed_over_by_the_quick_look(text: str, mark: str) -> None:
    """What the close look takes for the same row, the quick one before it must not rule out."""
    copy = f"{mark}{text.swapcase()}{mark}".replace(" ", "  ")
    example = Example("x", text)
    guard = SelfExampleGuard(compile_template("{q}"), [example], [], lambda row: "")
    if guard.test_for(copy, {"q": copy})(example):
        assert guard.among_examples(copy, {"q": copy})


def test_a_copy_of_the_evaluated_file_is_no_clean_pool(tmp_path: Path) -> None:
    for name in ("data.jsonl", "copy.jsonl"):
        write_rows(tmp_path / name, HUNDRED)
    spec = spec_of("data.jsonl", num_fewshot=2, fewshot_dataset="copy.jsonl", base_dir=tmp_path)
    assert resolved(spec).overlapping
    with pytest.raises(BenchmarkError, match="reads the very rows that are evaluated"):
        resolve_fewshot(spec, strict=True)


@given(
    total=st.integers(4, 60),
    count=st.integers(1, 4),
    start=st.integers(0, 60),
    stop=st.integers(0, 60),
    written=st.sampled_from(["[{start}:{stop}]", "[::{step}]", "{start}", "0.5", None]),
    limit=st.none() | st.integers(1, 60),
    own_source=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_no_evaluated_row_is_an_example_while_others_are_free(
    total: int, count: int, start: int, stop: int, written: str | None, limit: int | None, own_source: bool
) -> None:
    """Whatever decides the evaluated rows: a limit, a range, a share, or several of them."""
    rows = HUNDRED[:total]
    sampling = None
    if written is not None:
        text = written.format(start=max(1, start), stop=stop, step=2 + start % 3)
        sampling = Sampling(rows=RowRange.parse(text))
    spec = spec_of(rows, num_fewshot=count, sampling=sampling, fewshot_dataset=rows if own_source else None)
    reader = open_dataset(rows, sampling=sampling, limit=limit)
    evaluated = {int(row["q"].split()[1]) for batch in reader.batches() for row in batch.rows}
    fewshot = resolved(spec, limit=limit)
    shown = set(row_numbers(fewshot))
    free = total - len(evaluated)
    assert fewshot.overlapping == (free < count)
    assert bool(fewshot.warnings) == (free < count)
    if free >= count:
        assert shown.isdisjoint(evaluated)
    elif not own_source:
        assert len(shown - evaluated) == min(free, count)

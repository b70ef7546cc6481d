"""Loading: what users type becomes benchmarks, and what is wrong with their file is said with file and line."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchwright.benchmarks import BENCHMARK_PLUGINS, load_benchmarks
from benchwright.core import BenchmarkError, NotFoundError

HEADER = "from benchwright import benchmark, scorer\n"


def one(name: str, prompt: str = "{q}") -> str:
    return f"@benchmark(name={name!r}, dataset='d.jsonl', prompt={prompt!r})\n@scorer\ndef check(sample): return {{}}\n"


@pytest.fixture(autouse=True)
def _clean_imports() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if not name.startswith("benchwright"):
            del sys.modules[name]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def keys(target: str, cwd: Path) -> list[str]:
    return [spec.key for spec in load_benchmarks(target, cwd=cwd)]


def test_a_file_gives_its_benchmarks_in_order_even_under_one_function_name(tmp_path: Path) -> None:
    write(tmp_path / "bench.py", HEADER + one("Second") + one("First"))
    assert keys("bench.py", tmp_path) == ["second", "first"]
    assert keys(str(tmp_path / "bench.py"), Path("/")) == ["second", "first"]
    assert keys("bench.py:First", tmp_path) == ["first"]


def test_every_load_runs_the_file_anew(tmp_path: Path) -> None:
    path = write(tmp_path / "bench.py", HEADER + one("a"))
    assert keys("bench.py", tmp_path) == ["a"]
    write(path, HEADER + one("b"))
    assert keys("bench.py", tmp_path) == ["b"]


def test_no_byte_code_is_left_beside_the_file(tmp_path: Path) -> None:
    write(tmp_path / "bench.py", HEADER + one("a"))
    load_benchmarks("bench.py", cwd=tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["bench.py"]


def test_paths_start_at_the_file_wherever_it_is_called_from(tmp_path: Path) -> None:
    write(tmp_path / "sub" / "bench.py", HEADER + one("a"))
    (spec,) = load_benchmarks("sub/bench.py", cwd=tmp_path)
    assert spec.base_dir == (tmp_path / "sub").resolve()
    assert spec.line == 2


def test_functions_can_be_pickled_under_the_file_name(tmp_path: Path) -> None:
    write(tmp_path / "my_own_bench.py", HEADER + one("a"))
    (spec,) = load_benchmarks("my_own_bench.py", cwd=tmp_path)
    assert spec.scorer.__module__ == "my_own_bench"
    assert pickle.loads(pickle.dumps(spec.scorer)) is spec.scorer


def test_two_files_of_the_same_name_do_not_collide(tmp_path: Path) -> None:
    for folder in "ab":
        write(
            tmp_path / folder / "same.py",
            HEADER + "import helper\n" + one(folder, "{q}") + "WHO = helper.WHO\n",
        )
        write(tmp_path / folder / "helper.py", f"WHO = {folder!r}\n")
    (a,) = load_benchmarks("a/same.py", cwd=tmp_path)
    (b,) = load_benchmarks("b/same.py", cwd=tmp_path)
    assert a.scorer.__globals__["WHO"] == "a"  # type: ignore[attr-defined]
    assert b.scorer.__globals__["WHO"] == "b"  # type: ignore[attr-defined]
    assert a.scorer.__module__ != b.scorer.__module__
    assert pickle.loads(pickle.dumps(a.scorer)) is a.scorer
    assert pickle.loads(pickle.dumps(b.scorer)) is b.scorer


def test_names_of_the_standard_library_and_odd_names_are_no_trouble(tmp_path: Path) -> None:
    for name in ("random.py", "my-bench 2.py"):
        write(tmp_path / name, HEADER + one("a"))
        assert keys(name, tmp_path) == ["a"]
    import random

    assert hasattr(random, "Random")


def test_neighbours_are_found_during_import_and_inside_scorers(tmp_path: Path) -> None:
    write(tmp_path / "helper_one.py", "VALUE = 1\n")
    write(tmp_path / "helper_two.py", "VALUE = 2\n")
    write(
        tmp_path / "bench.py",
        HEADER + "from helper_one import VALUE\n"
        "@benchmark(name='n', dataset='d', prompt='p')\n"
        "def check(sample):\n    import helper_two\n    return {'v': VALUE + helper_two.VALUE}\n",
    )
    (spec,) = load_benchmarks("bench.py", cwd=tmp_path)
    assert spec.scorer(None) == {"v": 3}
    assert sys.path[0] != str(tmp_path)


def test_an_edited_neighbour_is_read_again(tmp_path: Path) -> None:
    write(tmp_path / "helper.py", "NAME = 'old'\n")
    write(tmp_path / "bench.py", HEADER + "from helper import NAME\n" + one("x").replace("'x'", "NAME"))
    assert keys("bench.py", tmp_path) == ["old"]
    write(tmp_path / "helper.py", "NAME = 'newer'\n")
    assert keys("bench.py", tmp_path) == ["newer"]


def test_a_file_may_gather_the_benchmarks_of_its_neighbours(tmp_path: Path) -> None:
    write(tmp_path / "left.py", HEADER + one("l"))
    write(tmp_path / "right.py", HEADER + one("r"))
    write(tmp_path / "all_of_them.py", "import left\nfrom right import check\n")
    for _ in range(2):
        assert sorted(keys("all_of_them.py", tmp_path)) == ["l", "r"]
    write(tmp_path / "twins.py", HEADER + "import left\n" + one("l"))
    with pytest.raises(BenchmarkError, match="two benchmarks named l"):
        load_benchmarks("twins.py", cwd=tmp_path)


def test_modules_and_packages_are_loaded_by_dotted_name(tmp_path: Path) -> None:
    write(tmp_path / "benchpack" / "__init__.py", "from benchpack import part\n")
    write(tmp_path / "benchpack" / "part.py", HEADER + one("p1") + one("p2"))
    for _ in range(2):
        assert keys("benchpack.part", tmp_path) == ["p1", "p2"]
        assert keys("benchpack", tmp_path) == ["p1", "p2"]
        assert keys("benchpack.part:p2", tmp_path) == ["p2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = (\n", r"^bench\.py:1: '\(' was never closed: x = \($"),
        ("\nimport not_installed_thing\n", r"^bench\.py:2: ModuleNotFoundError: .*pip install not_installed_thing"),
        ("from nemo_evaluator.contrib.byob import scorer\n", r"^bench\.py:1: .*change the import line to `from benchwright"),
        ("from benchwright import tool_calls_match\n", r"^bench\.py:1: .*; write `from benchwright\.scorers import tool_calls_match`$"),
        ("from benchwright import check_ast\n", r"^bench\.py:1: .*; write `from benchwright\.bfcl import check_ast`$"),
        ("from benchwright.scorers import benchmark\n", r"^bench\.py:1: .*; write `from benchwright import benchmark`$"),
        ("from benchwright import exact_matsch\n", r"^bench\.py:1: .*Did you mean 'exact_match'\?"),
        ("def f():\n    return 1 / 0\n\nf()\n", r"^bench\.py:2: ZeroDivisionError: division by zero$"),
        ("raise SystemExit(3)\n", r"^bench\.py:1: SystemExit: 3; guard what ends the program"),
        (HEADER + one("a") + one("A"), r"^bench\.py:5: benchmark 'A' has the same normalised name \(a\) as 'a' in line 2"),
        (HEADER + "@scorer\ndef f(a, b, c): ...\n", r"^bench\.py:2: scorer 'f' has 3 required parameters"),
        (HEADER + "benchmark(name='x')\n", r"^bench\.py:2: TypeError: .*'dataset' and 'prompt'"),
        ("x = 1\n", r"^bench\.py defines no benchmark; decorate a scorer"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said_with_file_and_line(
    tmp_path: Path, text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "bench", raising=False)  # whatever test loaded one before
    write(tmp_path / "bench.py", text)
    with pytest.raises(BenchmarkError, match=said):
        load_benchmarks("bench.py", cwd=tmp_path)
    assert "bench" not in sys.modules or "defines no" in said


def test_errors_in_a_neighbour_are_placed_there(tmp_path: Path) -> None:
    write(tmp_path / "helper.py", "\n\nboom\n")
    write(tmp_path / "bench.py", "import helper\n")
    with pytest.raises(BenchmarkError, match=r"^helper\.py:3: NameError"):
        load_benchmarks("bench.py", cwd=tmp_path)
    write(tmp_path / "pack" / "__init__.py", "import module_nowhere\n")
    with pytest.raises(BenchmarkError, match=r"pack/__init__\.py:1: ModuleNotFoundError"):
        load_benchmarks("pack.part", cwd=tmp_path)


def test_a_failed_load_can_be_repeated_after_the_cure(tmp_path: Path) -> None:
    write(tmp_path / "bench.py", HEADER + one("a") + "boom\n")
    with pytest.raises(BenchmarkError):
        load_benchmarks("bench.py", cwd=tmp_path)
    write(tmp_path / "bench.py", HEADER + one("a"))
    assert keys("bench.py", tmp_path) == ["a"]


def test_what_is_not_there_gets_near_names(tmp_path: Path) -> None:
    write(tmp_path / "bench.py", HEADER + one("capitals") + one("rivers"))
    with pytest.raises(NotFoundError, match=r"'bench\.cvs'\. Did you mean 'bench\.py'\?"):
        load_benchmarks("bench.cvs", cwd=tmp_path)
    with pytest.raises(NotFoundError, match=r"no file bnech\.py\. Did you mean 'bench\.py'"):
        load_benchmarks("bnech.py", cwd=tmp_path)
    with pytest.raises(NotFoundError) as caught:
        load_benchmarks("bench.py:captials", cwd=tmp_path)
    assert str(caught.value) == (
        "bench.py has no benchmark named 'captials'. Did you mean bench.py:capitals? It has: capitals, rivers"
    )
    with pytest.raises(
        NotFoundError,
        match=r"no file, configured name, module or installed benchmark .bensh.\. Did you mean .bench.",
    ):
        load_benchmarks("bensh", cwd=tmp_path)
    write(
        tmp_path / "aside.py",
        "raise SystemExit('run, although nobody named it')\nbenchmark(name='My Lakes!')\n",
    )
    write(tmp_path / "broken.py", "def (")
    for name in ("my_lakes", "my-lakes", "byob_my_lakes.my_lakes"):
        with pytest.raises(NotFoundError, match=r"Did you mean 'aside\.py:my_lakes'\?"):
            load_benchmarks(name, cwd=tmp_path)
    with pytest.raises(NotFoundError, match="is a folder"):
        load_benchmarks(".", cwd=tmp_path)
    with pytest.raises(NotFoundError, match="no benchmark after the colon"):
        load_benchmarks("bench.py:", cwd=tmp_path)
    write(tmp_path / "data.csv", "a,b\n")
    with pytest.raises(BenchmarkError, match="not a Python file"):
        load_benchmarks("data.csv", cwd=tmp_path)


def install(site: Path, package: str, entries: str) -> None:
    write(
        site / f"{package}-1.0.dist-info" / "METADATA",
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n",
    )
    write(site / f"{package}-1.0.dist-info" / "entry_points.txt", f"[benchwright.benchmarks]\n{entries}\n")


def test_installed_benchmarks_are_found_and_broken_ones_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    write(site / "packed_bench.py", HEADER + one("p1") + one("p2"))
    write(site / "empty_bench.py", "x = 1\n")
    install(site, "good_pack", "packed = packed_bench\nsingle = packed_bench:check")
    install(site, "bad_pack", "lost = not_there_at_all\nvoid = empty_bench")
    monkeypatch.syspath_prepend(str(site))
    found = {item.entry.name: item for item in BENCHMARK_PLUGINS.installed()}
    assert [spec.key for spec in found["packed"].value or ()] == ["p1", "p2"]
    assert [spec.key for spec in found["single"].value or ()] == ["p2"]
    assert (found["packed"].entry.package, found["packed"].entry.version) == ("good_pack", "1.0")
    assert "'lost' of bad_pack 1.0" in (found["lost"].problem or "")
    assert "defines no benchmark" in (found["void"].problem or "")

    assert keys("packed", tmp_path) == ["p1", "p2"]
    assert keys("packed_bench:p1", tmp_path) == ["p1"]
    with pytest.raises(BenchmarkError, match="'lost' of bad_pack"):
        load_benchmarks("lost", cwd=tmp_path)
    with pytest.raises(
        NotFoundError, match=r"Did you mean 'packed'.*Names known here: lost, packed, single, void"
    ):
        load_benchmarks("paked", cwd=tmp_path)


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("questions.numbers", "save the sheet as CSV"),
        ("questions.txt", r"files of questions end in .*\.csv, \.tsv"),
    ],
)
def test_other_files_are_refused_with_what_to_bring_instead(tmp_path: Path, name: str, cure: str) -> None:
    write(tmp_path / name, "question,answer\n1+1,2\n")
    with pytest.raises(BenchmarkError, match=cure):
        load_benchmarks(name, cwd=tmp_path)

"""Whatever of its files a scorer uses: if it changes between two runs, `compare` says so and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import warm
from benchwright.cli import main

HEAD = """
import importlib, importlib.util, json, os, sys
from pathlib import Path
from benchwright import ScorerInput, benchmark, scorer
{before}
@benchmark(name="rows", dataset="rows.jsonl", prompt="{{q}}")
@scorer
def rows(sample: ScorerInput) -> dict:
    {inside}
    return {{"correct": used in sample.response}}
"""
USES: dict[str, tuple[str, str, str]] = {
    "import_module": ('helpers = importlib.import_module("helpers")', "used = helpers.WORD", "helpers.py"),
    "import_module later": ("", 'used = importlib.import_module("helpers").WORD', "helpers.py"),
    "a computed name": ('helpers = importlib.import_module("hel" + "pers")', "used = helpers.WORD", "helpers.py"),
    "__import__": ("", 'used = __import__("helpers").WORD', "helpers.py"),
    "a folder up": (
        "sys.path.insert(0, str(Path(__file__).parent.parent))\nimport shared", "used = shared.WORD", "../shared.py",
    ),
    "a folder up, later": (
        "sys.path.insert(0, str(Path(__file__).parent.parent))", "import shared; used = shared.WORD", "../shared.py",
    ),
    "by its file": (
        'spec = importlib.util.spec_from_file_location("other", Path(__file__).with_name("other_code.py"))\n'
        "other = importlib.util.module_from_spec(spec); spec.loader.exec_module(other)",
        "used = other.WORD", "other_code.py",
    ),
    "a folder up, run": (
        'import runpy\nshared = runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "code", "run.py"))',
        'used = shared["WORD"]', "../code/run.py",
    ),
    "a folder up, executed": (
        'exec((Path(__file__).parents[1] / "code" / "run.py").read_text())', "used = WORD", "../code/run.py",
    ),
    "a folder up, by its file": (
        'spec = importlib.util.spec_from_file_location("other", Path(__file__).parents[1] / "code" / "run.py")\n'
        "other = importlib.util.module_from_spec(spec); spec.loader.exec_module(other)",
        "used = other.WORD", "../code/run.py",
    ),
    "a file read at import": ('WORD = Path(__file__).with_name("words.txt").read_text()', "used = WORD", "words.txt"),
    "a file opened at import": ("WORD = open('words.txt').read()", "used = WORD", "words.txt"),
    "a computed file at import": ("WORD = (Path(__file__).parent / ('wor' + 'ds.txt')).read_text()", "used = WORD", "words.txt"),
    "all files of a folder": (
        "WORDS = [each.read_text() for each in sorted(Path(__file__).parent.glob('lists/*'))]", "used = WORDS[0]", "lists/a.txt",
    ),
    "a file read while scoring": ("", 'used = Path(__file__).with_name("words.txt").read_text()', "words.txt"),
    "a file in a folder, while scoring": (
        'LISTS = Path(__file__).parent / "lists"', 'used = (LISTS / "a.txt").read_text()', "lists/a.txt",
    ),
    "a file of a folder up": ("", 'used = open(Path(__file__).parent.parent / "above.json").read()', "../above.json"),
    "a computed file while scoring": ("", 'used = open("wor" + "ds" + chr(46) + "txt").read()', "words.txt"),
    "a file by its descriptor": (
        "", 'used = os.fdopen(os.open("wor" + "ds" + chr(46) + "txt", os.O_RDONLY)).read()', "words.txt",
    ),
    "a computed file that a library reads": (
        "import fileinput", 'used = "".join(fileinput.FileInput(["wor" + "ds" + chr(46) + "txt"]))', "words.txt",
    ),
    "a computed file that numpy reads": (
        "import numpy", 'used = str(int(numpy.loadtxt("wor" + "ds" + chr(46) + "txt")))', "words.txt",
    ),
    "a computed file that pandas reads": (
        "import pandas", 'used = pandas.read_csv("wor" + "ds" + chr(46) + "txt", header=None, dtype=str)[0][0]', "words.txt",
    ),
    "a computed file in another thread": (
        "from concurrent.futures import ThreadPoolExecutor\nREADERS = ThreadPoolExecutor(1)\n"
        "def read(name):\n    return Path(name).read_text()",
        'used = READERS.submit(read, "wor" + "ds" + chr(46) + "txt").result()', "words.txt",
    ),
    "a computed module by its file, while scoring": (
        "",
        'spec = importlib.util.spec_from_file_location("other", Path(__file__).with_name("other" + "_code" + chr(46) + "py"))\n'
        "    other = importlib.util.module_from_spec(spec); spec.loader.exec_module(other); used = other.WORD",
        "other_code.py",
    ),
    "a computed module, while scoring": (
        "sys.path.insert(0, str(Path(__file__).parent))", 'used = importlib.import_module("hel" + "pers").WORD', "helpers.py",
    ),
    "a file that a helper reads": ("import reader", "used = reader.word()", "words.txt"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "project" / "bench"
    (place / "lists").mkdir(parents=True)
    monkeypatch.chdir(place)
    (place / "rows.jsonl").write_text(
        "".join(json.dumps({"q": f"{k}", "target": "1"}) + "\n" for k in range(4))
    )
    (place.parent / "code").mkdir()
    for name in ("helpers.py", "other_code.py", "../shared.py", "../code/run.py"):
        (place / name).write_text('WORD = "1"\n')
    for name in ("words.txt", "lists/a.txt", "../above.json", "unrelated.txt"):
        (place / name).write_text("1")
    (place / "reader.py").write_text(
        "from pathlib import Path\ndef word():\n    return Path(__file__).with_name('words.txt').read_text()\n"
    )
    (place.parent / "benchwright.toml").write_text("")
    return place


def command(*words: str) -> Any:
    return warm.run([warm.COMMAND, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", USES)
def test_a_changed_file_of_the_scorer_is_named(folder: Path, name: str) -> None:
    before, inside, file = USES[name]
    (folder / "bench.py").write_text(HEAD.format(before=before, inside=inside))
    for _ in range(2):
        ran = command("run", "bench.py", "--quiet")
        assert ran.returncode == 0, ran.stderr
    same = command("compare", "1", "2")
    assert same.returncode == 0, same.stderr
    (folder / file).write_text('WORD = "2"\n' if file.endswith(".py") else "2")
    (folder / "unrelated.txt").write_text("2")
    assert command("run", "bench.py", "--quiet").returncode == 0
    changed = command("compare", "1", "3")
    assert changed.returncode == 2, changed.stdout
    assert file in changed.stderr


def test_a_file_that_cannot_be_known_is_announced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bench.py").write_text(
        HEAD.format(
            before="",
            inside='used = Path(os.environ["HOME"], sample.target).exists() and open(sample.target).read() or ""',
        )
    )
    for _ in range(2):
        assert main(["run", "bench.py", "--quiet", "--no-cache"]) == 0
    capsys.readouterr()
    assert main(["compare", "1", "2", "--json"]) == 0
    assert "bench.py:9: reads a file whose name is computed" in json.loads(capsys.readouterr().out)["warning"]


def test_more_files_than_are_recorded_are_announced(folder: Path) -> None:
    inside = "used = '1'; [open(each).close() for each in Path('many').iterdir()]"
    (folder / "bench.py").write_text(HEAD.format(before="", inside=inside))
    (folder / "many").mkdir()
    for number in range(1001):
        (folder / "many" / str(number)).touch()
    for _ in range(2):
        assert command("run", "bench.py", "--quiet").returncode == 0
    told = json.loads(command("compare", "1", "2", "--json").stdout)["warning"]
    assert "the scorer read so many files that not all were recorded" in told


def test_a_file_that_the_scorer_writes_and_reads_counts_for_nothing(folder: Path) -> None:
    inside = 'log = "lo" + "g" + chr(46) + "txt"; open(log, "a").write("x"); used = open(log).read() and "1"'
    (folder / "bench.py").write_text(HEAD.format(before="", inside=inside))
    for _ in range(2):
        assert command("run", "bench.py", "--quiet").returncode == 0
    assert command("compare", "1", "2").returncode == 0


def test_a_file_that_only_one_run_read_is_told(folder: Path) -> None:
    inside = 'used = open(("words" if Path("flag").exists() else "lists/a") + chr(46) + "txt").read()'
    (folder / "bench.py").write_text(HEAD.format(before="", inside=inside))
    assert command("run", "bench.py", "--quiet").returncode == 0
    (folder / "flag").mkdir()
    assert command("run", "bench.py", "--quiet").returncode == 0
    told = json.loads(command("compare", "1", "2", "--json").stdout)["warning"]
    assert "only one of the runs read lists/a.txt, words.txt while scoring" in told


def test_a_file_that_the_scorer_writes_counts_for_nothing(folder: Path) -> None:
    (folder / "bench.py").write_text(
        HEAD.format(before='LOG = open("log.txt", "a")', inside='used = "1"; LOG.write("x")')
    )
    for _ in range(3):
        assert command("run", "bench.py", "--quiet").returncode == 0
    assert command("compare", "2", "3").returncode == 0


def test_a_changed_data_file_stops_a_resumed_run(folder: Path) -> None:
    (folder / "bench.py").write_text(HEAD.format(before="", inside='used = open("words.txt").read()'))
    assert command("run", "bench.py", "--max-requests", "2", "--quiet").returncode == 3
    (folder / "words.txt").write_text("2")
    refused = command("resume", "last")
    assert refused.returncode == 2
    assert "words.txt" in refused.stderr
    assert command("resume", "last", "--allow-changed").returncode == 3

"""Plugins are found without being imported; a broken one is named and stops no other; built-in names are safe."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchwright import load_dataset
from benchwright.core import DatasetError, Registry, UsageError
from benchwright.core._plugins import EXTENSION_POINTS, registries
from benchwright.datasets import open_dataset
from benchwright.endpoints import EndpointSettings
from benchwright.scorers import JudgeCall, ScorerInput, find_scorer, judge_score


def install(folder: Path, package: str, entries: dict[str, dict[str, str]], *, version: str = "1.2") -> None:
    """Metadata of an installed package: entry points by kind."""
    info = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    lines = []
    for kind, points in entries.items():
        lines += [f"[benchwright.{kind}]", *(f"{name} = {target}" for name, target in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def scorers() -> Registry[object]:
    return Registry("scorers", lambda value: value, built_in=lambda: ["exact_match"])


def test_every_extension_point_has_its_registry() -> None:
    assert [registry.point for registry in registries()] == list(EXTENSION_POINTS)


def test_plugins_are_found_without_importing_them(site: Path) -> None:
    install(site, "lazy-pack", {"scorers": {"never": "module_that_is_not_there:thing"}})
    (entry,) = Registry.entries_of("scorers")
    assert (entry.name, entry.package, entry.version) == ("never", "lazy-pack", "1.2")
    assert scorers().names() == ["never"]


def test_a_broken_plugin_is_named_and_stops_no_other(site: Path) -> None:
    (site / "good_plugin.py").write_text("thing = 'fine'\n")
    (site / "quitting_plugin.py").write_text("raise SystemExit('no')\n")
    install(site, "good-pack", {"scorers": {"good": "good_plugin:thing"}})
    install(
        site, "bad-pack", {"scorers": {"bad": "module_that_is_not_there:thing", "quits": "quitting_plugin"}}
    )
    registry = scorers()
    assert registry.find("good") == registry.find("Good") == "fine"
    problems = {plugin.entry.name: plugin.problem for plugin in registry.installed()}
    assert problems["good"] is None
    assert problems["bad"] == (
        "plugin 'bad' of bad-pack 1.2 cannot be used: ModuleNotFoundError: No module named "
        "'module_that_is_not_there'; install the missing module (module_that_is_not_there), or update or "
        "uninstall bad-pack"
    )
    assert "SystemExit: no" in (problems["quits"] or "")
    with pytest.raises(UsageError, match=r"'bad' of bad-pack 1.2 cannot be used"):
        registry.find("bad")


def test_two_packages_with_one_name_are_refused_with_both(site: Path) -> None:
    for package in ("first-pack", "second-pack"):
        install(site, package, {"scorers": {"same-name": f"{package.replace('-', '_')}:thing"}})
    with pytest.raises(UsageError, match=r"'same-name' of first-pack 1.2 and 'same-name' of second-pack 1.2"):
        scorers().find("same_name")
    assert all("offered twice" in (plugin.problem or "") for plugin in scorers().installed())


def test_a_plugin_never_takes_a_built_in_name(site: Path) -> None:
    (site / "taker.py").write_text("def thing(sample): return {'taken': 1}\n")
    install(
        site,
        "taking-pack",
        {
            "scorers": {"exact_match": "taker:thing", "f1": "taker:thing"},
            "sources": {"hf": "taker:thing"},
            "formats": {"csv": "taker:thing", "toml": "taker:thing"},
            "wires": {"openai": "taker:thing"},
            "benchmarks": {"pubmedqa": "taker"},
            "judge_templates": {"safety": "taker:thing"},
        },
    )
    assert find_scorer("exact_match")(ScorerInput("a", "a", {})) == {"correct": True}
    listed = {(plugin.kind, plugin.entry.name): plugin.problem or "" for plugin in Registry.all_installed()}
    assert len(listed) == 8
    assert all("is a built-in name; rename the entry point" in problem for problem in listed.values())


def test_entries_of_the_wrong_kind_say_what_is_expected(site: Path) -> None:
    (site / "wrong.py").write_text("class Thing: pass\nnumber = 1\ndef two(a, b): pass\n")
    install(
        site,
        "wrong-pack",
        {
            "scorers": {"many": "wrong:two"},
            "sources": {"vault": "wrong:number"},
            "formats": {"ini": "wrong:Thing"},
            "wires": {"morse": "wrong:Thing"},
            "steps": {"half": "wrong:number"},
            "reports": {"short": "wrong:number"},
            "trackers": {"spy": "wrong:number"},
            "benchmarks": {"empty": "wrong"},
            "judge_templates": {"plain": "wrong:number"},
        },
    )
    listed = {plugin.kind: plugin.problem or "" for plugin in Registry.all_installed()}
    assert set(listed) == {point.kind for point in EXTENSION_POINTS}
    for point in EXTENSION_POINTS:
        assert listed[point.kind].endswith(f"expected {point.entry}"), listed[point.kind]
    assert "wrong:two cannot be called with one argument" in listed["scorers"].replace(
        "1 argument", "one argument"
    )
    assert "wrong:Thing has no `format`" in listed["wires"]


def test_rows_of_an_installed_format_are_known_by_their_content(site: Path, tmp_path: Path) -> None:
    (site / "ini_rows.py").write_text(
        "def read(path):\n"
        "    for line in path.read_text().splitlines():\n"
        "        name, _, value = line.partition('=')\n"
        "        yield {'question': name, 'answer': value}\n"
    )
    install(site, "ini-pack", {"formats": {"ini": "ini_rows:read"}})
    data = tmp_path / "a.ini"
    data.write_text("x=1\ny=2\n")
    reader = open_dataset(str(data))
    assert load_dataset(str(data), field_mapping={"answer": "target"})[1] == {"question": "y", "target": "2"}
    same = [{"question": "x", "answer": "1"}, {"question": "y", "answer": "2"}]
    assert reader.fingerprint() == open_dataset(same).fingerprint()
    import gzip

    packed = tmp_path / "b.ini"
    packed.write_bytes(gzip.compress(b"x=1\n"))
    with pytest.raises(DatasetError, match="is compressed"):
        load_dataset(str(packed))


def test_an_installed_fetcher_is_used_for_its_scheme(site: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"q": 1}\n')
    (site / "shelf.py").write_text(
        "class Shelf:\n"
        "    def fetch(self, uri, cache_dir=None):\n"
        f"        return {str(tmp_path)!r} + '/' + uri.removeprefix('shelf://')\n"
    )
    install(site, "shelf-pack", {"sources": {"shelf": "shelf:Shelf"}})
    assert load_dataset("shelf://rows.jsonl") == [{"q": 1}]
    with pytest.raises(DatasetError, match=r"shelf.fetch gave a path that cannot be read.*not found"):
        load_dataset("shelf://other.jsonl")
    with pytest.raises(DatasetError, match=r"Did you mean 'shelf'.*Installed sources: shelf"):
        load_dataset("shelv://rows.jsonl")


def test_an_unknown_judge_template_lists_the_installed_ones(site: Path) -> None:
    install(site, "judging-pack", {"judge_templates": {"courtesy": "nowhere:TEMPLATE"}})
    with pytest.raises(UsageError, match=r"Did you mean 'courtesy'\? Known: binary_qa, .*, courtesy;"):
        judge_score(ScorerInput("a", "a", {}), template="courtsey")


def test_an_installed_judge_template_asks_and_reads_its_grades(site: Path) -> None:
    (site / "judging.py").write_text(
        "from benchwright.scorers import JudgeTemplate\n"
        "COURTESY = JudgeTemplate('Polite? {response}', {'YES': 1.0, 'NO': 0.0}, {'JA': 'YES'})\n"
    )
    install(site, "judging-pack", {"judge_templates": {"courtesy": "judging:COURTESY"}})
    prompts = []

    def ask(call: JudgeCall) -> str:
        prompts.append(call.body["messages"][0]["content"])  # type: ignore[index, call-overload]
        return "GRADE: Ja"

    config = {"judge": {"url": "http://127.0.0.1:9", "model_id": "j"}}
    scores = judge_score(ScorerInput("Dear customer", "", {}, config=config, ask=ask), template="courtesy")
    assert scores == {"judge_score": 1.0, "judge_grade": "YES"}
    assert prompts == ["Polite? Dear customer"]


def test_replies_through_another_version_of_a_wire_are_not_taken_from_the_cache(site: Path) -> None:
    (site / "morse.py").write_text(
        "from benchwright.endpoints import OpenAiWire\nclass Morse(OpenAiWire): pass\n"
    )
    install(site, "morse-pack", {"wires": {"morse": "morse:Morse"}}, version="3.1")
    settings = EndpointSettings(url="http://h:1", model_id="m", api="morse")
    assert settings.fingerprint() == "http://h:1/v1 m api=morse morse-pack==3.1"
    assert settings.type_for("completions_logprob") == "completions_logprob"


def test_every_built_in_wire_format_has_a_class() -> None:
    from benchwright.core import WIRE_FORMATS
    from benchwright.endpoints._wires.formats import wire_of

    wires = {type(wire_of(api)) for api in WIRE_FORMATS}
    assert len(wires) == len(WIRE_FORMATS)


def test_an_ordinary_run_reads_no_package_metadata(tmp_path: Path) -> None:
    (tmp_path / "bench.py").write_text(
        "from benchwright import benchmark, scorer\n"
        "@benchmark(name='b', dataset=lambda: [{'q': '1'}], prompt='{q}', target_field='q')\n"
        "@scorer\n"
        "def score(sample):\n"
        "    return {'right': True}\n"
    )
    (tmp_path / "qa.csv").write_text("question,answer\n1+1,2\n")
    program = (
        "from benchwright.core import _plugins\n"
        "from benchwright.cli import main\n"
        "for words in (['--help'], ['run', 'bench.py', '--quiet'], ['run', 'qa.csv', '--evaluator', 'contains',"
        " '--quiet']):\n"
        "    assert main([*words]) == 0\n"
        "assert _plugins._entries.cache_info().misses == 0\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

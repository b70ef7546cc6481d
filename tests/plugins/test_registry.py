"""Registries hand out things by name, lazily, and are polite about names they do not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.core import NotFoundError, UsageError
from benchwright.plugins import BrokenPlugin, LoadedPlugin, PluginError, Registry, find_plugins, load_plugins

GROUP = "benchwright.test_things"


def install(folder: Path, package: str, entries: dict[str, str], *, version: str = "1.2") -> None:
    info = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    lines = "\n".join(f"{name} = {target}" for name, target in entries.items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_added_things_come_back_by_name() -> None:
    registry: Registry[int] = Registry("number")
    assert registry.add("one", 1) == 1
    assert registry.get("one") == 1
    assert "one" in registry
    assert list(registry) == ["one"]


def test_a_taken_name_is_refused_unless_replaced() -> None:
    registry: Registry[int] = Registry("number")
    registry.add("one", 1)
    with pytest.raises(UsageError, match="a number named 'one' exists already"):
        registry.add("one", 2)
    registry.add("one", 11, replace=True)
    assert registry.get("one") == 11


def test_a_nameless_thing_is_refused() -> None:
    with pytest.raises(UsageError, match="needs a name"):
        Registry[int]("number").add("", 1)


def test_lazy_things_are_made_once_and_only_when_asked_for() -> None:
    made: list[str] = []

    def make() -> int:
        made.append("x")
        return 7

    registry: Registry[int] = Registry("number")
    registry.add_lazy("seven", make)
    assert registry.names() == ["seven"]
    assert not made
    assert registry.get("seven") == registry.get("seven") == 7
    assert made == ["x"]


def test_a_maker_that_fails_may_be_asked_again() -> None:
    answers = iter([ValueError("not yet"), 3])

    def make() -> int:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    registry: Registry[int] = Registry("number")
    registry.add_lazy("three", make)
    with pytest.raises(ValueError, match="not yet"):
        registry.get("three")
    assert registry.get("three") == 3


def test_unknown_names_get_suggestions_and_the_list() -> None:
    registry: Registry[int] = Registry("scorer")
    registry.add("exact_match", 1)
    registry.add("contains", 2)
    with pytest.raises(NotFoundError) as caught:
        registry.get("exact_mach")
    assert str(caught.value) == (
        "no scorer named 'exact_mach'. Did you mean 'exact_match'? Known: contains, exact_match"
    )


def test_plugins_are_found_without_importing_them(site: Path) -> None:
    install(site, "lazy-pack", {"never": "module_that_is_not_there:thing"})
    (entry,) = find_plugins(GROUP)
    assert (entry.name, entry.package, entry.version) == ("never", "lazy-pack", "1.2")
    registry: Registry[object] = Registry("thing", group=GROUP)
    assert registry.names() == ["never"]


def test_a_broken_plugin_is_named_and_stops_no_other(site: Path) -> None:
    (site / "good_plugin.py").write_text("thing = 'fine'\n")
    (site / "quitting_plugin.py").write_text("raise SystemExit('no')\n")
    install(site, "good-pack", {"good": "good_plugin:thing"})
    install(site, "bad-pack", {"bad": "module_that_is_not_there:thing", "quits": "quitting_plugin"})
    by_name = {plugin.entry.name: plugin for plugin in load_plugins(GROUP)}
    good, bad, quits = by_name["good"], by_name["bad"], by_name["quits"]
    assert isinstance(good, LoadedPlugin)
    assert good.value == "fine"
    assert isinstance(bad, BrokenPlugin)
    assert str(bad) == (
        "plugin 'bad' of bad-pack 1.2 cannot be used: ModuleNotFoundError: No module named "
        "'module_that_is_not_there'; install the missing module (module_that_is_not_there), or update or "
        "uninstall bad-pack"
    )
    assert isinstance(quits, BrokenPlugin)

    registry: Registry[str] = Registry("thing", group=GROUP)
    assert registry.get("good") == "fine"
    with pytest.raises(PluginError, match="'bad' of bad-pack"):
        registry.get("bad")
    assert [plugin.entry.name for plugin in registry.broken()] == ["bad", "quits"]


def test_what_was_added_wins_over_a_plugin(site: Path) -> None:
    install(site, "pack", {"own": "module_that_is_not_there:thing"})
    registry: Registry[int] = Registry("thing", group=GROUP)
    registry.add("own", 1)
    assert registry.get("own") == 1


def test_one_name_from_two_packages_is_not_guessed(site: Path) -> None:
    install(site, "pack-a", {"twin": "a:thing"})
    install(site, "pack-b", {"twin": "b:thing"})
    registry: Registry[int] = Registry("thing", group=GROUP)
    with pytest.raises(PluginError, match="offered by pack-a and pack-b"):
        registry.get("twin")

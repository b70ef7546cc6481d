"""Installed plugins are found without being imported, and a broken one is named and harms no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.plugins import BrokenPlugin, LoadedPlugin, find_plugins, load_plugins

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


def test_plugins_are_found_without_importing_them(site: Path) -> None:
    install(site, "lazy-pack", {"never": "module_that_is_not_there:thing"})
    (entry,) = find_plugins(GROUP)
    assert (entry.name, entry.package, entry.version) == ("never", "lazy-pack", "1.2")


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

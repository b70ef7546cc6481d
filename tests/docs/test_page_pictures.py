"""The manual has a picture of every page."""

from __future__ import annotations

import re

from benchmarks.pictures import PAGES, PICTURES

from benchwright.reports.pages.report import APP


def test_every_page_has_its_picture_in_the_manual() -> None:
    rows = re.findall(r'address: /(\S+)/, title: "([^"]+)"', (APP / "app.js").read_text(encoding="utf-8"))
    assert len(rows) > 10
    manual = (PICTURES.parent / "pages.md").read_text(encoding="utf-8")
    for address, title in rows:
        pattern = re.compile(address.replace(r"\/", "/"))
        (name,) = [name for name, path in PAGES.items() if pattern.search(f"#{path.partition('?')[0]}")]
        assert f"![{title}](pictures/{name}.webp)" in manual


def test_pictures_are_those_of_the_script_and_small() -> None:
    sizes = {path.stem: path.stat().st_size for path in PICTURES.iterdir()}
    assert sizes.keys() == PAGES.keys()
    assert max(sizes.values()) < 100_000
    assert sum(sizes.values()) < 1_000_000

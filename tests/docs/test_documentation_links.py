"""Links between pages lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")


def without_blocks(page: Path) -> str:
    return re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """Headings as the usual renderers name them: lower case, no punctuation, hyphens for spaces."""
    heads = re.findall(r"(?m)^#+ (.+)$", without_blocks(page))
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_relative_links_resolve(page: Path) -> None:
    for link in LINK.findall(without_blocks(page)):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link} (there are {anchors(target)})"


def test_index_leads_to_every_page() -> None:
    linked = set(LINK.findall((ROOT / "docs" / "index.md").read_text(encoding="utf-8")))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"} <= linked
    in_readme = set(LINK.findall((ROOT / "README.md").read_text(encoding="utf-8")))
    assert {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")} <= in_readme


def test_each_row_of_where_to_change_what_names_a_file() -> None:
    # That the files exist is checked with the other links.
    text = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith(("| a ", "| an "))]
    assert len(rows) >= 10
    for row in rows:
        declared = LINK.findall(row.split("|")[2])
        assert declared, row
        assert all((ROOT / "docs" / link).is_file() for link in declared), row

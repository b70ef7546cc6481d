"""All pages: what they may load and run, and that everybody can read all of them, by keyboard, on a telephone and on paper."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from benchwright.cli import main
from browser import document_of

QUIZ = "".join(
    json.dumps({"question": f"What is {n} + {n + 3} <b onclick=alert(1)>?", "answer": str(2 * n + 3)}) + "\n"
    for n in range(8)
)
MODELS = [
    {"name": f"a-model-with-quite-a-long-name-{n}", "type": "demo", "skill": skill}
    for n, skill in enumerate((0.2, 0.9, 0.5))
]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("quiz.jsonl").write_text(QUIZ)
        Path("suite.json").write_text(json.dumps({"models": MODELS, "datasets": ["quiz.jsonl"]}))
        assert main(["run", "suite.json"]) == 0
        assert main(["run", "quiz.jsonl", "--output-dir", "run"]) == 0
        main(["perf", "quiz.jsonl", "--concurrency", "1,2,4", "--requests", "40", "--output-dir", "load"])
    (suite,) = folder.rglob("summary_*.html")
    found = {"suite": suite, "run": folder / "run" / "report.html", "load": folder / "load" / "report.html"}
    return {name: path.read_text() for name, path in found.items()}


NAMES = ["suite", "run", "load"]


@pytest.mark.parametrize("name", NAMES)
def test_the_policy_allows_the_own_style_and_script_and_nothing_else(
    pages: dict[str, str], name: str
) -> None:
    text = pages[name]
    (policy,) = re.findall('<meta http-equiv="Content-Security-Policy" content="([^"]+)">', text)
    rules = dict(rule.split(" ", 1) for rule in unescape(policy).split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for element, rule in (("style", "style-src"), ("script", "script-src")):
        inline = re.findall(f"<{element}>(.*?)</{element}>", text, re.DOTALL)
        allowed = [f"'sha256-{b64encode(sha256(part.encode()).digest()).decode()}'" for part in inline]
        assert rules[rule].split() == (allowed or ["'none'"])
    shell = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    assert re.findall(r"<[^>]*\s(?:style|on\w+|src|href)=", shell) == []
    assert text.index("Content-Security-Policy") < text.index("<style>")


MEASURE = """<script>
addEventListener("load", () => setTimeout(() => {
  const found = { cut: [], unreachable: [], wide: document.documentElement.scrollWidth - innerWidth, seen: [] };
  for (const each of document.querySelectorAll("main *")) {
    if (each.closest("svg")) continue;
    const style = getComputedStyle(each), words = each.className + ": " + each.textContent.trim().slice(0, 40);
    const over = each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 1;
    if (over && style.display !== "inline" && style.overflowX !== "visible") {
      if (style.overflowX === "hidden") found.cut.push(words);
      else { found.cut.push(words); if (each.tabIndex < 0 || !each.getAttribute("aria-label")) found.unreachable.push(words); }
    }
    const box = each.getBoundingClientRect();
    if (each.children.length === 0 && box.width && box.right <= innerWidth + 1) found.seen.push(each.textContent.trim());
  }
  const kept = document.createElement("pre");
  kept.id = "measured"; kept.textContent = JSON.stringify(found); document.body.append(kept);
}, 200));
</script>"""


def measured(text: str, folder: Path, width: int, *, printed: bool = False) -> dict[str, Any]:
    """What a browser shows of a page at a width: what scrolls or is cut, which of it no keyboard reaches, all that is seen."""
    text = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', MEASURE, text, count=1)
    if printed:
        text = text.replace("@media print", "@media screen").replace("@page {", "@page-of-paper {")
    page = folder / "page.html"
    page.write_text(text)
    (found,) = re.findall('<pre id="measured">(.*?)</pre>', document_of(page, folder, width), re.DOTALL)
    result: dict[str, Any] = json.loads(unescape(found))
    return result


@pytest.mark.parametrize("width", [1200, 420])
@pytest.mark.parametrize("name", NAMES)
def test_what_scrolls_can_be_reached_by_keyboard(
    pages: dict[str, str], tmp_path: Path, name: str, width: int
) -> None:
    found = measured(pages[name], tmp_path, width)
    assert found["unreachable"] == []
    assert found["wide"] <= 0, "the page itself scrolls sideways"
    if name == "suite" and width == 420:
        for model in MODELS:
            assert model["name"] in found["seen"]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_on_paper(pages: dict[str, str], tmp_path: Path, name: str) -> None:
    found = measured(pages[name], tmp_path, 1040, printed=True)  # A4, landscape
    assert found["cut"] == []
    assert found["wide"] <= 0
    if name == "load":
        assert found["seen"].count("per request") == 3, "levels that are folded on the screen are printed"

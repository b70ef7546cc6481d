"""Pictures of every page for the manual, of runs on the demo model.

`python -m benchmarks.pictures [FOLDER]` records runs in a temporary workspace, opens each page in Chromium and writes one picture for
each to `docs/pictures`, or another folder. Look at them before you commit them.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs/pictures"
PAGES = {
    "runs": "/runs",
    "search": "/search?q=train",
    "labels": "/labels",
    "blind": "/blind?runs=4&seed=1",
    "run": "/runs/2",
    "samples": "/runs/2/samples?verdict=wrong",
    "sample": "/runs/2/samples/2/0",
    "slices": "/runs/2/slices?by=topic",
    "compare": "/compare?runs=1,2",
    "history": "/history/shop",
    "load": "/load/5",
    "workflow": "/workflows/6",
    "suite": "/suites/models",
    "gate": "/gates/2",
    "data": "/data?target=shop.csv",
}
"""The page of each picture, as `#` has it."""
_SIZE = {"width": 1180, "height": 820}
_SMALLER = """async ([png]) => {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext("2d").drawImage(image, 0, 0);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/webp", quality: 0.82 })).arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}"""
_POLICY = '[[threshold]]\nmetric = "normalised_exact"\nmin = 0.7\nbound = "lower"\n\n[[threshold]]\nmetric = "normalised_exact"\nmin = 0.6\nbound = "lower"\nslices = "topic"\n'
_SUITE = """datasets = [{path = "shop.csv"}, {path = "more.csv"}]
models = [
    {name = "small", type = "demo", skill = 0.6},
    {name = "medium", type = "demo", skill = 0.85},
    {name = "large", type = "demo", skill = 0.9},
]
"""
_TOPICS = ("trains", "shopping", "cooking", "savings")
_QUESTIONS = {
    "trains": "A train has {a} carriages. At the next station {b} more are added. How many carriages does it have?",
    "shopping": "Ana buys {a} apples and {b} pears. How many pieces of fruit does she buy?",
    "cooking": "A soup needs {a} potatoes and {b} carrots. How many vegetables are that?",
    "savings": "Sam has saved {a} euros and earns {b} euros. How many euros does he have?",
}


def main(folder: Path) -> None:
    """Record runs and take all pictures."""
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        work = Path(place) / "shop"
        work.mkdir()
        record(work)
        command = [_program(), "serve", "--port", "0", "--json", "--workspace", str(work)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=work) as server:
            try:
                assert server.stdout is not None
                told = json.loads("".join(iter(server.stdout.readline, "}\n")) + "}")
                hand_over(work, told["url"], told["token"])
                take(told["url"], told["open_url"], folder)
            finally:
                server.terminate()


def record(work: Path) -> None:
    """Runs of every kind."""
    lines = ["question,answer,topic"]
    for number in range(120):
        topic, a, b = (
            _TOPICS[number % 4],
            3 + number * 7 % 60,
            2 + number * 11 % (9 if number % 4 < 2 else 300),
        )
        lines.append(f"{_QUESTIONS[topic].format(a=a, b=b)},{a + b},{topic}")
    (work / "shop.csv").write_text("\n".join(lines) + "\n")
    (work / "policy.toml").write_text(_POLICY)
    (work / "bench.py").write_text((ROOT / "examples/judge/bench.py").read_text())
    data = ROOT / "examples/judge/open_questions.jsonl"
    (work / data.name).write_text(data.read_text())
    (work / "agent.py").write_text((ROOT / "examples/agent/agent.py").read_text())
    for skill in ("0.9", "0.7", "0.8"):
        _run(work, "run", "shop.csv", "--model", "demo", "--temperature", "0", "--demo-skill", skill)
    with subprocess.Popen(
        [_program(), "simulate", "--port", "8077"], stdout=subprocess.PIPE, text=True
    ) as judge:
        try:
            assert judge.stdout is not None
            judge.stdout.readline()
            _run(work, "run", "bench.py", "--model", "demo")
        finally:
            judge.terminate()
    _run(work, "perf", "shop.csv", "--model", "demo", "--concurrency", "1,2,4,8", "--requests", "120")
    _run(work, "run", "agent.py")
    (work / "more.csv").write_text("\n".join([lines[0], *lines[60:]]) + "\n")
    (work / "models.toml").write_text(_SUITE)
    _run(work, "run", "models.toml")


def _program() -> str:
    return str(Path(sys.executable).with_name("benchwright"))


def _run(work: Path, *words: str, ok: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run(
        [_program(), *words],  # found from the folder: pages show commands, and no temporary folder
        cwd=work,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "BROWSER": "true"},
    )
    if done.returncode not in ok:
        raise SystemExit(f"{words}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def hand_over(work: Path, url: str, token: str) -> None:
    """What commands hand to the server, and what people say of samples."""
    _run(work, "gate", "2", "--policy", "policy.toml", "--web", "--json", ok=(0, 1, 3))
    _run(work, "check", "shop.csv", "--web", "--json")
    for row, label in (
        (2, {"kind": "gold", "value": "40"}),
        (4, {"kind": "ambiguous"}),
        (8, {"kind": "tag", "value": "hard"}),
        (8, {"kind": "note", "value": "large numbers"}),
    ):
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        urlopen(
            Request(f"{url}/api/runs/2/samples/{row}/0/labels", json.dumps(label).encode(), headers)
        ).close()


def take(url: str, open_url: str, folder: Path) -> None:
    """A picture of each page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"]
        )
        page, drawing = browser.new_page(viewport=_SIZE), browser.new_page()
        page.goto(open_url)
        for name, path in PAGES.items():
            page.goto(f"{url}/#{path}")
            page.wait_for_selector("main[aria-busy=false] h1")
            height = page.evaluate("document.documentElement.scrollHeight")
            size: Any = {"width": _SIZE["width"], "height": max(300, min(height, _SIZE["height"]))}
            page.set_viewport_size(size)
            png = base64.b64encode(page.screenshot()).decode()
            page.set_viewport_size(_SIZE)  # type: ignore[arg-type]
            picture = base64.b64decode(drawing.evaluate(_SMALLER, [png]))
            (folder / f"{name}.webp").write_bytes(picture)
            print(f"{name}: {len(picture) / 1e3:.0f} kB")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)

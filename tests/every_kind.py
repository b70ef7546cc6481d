"""A workspace with runs of every kind, and the pages that show them: for tests of what holds on all of them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import pytest

import benchwright
from benchwright import ScorerInput, WorkflowContext, benchmark, judge_score, scorer
from benchwright.core import RunKind
from benchwright.store import Workspace, open_store
from recording_server import Refusal, recording

if TYPE_CHECKING:
    from playwright.sync_api import Page

SUITE = "both"
ROWS = 24


class Recorded(NamedTuple):
    """What was recorded."""

    folder: Path
    runs: dict[RunKind, tuple[int, int]]
    """Two comparable runs of each kind."""
    judged: int
    """A run with the grades of a judge."""


async def _agent(ctx: WorkflowContext, answer: str) -> None:
    await ctx.event("warning", "the clock of this machine went back")
    for number in range(3):
        try:
            async with ctx.sample(f"row {number}", {"number": number}) as sample:
                said = [{"role": "user", "content": f"{number}?"}, {"role": "assistant", "content": answer}]
                await ctx.step(
                    step_key=f"ask/{number}",
                    execute=lambda said=said: {"messages": said},
                    input_value={"number": number},
                )
                await ctx.emit("length", float(number))
                if number == 2:
                    raise ValueError("no answer")
                sample.score(correct=answer == str(number), response=answer, target=str(number))
        except ValueError:
            pass


def record(folder: Path, store_url: str | None = None) -> Recorded:
    """Record them in a folder: a suite of two models on one file, a judged run, load tests and workflows. The records are in the
    workspace there, or in another store, which the folder's configuration then names."""
    if store_url is not None:
        (folder / "benchwright.toml").write_text(f'store = "{store_url}"\n', encoding="utf-8")
    rows = ["question,A,B,answer,topic"] + [
        f"What is {n}+{n}?,{2 * n},{n},{2 * n},topic {n % 2}" for n in range(1, ROWS + 1)
    ]
    (folder / "questions.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")

    def reply(body: dict[str, Any]) -> str:
        asked = str(body["messages"][-1]["content"])
        if body["model"] == "judge":
            return f"It greets.\nGRADE: {'C' if 'q1' in asked else 'I'}"
        if "What is 3+3?" in asked or (body["model"] == "weak" and "What is 4+4?" in asked):
            raise Refusal("no")
        return "B" if body["model"] == "weak" and "2+" in asked else "A"

    with pytest.MonkeyPatch.context() as patch, recording(reply) as server:
        patch.chdir(folder)
        models = [
            {"name": name, "url": server.url, "model_id": name, "max_retries": 0}
            for name in ("strong", "weak")
        ]
        Path(f"{SUITE}.json").write_text(
            json.dumps({"models": models, "datasets": ["questions.csv"]}), encoding="utf-8"
        )
        benchwright.run_suite(f"{SUITE}.json")
        benchwright.gate(1, policy={"threshold": [{"metric": "accuracy", "min": 0.99, "bound": "lower"}]})
        data = [
            {"question": f"Is q{n} polite?", "answer": "yes", "topic": f"topic {n % 2}"} for n in range(6)
        ]

        @benchmark(name=f"polite {folder.name}", dataset=data, prompt="{question}", target_field="answer", judge={"url": server.url, "model_id": "judge"})  # fmt: skip
        @scorer
        def polite(sample: ScorerInput) -> dict[str, Any]:
            return judge_score(sample)

        judged = benchwright.run(polite, model_url=server.url, model_id="strong").run_id
        loads = [
            benchwright.perf("questions.csv", model_url=server.url, model_id="strong", stream=False, requests=ROWS, concurrency=many, max_error_share=1.0, stop_error_share=1.0).run_id
            for many in (1, 2)
        ]  # fmt: skip
        for name, answer in (("agent", "0"), ("other agent", "1")):
            flow = benchwright.workflow(name, lambda ctx, answer=answer: _agent(ctx, answer))
            asyncio.run(flow.run(workspace=folder))
    with open_store(Workspace(folder, url=store_url)) as store:
        found = {kind: [run.id for run in store.runs(kind=kind)] for kind in RunKind}
    assert found[RunKind.LOAD] == loads[::-1]
    one, two = (found[kind] for kind in (RunKind.BENCHMARK, RunKind.WORKFLOW))
    return Recorded(
        folder,
        {
            RunKind.BENCHMARK: (one[-1], one[-2]),
            RunKind.LOAD: (loads[0], loads[1]),
            RunKind.WORKFLOW: (two[-1], two[-2]),
        },
        judged,
    )


_PAGES = re.compile(r"\{ address: /\^(.+?)\$/, title: \"([^\"]+)\"")
"""A row of `PAGES` in app.js."""


def page_patterns() -> dict[str, str]:
    """The pattern of every page's address after `#`, by its title, as app.js has them."""
    source = (files("benchwright") / "reports" / "pages" / "app" / "app.js").read_text(encoding="utf-8")
    table = source[source.index("const PAGES = [") : source.index("\n];")]
    found = {title: pattern.replace("\\/", "/").removeprefix("#") for pattern, title in _PAGES.findall(table)}
    assert len(found) == table.count("address:"), "a row of PAGES is written in another way"
    return found


def page_addresses(recorded: Recorded, suite: str = SUITE, name: str = "questions") -> dict[str, list[str]]:
    """The addresses of every page on what was recorded, by its title. A number in an address is that of a run, then of a sample and its
    repeat; a name is that of a suite or of a benchmark. A new page is here at once, unless it needs a query."""
    kinds = {"load": RunKind.LOAD, "workflows": RunKind.WORKFLOW}
    queries = {
        "Search": ["q=What", "q=" + quote(suite)],
        "Samples": ["", "outcome=request_failed", "verdict=wrong", "labelled=any"],
        "Slices": ["by=topic"],
        "Comparison": [f"runs={','.join(map(str, pair))}&force=true" for pair in recorded.runs.values()],
        "Data": ["target=questions.csv"],
        "Blind grading": ["", f"runs={recorded.judged}"],
    }
    found = {}
    for title, pattern in page_patterns().items():
        first = pattern.split("/")[1]
        runs = list(recorded.runs[kinds.get(first, RunKind.BENCHMARK)])
        runs += [] if first in kinds else [recorded.judged]
        if pattern.startswith("/runs/(\\d+)/samples"):  # the rows of a workflow are samples, too
            runs += recorded.runs[RunKind.WORKFLOW]
        places = [pattern.replace("([^/]+)", quote(suite if first == "suites" else name, safe=""))]
        if "(\\d+)" in pattern:
            places = [pattern.replace("(\\d+)", str(run), 1).replace("(\\d+)", "0") for run in runs]
        found[title] = [
            f"{place}?{query}".rstrip("?") for place in places for query in queries.get(title, [""])
        ]
    return found


def visit(page: Page, path: str) -> None:
    """Show another page of the application in its tab, and wait until it is there."""
    page.evaluate(
        """path => {
            if (location.hash === `#${path}`) return;
            document.querySelector("main").setAttribute("aria-busy", "true");
            location.hash = path;
        }""",
        path,
    )
    page.wait_for_selector("main[aria-busy=false] h1")


def json_texts(document: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a JSON document that is no object or list, with its path."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from json_texts(value, f"{path}.{key}")
    elif isinstance(document, list):
        for value in document:
            yield from json_texts(value, f"{path}[]")
    else:
        yield path, document

"""Walks over every page in Firefox, which is no browser of the tests, and prints what it logs and what does not fit. It drives Debian's package
by WebDriver BiDi, without a driver: apt-get install firefox-esr, then python tests/in_firefox.py.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "server")]

import aiohttp  # noqa: E402
from test_kind_pages import VERDICT, ask, check_document  # noqa: E402

from benchwright import runs as run_acts  # noqa: E402
from benchwright.core import RunKind  # noqa: E402
from benchwright.server import ServerAddress, serving  # noqa: E402
from benchwright.store import Workspace  # noqa: E402
from every_kind import page_addresses, record  # noqa: E402
from hostile_store import HOSTILE, poison  # noqa: E402

SHOW = """path => new Promise((done) => {
    const main = document.querySelector("main");
    if (location.hash !== `#${path}`) { main.setAttribute("aria-busy", "true"); location.hash = path; }
    const look = () => (main.getAttribute("aria-busy") === "false" ? done() : setTimeout(look, 20));
    setTimeout(look, 50);
})"""
FOUND = """() => JSON.stringify({
    title: document.querySelector("main h1")?.textContent ?? "", wide: document.documentElement.scrollWidth - innerWidth, pwned: globalThis.pwned ?? 0,
    empty: [...document.querySelectorAll("svg")].filter((each) => each.checkVisibility() && each.getBoundingClientRect().width > 0 && each.childElementCount === 0).length })"""


class Firefox:
    """One tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._numbers, self.tab = socket, count(1), ""
        self.logged: list[str] = []

    async def send(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": params})
        while True:
            said = await self._socket.receive_json()
            if said.get("method") == "log.entryAdded":
                self.logged.append(str(said["params"].get("text")))
            if said.get("id") == number:
                assert said["type"] == "success", said
                return said["result"]

    async def call(self, function: str, *words: str) -> Any:
        given = [{"type": "string", "value": word} for word in words]
        answer = await self.send(
            "script.callFunction",
            functionDeclaration=function,
            awaitPromise=True,
            target={"context": self.tab},
            arguments=given,
        )
        assert answer["type"] == "success", answer
        return answer["result"].get("value")


async def walk(socket_url: str, address: ServerAddress, pages: list[str]) -> list[str]:
    """What is wrong with pages, each in three widths."""
    wrong = []
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{socket_url}/session", max_msg_size=0) as socket,
    ):
        firefox = Firefox(socket)
        await firefox.send("session.new", capabilities={})
        await firefox.send("session.subscribe", events=["log.entryAdded"])
        firefox.tab = (await firefox.send("browsingContext.getTree"))["contexts"][0]["context"]
        await firefox.send(
            "browsingContext.navigate", context=firefox.tab, url=address.open_url, wait="complete"
        )
        for page in pages:
            await firefox.call(SHOW, page)
            for width in (420, 1000, 1600):
                await firefox.send(
                    "browsingContext.setViewport",
                    context=firefox.tab,
                    viewport={"width": width, "height": 900},
                )
                seen = json.loads(await firefox.call(FOUND))
                if (
                    seen["wide"] > 0
                    or seen["pwned"]
                    or not seen["title"]
                    or "could not be" in seen["title"]
                    or seen["empty"]
                ):
                    wrong.append(f"{page[:60]} at {width}: {seen}")
            wrong += [f"{page[:60]} logs: {text}" for text in firefox.logged]
            firefox.logged.clear()
        await firefox.send("browser.close")
    return wrong


def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        recorded = record(Path(place))
        pages = [each for paths in page_addresses(recorded).values() for each in paths]
        print(f"{len(pages)} pages, then the same with hostile texts")
        wrong = []
        for hostile in (False, True):
            if hostile:
                poison(recorded.folder)
                pages = [
                    each for each in pages if not re.search("by=topic|/suites/|/history/", each)
                ]  # names are hostile now
            with (
                serving(Workspace(recorded.folder), acts=run_acts) as (address, _),
                tempfile.TemporaryDirectory() as profile,
            ):
                verdict = json.loads(json.dumps(VERDICT.to_json()))
                for run in (*recorded.runs[RunKind.BENCHMARK], recorded.judged):
                    ask(address, "POST", "/handed", {"page": f"/gates/{run}", "document": verdict})
                ask(
                    address,
                    "POST",
                    "/handed",
                    {"page": "/data?target=questions.csv", "document": check_document("questions.csv")},
                )
                command = [
                    "firefox-esr",
                    "--headless",
                    "--remote-debugging-port",
                    "0",
                    "--profile",
                    profile,
                    "--no-remote",
                    "about:blank",
                ]
                with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
                    assert process.stderr is not None
                    url = next(
                        found[0] for line in process.stderr if (found := re.search(r"ws://[\d.:]+", line))
                    )
                    try:
                        wrong += asyncio.run(walk(url, address, pages))
                    finally:
                        process.terminate()
    print("\n".join(wrong) or f"nothing is wrong, also with texts such as {HOSTILE[:60]!r}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

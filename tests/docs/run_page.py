"""Executes a documentation page: `python tests/docs/run_page.py PAGE… [--write]`.

Blocks run from top to bottom in a temporary folder of the page's own; Python blocks share one namespace. A demo
server stands where the page says `http://localhost:8000` or names one of `OTHER_URLS`. What commands and Python blocks print is compared with what
the page shows: `…` stands for anything (alone on a line: for any lines; after ` · `: for further counts), times and speeds may differ. `--write`
puts what is printed now into the page.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any, get_args

import yaml
from page_blocks import Block, Command, blocks_of, commands_of

from benchwright.config import ConfigFile
from benchwright.config._files import read_config
from benchwright.demo import DemoSettings, demo_server
from benchwright.engine._progress import Phase

sys.path.append(str(Path(__file__).resolve().parents[1]))
import warm
from waiting import PATIENCE_S

SHOWN_URL = "http://localhost:8000"
OTHER_URLS = (
    "http://localhost:11434", "http://localhost:8080", "http://localhost:4000", "https://api.openai.com",
    "https://my-resource.openai.azure.com/openai",
)  # fmt: skip
"""Servers that pages name and the demo server stands for, down to the `/v1` of its routes."""
SHOWN_FOLDER = "~/evals"
WIDTH = "100"
SKILL = 0.9
_VOLATILE = (
    (re.compile(r"(?<!\d)\d{8}_\d{6}(?:_\d+)?\b"), "<stamp>"),  # numbered where two commands share a second
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::[\d.]+(?:\+00:00|Z)?)?"), "<time>"),
    (re.compile(r"\b\d[\d,]* h \d+ min\b|\b\d+ min \d+ s\b|\b\d[\d,.]* m?s\b"), "<duration>"),
    (re.compile(r"\b[\d,.]+ per second"), "<rate> per second"),
    (
        re.compile(r"(\"(?:seconds|samples_per_s|latency_s|duration_s|started_at)\": )[\d.e+-]+"),
        r"\1<number>",
    ),
    (re.compile(r"sha256:[0-9a-f]{64}"), "<hash>"),
    (re.compile(r"( *)<"), " <"),  # a column grows with the numbers in it
)
PROGRESS = re.compile(
    rf"(?:[^:]|:\S)+: (?:(?:{'|'.join(get_args(Phase))})(?:, |$)|[\d,]+ of [\d,]+ \(\d+ %\)|[\d,]+ steps? done, )"
    r"|.+?, .*[\d.]/s, [\d,]+ in flight"
)
"""A line about a run, a program or a load test under way."""
_COUNTS = r"(?: ·\s+\w+ [\d,]+)*"
"""What ` · …` stands for: further counts, which wrap where the line is full."""
_QUOTED = re.compile(r"""'[^']*'|"[^"$`\\]*\"""")
_SHELL = re.compile(r"""[^\w\s./:@%+,=-]""")
_MOVE = re.compile(r"cd (\S+)")


class PageError(AssertionError):
    """The page says one thing and the program does another."""


class PageRun:
    """One pass over one page."""

    def __init__(self, page: Path, folder: Path, url: str) -> None:
        self.page = page
        self.folder = folder
        self.origin = url.removesuffix("/v1")
        self.namespace: dict[str, Any] = {"__name__": f"page_{page.stem}"}
        self.printed: list[str] | None = None
        self.changes: list[tuple[int, int, list[str]]] = []
        """(first line, lines, replacement) of shown output that differs from what was printed."""

    def run(self) -> None:
        for block in blocks_of(self.page):
            self._block(block)

    def _block(self, block: Block) -> None:
        if block.mark == "not run":
            return
        if block.mark == "file":
            path = Path(block.value)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._live(block.text), encoding="utf-8")
        elif block.mark == "output":
            if self.printed is None:
                raise self._error(block.line, "no Python block stands before this output")
            self._compare(block.text.splitlines(), self.printed, block.line)
        elif block.language == "python":
            self._python(block)
        elif block.language == "console":
            for command in commands_of(block):
                self._command(command)
        self._parse(block)

    def _parse(self, block: Block) -> None:
        try:
            if (
                block.language == "toml"
                and block.mark == "file"
                and Path(block.value).name not in ConfigFile.names
            ):
                tomllib.loads(block.text)
            elif block.language == "toml":
                copy = self.folder / ".parsed" / "benchwright.toml"
                copy.parent.mkdir(exist_ok=True)
                copy.write_text(block.text, encoding="utf-8")
                read_config(copy)
            elif block.language == "json":
                json.loads(block.text)
            elif block.language == "yaml":
                yaml.safe_load(block.text)
        except ValueError as error:
            raise self._error(block.line, f"the block does not parse: {error}") from error

    def _python(self, block: Block) -> None:
        # Empty lines in front: a traceback then names the line of the page.
        source = "\n" * (block.line - 1) + self._live(block.text)
        caught = io.StringIO()
        with contextlib.redirect_stdout(caught):
            exec(compile(source, str(self.page), "exec"), self.namespace)
        self.printed = self._shown(caught.getvalue())

    def _command(self, command: Command) -> None:
        if moved := _MOVE.fullmatch(command.text):
            os.chdir(moved[1])
            return
        done = warm.run(
            words_of(self._live(command.text)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
        )
        printed = self._shown(done.stdout)
        if done.returncode != command.exit_code:
            said = "\n".join(printed)
            raise self._error(
                command.line, f"exit code {done.returncode}, the page says {command.exit_code}\n{said}"
            )
        if command.output:
            self._compare(command.output, printed, command.line + 1)

    def _compare(self, shown: list[str], printed: list[str], line: int) -> None:
        if re.fullmatch(pattern_of(shown), "".join(f"{steady(line)}\n" for line in printed)):
            return
        self.changes.append((line, len(shown), printed))

    def _live(self, text: str) -> str:
        """What the page says, with the server that is really there."""
        for url in (SHOWN_URL, *OTHER_URLS):
            text = text.replace(url, self.origin)
        return text

    def _shown(self, text: str) -> list[str]:
        """What was printed, as a page would show it."""
        text = text.replace(self.origin, SHOWN_URL).replace(str(self.folder), SHOWN_FOLDER)
        # A line of progress is written every five seconds: how many there are says how fast the machine is.
        lines = [line.rstrip() for line in text.splitlines() if not PROGRESS.match(line)]
        while lines and not lines[0]:
            lines.pop(0)
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def _error(self, line: int, message: str) -> PageError:
        return PageError(f"{self.page}:{line}: {message}")


def words_of(text: str) -> list[str]:
    """The command for the shell, or its own words where it calls the program and leaves nothing for a shell to do."""
    if text.startswith("benchwright ") and not _SHELL.search(_QUOTED.sub("", text)):
        return [warm.COMMAND, *shlex.split(text)[1:]]
    return ["bash", "-c", text]


def steady(line: str) -> str:
    """A line with its times, speeds and hashes masked."""
    for volatile, stand_in in _VOLATILE:
        line = volatile.sub(stand_in, line)
    return line


def pattern_of(shown: list[str]) -> str:
    """A regular expression that the printed lines, each with its line end, must match."""
    parts = []
    for line in shown:
        if line.strip() == "…":
            parts.append(r"(?:[^\n]*\n)*?")
        elif " · …" in line:
            first, _, last = line.rstrip().partition(" · …")
            parts.append(
                re.escape(first) + _COUNTS + (r" ·\s+" if last else "") + re.escape(last.strip()) + r"\n"
            )
        else:
            parts.append(r"[^\n]*?".join(map(re.escape, steady(line.rstrip()).split("…"))) + r"\n")
    return "".join(parts)


def rewrite(page: Path, changes: list[tuple[int, int, list[str]]]) -> None:
    """Put what was printed into the page. From the end, so that line numbers stay true."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for first, count, printed in sorted(changes, reverse=True):
        lines[first - 1 : first - 1 + count] = printed
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run_page(page: Path, *, write: bool) -> None:
    """Execute one page; PageError says where it is wrong."""
    with (
        tempfile.TemporaryDirectory() as temporary,
        demo_server(DemoSettings(skill=SKILL)) as server,
    ):
        folder = Path(temporary).resolve() / "work"
        folder.mkdir()
        os.environ["BENCHWRIGHT_CACHE"] = str(folder.with_name("cache"))
        os.chdir(folder)
        try:
            run = PageRun(page, folder, server.url)
            run.run()
        finally:
            os.chdir("/")
    if write:
        rewrite(page, run.changes)
    elif run.changes:
        told = []
        for line, count, printed in run.changes:
            shown = page.read_text(encoding="utf-8").splitlines()[line - 1 : line - 1 + count]
            told.append(f"{page}:{line}: shown\n" + "\n".join(shown) + "\nprinted\n" + "\n".join(printed))
        raise PageError("\n\n".join(told))


def main(words: list[str]) -> None:
    pages = [Path(word).resolve() for word in words if word != "--write"]
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith("BENCHWRIGHT_"):
            del os.environ[name]
    os.environ.update(
        PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        COLUMNS=WIDTH,
        TZ="UTC",
        MY_KEY="sk-demo-4f81c2a97b",
        OPENAI_API_KEY="sk-demo-93b7d05e1c",
        AZURE_OPENAI_API_KEY="sk-demo-c60f2be814",
        LITELLM_KEY="sk-demo-2ad917f4b3",
        LITELLM_LOCAL_MODEL_COST_MAP="True",  # litellm fetches a list of prices otherwise
    )
    for page in pages:
        run_page(page, write="--write" in words)


if __name__ == "__main__":
    main(sys.argv[1:])

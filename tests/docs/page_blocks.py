"""Reads the fenced blocks of a documentation page and what the comments before them say.

A block may have one comment right before it:

    <!-- file: bench.py -->     the block is written to that file, in the page's own temporary folder
    <!-- output -->             the block is what the Python block before it prints
    <!-- not run: reason -->    the block is only shown

Without a comment a `python` block is executed, every `$` line of a `console` block is a command, and `toml`, `json`
and `yaml` blocks must at least parse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_COMMENT = re.compile(r"<!--\s*(file|output|not run)(?::\s*(.*?))?\s*-->")
_EXIT = re.compile(r"\s+# exit (\d+)$")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block."""

    language: str
    """What stands behind the fence."""
    text: str
    """The content, with its last line end."""
    line: int
    """1-based line of the page where the content starts."""
    mark: str | None = None
    """`file`, `output` or `not run`."""
    value: str = ""
    """What the comment says behind the colon."""


@dataclass(frozen=True, slots=True)
class Command:
    """One `$` line of a console block, and what is shown below it."""

    text: str
    """For the shell."""
    exit_code: int
    """Expected; `# exit N` behind the command says which, if it is not 0."""
    output: list[str]
    """Lines shown; empty when nothing is."""
    line: int
    """1-based line of the page."""


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks, in order. AssertionError for a comment that belongs to no block."""
    blocks: list[Block] = []
    comment: re.Match[str] | None = None
    opened: tuple[str, int] | None = None
    lines: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if opened is not None:
            if line.strip() != "```":
                lines.append(line)
                continue
            mark, value = (comment[1], comment[2] or "") if comment else (None, "")
            blocks.append(Block(opened[0], "".join(f"{line}\n" for line in lines), opened[1], mark, value))
            opened, comment, lines = None, None, []
        elif line.startswith("```"):
            opened = line[3:].strip(), number + 1
        elif found := _COMMENT.fullmatch(line.strip()):
            comment = found
        elif line.strip():
            assert comment is None, f"{page.name}:{number}: the comment above belongs to no block"
    assert opened is None, f"{page.name}:{opened and opened[1]}: the block is not closed"
    return blocks


def commands_of(block: Block) -> list[Command]:
    """The commands of a console block."""
    commands: list[Command] = []
    for number, line in enumerate(block.text.splitlines(), block.line):
        if line.startswith("$ "):
            text = line[2:]
            expected = _EXIT.search(text)
            code = int(expected[1]) if expected else 0
            commands.append(Command(_EXIT.sub("", text), code, [], number))
        elif commands:
            commands[-1].output.append(line)
    for command in commands:
        while command.output and not command.output[-1]:
            command.output.pop()
    return commands

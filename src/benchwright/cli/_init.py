"""`benchwright init [DIR]`, and the files that it writes: a benchmark that runs at once, or prices, to change line by line."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from benchwright.cli._output import Output
from benchwright.cli._parser import Parser
from benchwright.core import expand_home

_CONFIG = """\
# Defaults for every run from this folder. Flags on the command line override them.

[run]
parallelism = 16

# A model under a short name: benchwright run my_bench --model local
# [models.local]
# base_url = "http://localhost:8000/v1"
# model = "my-model"
# api_key_name = "MY_KEY"        # the variable that contains the key, never the key itself

# A benchmark under a short name: benchwright run my_bench
[benchmarks.my_bench]
file = "my_bench.py"
"""

_BENCHMARK = '''\
"""A first benchmark. Run it with: benchwright run my_bench.py"""

from benchwright import ScorerInput, benchmark, scorer


@benchmark(
    name="my_bench",
    dataset="qa.jsonl",  # next to this file; one JSON object per line
    prompt="{question}\\nReply with the number only.",  # {names} are fields of the rows
    target_field="answer",
)
@scorer
def check(sample: ScorerInput) -> dict:
    reply = sample.response.strip().rstrip(".")
    return {"correct": reply == sample.target}
'''

_QUESTIONS = (
    ("What is 43 + 11?", "54"),
    ("What is 8 - 6?", "2"),
    ("What is 3 times 8?", "24"),
    ("What is 120 + 75?", "195"),
    ("What is 17 - 9?", "8"),
    ("What is 12 times 12?", "144"),
    ("What is 96 divided by 8?", "12"),
    ("What is 250 - 125?", "125"),
    ("What is 7 times 6?", "42"),
    ("What is 1000 + 1?", "1001"),
    ("Ana has 73 books and gives away 29. How many books are left?", "44"),
    ("Dana has 55 apples and buys 6 more. How many apples does Dana have now?", "61"),
)
_DATA = "".join(f'{{"question": "{question}", "answer": "{answer}"}}\n' for question, answer in _QUESTIONS)

STARTER: dict[str, str] = {"benchwright.toml": _CONFIG, "my_bench.py": _BENCHMARK, "qa.jsonl": _DATA}
"""File name → content."""


def configure(parser: Parser) -> None:
    parser.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        default=".",
        help="the folder to write to (default: the current one)",
    )
    parser.add_argument(
        "--prices",
        action="store_true",
        help="write prices.toml instead, to fill in what your models cost",
    )
    parser.example("benchwright init demo && cd demo && benchwright run my_bench.py")


def execute(arguments: Namespace, output: Output) -> int:
    """Write the starter; JSON: `{"folder", "files", "next"}`."""
    folder = expand_home(arguments.folder)
    written = write_starter(folder, _prices() if arguments.prices else STARTER)
    if arguments.prices:
        return _show(output, folder, written, f"edit {folder / written[0]}")
    command = "benchwright run my_bench.py"
    if folder.resolve() != Path.cwd().resolve():
        import shlex

        command = f"cd {shlex.quote(str(folder))} && {command}"
    return _show(output, folder, written, command)


def _show(output: Output, folder: Path, written: list[str], command: str) -> int:
    if output.as_json:
        output.json({"folder": str(folder.resolve()), "files": written, "next": command})
    else:
        output.line(f"wrote {', '.join(written)} to {folder}/")
        output.line(f"next: {command}")
    return 0


def _prices() -> dict[str, str]:
    from datetime import UTC, datetime

    from benchwright.config import Prices

    return Prices.first(datetime.now(UTC).date())


def _is(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode()
    except OSError:
        return False


def write_starter(folder: Path, files: Mapping[str, str] = STARTER) -> list[str]:
    """Write all files, or none: what exists is never overwritten."""
    from benchwright.core import UsageError

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; give a folder: benchwright init DIR")
    there = [name for name in files if (folder / name).exists()]
    # One that was killed may have written some of them, and is continued.
    existing = (
        there if len(there) == len(files) else [name for name in there if not _is(folder / name, files[name])]
    )
    if existing:
        raise UsageError(
            f"{folder}/ already has {', '.join(existing)}; nothing was written. "
            "Choose another folder: benchwright init DIR"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            part = folder / f".{name}.{os.getpid()}"
            part.write_text(text, encoding="utf-8")
            os.replace(part, folder / name)  # whole or not at all, whatever else runs or is killed
    except OSError as error:
        raise UsageError(f"{folder} cannot be written to: {error.strerror}") from error
    return list(files)

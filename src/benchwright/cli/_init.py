"""`benchwright init [DIR]`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from benchwright.cli._output import Output
from benchwright.cli._parser import Parser


def configure(parser: Parser) -> None:
    """Arguments of `init`."""
    parser.add_argument("folder", metavar="DIR", nargs="?", default=".", help="where to (default: here)")
    parser.example("benchwright init demo && cd demo && benchwright run my_bench.py")


def execute(arguments: Namespace, output: Output) -> int:
    """Write the starter; JSON: `{"folder", "files", "next"}`."""
    folder = Path(arguments.folder).expanduser()
    written = write_starter(folder)
    command = "benchwright run my_bench.py"
    if folder.resolve() != Path.cwd().resolve():
        import shlex

        command = f"cd {shlex.quote(str(folder))} && {command}"
    if output.as_json:
        output.json({"folder": str(folder.resolve()), "files": written, "next": command})
    else:
        output.line(f"wrote {', '.join(written)} to {folder}/")
        output.line(f"next: {command}")
    return 0


def write_starter(folder: Path) -> list[str]:
    """Write all files of the starter, or none: what exists is never overwritten."""
    from benchwright.cli._starter import STARTER
    from benchwright.core import UsageError

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; give a folder: benchwright init DIR")
    existing = [name for name in STARTER if (folder / name).exists()]
    if existing:
        raise UsageError(
            f"{folder}/ already has {', '.join(existing)}; nothing was written. "
            "Choose another folder: benchwright init DIR"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in STARTER.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written to: {error.strerror}") from error
    return list(STARTER)

"""`benchwright fetch bfcl`: downloads published data that is not part of this package."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from benchwright.cli._output import Output
from benchwright.cli._parser import Parser


def configure(parser: Parser) -> None:
    """Arguments of `fetch`."""
    parser.add_argument(
        "what",
        metavar="WHAT",
        choices=("bfcl",),
        help="bfcl: the data and classes of the public function-calling evaluation",
    )
    parser.add_argument(
        "--data-version", metavar="VERSION", choices=("v3", "v4"), default="v3",
        help="version of the data: v3 or v4 (default: v3)",
    )  # fmt: skip
    parser.example("benchwright fetch bfcl", "benchwright run bfclv3_ast")


def execute(arguments: Namespace, output: Output) -> int:
    """JSON: `{"package", "folder", "fetched", "categories": {name: rows}}`."""
    from benchwright.bfcl import CATEGORIES, NativeFolder, fetch_package

    provider, fetched = fetch_package(arguments.data_version)
    folder = NativeFolder(provider.data, provider.version)
    rows = {
        name: _count(folder.questions_file(each)) for name, each in CATEGORIES.items() if folder.has(each)
    }
    if output.as_json:
        output.json(
            {"package": provider.origin, "folder": str(provider.data), "fetched": fetched, "categories": rows}
        )
        return 0
    done = "fetched" if fetched else "already there"
    output.line(f"{provider.origin}: {done}, {sum(rows.values()):,} rows in {len(rows)} categories")
    output.line(f"{provider.data}")
    return 0


def _count(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(1 for line in lines if line.strip())

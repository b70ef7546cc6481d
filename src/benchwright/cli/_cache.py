"""`benchwright cache info|verify|prune|clear`: the cached rows of hub datasets."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchwright.cli._output import Output
from benchwright.cli._parser import Parser

if TYPE_CHECKING:
    from benchwright.datasets import CacheEntry

_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4}


def configure(parser: Parser) -> None:
    parser.add_argument(
        "action", metavar="ACTION", choices=("info", "verify", "prune", "clear"),
        help="info: list; verify: check every file; prune: delete some; clear: delete all",
    )  # fmt: skip
    parser.add_argument(
        "--older-than", metavar="TIME", help="prune: delete files not used for this time, such as 30d or 12h"
    )
    parser.add_argument(
        "--max-size",
        metavar="SIZE",
        help="prune: delete files until this size is reached, such as 20GB or 500MB",
    )
    parser.example("benchwright cache info", "benchwright cache prune --older-than 30d --max-size 20GB")


def execute(arguments: Namespace, output: Output) -> int:
    """Inspect or clean the cache."""
    from benchwright.core import UsageError

    if arguments.action != "prune" and (arguments.older_than or arguments.max_size):
        raise UsageError(f"--older-than, --max-size: only for prune, not for {arguments.action}")
    return {"info": _info, "verify": _verify, "prune": _prune, "clear": _clear}[arguments.action](
        arguments, output
    )


def _info(arguments: Namespace, output: Output) -> int:
    """JSON: `{"folder", "bytes", "entries": [{"dataset", "rows", "bytes", "used", "path"}], "other_bytes",
    "quarantine_bytes"}`."""
    from benchwright.datasets import HubCache

    cache = HubCache()
    total = sum(entry.bytes for entry in cache.entries)
    other, quarantine = cache.other_bytes()
    if output.as_json:
        output.json(
            {
                "folder": str(cache.folder),
                "bytes": total + other + quarantine,
                "entries": _described(cache.entries),
                "other_bytes": other,
                "quarantine_bytes": quarantine,
            }
        )
        return 0
    output.line(f"{cache.folder}: {size_text(total)} in {len(cache.entries)} files of rows")
    if quarantine:
        output.line(f"damaged and set aside: {size_text(quarantine)}; prune deletes them")
    by_dataset: dict[str, list[CacheEntry]] = {}
    for entry in cache.entries:
        by_dataset.setdefault(entry.dataset, []).append(entry)
    for name, entries in by_dataset.items():
        rows = sum(entry.rows or 0 for entry in entries)
        output.line(f"  {name}: {size_text(sum(entry.bytes for entry in entries))}, {rows:,} rows")
    return 0


def _verify(arguments: Namespace, output: Output) -> int:
    """JSON: `{"checked", "damaged": [{"dataset", "path", "reason"}]}`; exit 1 when something was damaged."""
    from benchwright.datasets import HubCache

    cache = HubCache()
    checked = len(cache.entries)
    damaged = cache.verify()
    code = 1 if damaged else 0
    if output.as_json:
        described = [{"dataset": e.dataset, "path": str(e.path), "reason": why} for e, why in damaged]
        output.json({"checked": checked, "damaged": described, "exit_code": code})
        return code
    for entry, why in damaged:
        output.line(
            f"damaged: {entry.dataset}, {entry.path}: {why}. Set aside; it is downloaded again when needed"
        )
    output.line(f"{checked - len(damaged):,} of {checked:,} files are intact")
    return code


def _prune(arguments: Namespace, output: Output) -> int:
    """JSON: `{"deleted": [as in info], "bytes"}`."""
    from benchwright.cli._list import since
    from benchwright.core import UsageError
    from benchwright.datasets import HubCache

    if not (arguments.older_than or arguments.max_size):
        raise UsageError("prune: name what to delete: --older-than 30d, --max-size 20GB, or both")
    before = None if arguments.older_than is None else since(arguments.older_than, "--older-than")
    most = None if arguments.max_size is None else size_of(arguments.max_size)
    return _gone(HubCache().prune(before=before, max_bytes=most), output)


def _clear(arguments: Namespace, output: Output) -> int:
    """JSON: `{"deleted": [as in info], "bytes"}`."""
    from benchwright.datasets import HubCache

    cache = HubCache()
    cache.clear()
    return _gone(cache.entries, output)


def _gone(entries: Sequence[CacheEntry], output: Output) -> int:
    freed = sum(entry.bytes for entry in entries)
    if output.as_json:
        output.json({"deleted": _described(entries), "bytes": freed})
    else:
        output.line(f"{len(entries):,} files deleted, {size_text(freed)}")
    return 0


def _described(entries: Sequence[CacheEntry]) -> list[dict[str, object]]:
    from datetime import UTC, datetime

    return [
        {
            "dataset": entry.dataset,
            "rows": entry.rows,
            "bytes": entry.bytes,
            "used": datetime.fromtimestamp(entry.used, UTC).isoformat(timespec="seconds"),
            "path": str(entry.path),
        }
        for entry in entries
    ]


def size_of(text: str) -> int:
    """A size in bytes.

    >>> size_of("20GB"), size_of("1.5 MB"), size_of("800")
    (20000000000, 1500000, 800)
    """
    from benchwright.core import UsageError

    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)b?", text.strip().lower())
    if found is None:
        raise UsageError(f"--max-size {text!r}: expected a size, such as 500MB or 20GB")
    return int(float(found[1]) * _UNITS[found[2]])


def size_text(count: int) -> str:
    """A size for people.

    >>> size_text(999), size_text(1_234_567)
    ('999 B', '1.2 MB')
    """
    value, unit = float(count), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 1000 or unit == "TB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"

"""What the benchmarks say: the machine and its load, the versions, and a table of figures."""

from __future__ import annotations

import json
import os
import platform
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.figures import Figure


@dataclass(frozen=True, slots=True)
class Section:
    """One comparison, measured or not."""

    name: str
    """As `--only` calls it."""
    figures: tuple[Figure, ...]
    """What came out."""
    trouble: str
    """Why it could not be measured; empty when it could."""
    load_before: float
    """Load average of the last minute when it began."""
    load_after: float
    """And when it ended: the benchmark's own processes are part of it."""
    took_s: float
    """How long it took."""


def machine() -> dict[str, str]:
    """What the figures were taken on."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        cpu = names[0] if names else cpu
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu": f"{cpu}, {usable} usable",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "taken": time.strftime("%Y-%m-%d %H:%M:%S %Z"),
    }


def show(about: dict[str, str], versions: dict[str, str], sections: list[Section], *, quick: bool) -> None:
    """Print the report."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console.width = 180  # a log file has room, and folded tables are hard to read
    console.print(
        " · ".join(f"{name} {value}" for name, value in (about | versions).items()), highlight=False
    )
    if quick:
        console.print("quick: fewer rounds and smaller counts; the verdicts only show that the harness works")
    for section in sections:
        loads = (
            f"load {section.load_before:.2f} before, {section.load_after:.2f} after; {section.took_s:.0f} s"
        )
        table = Table(title=f"{section.name} ({loads})", title_justify="left", expand=True)
        for heading in ("measured", "benchwright", "held against", "result", "wanted", "", "how"):
            table.add_column(heading, overflow="fold")
        for figure in section.figures:
            result = f"{figure.value:.2f} {figure.unit}"
            colour = {"PASS": "[green]PASS", "MISS": "[red]MISS"}.get(figure.verdict, "")
            table.add_row(figure.name, figure.ours, figure.other, result, figure.target, colour, figure.note)
        if section.figures:
            console.print(table)
        if section.trouble:
            console.print(f"{section.name}: not measured ({loads}): {section.trouble}", markup=False)


def write_json(
    path: Path, about: dict[str, str], versions: dict[str, str], sections: list[Section], *, quick: bool
) -> None:
    """The same for programs."""
    listed = []
    for section in sections:
        record = asdict(section)
        record["figures"] = [asdict(figure) | {"verdict": figure.verdict} for figure in section.figures]
        listed.append(record)
    whole = {"machine": about, "versions": versions, "quick": quick, "comparisons": listed}
    path.write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

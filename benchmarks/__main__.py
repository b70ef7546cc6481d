"""`python -m benchmarks`: measure, side by side, and say what was met."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from benchmarks import venvs
from benchmarks.comparisons import COMPARISONS
from benchmarks.figures import Figure
from benchmarks.inspect_side import Inspect
from benchmarks.lm_eval_side import LmEval
from benchmarks.ours import Ours
from benchmarks.processes import BenchError
from benchmarks.report import Section, machine, show, write_json
from benchmarks.rounds import Bench

NEED_LM_EVAL = {"speed", "choices"}
NEED_INSPECT = {"speed"}
OUR_PACKAGES = ("benchwright", "pyreqwest", "uvloop")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round, smaller counts: does it all work?")
    parser.add_argument(
        "--only", action="append", choices=list(COMPARISONS), help="this one; may be repeated"
    )
    parser.add_argument("--without", action="append", choices=["lm_eval", "inspect"], default=[])
    parser.add_argument(
        "--before",
        type=Path,
        metavar="PROGRAM",
        help="the `benchwright` command of an earlier version, measured in the same rounds",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    parser.add_argument("--keep", action="store_true", help="keep the runs' folders under .bench/")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a figure is missed")
    return parser.parse_args()


def measured(name: str, bench: Bench) -> Section:
    """One comparison; trouble is reported and does not stop the others."""
    print(f"{name} …", file=sys.stderr, flush=True)
    before, began = os.getloadavg()[0], time.perf_counter()
    trouble = ""
    figures: tuple[Figure, ...] = ()
    try:
        figures = tuple(COMPARISONS[name](bench))
    except BenchError as error:
        trouble = str(error)
    except Exception as error:
        # A tool's files may have taken another shape; an hour of other figures must not be lost over it.
        trouble = f"{type(error).__name__}: {error}"
    return Section(name, figures, trouble, before, os.getloadavg()[0], time.perf_counter() - began)


def installed(tool: venvs.Tool, versions: dict[str, str], troubles: list[Section]) -> Path | None:
    """The tool's Python, or None and a loud line in the report when it cannot be had."""
    try:
        python = venvs.python_of(tool)
        versions |= venvs.versions_of(python, tool.packages)
    except (OSError, subprocess.CalledProcessError) as error:
        why = f"cannot be installed or started, so nothing is held against it: {error}"
        troubles.append(Section(tool.name, (), why, os.getloadavg()[0], os.getloadavg()[0], 0.0))
        return None
    return python


def main() -> int:
    """Install what is missing, run the comparisons one after the other, report."""
    given = arguments()
    names = given.only or list(COMPARISONS)
    versions = {name: version(name) for name in OUR_PACKAGES}
    sections: list[Section] = []
    venvs.HOME.mkdir(exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="work-", dir=venvs.HOME))
    lm_eval = inspect = None
    if NEED_LM_EVAL & set(names) and "lm_eval" not in given.without:
        python = installed(venvs.LM_EVAL, versions, sections)
        lm_eval = LmEval(python, work) if python else None
    if NEED_INSPECT & set(names) and "inspect" not in given.without:
        python = installed(venvs.INSPECT, versions, sections)
        inspect = Inspect(python, work) if python else None
    before = Ours(work, given.before.absolute()) if given.before else None
    bench = Bench(
        Ours(work, Path(sys.executable).with_name("benchwright")), before, lm_eval, inspect, work, given.quick
    )
    try:
        sections += [measured(name, bench) for name in names]
    finally:
        if not given.keep:
            shutil.rmtree(work, ignore_errors=True)
    about = machine()
    show(about, versions, sections, quick=given.quick)
    if given.json:
        write_json(given.json, about, versions, sections, quick=given.quick)
    if any(section.trouble for section in sections):
        return 1
    missed = any(figure.verdict == "MISS" for section in sections for figure in section.figures)
    return 1 if given.strict and missed else 0


if __name__ == "__main__":
    sys.exit(main())

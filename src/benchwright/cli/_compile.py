"""`benchwright compile FILE.py`."""

from __future__ import annotations

import shlex
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.cli._check import findings
from benchwright.cli._container import BASE_IMAGE, containerize
from benchwright.cli._flags import add_gold_flag
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser, value_of
from benchwright.config import Setting
from benchwright.core import UsageError

if TYPE_CHECKING:
    from benchwright.packages import Inspected, Package

_MAX_DATA = Setting(
    "max_data", "number", "maximum size of the data in the package, in MB (default: 100)", above=0
)
_IMAGE_FLAGS = ("tag", "base_image", "platform")
_WHEELS = Path("dist")


def configure(parser: Parser) -> None:
    """Arguments of `compile`."""
    add = parser.add_argument
    add("module", metavar="FILE.py", nargs="?", help="file of benchmarks, or the dotted name of a module")
    add("--dry-run", action="store_true", help="only check the benchmarks and their data")
    add("--list", action="store_true", help="list installed packages, or the wheels in --install-dir")
    add("--install-dir", metavar="DIR", type=Path, help="keep the wheel or the build folder here")
    add("--no-install", action="store_true", help="write the wheel to dist/ without installing it")
    add("--name", metavar="NAME", help="name of the package (default: byob_ and the name of the file)")
    add(
        "--force",
        action="store_true",
        help="replace another compiled package of this name; allow a benchmark that another package already has",
    )
    add(
        "--include",
        metavar="PATH",
        action="append",
        default=[],
        help="add a file or folder that the code opens",
    )
    add(
        "--reference-data",
        action="store_true",
        help="refer to data files by absolute paths instead of including them",
    )
    add("--max-data", metavar="MB", type=value_of(_MAX_DATA), help=_MAX_DATA.meaning)
    add(
        "--check-requirements",
        action="store_true",
        help="exit with 1 if a declared requirement is not met here",
    )
    add_gold_flag(parser)
    image = parser.add_argument_group("container image")
    image.add_argument(
        "--containerize",
        action="store_true",
        help="write a build folder, and build the image if docker is available",
    )
    image.add_argument("--tag", metavar="NAME", help="name of the image (default: the name of the package)")
    image.add_argument("--base-image", metavar="IMAGE", help=f"image to start from (default: {BASE_IMAGE})")
    image.add_argument(
        "--platform",
        metavar="OS/ARCH",
        help="a platform, such as linux/amd64, which is added to the image's tag",
    )
    image.add_argument(
        "--push", metavar="IMAGE", help="push the image under this name (implies --containerize)"
    )
    parser.example("benchwright compile my_bench.py --dry-run", "benchwright compile my_bench.py")  # fmt: skip


def execute(arguments: Namespace, output: Output) -> int:
    """JSON: `{"benchmarks": […], "exit_code": n}`, and with a package `"package"`, `"version"`, `"wheel"`, `"installed"`."""
    if arguments.list:
        if arguments.module is not None:
            raise UsageError("--list takes no file; it lists the packages that are there")
        return _list(arguments.install_dir, output)
    _refuse_idle(arguments)
    from benchwright.packages import Inspected

    remote = arguments.dry_run
    inspected = Inspected.of(arguments.module, Path.cwd(), arguments.include, fetch=remote)
    limit = {} if arguments.max_data is None else {"max_data_mb": arguments.max_data}
    package = inspected.package(name=arguments.name, reference_data=arguments.reference_data, **limit)
    failure = inspected.failure(allow_failing_gold=arguments.allow_failing_gold)
    unmet = inspected.unmet if arguments.check_requirements else []
    if arguments.dry_run or failure or unmet:
        return _validated(inspected, package, failure or "; ".join(unmet) or None, output)
    for note in _notes(inspected):
        output.note(f"note: {note}")
    if arguments.containerize or arguments.push:
        return containerize(inspected, package, arguments, output)
    return _install(inspected, package, arguments, output)


def _validated(inspected: Inspected, package: Package, problem: str | None, output: Output) -> int:
    """Print what the check found, and end with the problem."""
    from benchwright.cli._check import report_json
    from benchwright.packages import PackageError

    refused = None if problem is None else PackageError(f"VALIDATION FAILED: {problem}")
    if output.as_json:
        checks = [report_json(report) for report in inspected.reports]
        error = {} if refused is None else {"error": {"type": "PackageError", "message": str(refused)}}
        code = 0 if refused is None else refused.exit_code
        output.json({**_json(package), "checks": checks, **error, "exit_code": code})
        return code
    _show(inspected, package, output)
    if refused is not None:
        raise refused
    return 0


def _refuse_idle(arguments: Namespace) -> None:
    """Raise UsageError for flags that would have no effect."""
    if arguments.module is None:
        raise UsageError(
            "name the file of benchmarks: benchwright compile FILE.py; or list packages with --list"
        )
    if not (arguments.containerize or arguments.push):
        for name in _IMAGE_FLAGS:
            if getattr(arguments, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} is for images; add --containerize")
    elif arguments.reference_data:
        raise UsageError(
            "--reference-data: an image contains its data; leave this out, or leave out --containerize"
        )
    if arguments.reference_data and arguments.max_data is not None:
        raise UsageError(
            "--max-data limits the data in the package, and --reference-data puts none there; keep one"
        )


def _notes(inspected: Inspected) -> list[str]:
    notes = [f"{key} is imported from another package and left out" for key in inspected.content.elsewhere]
    if inspected.unchecked:
        names = ", ".join(inspected.unchecked)
        notes.append(
            f"data of {names} is fetched when it runs, and was not checked; --dry-run fetches and checks it"
        )
    return notes + inspected.unmet


def _install(inspected: Inspected, package: Package, arguments: Namespace, output: Output) -> int:
    from benchwright.packages import pip_command

    folder = arguments.install_dir or (_WHEELS if arguments.no_install else None)
    install = not arguments.no_install
    wheel = inspected.deliver(package, folder, install=install, force=arguments.force)
    if output.as_json:
        made = {"wheel": None if wheel is None else str(wheel), "installed": install}
        output.json({**_json(package), **made, "exit_code": 0})
        return 0
    name, version = package.metadata.name, package.metadata.version
    if install:
        output.line(f"installed {name} {version}; remove it with: pip uninstall {name}")
    if wheel is not None:
        output.line(f"wrote {wheel}" + ("" if install else f"; install it with: {pip_command(wheel)}"))
    output.line("\nrun it with:")
    for benchmark in package.manifest.benchmarks:
        name = f"{package.manifest.package}.{benchmark.key}" if arguments.force else benchmark.key
        output.line(f"  benchwright run {name}\n  {benchmark.command(name)}")
    return 0


def _json(package: Package) -> dict[str, Any]:
    return {
        "package": package.metadata.name,
        "version": package.metadata.version,
        "requires": list(package.metadata.requires),
        "benchmarks": [
            {
                "name": one.name, "key": one.key, "eval_type": f"{package.manifest.package}.{one.key}",
                "model_type": one.model_type, "dataset": one.dataset, "records": one.records,
                "requirements": list(one.requirements), "command": one.command(one.key),
            }
            for one in package.manifest.benchmarks
        ],
    }  # fmt: skip


def _show(inspected: Inspected, package: Package, output: Output) -> None:
    """Print the facts about each benchmark and the findings of its check."""
    from benchwright.core import printable
    from benchwright.reports import labelled, line

    reports = {report.key: report for report in inspected.reports}
    for benchmark in package.manifest.benchmarks:
        records = "not counted" if benchmark.records is None else f"{benchmark.records:,}"
        facts = [
            ("name", benchmark.name), ("normalised", benchmark.key), ("package", package.metadata.name), ("dataset", benchmark.dataset), ("records", records),
            ("model type", benchmark.model_type), ("requires", ", ".join(benchmark.requirements) or "nothing"),
        ]  # fmt: skip
        report = reports.get(benchmark.key)
        found = [(label, text, "") for label, text in facts] + (
            [] if report is None else list(findings(report))
        )
        grid = labelled((label, (printable(text), style)) for label, text, style in found)
        output.show([line(), line(benchmark.key, "bold"), grid])


def _list(folder: Path | None, output: Output) -> int:
    """JSON: `{"packages": [{package, version, place, installed, benchmarks}]}`."""
    from benchwright.packages import list_packages

    found = list_packages(folder)
    if output.as_json:
        listed = [
            {
                "package": one.name, "version": one.version, "place": one.place, "installed": one.installed,
                "benchmarks": [f"{one.manifest.package}.{benchmark.key}" for benchmark in one.manifest.benchmarks],
            }
            for one in found
        ]  # fmt: skip
        output.json({"packages": listed, "exit_code": 0})
        return 0
    if not found:
        output.line(
            f"no packages of benchmarks in {shlex.quote(str(folder)) if folder else 'this environment'}"
        )
    for one in found:
        output.line(f"{one.name} {one.version}{'' if one.installed else ' (not installed)'}")
        for benchmark in one.manifest.benchmarks:
            output.line(f"  * {one.manifest.package}.{benchmark.key}")
    return 0

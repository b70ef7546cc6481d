"""The flags of suites and of the long form: models, data, mode and folders."""

from __future__ import annotations

import re
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from benchwright.cli._parser import Parser, value_of
from benchwright.config import SUITE_SETTINGS, SuiteOptions

if TYPE_CHECKING:
    from benchwright.config import RunOptions
    from benchwright.sdk import Resolved

_SHORT = {"mode": "-m", "work_dir": "-w"}
_TIME = re.compile(r"\d{8}_\d{6}(_\d+)?")


def add_suite_flags(parser: Parser) -> None:
    """Add TARGET, which may be left out, and the flags of suites."""
    parser.add_argument(
        "target", metavar="TARGET", nargs="?",
        help="test.csv, bench.py, bench.py:name, suite.toml, a module, or a name (see: ls)",
    )  # fmt: skip
    group = parser.add_argument_group("several models or datasets")
    group.add_argument(
        "--models",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="names of models; each is evaluated on all of the data",
    )
    group.add_argument(
        "--datasets", nargs="+", action="extend", metavar="NAME",
        help="benchmarks, data files or configured names, instead of TARGET",
    )  # fmt: skip
    group.add_argument(
        "--custom-dataset-path", nargs="+", action="extend", metavar="FILE",
        help="files of questions, instead of TARGET",
    )  # fmt: skip
    group.add_argument(
        "--config-dir", metavar="DIR", help="folder with files of models/ and datasets/ (default: configs)"
    )
    for setting in SUITE_SETTINGS:
        flag = f"--{setting.name.replace('_', '-')}"
        names = [_SHORT[setting.name], flag] if setting.name in _SHORT else [flag]
        if setting.kind == "bool":
            group.add_argument(*names, action="store_true", default=None, help=setting.meaning)
        else:
            group.add_argument(
                *names, type=value_of(setting), metavar=setting.metavariable, help=setting.meaning
            )
    group.add_argument(
        "-r", "--reuse", nargs="?", const="", metavar="TIME",
        help="resume the newest work folder, or the one of that time",
    )  # fmt: skip
    group.add_argument(
        "-s", "--search", action="store_true", help="only print where the named models and datasets come from"
    )


def check_target(arguments: Namespace) -> None:
    """Raise UsageError unless exactly one of TARGET and the long form says what to evaluate."""
    from pathlib import Path

    from benchwright.core import UsageError

    if arguments.target is None and arguments.reuse and not _TIME.fullmatch(arguments.reuse):
        # `run --reuse suite.toml`: the word after --reuse is the target, and the newest folder is resumed.
        arguments.target, arguments.reuse = arguments.reuse, ""
    named = [flag for flag in ("datasets", "custom_dataset_path") if getattr(arguments, flag)]
    if arguments.target is not None and named:
        flags = " and ".join(f"--{flag.replace('_', '-')}" for flag in named)
        raise UsageError(
            f"{arguments.target} and {flags} both say what to evaluate; give one of them, or put all into a suite"
        )
    if arguments.target is None and not named and arguments.reuse is None and not arguments.search:
        what = "--models names models, but no data" if arguments.models else "nothing to evaluate"
        taken = [name for name in arguments.models or () if Path(name).is_file()]
        if taken:
            raise UsageError(
                f"{taken[0]} follows --models and is read as a model; write it first: benchwright run "
                f"{taken[0]} --models …"
            )
        raise UsageError(
            f"{what}: give a target, as in benchwright run test.csv, or --custom-dataset-path FILE, or --datasets NAME"
        )
    if arguments.custom_dataset_path and len(arguments.custom_dataset_path) > 1 and arguments.meta_path:
        raise UsageError(
            "--custom-dataset-meta-path belongs to one file, and several were given; name each file's meta file in "
            "a suite, or put it next to the file as FILE.meta.json"
        )


def suite_options(arguments: Namespace) -> SuiteOptions:
    """The flags as options of a suite."""
    from pathlib import Path

    names = [*(setting.name for setting in SUITE_SETTINGS), "models", "reuse"]
    values: dict[str, Any] = {name: getattr(arguments, name) for name in names}
    if values["work_dir"] is not None:
        values["work_dir"] = Path(values["work_dir"]).expanduser()
    return SuiteOptions.from_keywords(values)


def resolved(arguments: Namespace, options: RunOptions) -> Resolved:
    """What to evaluate: TARGET, or the suite that the flags describe."""
    from pathlib import Path

    from benchwright.sdk import resolve

    cwd = Path.cwd()
    how = suite_options(arguments)
    if arguments.target is not None:
        return resolve(arguments.target, options, how, config_dir=arguments.config_dir)
    from benchwright.suites import command_suite

    return command_suite(
        files=arguments.custom_dataset_path or [],
        datasets=arguments.datasets or [],
        models=arguments.models or [],
        config_dir=arguments.config_dir,
        cwd=cwd,
    )

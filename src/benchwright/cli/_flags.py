"""The flags of benchmarks (derived from the list of settings), suites, programs and workspaces, and checks that they fit
the target."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.cli._parser import Parser, value_of
from benchwright.config import RUN_SETTINGS, SUITE_SETTINGS, RunOptions, Setting, SuiteOptions
from benchwright.core import expand_home, late_pattern

if TYPE_CHECKING:
    from benchwright.cli._output import Output
    from benchwright.runs import Resolved, Serve
    from benchwright.store import Lease, Store, Workspace

_SHORT = {"mode": "-m", "work_dir": "-w"}
_TIME = late_pattern(r"\d{8}_\d{6}(_\d+)?")
_TIMEOUT = Setting("timeout", "number", "stop the program after this time", above=0)
_ONLY_FOR_PROGRAMS = ("timeout", "tag", "no_server", "use_current_config", "force")
_LONG_FORM = ("models", "reuse", "config_dir", *(setting.name for setting in SUITE_SETTINGS))


def add_run_flags(
    parser: Parser, only: Collection[str] | None = None, *, several: Collection[str] = ()
) -> None:
    """Add the flags, under their headings; `only` names the settings to include, `several` those that may be repeated."""
    add_flags(parser, [setting for setting in RUN_SETTINGS if only is None or setting.name in only], several)


def add_flags(parser: Parser, settings: Iterable[Setting], several: Collection[str] = ()) -> None:
    """Add the flags of these settings, under their headings."""
    groups: dict[str, Any] = {}
    for setting in settings:
        if setting.group not in groups:
            groups[setting.group] = parser.add_argument_group(setting.group)
        _add(groups[setting.group], setting, repeated=setting.name in several)
        if setting.frequent:
            parser.frequent.add(setting.name)


def add_workspace(parser: Parser) -> None:
    """Add `--workspace` and `--store`, for commands that only read."""
    for setting in RUN_SETTINGS:
        if setting.name in ("workspace", "store"):
            _add(parser.common, setting)


def add_accept_cached(parser: Parser, when: str = "") -> None:
    """Add `--accept-cached`, for commands that make a decision of a run."""
    parser.add_argument(
        "--accept-cached",
        action="store_true",
        help=f"{when}accept replies that are older than the run, which came from the cache",
    )


def given(arguments: argparse.Namespace, names: Iterable[str] | None = None) -> dict[str, Any]:
    """Settings that were typed, by canonical name: settings of runs, or those in `names`."""
    chosen = [setting.name for setting in RUN_SETTINGS] if names is None else names
    values = {name: getattr(arguments, name, None) for name in chosen}
    return {name: value for name, value in values.items() if value is not None}


def run_options(arguments: argparse.Namespace) -> RunOptions:
    """The flags as the options of a run."""
    return RunOptions.from_keywords(given(arguments))


def _add(group: Any, setting: Setting, *, repeated: bool = False) -> None:
    meaning = setting.help.replace("%", "%%")
    if setting.kind == "bool":
        group.add_argument(
            *setting.flags, dest=setting.name, action=argparse.BooleanOptionalAction, help=meaning
        )
        return
    # A list setting is collected with `extend`, because its converter makes a list of each text.
    action: Any = "extend" if setting.kind == "texts" else "append" if repeated else "store"
    if setting.joined and not repeated:
        action = _Joined
    group.add_argument(
        *setting.flags,
        dest=setting.name,
        action=action,
        type=value_of(setting),
        metavar=setting.metavariable,
        help=meaning,
    )


class _Joined(argparse.Action):
    """Joins the texts of a flag that is given more than once by commas, so that none is lost."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        before = getattr(namespace, self.dest, None)
        setattr(namespace, self.dest, values if before is None else f"{before},{values}")


def add_gold_flag(parser: Parser) -> None:
    """Add `--allow-failing-gold`."""
    parser.add_argument(
        "--allow-failing-gold",
        action="store_true",
        help="pass the check even if no gold (expected) answer scores as right (default: exit code 1)",
    )


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
        help="names of models; each is evaluated on all data",
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
        "--config-dir", metavar="DIR", help="folder that contains models/ and datasets/ (default: configs)"
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
        help="resume the newest work folder (see --work-dir), or the one with this time; for a target alone, its newest run",
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

    names = [*(setting.name for setting in SUITE_SETTINGS), "models", "reuse"]
    values: dict[str, Any] = {name: getattr(arguments, name) for name in names}
    if values["work_dir"] is not None:
        values["work_dir"] = expand_home(values["work_dir"])
    return SuiteOptions.from_keywords(values)


def resolved(arguments: Namespace, options: RunOptions) -> Resolved:
    """What to evaluate: TARGET, or the suite that the flags describe."""
    from pathlib import Path

    from benchwright.runs import resolve

    cwd = Path.cwd()
    how = suite_options(arguments)
    if arguments.target is not None:
        return resolve(arguments.target, options, how, config_dir=arguments.config_dir)
    from benchwright.runs import command_suite

    return command_suite(
        files=arguments.custom_dataset_path or [],
        datasets=arguments.datasets or [],
        models=arguments.models or [],
        config_dir=arguments.config_dir,
        cwd=cwd,
    )


def add_code_flags(parser: Parser, *, tags: bool) -> None:
    """Add the flags of programs."""
    group = parser.add_argument_group("programs and workflows")
    group.add_argument("--timeout", type=value_of(_TIMEOUT), metavar="SECONDS", help=_TIMEOUT.meaning)
    group.add_argument("--no-server", action="store_true", help="do not start a REST server for the program")
    if tags:
        group.add_argument(
            "--tag", action="append", metavar="NAME=VALUE", help="label the run; may be repeated"
        )


def refuse_benchmark_flags(arguments: Namespace, name: str) -> None:
    """Raise UsageError for a flag that has no effect on a program."""
    from benchwright.runs import refuse_settings

    long_form = [flag for flag in _LONG_FORM if getattr(arguments, flag, None)]
    refuse_settings(name, [*given(arguments), *long_form])


def refuse_code_flags(arguments: Namespace, name: str) -> None:
    """Raise UsageError for a flag that has no effect on a benchmark."""
    from benchwright.core import UsageError

    typed = [flag for flag in _ONLY_FOR_PROGRAMS if getattr(arguments, flag, None)]
    if typed:
        flags = ", ".join(f"--{flag.replace('_', '-')}" for flag in typed)
        raise UsageError(f"{flags}: only for programs and workflows, and {name} is a benchmark")


def refuse_suite_flags(arguments: Namespace) -> None:
    """Raise UsageError for a flag that only several models or datasets understand."""
    from benchwright.core import UsageError

    typed = [
        flag
        for flag in (*_LONG_FORM, "datasets", "custom_dataset_path", "search")
        if getattr(arguments, flag)
    ]
    if typed:
        flags = ", ".join(f"--{flag.replace('_', '-')}" for flag in typed)
        raise UsageError(
            f"{flags}: only for suites and files of questions, and a run configuration says what is evaluated"
        )


def run_tags(arguments: Namespace) -> dict[str, str]:
    """`--tag NAME=VALUE` as labels."""
    from benchwright.core import UsageError

    tags = {}
    for text in arguments.tag or ():
        name, equals, value = text.partition("=")
        if not name.strip() or not equals:
            raise UsageError(f"--tag {text!r}: expected NAME=VALUE, such as --tag prompt=v2")
        tags[name.strip()] = value
    return tags


def server_next_to(arguments: Namespace, note: object) -> Serve | None:
    """The function that starts a REST server next to a program; None with `--no-server`, and also, with a note, if the
    packages are missing."""
    from importlib.util import find_spec

    if arguments.no_server:
        return None
    if find_spec("uvicorn") is None or find_spec("starlette") is None:
        if callable(note):
            note(
                "no REST server next to the program: pip install 'benchwright[server]' (Python programs need none)"
            )
        return None
    return _serve_next_to


@contextmanager
def _serve_next_to(workspace: Workspace, lease: Lease) -> Iterator[tuple[str, str]]:
    """Serve on a free loopback port, with the right to write to the run of the lease."""
    from benchwright.server import serving

    with serving(workspace) as (address, state):
        state.hold(lease)
        yield address.url, address.token


def named_workspace(arguments: Namespace) -> Workspace:
    """The workspace that `--workspace` names, or the nearest one. Raises NotFoundError for a missing folder."""
    from benchwright.config import named_store
    from benchwright.store import find_workspace

    return find_workspace(
        Path.cwd(),
        None if arguments.workspace is None else Path(arguments.workspace),
        named_store,
        to_read=True,
    )


@contextmanager
def existing_store(arguments: Namespace) -> Iterator[Store | None]:
    """The store of the workspace; None if there is none yet. Raises NotFoundError for a missing folder."""
    from benchwright.store import open_existing

    store = open_existing(named_workspace(arguments))
    with nullcontext() if store is None else store:
        yield store


def name_configuration(output: Output) -> None:
    """Print which configuration is used, unless it is in the current folder."""
    from benchwright.config import find_config

    here = Path.cwd()
    config = find_config(here)
    if config is not None and config.path.parent != here.resolve():
        output.note(f"configuration: {config.path}")

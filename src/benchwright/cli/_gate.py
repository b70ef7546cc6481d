"""`benchwright gate RUN`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from benchwright.cli._flags import add_accept_cached, add_workspace
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser
from benchwright.cli._web import add_web, named_or_nearest, open_page
from benchwright.core import expand_home


def configure(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", help="the run to judge: number, name, folder or last")
    parser.add_argument(
        "--policy", metavar="FILE", required=True, help="TOML file with the rules that the run must meet"
    )
    parser.add_argument(
        "--baseline", metavar="B",
        help="what to compare with: a name given with `bless`, a run, or a portable baseline (default: the benchmark's name, if it was blessed)",
    )  # fmt: skip
    parser.add_argument(
        "--junit", metavar="FILE", help="write the verdict as JUnit XML; - for standard output"
    )
    parser.add_argument(
        "--markdown", metavar="FILE", help="write the verdict as Markdown; - for standard output"
    )
    add_web(parser, "the verdict")
    add_accept_cached(parser)
    add_workspace(parser)
    parser.example(
        "benchwright gate last --policy policy.toml",
        "benchwright gate last --baseline main --policy policy.toml --junit gate.xml",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Print the verdict; exit with 0 for GO, 1 for NO-GO, 3 for INCONCLUSIVE."""
    from benchwright.core import BenchwrightError, UsageError
    from benchwright.reports import VERDICT_DOCUMENTS
    from benchwright.runs import gate

    to_stdout = [name for name in ("junit", "markdown") if getattr(arguments, name) == "-"]
    if len(to_stdout) + output.as_json > 1:
        raise UsageError(
            "standard output takes one of --json, --junit - and --markdown -; write the others to files"
        )
    files = _files(arguments)

    def say(reason: str) -> None:
        for name, path in files.items():
            _write(path, VERDICT_DOCUMENTS[name](reason), last=False)

    say("the gate has not finished")  # an earlier verdict must not pass for this one, even after kill -9
    try:
        verdict = gate(
            arguments.run,
            policy=arguments.policy,
            baseline=arguments.baseline,
            accept_cached=arguments.accept_cached,
            workspace=arguments.workspace,
        )
    except BenchwrightError as error:
        say(str(error))
        raise
    for name, render in VERDICT_DOCUMENTS.items():
        if name in to_stdout:
            output.stream([render(verdict)])
        elif name in files:
            _write(files[name], render(verdict), last=True)
    if not output.as_json and not to_stdout:
        output.show(verdict)
    if arguments.web:
        page = f"/gates/{verdict.run_id}"
        document = {**verdict.to_json(), "accept_cached": arguments.accept_cached}
        handed = "/api/handed", {"page": page, "document": document}
        told = open_page(named_or_nearest(arguments), page, output, handed=handed)
        if output.as_json:
            output.json({**told, "verdict": verdict.verdict, "exit_code": verdict.exit_code})
    elif output.as_json:
        output.json(verdict.to_json())
    return verdict.exit_code


def _files(arguments: Namespace) -> dict[str, Path]:
    """The files to write, by flag. UsageError for one that the gate reads, or that has two uses."""
    from benchwright.core import UsageError

    used = {
        expand_home(given).resolve(): f"--{name}"
        for name in ("policy", "baseline")
        if (given := getattr(arguments, name)) is not None
    }
    files: dict[str, Path] = {}
    for name in ("junit", "markdown"):
        given = getattr(arguments, name)
        if given in (None, "-"):
            continue
        files[name] = expand_home(given)
        place = files[name].resolve()
        if place in used:
            raise UsageError(f"--{name} {given}: this is also the file of {used[place]}; choose another file")
        used[place] = f"--{name}"
    return files


def _write(path: Path, text: str, *, last: bool) -> None:
    """Write a file whole. A pipe or a device gets only the last text."""
    from benchwright.core import UsageError
    from benchwright.results import replace_file

    try:
        if path.is_relative_to("/dev") or (path.exists() and not path.is_file() and not path.is_dir()):
            if last:
                path.write_text(text, encoding="utf-8", newline="\n")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path.resolve(), text.encode())  # a link stays one
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; choose another file") from None

"""`benchwright gate RUN`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from benchwright.cli._flags import add_workspace
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser
from benchwright.core import expand_home


def configure(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", help="the run to judge: number, name, folder or last")
    parser.add_argument(
        "--policy", metavar="FILE", required=True, help="TOML file with the rules that the run must meet"
    )
    parser.add_argument(
        "--baseline", metavar="B",
        help="what to compare with: a blessed name, a run, or a portable baseline (default: the name of the benchmark, if it is blessed)",
    )  # fmt: skip
    parser.add_argument(
        "--junit", metavar="FILE", help="write the verdict as JUnit XML; - for standard output"
    )
    parser.add_argument("--markdown", metavar="FILE", help="write it as Markdown; - for standard output")
    add_workspace(parser)
    parser.example(
        "benchwright gate last --policy policy.toml",
        "benchwright gate last --baseline main --policy policy.toml --junit gate.xml",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Print the verdict; exit with 0 for GO, 1 for NO-GO, 3 for INCONCLUSIVE."""
    from benchwright.core import UsageError
    from benchwright.gates import junit, markdown, verdict_table
    from benchwright.sdk import gate

    to_stdout = [name for name in ("junit", "markdown") if getattr(arguments, name) == "-"]
    if len(to_stdout) + output.as_json > 1:
        raise UsageError(
            "standard output takes one of --json, --junit - and --markdown -; write the others to files"
        )
    verdict = gate(
        arguments.run, policy=arguments.policy, baseline=arguments.baseline, workspace=arguments.workspace
    )
    for name, render in (("junit", junit), ("markdown", markdown)):
        target = getattr(arguments, name)
        if target == "-":
            output.stream([render(verdict)])
        elif target is not None:
            _write(expand_home(target), render(verdict))
    if output.as_json:
        output.json(verdict.to_json())
    elif not to_stdout:
        output.show(verdict_table(verdict))
    return verdict.exit_code


def _write(path: Path, text: str) -> None:
    from benchwright.core import UsageError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; choose another file") from None

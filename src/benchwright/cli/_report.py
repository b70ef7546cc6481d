"""`benchwright report RUN… -o page.html`."""

from __future__ import annotations

from argparse import Namespace

from benchwright.cli._flags import add_workspace, existing_store
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser
from benchwright.core import expand_home


def configure(parser: Parser) -> None:
    parser.add_argument(
        "runs", metavar="RUN", nargs="+", help='number, "last", benchmark name, folder, or suite; two to eight runs are compared'
    )  # fmt: skip
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the page to write: FILE.html")
    parser.add_argument(
        "--force", action="store_true", help="compare even if data, prompts or scorers differ"
    )
    add_workspace(parser)
    parser.example(
        "benchwright report last -o page.html",
        "benchwright report 3 4 -o comparison.html",
        "benchwright report suite.toml -o suite.html",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Write the page; exit with 3 if it does not show all of a run, or if the runs are not comparable; JSON: `{"file", "runs", "exit_code"}`."""
    from benchwright.core import UsageError
    from benchwright.runs import write_report

    path = expand_home(arguments.output)
    if path.suffix.lower() != ".html":
        raise UsageError(
            f"{arguments.output}: a report is a page; name a file that ends in .html (compare -o and export write other formats)"
        )
    with existing_store(arguments) as store:
        runs, problem = write_report(
            store, arguments.runs, path, force=arguments.force, workspace=arguments.workspace
        )
    code = 0 if problem is None else 3
    if output.as_json:
        output.json({"file": str(path), "runs": runs, "exit_code": code})
    else:
        output.line(f"wrote {path}")
    if problem is not None:
        output.note(problem)
    return code

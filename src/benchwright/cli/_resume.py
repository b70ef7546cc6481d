"""`benchwright resume RUN`."""

from __future__ import annotations

from argparse import Namespace

from benchwright.cli._output import Output
from benchwright.cli._parser import Parser
from benchwright.cli._run_flags import add_run_flags, given

_MAY_CHANGE = ("parallelism", "max_requests", "max_tokens_total", "max_minutes")


def configure(parser: Parser) -> None:
    """Arguments of `resume`."""
    parser.add_argument("run", metavar="RUN", help='number, "last", benchmark name, or folder (see: list)')
    parser.add_argument("--retry-failed", action="store_true", help="ask samples without a score again")
    parser.add_argument(
        "--allow-changed", action="store_true", help="go on although the benchmark file has changed"
    )
    add_run_flags(parser, only=(*_MAY_CHANGE, "workspace"))
    parser.common.add_argument("-q", "--quiet", action="store_true", help="no progress")
    parser.example("benchwright resume last", "benchwright resume 12 --retry-failed --parallelism 4")


def execute(arguments: Namespace, output: Output) -> int:
    """Go on where it stopped."""
    from benchwright.cli._progress import watching
    from benchwright.cli._results import conclude, print_result
    from benchwright.sdk import resume

    values = given(arguments)
    with watching(quiet=arguments.quiet) as watcher:
        result = resume(
            arguments.run,
            workspace=values.pop("workspace", None),
            retry_failed=arguments.retry_failed,
            allow_changed=arguments.allow_changed,
            overrides=values,
            watcher=watcher,
        )
    print_result(result, output)
    return conclude([result], output)

"""`benchwright judge-calibrate FILE`."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from benchwright.cli._flags import add_workspace
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser
from benchwright.core import UsageError


def configure(parser: Parser) -> None:
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="file with human labels (.jsonl, .csv, .xlsx, …)"
    )
    parser.add_argument(
        "--labels",
        metavar="RUN",
        help="use the labels that people gave to samples of this run, instead of a file",
    )
    parser.add_argument(
        "--disagreements",
        action="store_true",
        help="also list the samples that judge and humans grade differently, with the judge's reply",
    )
    parser.add_argument(
        "--run", metavar="RUN", help="use the judge's grades in this run, matched by sample_id"
    )
    parser.add_argument("--judge", metavar="JSON", help="have this judge grade the labelled rows now")
    parser.add_argument(
        "--template",
        metavar="NAME",
        help="the judge's template, which defines the score of each grade; with --judge also a text "
        "or a file with {response}",
    )
    parser.add_argument("--criteria", metavar="TEXT", default="", help="further instructions for --judge")
    parser.add_argument(
        "--label-field", metavar="NAME", default="label", help="field with the labels (default: label)"
    )
    parser.add_argument(
        "--grade-field", metavar="NAME", help="field with the grades (default: grade; for a run: judge_grade)"
    )
    parser.add_argument(
        "--score-mapping", metavar="JSON", help="the score of each grade, if no template defines it"
    )
    parser.add_argument(
        "--weights", choices=("none", "linear", "quadratic"),
        help="weight of disagreements in kappa (default: quadratic for more than two grades)",
    )  # fmt: skip
    add_workspace(parser)
    parser.example(
        "benchwright judge-calibrate labels.jsonl --run last",
        "benchwright judge-calibrate --labels last --disagreements",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Print agreement, bias and the corrected score; with --json the same as one object."""
    from benchwright.runs import calibrate_judge

    if arguments.labels is not None and (
        arguments.file is not None or arguments.run is not None or arguments.judge is not None
    ):
        raise UsageError(
            "--labels RUN has the labels and the judge's grades of a run; leave out FILE, --run and --judge, or leave it out"
        )
    found = calibrate_judge(
        arguments.file,
        run=arguments.run if arguments.labels is None else arguments.labels,
        disagreements=arguments.disagreements,
        judge=_table(arguments.judge, "--judge"),
        template=arguments.template,
        criteria=arguments.criteria,
        label_field=arguments.label_field,
        grade_field=arguments.grade_field,
        score_mapping=_table(arguments.score_mapping, "--score-mapping"),
        weights=arguments.weights,
        workspace=arguments.workspace,
    )
    if output.as_json:
        output.json({**found.to_json(), "exit_code": found.exit_code})
    else:
        output.show(found)
    return found.exit_code


def _table(text: str | None, flag: str) -> dict[str, Any] | None:
    import json

    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{flag}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError(
            f'{flag} is {text}; expected an object such as {{"url": "http://…/v1", "model_id": "…"}}'
        )
    return value

"""`benchwright run_eval`: a run as NeMo Evaluator's command line and its run configurations describe it."""

from __future__ import annotations

import shlex
from argparse import Namespace
from pathlib import Path
from typing import Any

from benchwright.cli._output import Output, conclude, print_result
from benchwright.cli._parser import Parser
from benchwright.cli._process import load
from benchwright.config import RunConfig, RunOptions, merged_run_config
from benchwright.core import MODEL_TYPES

_FLAGS = ("eval_type", "model_id", "model_url", "model_type", "output_dir", "api_key_name")


def configure(parser: Parser) -> None:
    """Arguments of `run_eval`."""
    parser.add_argument("--eval-type", metavar="NAME", help="evaluation: a name that `benchwright ls` lists")
    parser.add_argument("--model-id", metavar="ID", help="the model's name, as its server knows it")
    parser.add_argument("--model-url", metavar="URL", help="URL of the server")
    parser.add_argument("--model-type", choices=MODEL_TYPES, help="kind of request")
    parser.add_argument("--output-dir", metavar="DIR", help="write the run's files here")
    parser.add_argument(
        "--api-key-name", metavar="VARIABLE", help="environment variable that holds the API key"
    )
    parser.add_argument("--run-config", metavar="FILE", type=Path, help="YAML file with config and target")
    parser.add_argument(
        "--overrides", metavar="KEY=VALUE,…", help="values above file and flags, by dotted keys"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the merged configuration and the command"
    )
    parser.common.add_argument("-q", "--quiet", action="store_true", help="do not show progress")
    parser.example(
        "benchwright run_eval --eval_type bfclv3_ast --model_id my_model --model_type chat "
        "--model_url http://localhost:8000 --output_dir results",
        "benchwright run_eval --run_config run.yaml --overrides config.params.limit_samples=10",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Merge, and run; or print what would be run."""
    flags = {name: getattr(arguments, name) for name in _FLAGS}
    config = merged_run_config(arguments.run_config, flags, arguments.overrides)
    options = RunOptions.from_keywords(config.options, "run_eval")
    if arguments.dry_run:
        return _print(config, output)
    load("sdk")
    from benchwright.cli._progress import watching
    from benchwright.sdk import RunResult, run

    results: list[RunResult] = []

    def finished(result: RunResult) -> None:
        results.append(result)
        print_result(result, output)

    with watching(quiet=arguments.quiet, debug=False) as watcher:
        run(config.target, options, watcher=watcher, finished=finished)
    return conclude(results, output)


def _print(config: RunConfig, output: Output) -> int:
    command = shlex.join(["benchwright", "run", config.target, *_flags(config.options)])
    if output.as_json:
        output.json({"config": config.as_document(), "command": command, "exit_code": 0})
        return 0
    import yaml

    output.line("Rendered config:\n")
    output.line(yaml.safe_dump(config.as_document(), sort_keys=False, allow_unicode=True))
    output.line(f"Rendered command:\n\n{command}")
    return 0


def _flags(options: dict[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in options.items():
        flag = name.replace("_", "-")
        words += (
            [f"--{'' if value else 'no-'}{flag}"] if isinstance(value, bool) else [f"--{flag}", str(value)]
        )
    return words

"""`benchwright run_eval`: runs what NeMo Evaluator's flags and run configurations describe."""

from __future__ import annotations

from argparse import Namespace

from msgspec.structs import replace

from benchwright.cli._flags import add_flags, given
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser
from benchwright.cli._run_configs import add_config_flags, execute_configs
from benchwright.config import RUN_SETTINGS
from benchwright.core import MODEL_TYPES

_FLAGS = ("model_id", "model_url", "output_dir", "api_key_name", "dataset", "num_fewshot", "overwrite")
_DEFAULTS = {"output_dir": "config.output_dir; one of them is required", "overwrite": "replace them"}
"""Defaults that differ from those of `run`."""


def configure(parser: Parser) -> None:
    """Arguments of `run_eval`."""
    parser.add_argument("--eval-type", metavar="NAME", help="name of the evaluation (see: ls)")
    parser.add_argument(
        "--model-type", choices=(*MODEL_TYPES, "embedding"), metavar="TYPE",
        help=f"kind of request: {', '.join(MODEL_TYPES)}",
    )  # fmt: skip
    parser.add_argument(
        "--dry-run", action="store_true", help="print the merged configuration and the command; run nothing"
    )
    chosen = [setting for setting in RUN_SETTINGS if setting.name in _FLAGS]
    add_flags(parser, [replace(one, otherwise=_DEFAULTS.get(one.name, one.otherwise)) for one in chosen])
    add_config_flags(parser, "--run-config", "--config")
    parser.common.add_argument("-q", "--quiet", action="store_true", help="do not show progress")
    parser.example(
        "benchwright run_eval --eval_type bfclv3_ast --model_id my_model --model_type chat "
        "--model_url http://localhost:8000 --output_dir results",
        "benchwright run_eval --run_config run.yaml --overrides config.params.limit_samples=10",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Merge the configuration, and run it or print it."""
    flags = {"eval_type": arguments.eval_type, "model_type": arguments.model_type}
    return execute_configs(arguments, {**flags, **given(arguments, _FLAGS)}, output, complete=True)

"""`benchwright simulate`."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import TYPE_CHECKING

from benchwright.cli._output import Output
from benchwright.cli._parser import Parser, value_of
from benchwright.config import Setting
from benchwright.core import UsageError

if TYPE_CHECKING:
    from benchwright.demo import DemoServer

_CHARACTER = (
    Setting(
        "skill", "number", "share of solvable questions answered correctly (default: 0.7)", least=0, most=1
    ),
    Setting("ttft_ms", "number", "milliseconds to the first token (default: 0)", least=0),
    Setting("itl_ms", "number", "milliseconds between tokens (default: 0)", least=0),
    Setting("slots", "int", "requests answered at once; others wait in order (default: no limit)", least=1),
    Setting("error_rate", "number", "share of requests that fail (default: 0)", least=0, most=1),
    Setting("seed", "int", "decides which questions it gets wrong (default: 0)"),
)
_PORT = Setting("port", "int", "port to listen on; 0 for a free one (default: 8787)", least=0, most=65535)


def configure(parser: Parser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=value_of(_PORT), default=8787, metavar="N", help=_PORT.meaning)
    parser.add_argument(
        "--api-key-name", metavar="VARIABLE", help="refuse requests (401) without the key in this variable"
    )
    group = parser.add_argument_group("character")
    for setting in _CHARACTER:
        flag = f"--{setting.name.replace('_', '-')}"
        metavar = "N" if setting.kind == "int" else "X"
        group.add_argument(flag, type=value_of(setting), metavar=metavar, help=setting.meaning)
    group.add_argument(
        "--faults",
        metavar="KINDS",
        help="kinds of failures with their weights, such as rate_limited=4,html=1,timeout",
    )
    group.add_argument("--model-id", metavar="ID", help="model name in its replies (default: demo)")
    parser.example(
        "benchwright simulate --port 8787 --ttft-ms 200 --error-rate 0.05",
        "benchwright run my_bench.py --model-url http://127.0.0.1:8787/v1 --model-id demo",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Serve until Ctrl-C; JSON: `{"url", "model_id"}` once it listens."""
    from benchwright.demo import DemoSettings, fault_mix, serve_demo

    names = (*(setting.name for setting in _CHARACTER), "model_id")
    values = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    if arguments.faults is not None:
        values["faults"] = fault_mix(arguments.faults)
    settings = DemoSettings(**values)
    key = None
    if arguments.api_key_name is not None:
        key = os.environ.get(arguments.api_key_name)
        if not key:
            variable = arguments.api_key_name
            raise UsageError(
                f"--api-key-name: the environment variable {variable} is not set (export {variable}=…)"
            )

    def ready(server: DemoServer) -> None:
        if output.as_json:
            output.json({"url": server.url, "model_id": settings.model_id})
            return
        output.line(f"demo model at {server.url} (Ctrl-C stops it)")
        output.line(f"try: benchwright run TARGET --model-url {server.url} --model-id {settings.model_id}")

    serve_demo(settings, arguments.host, arguments.port, on_ready=ready, api_key=key)
    return 0

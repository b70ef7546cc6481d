"""The embedded demo model: a deterministic stand-in, in process and over HTTP. Never a real model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchwright.demo._settings import DemoSettings, FaultMix

if TYPE_CHECKING:
    from benchwright.demo._endpoint import DemoEndpoint
    from benchwright.demo._model import DemoModel
    from benchwright.demo._server import DemoServer, demo_server, serve_demo, start_demo

__all__ = [
    "DemoEndpoint",
    "DemoModel",
    "DemoServer",
    "DemoSettings",
    "FaultMix",
    "demo_server",
    "serve_demo",
    "start_demo",
]

# Loaded on first use: the model compiles many expressions (20 ms), which a run on a server does not need.
_LAZY = {
    "DemoEndpoint": "_endpoint",
    "DemoModel": "_model",
    "DemoServer": "_server",
    "demo_server": "_server",
    "serve_demo": "_server",
    "start_demo": "_server",
}


def __getattr__(name: str) -> Any:
    home = _LAZY.get(name)
    if home is None:
        raise AttributeError(f"module 'benchwright.demo' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"benchwright.demo.{home}"), name)
    globals()[name] = value
    return value

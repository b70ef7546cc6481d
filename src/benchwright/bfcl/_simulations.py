"""Loads simulated classes, published ones by path, and calls their functions by name with values, never by running text."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from importlib.machinery import SourceFileLoader
from math import inf
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from benchwright.core import BenchwrightError, DatasetError, UsageError
from benchwright.toolcalls import CallDecodeError, parse_calls, value_of

PUBLISHED_FILES: Mapping[str, str] = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
"""Published simulated classes, and the names of the files that contain and describe each."""
OWN_FILES: Mapping[str, str] = {"TaskBoard": "task_board", "CornerShop": "corner_shop"}
"""Simulated classes that ship with this package."""
DOCUMENT_FILES: Mapping[str, str] = {**PUBLISHED_FILES, **OWN_FILES}
"""Each class, and the name of the file with its function documents."""


EXECUTION_ERROR = "Error during execution: "
"""The start of the result of a call that could not be executed."""


COSTLY: Mapping[str, str] = {
    "power": "exponent",
    "logarithm": "precision",
    "square_root": "precision",
    "round_number": "decimal_places",
}
"""Published functions whose time grows with the value of a parameter. They compute in C, where no deadline reaches them."""
_MOST_DIGITS = 4_000
"""The most digits that such a function may compute. Python writes no longer number."""


class SimulationError(BenchwrightError):
    """A simulated class that cannot be loaded."""


class Simulation:
    """The simulated classes of one sample: its functions can be called, and its public state compared."""

    def __init__(
        self,
        configs: Mapping[str, Any],
        classes: Sequence[str],
        functions: Sequence[Mapping[str, Any]],
        *,
        source: Path | None = None,
        long_context: bool = False,
    ) -> None:
        self._instances = {name: _open(name, configs.get(name), source, long_context) for name in classes}
        self._methods: dict[str, Any] = {}
        for name in (str(function.get("name")) for function in functions):
            for instance in self._instances.values():
                method = None if name.startswith("_") else getattr(instance, name, None)
                if callable(method):
                    self._methods[name] = method
                    break

    def call(self, name: str, arguments: Mapping[Any, Any], positional: Sequence[Any] = ()) -> str:
        """Execute a call. A mistake of the caller gives a text as well."""
        return _as_text(self._result(name, arguments, positional))

    def call_text(self, text: str) -> str:
        """Execute one call that is written in Python, nested calls first."""
        try:
            nodes = parse_calls(text)
            if len(nodes) != 1:
                raise CallDecodeError(f"expected one call, found {len(nodes)}")
            return _as_text(self._node(nodes[0]))
        except CallDecodeError as error:
            return f"{EXECUTION_ERROR}{error}"

    @property
    def state(self) -> dict[str, dict[str, Any]]:
        """The public state of each class: all attributes whose names do not start with an underscore."""
        return {
            name: {key: value for key, value in vars(instance).items() if not key.startswith("_")}
            for name, instance in self._instances.items()
        }

    def _node(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if isinstance(node.func, ast.Attribute):
            name = node.func.attr
        positional = [self._value(item) for item in node.args]
        return self._result(name, {word.arg: self._value(word.value) for word in node.keywords}, positional)

    def _value(self, node: ast.expr) -> Any:
        return self._node(node) if isinstance(node, ast.Call) else value_of(node)

    def _result(self, name: str, arguments: Mapping[Any, Any], positional: Sequence[Any]) -> Any:
        method = self._methods.get(name)
        if method is None:
            return f"{EXECUTION_ERROR}there is no function {name!r}"
        if None in arguments:
            return f"{EXECUTION_ERROR}{name} was given a value without a name"
        try:
            values = {str(key): self._nested(value) for key, value in arguments.items()}
            if name in COSTLY and _digits(name, values, positional) > _MOST_DIGITS:
                return f"{EXECUTION_ERROR}{name} computes at most {_MOST_DIGITS:,} digits"
            return method(*deepcopy(list(positional)), **deepcopy(values))
        except Exception as error:  # simulated classes may raise anything
            return f"{EXECUTION_ERROR}{error}"

    def _nested(self, value: Any) -> Any:
        """The result of a nested call: `{name: {parameter: value}}` with the name of a function."""
        if isinstance(value, dict) and len(value) == 1:
            ((name, arguments),) = value.items()
            if name in self._methods and isinstance(arguments, dict):
                return self._result(name, arguments, ())
        return value


def _digits(name: str, values: Mapping[str, Any], positional: Sequence[Any]) -> float:
    """How many digits a costly function is to compute, by the parameter that decides it, which is its last one."""
    given = values.get(COSTLY[name], positional[-1] if positional else 0)
    try:
        digits = abs(float(given))  # a text of digits is a number for some of them
        base = values.get("base", positional[0] if positional else 0)
        return digits * len(str(base)) if name == "power" and isinstance(base, int) else digits
    except OverflowError:
        return inf
    except (TypeError, ValueError):
        return 0  # the function itself refuses it


def _as_text(result: Any) -> str:
    if isinstance(result, str):
        return result
    try:
        return json.dumps(result) if isinstance(result, dict) else str(result)
    except (TypeError, ValueError):
        pass
    try:
        return str(result)
    except ValueError as error:  # a number with very many digits
        return f"{EXECUTION_ERROR}{error}"


def _open(name: str, config: Any, source: Path | None, long_context: bool) -> Any:
    cls = _class(name, source)
    instance = cls()
    if hasattr(instance, "_load_scenario"):
        try:
            instance._load_scenario(deepcopy(config or {}), long_context=long_context)
        except Exception as error:  # published classes take any configuration for granted
            raise DatasetError(
                f'"initial_config" of {name} cannot be loaded: {type(error).__name__}: {error}'
            ) from None
    return instance


def _class(name: str, source: Path | None) -> Any:
    if name in OWN_FILES:
        from benchwright.bfcl import _environments

        return _environments.CLASSES[name]
    stem = PUBLISHED_FILES.get(name)
    if stem is None:
        raise DatasetError(f"no simulated class {name!r} is known; known: {', '.join(DOCUMENT_FILES)}")
    if source is None:
        raise UsageError(
            f"{name} is one of the published simulated classes; bring them here: benchwright fetch bfcl"
        )
    return getattr(_module(stem, source), name)


def _module(stem: str, source: Path) -> ModuleType:
    """Load a module of the published package by its path. It may import modules next to it."""
    package = f"_benchwright_bfcl_{abs(hash(source)):x}"
    if package not in sys.modules:
        parent = ModuleType(package)
        parent.__path__ = [str(source)]
        sys.modules[package] = parent
    full = f"{package}.{stem}"
    if full in sys.modules:
        return sys.modules[full]
    path = source / f"{stem}.py"
    spec = importlib.util.spec_from_file_location(full, path, loader=_Neighbourly(full, str(path)))
    if spec is None or spec.loader is None or not path.is_file():
        raise SimulationError(f"{path}: there is no such module; run benchwright fetch bfcl again")
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        del sys.modules[full]
        missing = error.name or "a module"
        raise SimulationError(
            f"{path.name} needs {missing}, which is not installed: pip install 'benchwright[bfcl]'"
        ) from None
    return module


class _Neighbourly(SourceFileLoader):
    """Reads `from PACKAGE.….func_source_code.x import y` as an import of the module `x` next to it, because the package is not
    installed."""

    def get_code(self, fullname: str) -> CodeType:
        """Compile from the source always, because compiled files contain the original import."""
        path = self.get_filename(fullname)
        source = _OWN_PACKAGE.sub(b"from .", self.get_data(path))
        return self.source_to_code(source, path)


_OWN_PACKAGE = re.compile(rb"^from [\w.]+\.func_source_code\.", re.MULTILINE)

"""Several threads may convert values to the same type at once, also the first time."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import benchwright

PACKAGE = Path(benchwright.__file__).parent
PLAIN = {"float", "int", "str", "bool"}
OWN = {
    ("core/_json.py", "kind"),  # `ready` itself
    ("results/_slices.py", "list[kind]"),
    ("store/_index_entries.py", "list[score]"),
}
"""Types that a function makes for itself, so that no other thread can know them."""

# A child process, as the defect ends the process: eight threads ask at once for each of many types that nobody used before,
# and the interpreter changes threads as often as it can.
CHILD = '''
import sys, threading, types
from msgspec import convert, json
from benchwright.core import ready

SOURCE = """
from __future__ import annotations
from msgspec import Struct, field
class Inner(Struct, frozen=True):
    a: float | None = None
    b: dict[str, float] | None = None
class Outer(Struct, frozen=True):
""" + "".join(
    f"""
    f{i}: dict[str, dict[str, int]] = field(default_factory=dict)
    g{i}: Inner | None = None
    h{i}: list[Inner] = field(default_factory=list)
"""
    for i in range(8)
)
VALUE = {"f3": {"a": {"b": 1}}, "g3": {"a": 2.0}, "h5": [{"b": {"x": 1.5}}]}
RAW = json.encode(VALUE)
sys.setswitchinterval(1e-6)
for number in range(300):
    module = types.ModuleType(f"fresh{number}")
    sys.modules[module.__name__] = module
    exec(SOURCE, module.__dict__)
    outer, start, seen = module.Outer, threading.Barrier(8), []
    def ask(way):
        start.wait()
        value = way()
        assert value.g3.a == 2.0 and value.h5[0].b == {"x": 1.5}
        seen.append(value)
    ways = [
        lambda: convert(VALUE, ready(outer)),
        lambda: json.decode(RAW, type=ready(outer)),
        lambda: json.Decoder(ready(outer)).decode(RAW),
        lambda: convert([VALUE], ready(list[outer]))[0],
    ]
    threads = [threading.Thread(target=ask, args=(ways[i % 4],)) for i in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(seen) == 8
print("all read")
'''


def test_threads_that_ask_for_a_new_type_at_once_all_get_their_value() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD], capture_output=True, text=True, timeout=600, check=False
    )
    assert (done.returncode, done.stdout) == (0, "all read\n"), done.stderr[-3000:]


def test_every_type_is_made_ready_before_values_are_converted_to_it() -> None:
    forgotten = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "msgspec" not in text:
            continue
        for kind, line in _types_asked_for(ast.parse(text)):
            ready = isinstance(kind, ast.Call) and ast.unparse(kind.func) == "ready"
            place, name = path.relative_to(PACKAGE).as_posix(), ast.unparse(kind)
            if not (ready or name in PLAIN or (place, name) in OWN):
                forgotten.append(f"{place}:{line}: {name} must pass `core.ready`")
    assert not forgotten, "\n".join(forgotten)


def _types_asked_for(tree: ast.Module) -> list[tuple[ast.expr, int]]:
    """The types that calls of msgspec's readers name, with their lines."""
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "msgspec"
        for alias in node.names
    }
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name.split(".")[0] not in {*imported, "msgspec"}:
            continue
        last = name.split(".")[-1]
        kinds = [each.value for each in node.keywords if each.arg == "type"]
        if last == "convert":
            kinds += node.args[1:2]
        elif last == "Decoder":
            kinds += node.args[:1]
        elif last != "decode":
            continue
        found += [(kind, node.lineno) for kind in kinds]
    return found

"""A server that knows the ground truth of every function-calling row, and what evaluations of it must give.

    benchwright fetch bfcl && python -m benchmarks.replay [--err] [--task simple,java]

Every published category runs natively and by prompting, over HTTP. Exactly the rows of `NEVER`, `NOT_AS_TEXT` and, where all
categories run at once, `ALIKE` are wrong. With `--err` the server errs on three rows of ten and refuses one of ten with status 429
or 500. The exit status is 1 when any row differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias

import benchwright
from benchmarks.replay_calls import Written, as_message, truth_reply
from benchwright.benchmarks import BenchmarkSpec, ToolTask
from benchwright.bfcl import CATEGORIES, Definition
from benchwright.bfcl._categories import GROUPS, categories_of
from benchwright.bfcl._packages import find_provider
from benchwright.core import Row
from benchwright.toolcalls import hinted, prompting_messages, tools_of

NEVER = frozenset(
    {
        "java_36", "java_65", "live_simple_106", "live_simple_112", "live_multiple_862", "live_multiple_964",
    }
)  # fmt: skip
"""No call passes by their ground truth. Ids end at the running number."""
NOT_AS_TEXT = frozenset({"java_1", "java_67", "java_68"})
"""Their maps lose what is put into them when Java is read from a text, as in the published decoder."""
ALIKE = frozenset(
    {"live_irrelevance_118", "live_irrelevance_565", "live_irrelevance_567", "multi_turn_miss_param_180"}
)
"""Other rows send the same requests and want another answer, so a server cannot serve both."""
SAME = {"live_irrelevance_220": "live_irrelevance_219"}
"""A row that asks what the other asks, so that both meet the same fault."""
LONG = "multi_turn_long_context"
"""Its rows ask what those of multi_turn_base ask. Only what functions give differs, so it always runs alone."""

Fault: TypeAlias = Callable[[Row], str | None]
"""What becomes of a row: None, `wrong`, or the status of a refusal."""


def no_fault(row: Row) -> None:
    """Every row is answered."""


def three_of_ten(row: Row) -> str | None:
    """Of twenty rows six are answered wrongly and two refused, by the running number."""
    name = _id(row)
    number = int(SAME.get(name, name).rpartition("_")[2]) % 20
    return "wrong" if number % 10 < 3 else {3: "429", 13: "500"}.get(number)


class Knowing:
    """Answers by the ground truth. A row is known by all that its user said, and by the functions of its first request."""

    def __init__(self, spec: BenchmarkSpec, fault: Fault = no_fault) -> None:
        self._native = spec.native_calling
        self._lengths: set[int] = set()
        self._fault = fault
        self._known: dict[str, list[tuple[Row, ToolTask, list[Any]]]] = {}
        assert spec.tool_tasks is not None  # as in each of these evaluations
        for row in spec.dataset.rows():  # type: ignore[union-attr]
            task = spec.tool_tasks(row)
            first = task.turns[0]
            said: list[Any] = [dict(message) for message in first.messages]
            functions: list[Any] = [dict(each) for each in first.functions]
            tools = tools_of(functions, task.language) if self._native else []
            if not self._native:
                said = prompting_messages(said, hinted(functions, task.language))
            self._known.setdefault(_key(said), []).append((row, task, tools))
            self._lengths.add(len(said))

    def __call__(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The status and the message for a request."""
        messages, tools = body["messages"], body.get("tools") or []
        row, task, turn = next(
            (row, task, len(later))
            for end in sorted(self._lengths, reverse=True)
            for row, task, offered in self._known.get(_key(messages[:end]), ())
            if tools[: len(offered)] == offered
            and _says(task, later := [m["content"] for m in messages[end:] if _is_said(m)])
        )
        fault = self._fault(row)
        if fault not in (None, "wrong"):
            return int(str(fault)), {}
        if _is_result(messages[-1]):
            return 200, {"content": "Done."}
        if fault == "wrong":
            return 200, self._wrong(row)
        return 200, as_message(
            truth_reply(row, turn, task.functions, native=self._native), native=self._native
        )

    def _wrong(self, row: Row) -> dict[str, Any]:
        """Words where a call is wanted, and a call where none is."""
        if CATEGORIES[row["category"]].check != "irrelevance":
            return {"content": "I cannot."}
        return as_message([Written("unwanted", {"a": 1})], native=self._native)


def _key(messages: Sequence[Any]) -> str:
    return json.dumps(messages, sort_keys=True)


def _id(row: Row) -> str:
    """Without what tells rows of the same id apart, and without the numbers of its document and prompt."""
    stem, _, number = str(row["id"]).partition("#")[0].rpartition("_")
    return f"{stem}_{number.partition('-')[0]}"


def _is_result(message: dict[str, Any]) -> bool:
    return message["role"] == "tool" or str(message["content"]).startswith('[{"role":"tool"')


def _is_said(message: dict[str, Any]) -> bool:
    return message["role"] == "user" and not _is_result(message)


def _says(task: ToolTask, later: Sequence[str]) -> bool:
    """Whether the user of a task says these things after the first turn; where functions are added, it is said for them."""
    expected = [turn.messages[-1]["content"] if turn.messages else None for turn in task.turns[1:]]
    return len(later) <= len(expected) and all(
        said == wanted if wanted is not None else said.startswith("More functions")
        for said, wanted in zip(later, expected, strict=False)
    )


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    knowing: Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, message = self.knowing(body)
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
        payload = json.dumps(
            {"choices": [choice]} if status == 200 else {"error": {"message": "no"}}
        ).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@contextmanager
def serving(knowing: Knowing) -> Iterator[str]:
    """The base URL of a server that lives as long as the block."""
    handler = type("Handler", (_Handler,), {"knowing": staticmethod(knowing)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def replayed(task: str, workspace: Path, *, native: bool, fault: Fault = no_fault) -> benchwright.RunResult:
    """Evaluate categories against the server."""
    name = "bfclv3_ast" if native else "bfclv3_ast_prompting"
    definition = Definition.of(name, {"task": task}, workspace)
    assert definition is not None
    with serving(Knowing(definition.load(), fault)) as url:
        return benchwright.run(
            name, task=task, model_url=url, model_id="m", workspace=workspace, parallelism=16, max_retries=0
        )


def verdicts(result: benchwright.RunResult) -> dict[str, tuple[str, str, bool | None]]:
    """By id: the category, the outcome, and whether a sample is right."""
    return {
        sample["metadata"]["id"]: (
            sample["metadata"]["category"], sample["outcome"], (sample["scores"] or {}).get("correct")
        )
        for sample in result.samples()
    }  # fmt: skip


def differences(
    found: dict[str, tuple[str, str, bool | None]], wrong: frozenset[str], fault: Fault = no_fault
) -> list[str]:
    """Samples that are not as expected."""
    told = []
    for identity, (_, outcome, correct) in found.items():
        fate = fault({"id": identity})
        expected = (
            None if fate not in (None, "wrong") else fate is None and _id({"id": identity}) not in wrong
        )
        failed = outcome == "request_failed"
        if failed != (expected is None) or (not failed and correct is not expected):
            told.append(f"{identity}: {outcome}, correct {correct}, expected {expected}")
    return told


def main() -> int:
    """Run, and print right, scored and refused rows of each category."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay")
    parser.add_argument("--task", default=",".join((*GROUPS["ast"], *GROUPS["multi_turn"])))
    parser.add_argument("--err", action="store_true", help="err on three rows of ten, refuse one of ten")
    given = parser.parse_args()
    if find_provider() is None:
        print("skipped: the published rows are not here; bring them: benchwright fetch bfcl")
        return 0
    fault: Fault = three_of_ten if given.err else no_fault
    names = [category.name for category in categories_of(given.task)]
    tasks = [(name, False) for name in names]
    if not given.err:  # a fault of one row would hit the other
        alone = [name for name in names if name == LONG or any(each.startswith(f"{name}_") for each in ALIKE)]
        at_once = [name for name in names if name != LONG]
        tasks = [(",".join(at_once), True)] * bool(at_once) + [(name, False) for name in alone]
    trouble = 0
    for native in (True, False):
        never = NEVER if native else NEVER | NOT_AS_TEXT
        for task, together in tasks:
            with tempfile.TemporaryDirectory() as folder:
                found = verdicts(replayed(task, Path(folder), native=native, fault=fault))
            told = differences(found, never | ALIKE if together else never, fault)
            _show(found, "native" if native else "prompting", told)
            trouble += len(told)
    return 1 if trouble else 0


def _show(found: dict[str, tuple[str, str, bool | None]], mode: str, told: Sequence[str]) -> None:
    rows, failed = (
        Counter(category for category, outcome, _ in found.values() if kept(outcome))
        for kept in (lambda outcome: True, lambda outcome: outcome == "request_failed")
    )
    right = Counter(category for category, _, correct in found.values() if correct)
    for category, count in rows.items():
        lost = f", {failed[category]} refused" if failed[category] else ""
        print(f"{mode:9} {category:24} {right[category]:5} of {count - failed[category]:5} right{lost}")
    for line in told:
        print(f"  DIFFERS {line}")


if __name__ == "__main__":
    sys.exit(main())

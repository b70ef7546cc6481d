"""Function calling: checking calls, and evaluating stored results, against the published package on its own data."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import venvs
from benchmarks.figures import Figure, series, shown
from benchmarks.processes import BenchError, measure, stub
from benchmarks.rounds import Bench, Side

PUBLISHED = venvs.Tool("bfcl", ("nvidia-bfcl==26.3",), "BENCH_BFCL_PYTHON", ("nvidia-bfcl",))
MODEL = "stored"
PASSES = 20  # with 3, a side took 30 ms of CPU, and the ratios of nine rounds went from 2.1 to 5.5
LATENCY_MS, IN_FLIGHT = 200, 100
_COUNTS = {"input_token_count": 1, "output_token_count": 1, "latency": 0.1}

_THEIR_CHECKER = """
import copy, json, sys, time
from bfcl.eval_checker.ast_eval.ast_checker import ast_checker
cases = json.load(open(sys.argv[1]))
names = {"python": "Python", "java": "Java", "javascript": "JavaScript"}
began = time.process_time()
for _ in range(int(sys.argv[2])):
    right = sum(ast_checker(f, c, t, names[l], k, "any")["valid"] for f, c, t, l, k in cases)
print(json.dumps([right, len(cases) * int(sys.argv[2]) / (time.process_time() - began)]))
"""
_OUR_CHECKER = """
import json, sys, time
from benchwright.bfcl import check_ast
cases = json.load(open(sys.argv[1]))
began = time.process_time()
for _ in range(int(sys.argv[2])):
    right = sum(check_ast(f, c, t, k).valid for f, c, t, l, k in cases)
print(json.dumps([right, len(cases) * int(sys.argv[2]) / (time.process_time() - began)]))
"""
_OUR_EVALUATION = """
import sys
from pathlib import Path
from benchwright.bfcl import evaluate_results
from benchwright.bfcl._packages import find_provider
evaluate_results(Path(sys.argv[1]), find_provider(), task=sys.argv[2], scores=Path(sys.argv[3]), native=False)
"""


def function_calling(bench: Bench) -> list[Figure]:
    """Checked cases per second of CPU, and seconds of CPU to evaluate all stored AST results, start-up included."""
    from benchwright.bfcl import CATEGORIES, NativeFolder, fetch_package
    from benchwright.bfcl._categories import GROUPS

    os.environ["BENCHWRIGHT_CACHE"] = str(
        venvs.HOME / "cache"
    )  # not the user's: the data changes what is evaluated
    provider, _ = fetch_package()
    folder = NativeFolder(provider.data, provider.version)
    names = [name for name in GROUPS["ast"] if CATEGORIES[name].check == "ast"]
    cases: list[Any] = []
    results = bench.work / "function_calling" / "result" / MODEL
    results.mkdir(parents=True, exist_ok=True)
    for name in names:
        category = CATEGORIES[name]
        lines = []
        for row in folder.rows(category):
            calls = _calls(row, category.language != "python")
            if category.language == "python":
                cases.append([row["function"], calls, row["ground_truth"], "python", name])
            lines.append(json.dumps({"id": row["id"], "result": _text(calls), **_COUNTS}))
        (results / f"BFCL_v3_{name}_result.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
    folder_of_cases = bench.work / "function_calling"
    (folder_of_cases / "right.json").write_text(json.dumps(cases), encoding="utf-8")
    (folder_of_cases / "half.json").write_text(json.dumps(_half_wrong(cases)), encoding="utf-8")
    theirs = venvs.python_of(PUBLISHED)
    return [
        _checked(bench, folder_of_cases / "right.json", theirs, len(cases), "calls checked", 5),
        _checked(bench, folder_of_cases / "half.json", theirs, len(cases), "calls checked, half wrong,", 2),
        _evaluated(bench, results, theirs, names),
        _generated(bench, CATEGORIES["simple"].rows),
    ]


def _checked(bench: Bench, file: Path, theirs: Path, count: int, what: str, wanted: float) -> Figure:
    rates: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(bench.rounds(5)):
        found = {}
        for side, python, code in (
            ("ours", sys.executable, _OUR_CHECKER),
            ("theirs", theirs, _THEIR_CHECKER),
        ):
            used = measure([python, "-c", code, file, str(PASSES)], cwd=bench.work)
            found[side], rate = json.loads(used.output.strip().splitlines()[-1])
            rates[side].append(rate)
        if found["ours"] != found["theirs"]:
            raise BenchError(f"the sides disagree: {found} of {count} right")
    mine, other = series(rates["ours"]), series(rates["theirs"])
    note = f"{count:,} cases of the published data, {len(mine.values)} rounds; ours {mine.spread}, theirs {other.spread}"
    return Figure(
        f"{what} per second of CPU", f"{shown(mine.middle)}/s", f"nvidia-bfcl {shown(other.middle)}/s",
        mine.middle / other.middle, "×", wanted, note=note,
    )  # fmt: skip


def _evaluated(bench: Bench, results: Path, theirs: Path, names: list[str]) -> Figure:
    scores = bench.work / "function_calling" / "score"
    task = ",".join(names)
    ours = [sys.executable, "-c", _OUR_EVALUATION, results, task, scores / "ours"]
    other: list[Any] = [theirs.parent / "bfcl", "evaluate", "--model", MODEL, "--model-mapping", "oai"]
    other += ["--test-category", task, "--result-dir", results.parents[1], "--score-dir", scores / "theirs"]
    other += ["--model-args", "base_url=http://localhost:9,native_calling=false"]
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    keys = {"OPENAI_API_KEY": "none"}
    for _ in range(bench.rounds(5)):
        times["ours"].append(measure(ours, cwd=bench.work).cpu_s)
        times["theirs"].append(measure(other, cwd=bench.work, extra=keys).cpu_s)
    mine, slow = series(times["ours"]), series(times["theirs"])
    note = f"{len(mine.values)} rounds; ours {mine.spread} s, theirs {slow.spread} s of CPU"
    return Figure(
        "evaluating 2,501 stored AST results, start-up included", f"{mine.middle:.2f} s",
        f"nvidia-bfcl {slow.middle:.2f} s", slow.middle / mine.middle, "×", 5, note=note,
    )  # fmt: skip


def _generated(bench: Bench, count: int) -> Figure:
    """Start-up ends with the first request; what follows it, written results included, is held against the waves of replies."""
    side = Side()
    with stub(LATENCY_MS) as at:
        for _ in range(bench.rounds(5)):
            side.take(at, IN_FLIGHT, partial(bench.ours.calls, at, in_flight=IN_FLIGHT, count=count))
    ideal = count / IN_FLIGHT * LATENCY_MS / 1000
    after = series(
        [
            used.started + used.wall_s - (seen.first or 0.0)
            for used, seen in zip(side.usages, side.stats, strict=True)
        ]
    )
    replies = series([seen.span_s + LATENCY_MS / 1000 for seen in side.stats])
    return Figure(
        f"{count} rows of simple, {IN_FLIGHT} in flight, {LATENCY_MS} ms: from the first request to written results",
        f"{after.middle:.2f} s", f"ideal {ideal:.2f} s", after.middle / ideal, "×", 1.5, at_least=False,
        note=f"{len(after.values)} rounds, {after.spread} s; to the last reply {replies.middle:.2f} s ({replies.spread})",
    )  # fmt: skip


def _calls(row: dict[str, Any], as_texts: bool) -> list[dict[str, dict[str, Any]]]:
    """Calls that do what a row expects; in other languages with values as they come, since only speed counts."""
    calls = []
    for truth in row["ground_truth"]:
        for name, expected in truth.items():
            chosen = {
                key: _plain(allowed[0]) for key, allowed in expected.items() if allowed and allowed[0] != ""
            }
            calls.append({name: {key: str(v) for key, v in chosen.items()} if as_texts else chosen})
    return calls


def _half_wrong(cases: list[Any]) -> list[Any]:
    """Every second case with a fault in its last argument: another text, another type, or none at all."""
    found = []
    for number, (functions, calls, truths, language, category) in enumerate(cases):
        (name, arguments), *_ = calls[-1].items()
        if number % 2 and arguments:
            *others, (last, value) = arguments.items()
            spoiled = [*others, *([(last, f"{value} or so")], [(last, {"odd": value})], [])[number // 2 % 3]]
            calls = [*calls[:-1], {name: dict(spoiled)}]
        found.append([functions, calls, truths, language, category])
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _plain(item[0]) if isinstance(item, list) and item else item for key, item in value.items()
        }
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _text(calls: list[dict[str, dict[str, Any]]]) -> str:
    shown_calls = [
        f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
        for call in calls
        for name, arguments in call.items()
    ]
    return f"[{', '.join(shown_calls)}]"

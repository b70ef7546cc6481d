"""Has the older package run the pipelines of `pipeline_cases`, and writes `golden_pipelines.jsonl`.

Run it with a Python that has nemo-evaluator 0.2.8: `older/bin/python tests/endpoints/record_pipelines.py`. Its proxy is called in
process, in front of a server on loopback.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from pipeline_cases import CASES, FAILING, ROWS, Stub, body_of, filled, seen  # noqa: E402

STATS = (
    "count",
    "successful_count",
    "avg_prompt_tokens",
    "max_total_tokens",
    "avg_completion_tokens",
    "finish_reason",
    "status_codes",
)
REASONING = (
    "total_responses",
    "responses_with_reasoning",
    "reasoning_finished_count",
    "reasoning_unfinished_count",
)


class Stopped(BaseException):
    """In place of the signal that ends the older package's run."""


def _stop(*_: object) -> None:
    raise Stopped


def record(name: str, out: str) -> dict[str, Any]:
    from nemo_evaluator.adapters.adapter_config import AdapterConfig
    from nemo_evaluator.adapters.registry import InterceptorRegistry
    from nemo_evaluator.adapters.server import AdapterServer

    stub, posts = Stub(FAILING.get(name)), Stub()
    InterceptorRegistry.get_instance()._instance_cache.clear()
    endpoint = {"adapter_config": filled(CASES[name], out, posts)}
    config = AdapterConfig.get_validated_config(
        {"config": {"output_dir": out}, "target": {"api_endpoint": endpoint}}
    )
    server = AdapterServer(f"{stub.url}/chat/completions", out, config, port=39999, model_name="m")
    client = server.app.test_client()
    texts: list[str | None] = []
    for row in ROWS:
        try:
            reply = client.post(
                "/v1/chat/completions", json=body_of(row), headers={"Authorization": "Bearer key-of-a-test"}
            )
        except Stopped:
            break
        texts.append(
            reply.get_json()["choices"][0]["message"]["content"] if reply.status_code == 200 else None
        )
    server.pipeline.run_post_eval_hooks(url=stub.url)
    found = {"name": name, **seen(stub, posts), "texts": texts, **_files(Path(out))}
    stub.close()
    posts.close()
    return found


def _files(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if (metrics := folder / "eval_factory_metrics.json").exists():
        tables = json.loads(metrics.read_text(encoding="utf-8"))
        for table, keys in (("response_stats", STATS), ("reasoning", REASONING)):
            if table in tables:
                found[table] = {key: tables[table][key] for key in keys}
    if (report := folder / "report.json").exists():
        found["report"] = len(json.loads(report.read_text(encoding="utf-8")))
    if (progress := folder / "progress").exists():
        found["progress"] = progress.read_text(encoding="utf-8")
    return found


def main() -> None:
    os.kill = os._exit = _stop  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as folder:
        records = [
            record(name, f"{folder}/{number}")
            for number, name in enumerate(CASES)
            if not os.makedirs(f"{folder}/{number}")
        ]
    for each in records:  # bodies differ by the question alone
        first = each["bodies"][0] if each["bodies"] else {}
        each |= {"body": first, "requests": len(each.pop("bodies"))}
    lines = "".join(json.dumps(each, ensure_ascii=False, sort_keys=True) + "\n" for each in records)
    (HERE / "golden_pipelines.jsonl").write_text(lines, encoding="utf-8")
    print(len(records), "pipelines")


if __name__ == "__main__":
    main()

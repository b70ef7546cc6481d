"""Text of strangers: it takes over no terminal, no spreadsheet, and no other run's files."""

from __future__ import annotations

import csv
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from benchwright.cli import main

NASTY = (
    "\x1b]0;pwned\x07\x1b[2J\x1b[31m \u202ereversed\u202c \u2066iso \x9b5A [bold red]markup[/] :smile: \x7f"
)
FORBIDDEN = ("\x1b", "\x07", "\x9b", "\x7f", "\u202e", "\u202c", "\u2066")

BENCH = """
from benchwright import benchmark, scorer

@benchmark(name="x", dataset="rows.jsonl", prompt="{q}", target_field="a")
@scorer
def check(sample):
    return {"correct": sample.response == sample.target}
"""


class Nasty(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
        ok = asked.startswith("fine")
        told = {"choices": [{"message": {"content": f"=cmd|{NASTY}"}, "finish_reason": "stop"}]}
        raw = json.dumps(told if ok else {"error": {"message": NASTY}}).encode()
        self.send_response(200 if ok else 400)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [{"q": f"fine {NASTY}", "a": "+1-2"}, {"q": "bad", "a": NASTY}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "bench.py").write_text(BENCH)
    return tmp_path


def test_nothing_printed_takes_over_the_terminal(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Nasty)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        for words in (
            ["run", "bench.py", "--model-url", url, "--model-id", NASTY, "--max-retries", "0", "--debug"],
            ["run", "bench.py", "--model-url", url, "--model-id", "m", "--max-retries", "0", "--json", "--no-cache"],
            ["show", "1"], ["show", "1", "0"], ["show", "1", "1", "--json"], ["show", "1", "--failed"],
            ["list"], ["list", "--json"], ["compare", "1", "2"], ["check", "bench.py"], ["run", NASTY],
        ):  # fmt: skip
            main(words)
            said = capfd.readouterr()
            for mark in FORBIDDEN:
                assert mark not in said.out + said.err, (words, mark)
            if "--json" in words:
                json.loads(said.out)
        main(["show", "1", "0"])
        assert "[bold red]markup[/] :smile:" in capfd.readouterr().out, "and no markup is read into it"
    finally:
        server.shutdown()
        server.server_close()


def test_names_in_a_configuration_are_printed_harmlessly(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = json.dumps(NASTY)
    (folder / "benchwright.toml").write_text(
        f'[benchmarks.{text}]\nfile = "bench.py"\ndescription = {text}\n'.replace("\\u009b", "\\u009B")
    )
    main(["ls"])
    said = capfd.readouterr()
    assert "bench.py" in said.out + said.err or "reversed" in said.out + said.err
    for mark in FORBIDDEN:
        assert mark not in said.out + said.err


def cells(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as file:
        return [cell for row in csv.reader(file) for cell in row]


def test_exported_csv_holds_no_formulas_unless_wanted(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = [{"q": "=1+1", "a": start + "x"} for start in ("=", "+", "-", "@", "\t=", "\r=")] + [
        {"q": "-5", "a": "-5"}
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    main(["run", "bench.py", "--quiet"])
    main(["export", "1", "-o", "guarded.csv"])
    main(["export", "1", "-o", "raw.csv", "--raw"])
    guarded, raw = cells(folder / "guarded.csv"), cells(folder / "raw.csv")
    assert not [cell for cell in guarded if cell.lstrip()[:1] in ("=", "+", "@")]
    assert "'=x" in guarded
    assert "-5" in guarded, "a number is no formula"
    assert "=x" in raw


def test_another_runs_files_are_not_replaced_by_accident(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = ["run", "bench.py", "--quiet", "--output-dir", "files"]
    assert main(run) == 0
    before = (folder / "files" / "results.yml").read_bytes()
    capfd.readouterr()
    assert main(run) == 2
    assert "--overwrite" in capfd.readouterr().err
    assert (folder / "files" / "results.yml").read_bytes() == before
    assert main(["resume", "1"]) == 0, "the run itself goes on writing there"
    assert main([*run, "--overwrite", "--limit", "1"]) == 0
    assert (folder / "files" / "results.yml").read_bytes() != before

"""The manifest of a run: hashes, fingerprints and versions of its benchmark and data, and changes between starts.

If a run is resumed with a changed benchmark, its manifest records what changed and when, and its results say so.
"""

from __future__ import annotations

import ast
import hashlib
import os
import platform
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from msgspec import structs

from benchwright.benchmarks import (
    AskableRows,
    BenchmarkSpec,
    PlainText,
    Watch,
    imported_modules,
)
from benchwright.core import VERSION, ConfigError, JsonObject, content_hash, late_pattern
from benchwright.engine._settings import RunSettings
from benchwright.engine._side_calls import judge_settings
from benchwright.scorers import JudgeConfig


def manifest_of(rows: AskableRows, settings: RunSettings) -> JsonObject:
    """The manifest of a run that starts with these rows."""
    spec, reader, prompts = rows.spec, rows.reader, rows.prompts
    template = prompts.template.text
    system = None if prompts.system_template is None else prompts.system_template.text
    dataset: JsonObject = {
        "name": reader.name,
        "fingerprint": reader.fingerprint(),
        "rows": rows.scan.rows,
    }
    if spec.sampling is not None:
        dataset["sampling"] = spec.sampling.to_json()
    if reader.provenance is not None:
        dataset["source"] = reader.provenance
    manifest: JsonObject = {
        "dataset": dataset,
        "benchmark": {
            "name": spec.name,
            "source": None if spec.source is None else spec.source.name,
            "hash": benchmark_hash(spec, template, system),
            # As its author wrote it, without the system message that belongs to the model.
            "own_hash": benchmark_hash(
                spec, template, None if isinstance(spec.system, PlainText) else system
            ),
            "prompt_hash": _prompt_hash(rows, template, system),
            "scoring_hash": _scoring_hash(spec),
            **_judges_of(spec),
            **_code_of(spec),
        },
        "strategy": rows.strategy.name,
        "endpoint": {"fingerprint": settings.endpoint.fingerprint(), "type": rows.model_type},
        "fewshot": _examples(rows),
        "seed": settings.fewshot_seed,
        "versions": {"benchwright": VERSION, "python": platform.python_version()},
    }
    if commit := head_commit(Path(settings.cwd)):
        manifest["git_hash"] = commit
    if rows.commits:
        manifest["hub"] = dict(rows.commits)
    return manifest


def _judges_of(spec: BenchmarkSpec) -> JsonObject:
    """The judges by their keys: the model and the address of each, and its settings."""
    judges: JsonObject = {}
    for key, value in spec.config.items():
        if JudgeConfig.is_key(key) and isinstance(value, Mapping | JudgeConfig):
            with suppress(ConfigError):  # refused elsewhere
                judge = JudgeConfig.of(value, str(key))
                place = judge_settings(judge, parallelism=1).fingerprint().partition(" ")[0]
                model: JsonObject = {"model_id": judge.model_id, "url": judge.url if judge.is_demo else place}
                judges[str(key)] = model | {name: getattr(judge, name) for name in _DECIDE}
    return {"judges": judges} if judges else {}


_DECIDE = ("temperature", "top_p", "max_new_tokens", "structured")
"""Settings of a judge that decide its grades."""


def _code_of(spec: BenchmarkSpec) -> JsonObject:
    """The modules and other files that the code of a benchmark uses, with their hashes; and places that read files which
    cannot be known."""
    if spec.source is None:
        return {"modules": {}}
    modules = imported_modules(spec.source)
    hashes, unknown = Watch.used(spec.source, modules, _own_files(spec))
    known: JsonObject = {"modules": dict(modules), "files": dict(hashes)}
    if unknown:
        known["reads_unknown_files"] = list(unknown)
    return known


def _own_files(spec: BenchmarkSpec) -> list[Path]:
    """Data and templates, which are compared by themselves."""
    texts = [str(value) for value in structs.astuple(spec) if isinstance(value, str | Path)]
    paths = [spec.base_dir / text for text in texts if len(text) < 1000 and "\0" not in text]
    return [path for path in paths if os.path.isfile(path)]  # most texts are not names of files


def with_read_files(manifest: JsonObject, spec: BenchmarkSpec, watch: Watch | None) -> JsonObject | None:
    """The manifest with the files that the code of the benchmark read during the run; None if there are no new ones."""
    benchmark = manifest.get("benchmark")
    if watch is None or not isinstance(benchmark, dict):
        return None
    known = [benchmark.get(name) for name in ("modules", "files")]
    names = [name for each in known if isinstance(each, dict) for name in each]
    found = watch.files(names, _own_files(spec))
    earlier = benchmark.get("files_read")
    merged = {**(earlier if isinstance(earlier, dict) else {}), **found}
    more = {"reads_more_files": True} if watch.more else {}
    if merged == (earlier or {}) and not more:
        return None
    return {**manifest, "benchmark": {**benchmark, "files_read": dict(sorted(merged.items())), **more}}


def head_commit(folder: Path) -> str | None:
    """The commit that is checked out in a folder of a git repository. It is read from git's files, because git may not be
    installed, and starting it takes longer than the rest of the manifest."""
    try:
        here = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)
        if here is None:
            return None
        git = here / ".git"
        if git.is_file():  # a worktree or a submodule
            git = here / git.read_text("utf-8").removeprefix("gitdir:").strip()
        shared = git / "commondir"
        places = [git, git / shared.read_text("utf-8").strip()] if shared.is_file() else [git]
        head = (git / "HEAD").read_text("utf-8").strip()
        if not head.startswith("ref:"):
            return head if _COMMIT.fullmatch(head) else None
        name = head.removeprefix("ref:").strip()
        for place in places:
            if (place / name).is_file():
                found = (place / name).read_text("utf-8").strip()
                return found if _COMMIT.fullmatch(found) else None
        packed = places[-1] / "packed-refs"
        for line in packed.read_text("utf-8").splitlines() if packed.is_file() else ():
            commit, _, ref = line.partition(" ")
            if ref == name and _COMMIT.fullmatch(commit):
                return commit
    except (OSError, ValueError):  # unreadable, or not as git writes it
        return None
    return None


_COMMIT = late_pattern(r"[0-9a-f]{40}|[0-9a-f]{64}")


def _examples(rows: AskableRows) -> JsonObject | None:
    fewshot, scan = rows.fewshot, rows.scan
    if fewshot is None:
        return None
    return {
        "source": fewshot.source,
        "overlapping": fewshot.overlapping or scan.own_examples > 0,
        "count": len(fewshot.examples),
        "shown_min": scan.fewest_examples,
        "shown_mean": round(scan.examples_shown / scan.rows, 4) if scan.rows else 0.0,
        "hash": content_hash([example.text for example in fewshot.examples]),
    }


def _prompt_hash(rows: AskableRows, template: str, system: str | None) -> str:
    """Hash of how rows are turned into prompts, examples included; independent of the data and the scorer."""
    spec = rows.spec
    shown = [] if rows.fewshot is None else [example.text for example in rows.fewshot.examples]
    around = [spec.fewshot_prefix, spec.fewshot_separator] if shown else []
    return content_hash([template, system, shown, around])


def benchmark_hash(spec: BenchmarkSpec, template: str, system: str | None) -> str:
    """Hash that changes with the benchmark file, the texts of its templates, and other rules of prompts and scores."""
    digest = hashlib.sha256()
    if spec.source is not None and spec.source.is_file():
        digest.update(spec.source.read_bytes())
    digest.update(f"\0{template}\0{system or ''}".encode())
    if spec.rules:
        digest.update(f"\0{spec.rules}".encode())
    return f"sha256:{digest.hexdigest()}"


def _scoring_hash(spec: BenchmarkSpec) -> str | None:
    """Hash of the benchmark without its prompts: while it stays, replies are scored as before. None if nothing tells, as for
    a function of a notebook."""
    code: str | None = None
    if spec.source is not None and spec.source.is_file():
        text = spec.source.read_bytes()
        code = hashlib.sha256(text).hexdigest()
        if spec.source.suffix == ".py":
            with suppress(SyntaxError, ValueError, RecursionError):
                code = _without_prompts(text)
    if code is None and not spec.rules:
        return None
    return content_hash([code, getattr(spec.scorer, "__qualname__", ""), spec.rules])


_PROMPTS = ("prompt", "system_prompt")


@lru_cache(maxsize=16)
def _without_prompts(code: bytes) -> str:
    """Python code without the texts that decorators get as prompts: where they are written, or in a variable of the module
    that nothing else reads. Any other use of a prompt may be for scoring."""
    module = ast.parse(code)
    read = Counter(
        each.id for each in ast.walk(module) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    )
    named = set()
    for each in ast.walk(module):
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for call in (found for found in each.decorator_list if isinstance(found, ast.Call)):
            for given in (found for found in call.keywords if found.arg in _PROMPTS):
                if isinstance(given.value, ast.Name) and read[given.value.id] == 1:
                    named.add(given.value.id)
                elif isinstance(given.value, ast.Constant):
                    given.value = ast.Constant("")
    for line in module.body:
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
            names = [target.id for target in line.targets if isinstance(target, ast.Name)]
            if len(names) == len(line.targets) and named.issuperset(names):
                line.value = ast.Constant("")
    return ast.dump(module)


def changed_manifest(before: JsonObject, now: JsonObject, recorded: int) -> tuple[JsonObject, str]:
    """The manifest of a run that is resumed as `now` after `recorded` samples were answered under `before`, and a text
    that describes the change.

    Earlier changes and the findings about the server stay.
    """
    what = "prompt" if _hash(before, "prompt_hash") != _hash(now, "prompt_hash") else "benchmark"
    earlier = before.get("changes")
    change: JsonObject = {"what": what, "samples": recorded, "before": before.get("benchmark")}
    changes = [*(earlier if isinstance(earlier, list) else []), change] if recorded else earlier
    manifest = {**before, **now}
    if changes:
        manifest["changes"] = changes
    old, new = _hash(before, "hash"), _hash(now, "hash")
    said = f"the {what} has changed ({old} → {new}): {_samples(recorded)} recorded before it"
    return manifest, said


def change_notes(manifest: JsonObject, samples: int) -> list[str]:
    """A note for each change, because the numbers come from more than one experiment; `samples` are recorded now."""
    changes = manifest.get("changes")
    return [
        f"resumed after a change of {_NAMES[str(change['what'])]}: {change['samples']} of {samples} samples were "
        f"{_DONE[str(change['what'])]} before it; not comparable with other runs"
        for change in (changes if isinstance(changes, list) else [])
        if isinstance(change, dict)
    ]


_NAMES = {"prompt": "prompt", "benchmark": "the benchmark"}
_DONE = {"prompt": "sent", "benchmark": "sent and scored"}


def _hash(manifest: JsonObject, name: str) -> object:
    benchmark = manifest.get("benchmark")
    return benchmark.get(name) if isinstance(benchmark, dict) else None


def _samples(count: int) -> str:
    return f"{count} {'sample was' if count == 1 else 'samples were'}"

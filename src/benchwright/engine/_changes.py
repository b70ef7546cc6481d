"""A run that went on with a changed benchmark: its manifest keeps what changed and when, and its results say so."""

from __future__ import annotations

from benchwright.core import JsonObject


def changed_manifest(before: JsonObject, now: JsonObject, recorded: int) -> tuple[JsonObject, str]:
    """The manifest of a run that goes on as `now` after `recorded` samples were answered as `before`, and the
    change in words.

    Earlier changes stay, and so does what was learned of the server.
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
    """That the numbers come of more than one experiment: a text for each change; `samples` are recorded now."""
    changes = manifest.get("changes")
    return [
        f"resumed after a change of {_NAMES[str(change['what'])]}: {change['samples']} of {samples} samples were "
        f"{_DONE[str(change['what'])]} before it; not comparable with other runs"
        for change in (changes if isinstance(changes, list) else [])
        if isinstance(change, dict)
    ]


_NAMES = {"prompt": "prompt", "benchmark": "the benchmark"}
_DONE = {"prompt": "asked", "benchmark": "asked and scored"}


def _hash(manifest: JsonObject, name: str) -> object:
    benchmark = manifest.get("benchmark")
    return benchmark.get(name) if isinstance(benchmark, dict) else None


def _samples(count: int) -> str:
    return f"{count} {'sample was' if count == 1 else 'samples were'}"

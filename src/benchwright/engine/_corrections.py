"""Scores a run again as people's labels say: other targets and readings, and samples that are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from msgspec.structs import replace

from benchwright.benchmarks import Answer, BenchmarkSpec
from benchwright.core import Outcome, Row, load_exact_json, row_hash
from benchwright.engine._scoring import Scored
from benchwright.store import Label

AppliedLabel: TypeAlias = tuple[str, str, str | None, str | None]
"""Row, kind, reply and value of a label, as the settings of a run record it."""
MARK = "labelled"
"""The entry among the scores of a sample that a label changed: `gold` or `extraction`, or `left out: ` and why."""
_LEFT_OUT = "left out: "


class Corrections:
    """What labels change when a run is scored again."""

    def __init__(self, labels: Iterable[Sequence[str | None]], spec: BenchmarkSpec) -> None:
        self._labels = {(row, kind, reply): value for row, kind, reply, value in labels}
        self._rows = {row for row, *_ in self._labels}
        self._spec = spec

    def of(self, row: bytes, answer: Answer) -> _Correction | None:
        """What changes for a sample; None: nothing."""
        identity = row_hash(row).hex()
        if identity not in self._rows:
            return None
        found = {
            kind: self._labels[identity, kind, reply]
            for kind, reply in (
                ("ambiguous", None),
                ("gold", None),
                ("extraction", Label.reply_id(answer.response)),
            )
            if (identity, kind, reply) in self._labels
        }
        return _Correction(found, self._spec) if found else None


class _Correction:
    """The labels of one sample, by kind, with the right target or reading if they have one."""

    def __init__(self, labels: dict[str, str | None], spec: BenchmarkSpec) -> None:
        self._labels = labels
        self._spec = spec
        self.left_out = next((kind for kind, value in labels.items() if value is None), None)
        """The kind of the label for which the sample cannot be scored, if there is one."""

    def target(self, recorded: Any) -> Any:
        """The target to score against, in the form of the recorded one."""
        value = self._labels.get("gold")
        if value is None:
            return recorded
        if isinstance(recorded, str) or recorded is None:
            return value
        try:
            return load_exact_json(value.encode())
        except ValueError:  # a text in place of a list
            return value

    def answer(self, answer: Answer, target: Any) -> Answer:
        """What the scorer sees: the right reading, and the row with the right target."""
        field = self._spec.target_field
        changed: dict[str, Any] = {}
        if (reading := self._labels.get("extraction")) is not None:
            changed["response"] = reading
        if (
            self._labels.get("gold") is not None
            and isinstance(answer.metadata, dict)
            and field in answer.metadata
        ):
            row: Row = {**answer.metadata, field: target}
            changed["metadata"] = row
        return replace(answer, **changed) if changed else answer

    def marked(self, scored: Scored) -> Scored:
        """The result with a mark that a label changed it. Places in a reading are none in the reply."""
        if scored.scores is None:
            return scored
        scores = {
            name: value
            for name, value in scored.scores.items()
            if name != "span" or "extraction" not in self._labels
        }
        return replace(scored, scores={**scores, MARK: ", ".join(self._labels)})

    def without_score(self, answer: Answer, target: Any) -> Scored:
        """The result of a sample that is left out: it has no number, and nothing failed."""
        failed = answer.skipped or answer.broken or (answer.reply and answer.reply.failure)
        why = f"{_LEFT_OUT}{self.left_out}"
        if failed:
            return Scored(Outcome.SKIPPED, None, why, target)
        return Scored(Outcome.SCORED, {MARK: why}, None, target)


class LabelCounts:
    """Counts the samples that labels changed."""

    def __init__(self) -> None:
        self._left_out: Counter[str] = Counter()
        self._corrected: Counter[str] = Counter()

    def add(self, scores: Iterable[dict[str, Any] | None], errors: Iterable[str | None]) -> None:
        """Add many samples."""
        for given, error in zip(scores, errors, strict=True):
            mark = error if given is None else given.get(MARK)
            if not isinstance(mark, str):
                continue
            if mark.startswith(_LEFT_OUT):
                self._left_out[mark.removeprefix(_LEFT_OUT)] += 1
            elif given is not None:
                self._corrected.update(mark.split(", "))

    def figures(self) -> dict[str, dict[str, int]]:
        """`{left_out, corrected}`: samples by the kind of their label."""
        return {"left_out": dict(self._left_out), "corrected": dict(self._corrected)}

    def note(self) -> str:
        """In words."""
        parts = [
            f"{sum(counts.values()):,} {verb} ({', '.join(f'{kind} {count:,}' for kind, count in counts.items())})"
            for verb, counts in (("left out", self._left_out), ("corrected", self._corrected))
            if counts
        ]
        return f"Scored with people's labels: {', '.join(parts) or 'no sample changed'}."

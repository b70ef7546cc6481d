"""Labels of samples as values: of one sample, of a run, and by how much they would move its headline."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from benchwright.core import (
    JsonObject,
    JsonValue,
    MetricSummary,
    NotFoundError,
    RunKind,
    RunSummary,
    SampleRecord,
    UsageError,
    suggest,
)
from benchwright.results._figures import headline_of, interval_of, number, plural
from benchwright.results._samples import StoreSamples
from benchwright.results._workflow_rows import rows_summary
from benchwright.store import LABEL_KINDS, Label, RunRecord, SampleFilter, SampleSteps, Store


def sample_labels(store: Store, run_id: int, index: int, repeat: int) -> list[Label]:
    """The labels of the row of a sample, newest first."""
    row = row_of(store, run_id, index, repeat)
    return [] if row == "" else store.labels([row])


def row_of(store: Store, run_id: int, index: int, repeat: int) -> str:
    """Identifies the content of a sample's row; empty for a row that could not be read. NotFoundError without such a sample."""
    steps = store.recorded(run_id, "score", index, index)
    for key, step in steps.items():
        if int(key[16:20]) == repeat:
            return step.input_hash.hex()
    raise NotFoundError(f"run {run_id} has no sample {index}/{repeat}. Rows and repeats count from 0")


class LabelList(Struct, frozen=True):
    """The labels on the rows of a run, newest first."""

    run_id: int
    labels: tuple[Label, ...]
    places: dict[str, str]
    """The first sample of each row in the run, as `12/0`."""
    effect: LabelEffect | None
    """What they would change; None: there are none."""

    @classmethod
    def of(cls, store: Store, run: RunRecord, summary: RunSummary | None) -> LabelList:
        places: dict[str, str] = {}
        for index, repeat, row in store.labelled(run.id):
            places.setdefault(row, f"{index}/{repeat}")
        return cls(run.id, tuple(store.labels(places)), places, label_effect(store, run, summary))

    @property
    def text(self) -> str:
        """What they would change, in words; empty: nothing."""
        return "" if self.effect is None else self.effect.sentence(self.run_id)

    @staticmethod
    def words(label: Label) -> str:
        """What a label says."""
        return label.words

    def to_json(self) -> JsonObject:
        """`{run_id, labels, text, effect}`; each label with the `sample` of this run that it is on."""
        labels = [{**each.to_json(each.reply), "sample": self.places.get(each.row)} for each in self.labels]
        return {
            "run_id": self.run_id,
            "labels": list[JsonValue](labels),
            "text": self.text,
            "effect": None if self.effect is None else self.effect.to_json(self.run_id),
        }

    @staticmethod
    def applicable(store: Store, run_id: int) -> tuple[tuple[str | None, ...], ...]:
        """The labels that change how the samples of a run are scored: row, kind, reply and value of each, as its settings record them."""
        rows = {row for *_, row in store.labelled(run_id)}
        decided = LabelList.deciding(store.labels(rows))
        return tuple(
            (label.row, label.kind, label.reply, label.value)
            for _, label in sorted(decided.items(), key=lambda item: item[1].id)
            if (kind := LABEL_KINDS.get(label.kind)) and kind.scores
        )

    @staticmethod
    def deciding(labels: Iterable[Label]) -> dict[tuple[str, str, str | None], Label]:
        """The label that counts for each row, kind and reply: the newest, whoever gave it."""
        found: dict[tuple[str, str, str | None], Label] = {}
        for label in sorted(labels, key=lambda each: each.id):
            found[label.row, label.kind, label.reply] = label
        return found

    @staticmethod
    def in_dispute(labels: Iterable[Label]) -> int:
        """How many rows or replies have labels of one kind on which people disagree; the newest counts."""
        said: dict[tuple[str, str, str | None], set[str | None]] = {}
        for label in labels:
            if (kind := LABEL_KINDS.get(label.kind)) and kind.corrects:
                said.setdefault((label.row, label.kind, label.reply), set()).add(label.value)
        return sum(len(values) > 1 for values in said.values())

    @staticmethod
    def one_of(value: str, grades: Sequence[str], run_id: int) -> str:
        """The grade of a run's judge that a label names, in any case. Raises UsageError if it names none.

        >>> LabelList.one_of("c", ["C", "I"], 1)
        'C'
        """
        same = [grade for grade in grades if grade.casefold() == value.strip().casefold()]
        if same or not grades:
            return same[0] if same else value
        raise UsageError(
            f"{value!r} is not a grade of the judge of run {run_id}.{suggest(value, grades)} Write one of its grades: {', '.join(grades)}"
        )

    @staticmethod
    def new(
        store: Store,
        run_id: int,
        index: int,
        repeat: int,
        *,
        kind: str,
        value: str | None,
        who: str,
        grades: Sequence[str] = (),
    ) -> Label:
        """A label of a sample by its row, and by its reply if it is about that. Raises UsageError if it is none, or a grade that is
        none of the judge's `grades`."""
        if kind == "judge" and value:
            value = LabelList.one_of(value, grades, run_id)
        row = row_of(store, run_id, index, repeat)
        known = LABEL_KINDS.get(kind)
        reply = None
        if known is not None and known.of_reply:
            views = StoreSamples.views(store, run_id, index)
            reply = next((Label.reply_id(view.response) for view in views if view.repeat == repeat), None)
        return Label(
            row=row, kind=kind, value=value or None, reply=reply, who=who, created_at=time.time(), run_id=run_id,
            sample_id=index, repeat=repeat,
        ).checked()  # fmt: skip


def judged_in_words(store: Store, run_id: int, summary: RunSummary | None) -> JsonObject | None:
    """How many replies of a run its judge graded, how many of them people did, and in how many both agree, with `text` in words; None for a
    run without a judge's grades."""
    name = next(
        (name for name in ("judge_score", "judge") if summary is not None and name in summary.metrics), None
    )
    if summary is None or name is None:
        return None
    first = store.page_samples(run_id, SampleFilter(scored=True), limit=1).items
    if not first or not any(
        view.grade for view in StoreSamples.views_of(first)
    ):  # a metric of that name that no judge gave
        return None
    graded, labelled, agreed = summary.metrics[name].count, 0, 0
    places = list(store.labelled(run_id, "judge"))
    decided = LabelList.deciding(store.labels({row for *_, row in places}, kind="judge"))
    rows = {(index, repeat): row for index, repeat, row in places}
    for steps in _labelled_steps(store, run_id, places):
        for view in StoreSamples.views_of(steps):
            label = decided.get((rows[view.sample_id, view.repeat], "judge", Label.reply_id(view.response)))
            if label is not None and view.grade is not None:
                labelled += 1
                agreed += (label.value or "").casefold() == view.grade.casefold()
    if labelled:
        text = f"People graded {labelled:,} of {plural(graded, 'judged reply')}; the judge agrees in {agreed:,}: benchwright judge-calibrate --labels {run_id}"
    else:
        text = f"Nobody has checked the judge's grades. Grade some replies blindly: benchwright show {run_id} --web, or benchwright labels {run_id} --export labels.xlsx"
    return {"graded": graded, "labelled": labelled, "agreed": agreed, "text": text}


class LabelEffect(Struct, frozen=True):
    """The labels on the samples of a run, and by how much `rescore --labels` would move its headline."""

    samples: int
    """Samples of rows with labels."""
    kinds: dict[str, int]
    left_out: int = 0
    """Samples with a score that would be left out: ambiguous, or with a wrong target or reading for which no label has the right one."""
    corrected: int = 0
    """Samples that would be scored against another target or reading."""
    metric: str | None = None
    """The headline; None: it does not come from the scores of samples, or nothing would move."""
    recorded: float | None = None
    """Its value in the run."""
    low: float | None = None
    """Its least value with labels: as if every corrected sample were wrong."""
    high: float | None = None
    """Its greatest value with labels."""
    by: dict[str, int] = field(default_factory=dict)
    """Labels by person."""
    exact: MetricSummary | None = None
    """The headline with labels, exactly; None: not computed, or not known."""
    unknown: str = ""
    """Why it is not known."""
    rescored: bool = True
    """Whether `rescore --labels` can record it. A program scores its rows itself."""

    @property
    def moves(self) -> bool:
        """Whether labels would change a sample."""
        return bool(self.left_out or self.corrected)

    def exactly(self, summary: RunSummary) -> LabelEffect:
        """The same with the figures of a run that was scored with labels."""
        metric = headline_of(summary)
        known = None if metric is None else summary.metrics.get(metric)
        if known is None:
            return replace(self, unknown="no sample is left that has a score")
        return replace(self, metric=metric, exact=known)

    def sentence(self, run_id: int) -> str:
        """In words; empty if nothing would move."""
        if not self.moves:
            return ""
        what = [
            *([f"leave out {plural(self.left_out, 'sample')}"] if self.left_out else []),
            *([f"correct {plural(self.corrected, 'sample')}"] if self.corrected else []),
        ]
        again = f": benchwright rescore {run_id} --labels" if self.rescored else ""
        if self.exact is not None and self.recorded is not None:
            interval = interval_of(self.exact)
            to = number(self.exact.value) + (f" (95 % interval {interval})" if interval else "")
            scoring = [kind for kind in self.kinds if kind in LABEL_KINDS and LABEL_KINDS[kind].scores]
            of = plural(sum(self.kinds[kind] for kind in scoring), "label")
            counts = ((self.left_out, "left out"), (self.corrected, "corrected"))
            did = ", ".join(f"{count:,} {verb}" for count, verb in counts if count)
            return f"{self.metric}: {number(self.recorded)} → {to} with {of} (samples: {did}){again}"
        said = f"Labels would {' and '.join(what)}"
        if self.low is not None and self.high is not None and self.recorded is not None:
            same = number(self.low) == number(self.high)
            to = number(self.low) if same else f"between {number(self.low)} and {number(self.high)}"
            said += f" and move {self.metric} from {number(self.recorded)} to {to}"
        why = f". Exact figures are not known: {self.unknown}" if self.unknown else ""
        return f"{said}{again}{why}"

    def to_json(self, run_id: int) -> JsonObject:
        """As `show --json` has it."""
        return {**asdict(self), "text": self.sentence(run_id)}


def label_effect(store: Store, run: RunRecord, summary: RunSummary | None) -> LabelEffect | None:
    """The effect of labels on a run; None without labels on its rows. A run that was scored with labels would not move by those."""
    places = list(store.labelled(run.id))
    if not places:
        return None
    labels = store.labels({row for *_, row in places})
    decided = LabelList.deciding(labels)
    applied = set(map(tuple, _applied(run.settings)))
    metric = None if summary is None else headline_of(summary)
    known = None if summary is None or metric is None else summary.metrics.get(metric)
    moved = _Moved(metric, known)
    for steps in _labelled_steps(store, run.id, places):
        moved.add(steps, places, decided, applied)
    low, high = moved.ends()
    found = LabelEffect(
        len(places), dict(Counter(label.kind for label in labels)), moved.left_out, moved.corrected,
        metric if low is not None else None, None if known is None else known.value, low, high,
        dict(Counter(label.who for label in labels)), rescored=run.kind == RunKind.BENCHMARK,
    )  # fmt: skip
    if found.rescored or not found.moves:
        return found
    if found.corrected:
        return replace(found, unknown="the program of the workflow scores its rows")
    rest, _ = rows_summary(store, run, moved.gone)
    return replace(found, unknown="no row is left") if rest is None else found.exactly(rest)


def _applied(settings: Mapping[str, Any]) -> Sequence[Sequence[str | None]]:
    """The labels with which a run was scored: row, kind, reply and value of each."""
    return settings.get("labels") or ()


def _labelled_steps(
    store: Store, run_id: int, places: Sequence[tuple[int, int, str]]
) -> Iterable[list[SampleSteps]]:
    wanted = {(index, repeat) for index, repeat, _ in places}
    for index in dict.fromkeys(index for index, *_ in places):
        yield [each for each in store.samples(run_id, index) if (each.sample, each.repeat) in wanted]


class _Moved:
    """What labels would change of a metric."""

    def __init__(self, metric: str | None, known: MetricSummary | None) -> None:
        self.left_out = self.corrected = 0
        self.gone: set[int] = set()
        """The numbers of the rows that would be left out."""
        self._metric, self._known = metric, known
        self._sum = 0.0 if known is None else known.value * known.count
        self._count = 0 if known is None else known.count
        self._open = 0

    def add(
        self,
        steps: list[SampleSteps],
        places: Sequence[tuple[int, int, str]],
        decided: Mapping[tuple[str, str, str | None], Label],
        applied: set[tuple[str | None, ...]],
    ) -> None:
        rows = {(index, repeat): row for index, repeat, row in places}
        for sample, view in zip(steps, StoreSamples.views_of(steps), strict=True):
            row, reply = rows[sample.sample, sample.repeat], Label.reply_id(view.response)
            what = verdict_by_labels(row, reply, decided)
            if what is None or (row, what.kind, what.reply, what.value) in applied:
                continue
            value = (SampleRecord.score_fields(sample.score).get("scores") or {}).get(self._metric or "")
            points = float(value) if isinstance(value, bool | int | float) else None
            scored = points is not None
            if what.kind == "ambiguous" or what.value is None:
                self.left_out += scored
                self.gone.add(sample.sample)
            else:
                self.corrected += 1
                self._open += scored
            if points is not None:
                self._sum -= points
                self._count -= 1

    def ends(self) -> tuple[float | None, float | None]:
        """The least and the greatest value of the metric."""
        total = self._count + self._open
        if self._known is None or not (self.left_out or self._open) or not total:
            return None, None
        if self._open and not self._known.is_fraction:
            return None, None
        return self._sum / total, (self._sum + self._open) / total


def verdict_by_labels(
    row: str, reply: str | None, decided: Mapping[tuple[str, str, str | None], Label]
) -> Label | None:
    """The label that decides how a sample is scored: one that leaves it out goes before one that corrects it."""
    found = [
        label
        for kind, of in (("ambiguous", None), ("gold", None), ("extraction", reply))
        if (label := decided.get((row, kind, of))) is not None and (kind != "extraction" or of is not None)
    ]
    return next((label for label in found if label.value is None), found[0] if found else None)

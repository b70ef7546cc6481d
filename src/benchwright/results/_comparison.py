"""The value of a comparison: both sides, each metric with its paired test, and the samples that changed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

from msgspec import Struct

from benchwright.core import JsonObject, JsonValue, Note, as_json, encode_json, json_differences
from benchwright.results._clusters import Clusters, SampleTexts
from benchwright.results._figures import notes_json
from benchwright.results._metric_comparison import MetricComparison, folded
from benchwright.results._notebooks import ShownInNotebooks

Layer: TypeAlias = Literal["data", "prompt", "reply", "extraction", "score"]
"""What may differ between a sample in two runs, in order: each follows from those before it."""

Presence: TypeAlias = Literal["both", "only_a", "only_b"]
"""Which runs have a sample or step."""


LISTED = 20
"""The most changed samples and steps that are listed by default."""


class ComparisonOptions(Struct, frozen=True):
    """How to compare two runs of the same kind."""

    metric: str | None = None
    """Only this metric; None: all."""
    tolerance: float = 0.0
    """The largest difference of scores that count as equal."""
    times: bool = False
    """Whether differences in latency count as differences."""
    force: bool = False
    """Compare even if data, prompts or scorers differ."""
    listed: int | None = LISTED
    """Most changed samples and steps to list; None: all of them."""
    lower: Collection[str] = ()
    """Metrics for which lower is better, besides those that a run declares or whose names say so."""
    harmless: Collection[str] = ()
    """Settings of a run, and of its model, that change no result. All others are compared."""
    clusters: Clusters | None = None
    """The rows that were read so far, if several comparisons share them."""


class Side(Struct, frozen=True):
    """One of the two runs."""

    id: int
    """Number in the workspace."""
    workflow_name: str
    """Name of the benchmark or workflow."""
    status: str
    """How the run ended."""
    model_name: str
    """Model id."""
    duration: float | None
    """Seconds from start to end."""
    endpoint: str = ""
    """Address of the model, because two servers may use the same model name."""
    rows: int | None = None
    """Rows of the data that the run covers; None for workflows."""
    repeats: int | None = None
    """Times each row was requested."""
    evaluated: int | None = None
    """Samples that have an outcome."""
    failed: int | None = None
    """Samples without a score."""
    outcomes: dict[str, int] | None = None
    """Samples per outcome, with an entry for every outcome; None for workflows."""
    title: str = ""
    """Its name in tables: `run 3`, or its folder if it is not in this workspace."""
    comparable: bool = True
    """Whether the run's numbers may be compared: it is complete, and not too many samples failed."""
    cost: JsonObject | None = None
    """The cost of its replies; None if no price is known."""
    reused: JsonObject | None = None
    """Replies that came from earlier runs, and when they were requested; None if there are none, or none are recorded."""


class ChangedSample(Struct, frozen=True):
    """A sample whose score, outcome or reply differs between the runs."""

    step: str
    """Row and repeat, as `show` takes them; for workflows the step's key."""
    metric: str | None
    """The metric by which it was ranked: the headline, if that changed."""
    run_a: JsonValue
    """Outcome, reply and scores of the first run."""
    run_b: JsonValue
    """Outcome, reply and scores of the second run."""
    step_a: str = ""
    """Row and repeat in the first run, whose rows may have another order."""
    texts_a: SampleTexts = SampleTexts(None, None)
    """Prompt and reply in the first run, if they are known."""
    texts_b: SampleTexts = SampleTexts(None, None)
    """Prompt and reply in the second."""

    @property
    def title(self) -> str:
        """The sample as `show` takes it: the name of a workflow's row, else its row and repeat."""
        return self.texts_b.name or self.step

    @property
    def question(self) -> str:
        """The prompt of the second run; empty if it is not known."""
        return self.texts_b.prompt or ""

    @property
    def why(self) -> Layer:
        """The first layer that differs: the later ones follow from it."""
        a, b = (side if isinstance(side, dict) else {} for side in (self.run_a, self.run_b))
        if a.get("target") != b.get("target"):
            return "data"
        if self.texts_a.prompt != self.texts_b.prompt:
            return "prompt"
        if self.texts_a.reply != self.texts_b.reply:
            return "reply"
        read = [_texts_in(side.get("scores")) for side in (a, b)]
        return "extraction" if read[0] != read[1] or a.get("outcome") != b.get("outcome") else "score"

    def texts_json(self) -> JsonObject:
        """The texts of a sample, and why it changed."""
        return {
            "name": self.texts_b.name,
            "metric": self.metric,
            "step_a": self.step_a,
            "why": self.why,
            **{f"prompt_{side}": texts.prompt for side, texts in (("a", self.texts_a), ("b", self.texts_b))},
            **{f"reply_{side}": texts.reply for side, texts in (("a", self.texts_a), ("b", self.texts_b))},
        }

    @property
    def differences(self) -> list[JsonValue]:
        """Where both differ, as paths with both values."""
        return field_differences(self.run_a, self.run_b)


class StepPair(Struct, frozen=True):
    """One sample or step by key."""

    step: str
    """Its key."""
    present: Presence
    """Which runs have it."""
    input: Literal["same", "differs"]
    """Whether both had the same input."""
    status: Literal["same", "differs"]
    """Whether both ended the same way."""
    output: Literal["same", "differs"]
    """Whether both had the same output."""


class TwoRuns(ShownInNotebooks, Struct, frozen=True, kw_only=True):
    """The common part of all comparisons."""

    run_a: Side
    """The first run."""
    run_b: Side
    """The second."""
    differs: bool
    """Whether anything differs by more than the tolerance or, in load tests, more than by chance. Times of benchmarks and
    workflows count only if requested."""
    regressed: bool
    """Whether a metric is worse in the second run, and its corrected test is significant."""
    notes: tuple[Note, ...]
    """Doubts about the comparison, the gravest first."""
    inputs: JsonObject
    """The inputs or settings of the runs that differ."""

    @property
    def sentence(self) -> str:
        """What a reader wants to know first."""
        raise NotImplementedError

    def verdict_json(self, *, comparable: bool) -> JsonObject:
        """The first part of `to_json` for every kind."""
        return {
            "sentence": self.sentence,
            "run_a": as_json(self.run_a),
            "run_b": as_json(self.run_b),
            "differs": self.differs,
            "regressed": self.regressed,
            "comparable": comparable,
            "warning": "; ".join(note.text for note in self.notes) or None,
            "notes": notes_json(self.notes),
            "input_comparison": self.inputs,
        }


class Comparison(TwoRuns, frozen=True, kw_only=True):
    """Two runs of benchmarks or workflows side by side."""

    metrics: tuple[MetricComparison, ...]
    """Each metric of either run, the headline first."""
    effort: tuple[MetricComparison, ...] = ()
    """What both runs used: time, tokens, steps, calls and cost. More of it is neither won nor lost, so it is not tested."""
    steps: tuple[StepPair, ...]
    """Samples or steps that differ, up to a limit; all of them if all were requested."""
    changed: tuple[ChangedSample, ...]
    """The first samples that changed, losses first."""
    changes: int
    """How many changed, listed or not."""
    both: int
    """Samples that both runs have."""
    only_a: int
    """Samples that only the first has."""
    only_b: int
    """Samples that only the second has."""
    outputs: JsonObject
    """`same`, and the outputs of the runs if they have any."""
    tolerance: float = 0.0
    """The largest difference of scores that counts as none."""
    noun: Literal["sample", "step"] = "sample"
    """What was paired."""

    @property
    def comparable(self) -> bool:
        """Whether the numbers of both runs may be compared: neither is doubtful, and they have samples in common."""
        shared = self.both > 0 or self.noun == "step"
        return shared and self.run_a.comparable and self.run_b.comparable

    @property
    def sentence(self) -> str:
        """What a reader wants to know first: what changed, and whether the headline metric did."""
        both = f"{self.both:,} {self.noun if self.both == 1 else f'{self.noun}s'}"
        if self.noun == "sample" and not self.both:
            return "no row is in both runs, so there is nothing to compare"
        if not self.differs:
            within = f" within the tolerance of {self.tolerance:g}" if self.tolerance else ""
            same = "" if self.inputs.get("same") else ", of runs with different settings"
            return f"the same results{within}{same}"
        parts = [
            self._by_rows
            or (f"{self.changes:,} of {both} changed" if self.changes else f"all {both} in both are the same")
        ]
        parts += [self.metrics[0].words] if self.metrics else []
        worse = [each.name for each in self.metrics[1:] if each.worse and each.significant and not each.noise]
        if worse and not (self.metrics[0].worse and self.metrics[0].significant):
            parts.append(f"significantly worse: {', '.join(worse)}")
        return "; ".join(parts)

    @property
    def folded(self) -> tuple[list[tuple[MetricComparison, list[str]]], list[MetricComparison]]:
        """The metrics to show, each with the names of later ones that have the same figures; and those that no row changed, which are
        only named."""
        return folded(self.metrics)

    @property
    def _by_rows(self) -> str:
        """How the rows changed by their means over repeats, if more of them changed than samples that both runs have: with
        different numbers of repeats, only some samples have a partner. Else empty."""
        paired = self.metrics[0].paired if self.metrics else None
        if self.noun != "sample" or paired is None or paired.differing <= self.changes:
            return ""
        wins = f"{paired.wins:,} {'row' if paired.wins == 1 else 'rows'} better"
        return f"{wins}, {paired.losses:,} worse, {paired.ties:,} the same"

    def __repr__(self) -> str:
        return f"<Comparison {self.run_b.title} vs. {self.run_a.title}: {self.sentence}>"

    @property
    def tests(self) -> int:
        """Tests for which `p_adjusted` is corrected."""
        return len({metric.test for metric in self.metrics} - {None})

    @property
    def tests_failures_as_wrong(self) -> int:
        """Tests for which `p_adjusted_failures_as_wrong` is corrected."""
        return len({metric.test_failures_as_wrong for metric in self.metrics} - {None})

    def to_json(self) -> JsonObject:
        """As `--json` prints it."""
        return {
            **self.verdict_json(comparable=self.comparable),
            "output_comparison": self.outputs,
            "samples": {
                "both": self.both,
                "only_a": self.only_a,
                "only_b": self.only_b,
                "changed": self.changes,
            },
            "steps": as_json(self.steps),
            "output_differences": [
                {
                    "step": change.step,
                    "run_a": {"raw": encode_json(change.run_a).decode(), "json": change.run_a},
                    "run_b": {"raw": encode_json(change.run_b).decode(), "json": change.run_b},
                    **(change.texts_json() if self.noun == "sample" else {}),
                    "field_differences": change.differences,
                }
                for change in self.changed
            ],
            "metrics": [metric.to_json() for metric in self.metrics],
            "effort": [
                {
                    "name": each.name,
                    **{
                        f"run_{side}": None if of is None else of.value
                        for side, of in (("a", each.run_a), ("b", each.run_b))
                    },
                }
                for each in self.effort
            ],
            "tolerance": self.tolerance,
            "tests": self.tests,
            "tests_failures_as_wrong": self.tests_failures_as_wrong,
        }


def _texts_in(scores: JsonValue) -> JsonObject:
    """What a scorer read from a reply: its results that are not numbers."""
    found = scores if isinstance(scores, dict) else {}
    return {name: value for name, value in found.items() if not isinstance(value, bool | int | float)}


def field_differences(a: JsonValue, b: JsonValue) -> list[JsonValue]:
    """Where two JSON values differ, as paths with both values.

    >>> field_differences({"x": 1, "y": {"z": 2}}, {"x": 1, "y": {"z": 3}})
    [{'path': '$.y.z', 'run_a': 2, 'run_b': 3}]
    """
    return [{"path": path, "run_a": old, "run_b": new} for path, _, old, new in json_differences(a, b)]

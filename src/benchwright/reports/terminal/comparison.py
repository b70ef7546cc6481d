"""Shows a comparison on the terminal: both sides, each metric with its interval and test, and changed samples."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from benchwright.core import JsonObject, JsonValue, Outcome, exact_json, p_text, printable
from benchwright.reports.blocks import Block, Cell, Fitting, Heading, Lines, Table, line, lines, numbers
from benchwright.reports.terminal.result import note_lines
from benchwright.results import (
    Comparison,
    LoadComparison,
    MetricComparison,
    MetricSide,
    Side,
    cost_lines,
    duration,
    plural,
)
from benchwright.stats import PairedResult

_LONGEST_SETTING = 60
_LISTED = 3
"""The most settings of only one run that are shown with values; if there are more, only names are shown."""
_LONGEST_FIELD = 80
_LONGEST_QUESTION = 55


def comparison_blocks(comparison: Comparison) -> Iterator[Block]:
    """The verdict, both sides, each metric with its interval and test, and what changed."""
    a, b = comparison.run_a, comparison.run_b
    yield line()
    yield title_line(comparison, _style(comparison))
    yield note_lines(comparison.notes)
    if comparison.noun == "sample":
        yield lines(map(printable, _other_settings(comparison)), "yellow")
    yield _sides(comparison)
    if comparison.metrics:
        forms = ((False, False), (True, False), (True, True))
        yield Fitting(tuple(_table(comparison, short=short, narrow=narrow) for short, narrow in forms))
    shared = f"{plural(comparison.both, comparison.noun)} in both"
    if comparison.only_a or comparison.only_b:
        shared += f", {comparison.only_a:,} only in {a.title}, {comparison.only_b:,} only in {b.title}"
    yield line(shared, "dim")
    yield lines(filter(None, _sentences(comparison)))
    if comparison.noun == "step":
        yield from _workflow_blocks(comparison)
    elif comparison.changed:
        yield from changed_blocks(comparison)
    if comparison.effort:
        yield line()
        yield _effort(comparison)


def _effort(comparison: Comparison) -> Table:
    """What both runs used. More of it is neither won nor lost."""
    rows: list[Sequence[Cell]] = []
    for each in comparison.effort:
        values = [None if side is None else side.value for side in (each.run_a, each.run_b)]
        change = (
            "–" if None in values or not values[0] else f"{100 * ((values[1] or 0.0) / values[0] - 1):+.1f} %"
        )
        rows.append(
            (printable(each.name), *("–" if value is None else f"{value:,.4g}" for value in values), change)
        )
    return Table(
        numbers("effort", printable(comparison.run_a.title), printable(comparison.run_b.title), "change"),
        tuple(rows),
        padding="tight",
    )


def changed_blocks(comparison: Comparison) -> Iterator[Block]:
    """The samples that changed, with their questions."""
    b = comparison.run_b
    yield line()
    yield line("changed samples, losses first", "bold")
    yield _changed(comparison)
    yield _unlisted(comparison)
    if b.id > 0:
        yield line(f"look at one: benchwright show {b.id} {shlex.quote(comparison.changed[0].title)}", "dim")


def title_line(comparison: Comparison | LoadComparison, style: str) -> Lines:
    """The names of both runs, and the comparison in one sentence."""
    first, second = printable(comparison.run_a.title), printable(capital(comparison.run_b.title))
    told = printable(comparison.sentence)
    return Lines((((second, "bold"), (" vs. ", ""), (first, "bold"), (": ", ""), (told, style)),))


def _style(comparison: Comparison) -> str:
    if comparison.regressed:
        return "red"
    return "yellow" if comparison.differs or not comparison.inputs.get("same") else "green"


def capital(title: str) -> str:
    """A name at the start of a sentence; folders keep their spelling."""
    return f"R{title[1:]}" if title.startswith("run ") else title


def _other_settings(comparison: Comparison) -> list[str]:
    """Settings that differ, with both values. If only one run has many settings, they are only named, because endpoints of
    two kinds have different settings."""
    differences = comparison.inputs.get("differences")
    found = [each for each in differences if isinstance(each, dict)] if isinstance(differences, list) else []
    lines = []
    for side, other in (("run_a", "run_b"), ("run_b", "run_a")):
        alone = [each for each in found if each[other] is None]
        if len(alone) > _LISTED:
            title = (comparison.run_a if side == "run_a" else comparison.run_b).title
            lines.append(f"set only in {title}: {', '.join(map(_path, alone))}")
            found = [each for each in found if each not in alone]
    both = [f"{_path(each)} {_short(each['run_a'])} → {_short(each['run_b'])}" for each in found]
    return [f"different settings: {', '.join(both)}", *lines] if both else lines


def _path(difference: JsonObject) -> str:
    return str(difference["path"]).removeprefix("$.")


def _short(value: JsonValue) -> str:
    return "not set" if value is None else _cut(value, _LONGEST_SETTING)


def _sentences(comparison: Comparison) -> list[str]:
    shown, unchanged = comparison.folded
    sentences = [f"same figures as {metric.name}: {', '.join(alike)}" for metric, alike in shown if alike]
    if unchanged:
        same = ", ".join(f"{each.name} {short_number(each.run_b.value)}" for each in unchanged if each.run_b)
        sentences.append(f"no difference: {same}")
    sentences += [_sentence(metric, comparison.noun) for metric in comparison.metrics[:1]]
    tests, wrong = comparison.tests, comparison.tests_failures_as_wrong
    if max(tests, wrong) > 1:
        also = f" (for {wrong} with failures as wrong)" if wrong else ""
        sentences.append(
            f"p is corrected for {plural(tests, 'test')}{also} by Holm's method: of many tests, some find a difference by chance"
        )
    for significant, sentence in _DISAGREEMENTS.items():
        if any(metric.test_contradicts_interval(significant=significant) for metric in comparison.metrics):
            sentences.append(sentence)
    if not comparison.comparable:
        sentences.append("not comparable: see the notes (exit code 3)")
    return sentences


_DISAGREEMENTS = {
    False: "if an interval excludes 0 but p is 0.05 or more, p decides: the interval is approximate",
    True: "if an interval includes 0 but p is below 0.05, p decides: the interval is of the mean, the test of all rows",
}
"""What a reader must know if test and interval disagree, by whether the test finds a difference."""


def _sides(comparison: Comparison) -> Table:
    a, b = comparison.run_a, comparison.run_b
    sides = (
        ("eval", a.workflow_name, b.workflow_name),
        ("model", a.model_name, b.model_name),
        *([("at", a.endpoint, b.endpoint)] if a.endpoint != b.endpoint else []),
        ("status", a.status, b.status),
        ("took", duration(a.duration), duration(b.duration)),
        *([("cost", _cost(a), _cost(b))] if a.cost or b.cost else []),
        *_outcomes(a, b),
    )
    return Table(
        (Heading(""), Heading(printable(a.title)), Heading(printable(b.title))),
        tuple(
            ((label, "dim"), printable(one) or "–", printable(other) or "–") for label, one, other in sides
        ),
    )


def _cost(side: Side) -> str:
    """The cost as in the table of the run, without its judges."""
    return cost_lines({**side.cost, "judges": None})[0] if side.cost and "currency" in side.cost else ""


def _outcomes(a: Side, b: Side) -> list[tuple[str, str, str]]:
    """Samples and the outcomes that either run has, a line each."""
    if a.outcomes is None or b.outcomes is None:
        return []
    told: dict[str, tuple[int, int]] = {"samples": (a.evaluated or 0, b.evaluated or 0)}
    for name in Outcome:
        counts = (a.outcomes.get(name, 0), b.outcomes.get(name, 0))
        if any(counts):
            told[name] = counts
    return [(name, f"{one:,}", f"{other:,}") for name, (one, other) in told.items()]


def _sentence(metric: MetricComparison, noun: str) -> str:
    paired = metric.paired
    if paired is None:
        return ""
    test = {"mcnemar": "McNemar's exact test", "wilcoxon": "Wilcoxon's signed-rank test"}[paired.test]
    verdict = "statistically significant" if metric.significant else "not statistically significant"
    if metric.significant and metric.direction in ("up", "down"):
        verdict += f", {'worse' if metric.worse else 'better'}" + (
            " (less is better)" if metric.lower_is_better else ""
        )
    if not paired.differing:
        beyond = "" if metric.unmoved else " is beyond the tolerance"
        return f"{metric.name}: no difference in {paired.pairs:,} paired {'rows' if noun == 'sample' else 'steps'}{beyond}"
    p_value = paired.p_value if metric.p_adjusted is None else metric.p_adjusted
    how = "too few pairs for an interval" if paired.ci_low is None else f"{paired.interval} interval"
    if paired.ci_low is not None and paired.too_few:
        how += ", unreliable with so few pairs"
    return (
        f"{metric.name}: {'up' if paired.difference > 0 else 'down'} {abs(paired.difference):.4f} on {paired.pairs:,} paired "
        f"{'rows' if noun == 'sample' else 'steps'}; {verdict} ({test}, {p_text(p_value, named=True)}; {how})"
    )


def _changed(comparison: Comparison) -> Table:
    asked = any(change.question for change in comparison.changed)
    titles = (comparison.run_a.title, comparison.run_b.title, *(["question"] if asked else []))
    rows = []
    for change in comparison.changed:
        cells = [_ending(change.run_a, change.metric), _ending(change.run_b, change.metric)]
        if asked:
            cells.append(_excerpt(change.question))
        rows.append((printable(change.title), *map(printable, cells)))
    headings = (Heading("sample", right=True, whole=True), *(Heading(printable(title)) for title in titles))
    return Table(headings, tuple(rows))


def _excerpt(text: str) -> str:
    """The beginning of a prompt, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_QUESTION else f"{line[: _LONGEST_QUESTION - 1]}…"


def _unlisted(comparison: Comparison) -> Lines:
    """A line for changes that are not listed."""
    listed, found = len(comparison.changed), comparison.changes
    if listed == found:
        return Lines(())
    return line(f"only the first {listed:,} of {found:,} are shown; more with --limit or --all", "dim")


def _ending(side: JsonValue, metric: str | None) -> str:
    if not isinstance(side, dict):
        return str(side)
    scores = side.get("scores")
    if not isinstance(scores, dict):
        return f"{side.get('outcome')}: {side.get('error') or ''}"
    value = scores.get(metric or "")
    return f"{side.get('outcome')}, {metric} {value}" if metric in scores else f"{side.get('outcome')}"


def _workflow_blocks(comparison: Comparison) -> Iterator[Block]:
    for heading, found in (("input", comparison.inputs), ("output", comparison.outputs)):
        differences = found.get("differences")
        if isinstance(differences, list) and differences:
            yield line()
            yield line(f"{heading} differs", "bold")
            yield _difference_table(comparison, [("", differences)])
    if comparison.changed:
        rows = [(change.step, change.differences) for change in comparison.changed]
        yield line()
        yield line("steps with other outputs", "bold")
        yield _difference_table(comparison, rows)
        yield _unlisted(comparison)
    others = [pair for pair in comparison.steps if pair.present != "both" or pair.output == "same"]
    if others:
        yield line()
        yield line("other steps that differ", "bold")
        for pair in others:
            run = comparison.run_a.id if pair.present == "only_a" else comparison.run_b.id
            alone = pair.present != "both"
            text = f"only in run {run}" if alone else f"input {pair.input}, status {pair.status}"
            yield line(f"{printable(pair.step)}: {text}")


def _difference_table(comparison: Comparison, rows: list[tuple[str, list[JsonValue]]]) -> Table:
    named = any(step for step, _ in rows)
    headings = ["field", f"run {comparison.run_a.id}", f"run {comparison.run_b.id}"]
    found = []
    for step, differences in rows:
        for difference in differences:
            if isinstance(difference, dict):
                cells = [str(difference["path"]), _cut(difference["run_a"]), _cut(difference["run_b"])]
                found.append([*map(printable, [step, *cells] if named else cells)])
    return Table(tuple(map(Heading, ["step", *headings] if named else headings)), tuple(found))


def _cut(value: JsonValue, longest: int = _LONGEST_FIELD) -> str:
    text = exact_json(value).decode()
    return text if len(text) <= longest else text[: longest - 1] + "…"


_NAME_WIDTH = 10
"""Width of a metric's name in a narrow terminal: what the numbers leave of eighty characters."""


def _table(comparison: Comparison, *, short: bool, narrow: bool) -> Table:
    """`short` breaks names; `narrow` puts intervals below their numbers."""
    break_ = "\n" if narrow else " "
    headings = numbers(
        "metric",
        printable(comparison.run_a.title),
        printable(comparison.run_b.title),
        f"difference{break_}(95 %)",
        "won/lost\ntied" if narrow else "won/lost/tied",
        "p",
    )
    rows: list[Sequence[Cell]] = []
    for metric, _ in comparison.folded[0]:
        name, paired = printable(metric.name), metric.paired
        style = ("red" if metric.worse else "green") if metric.significant else ""
        rows.append(
            (
                broken(name) if short else name,
                _value(metric.run_a, break_),
                _value(metric.run_b, break_),
                (_difference(metric, break_) if comparison.both or comparison.noun == "step" else "–", style),
                "–" if paired is None else _counts(paired, narrow),
                _p_value(paired, metric.p_adjusted),
            )
        )
        # The same with failed samples as wrong, because leaving them out flatters a run that fails on hard rows.
        if (wrong := metric.failures_as_wrong) is not None:
            known = [
                None if side is None else side.failures_as_wrong for side in (metric.run_a, metric.run_b)
            ]
            rows.append(
                (
                    ("failures\nas wrong" if short else "  failures as wrong", "dim"),
                    *("–" if value is None else short_number(value) for value in known),
                    _paired_difference(wrong, break_),
                    _counts(wrong, narrow),
                    _p_value(wrong, metric.p_adjusted_failures_as_wrong),
                )
            )
    return Table(headings, tuple(rows), padding="tight")


def _counts(paired: PairedResult, narrow: bool) -> str:
    between = "\n" if narrow else "/"
    return f"{paired.wins:,}/{paired.losses:,}{between}{paired.ties:,}"


def _p_value(paired: PairedResult | None, corrected: float | None) -> str:
    """The corrected p-value; for times, the uncorrected one; empty if no pair differs."""
    if paired is None or not paired.differing:
        return "–"
    return p_text(paired.p_value if corrected is None else corrected)


def broken(name: str) -> str:
    """A long name on several lines, broken before its underscores.

    >>> broken("accuracy_with_fallback"), broken("extraction_rate")
    ('accuracy\\n_with\\n_fallback', 'extraction\\n_rate')
    """
    lines = [""]
    for part in name.replace("_", "\0_").split("\0"):
        if len(lines[-1]) + len(part) <= _NAME_WIDTH:
            lines[-1] += part
        else:
            lines.append(part)
    return "\n".join(filter(None, lines))


def _value(side: MetricSide | None, break_: str) -> str:
    if side is None:
        return "–"
    if side.ci_low is None or side.ci_high is None or side.ci_low == side.ci_high:
        says_why = side.count and side.no_interval != "–"
        return (
            f"{short_number(side.value)}{break_}[{side.no_interval}]"
            if says_why
            else short_number(side.value)
        )
    return f"{short_number(side.value)}{break_}[{side.ci_low:.3f}, {side.ci_high:.3f}]"


def _difference(metric: MetricComparison, break_: str) -> str:
    paired = metric.paired
    if metric.run_a is None or metric.run_b is None:
        return "–"
    if paired is None:
        return f"{metric.run_b.value - metric.run_a.value:+.4g}"
    return _paired_difference(paired, break_)


def _paired_difference(paired: PairedResult, break_: str) -> str:
    if paired.ci_low is None or paired.ci_high is None:
        return f"{paired.difference:+.4f}{break_}[too few]"
    return f"{paired.difference:+.4f}{break_}[{MetricComparison.end(paired.ci_low)}, {MetricComparison.end(paired.ci_high)}]"


def short_number(value: float) -> str:
    """Four decimals; six below a thousandth.

    >>> short_number(0.5), short_number(0.00012345), short_number(12.0)
    ('0.5000', '0.000123', '12.0000')
    """
    return f"{value:.6f}" if 0 < abs(value) < 0.001 else f"{value:.4f}"

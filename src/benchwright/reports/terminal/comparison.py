"""Shows a comparison on the terminal: both sides, each metric with its interval and test, and changed samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from benchwright.core import OUTCOMES, JsonObject, JsonValue, exact_json, p_text, p_words, printable
from benchwright.reports.views.comparison import Comparison, Side, field_differences
from benchwright.reports.views.figures import cost_lines, duration, plural
from benchwright.reports.views.metric_comparison import MetricComparison, MetricSide, differing
from benchwright.stats import PairedResult, same_score

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, RenderableType
    from rich.table import Table

_LONGEST_SETTING = 60
_LISTED = 3
"""The most settings of only one run that are shown with values; if there are more, only names are shown."""
_LONGEST_FIELD = 80
_LONGEST_QUESTION = 55


def comparison_table(comparison: Comparison) -> Group:
    """The whole comparison; a rich renderable."""
    from rich.console import Group
    from rich.text import Text

    a, b = comparison.run_a, comparison.run_b
    title = Text.assemble(
        (printable(capital(b.title)), "bold"),
        " vs. ",
        (printable(a.title), "bold"),
        ": ",
        (printable(comparison.sentence), _style(comparison)),
    )
    parts: list[RenderableType] = [Text(), title]
    parts += [Text(f"warning: {printable(text)}", "yellow") for text in comparison.warnings]
    if comparison.noun == "sample":
        parts += [Text(printable(line), "yellow") for line in _other_settings(comparison)]
    parts.append(_sides(comparison))
    if comparison.metrics:
        parts.append(MetricTable(comparison))
    shared = f"{plural(comparison.both, comparison.noun)} in both"
    if comparison.only_a or comparison.only_b:
        shared += f", {comparison.only_a:,} only in {a.title}, {comparison.only_b:,} only in {b.title}"
    parts.append(Text(shared, "dim"))
    parts += [Text(sentence) for sentence in _sentences(comparison) if sentence]
    if comparison.noun == "step":
        parts += workflow_parts(comparison)
    elif comparison.changed:
        parts += [Text(), Text("changed samples, losses first", "bold"), _changed(comparison)]
        parts += _unlisted(comparison)
        if b.id > 0:
            parts.append(Text(f"look at one: benchwright show {b.id} {comparison.changed[0].step}", "dim"))
    return Group(*parts)


def _style(comparison: Comparison) -> str:
    if comparison.regressed:
        return "red"
    return "yellow" if comparison.differs or not comparison.inputs.get("same") else "green"


def capital(title: str) -> str:
    """A name at the start of a sentence; folders keep their spelling."""
    return f"R{title[1:]}" if title.startswith("run ") else title


def folded(
    metrics: Sequence[MetricComparison],
) -> tuple[list[tuple[MetricComparison, list[str]]], list[MetricComparison]]:
    """The metrics to show, each with the names of later ones that have the same figures; and those that no row changed, which are
    only named. The first is always shown."""
    found: dict[object, tuple[MetricComparison, list[str]]] = {}
    unchanged = []
    for metric in metrics:
        if metric.shown in found:
            found[metric.shown][1].append(metric.name)
        elif found and metric.same and metric.failures_as_wrong is None:
            unchanged.append(metric)
        else:
            found[metric.shown] = metric, []
    return list(found.values()), unchanged


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
    shown, unchanged = folded(comparison.metrics)
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
        if any(_disagrees(metric, significant=significant) for metric in comparison.metrics):
            sentences.append(sentence)
    if not comparison.comparable:
        sentences.append("not comparable: see the warnings (exit code 3)")
    return sentences


_DISAGREEMENTS = {
    False: "if an interval excludes 0 but p is 0.05 or more, p decides: the interval is approximate",
    True: "if an interval includes 0 but p is below 0.05, p decides: the interval is of the mean, the test of all rows",
}
"""What a reader must know if test and interval disagree, by whether the test finds a difference."""


def _disagrees(metric: MetricComparison, *, significant: bool) -> bool:
    """Whether an interval excludes 0 although the test finds no difference; with `significant`, whether it includes 0
    although the test finds one."""
    lines = (
        (metric.paired, metric.p_adjusted),
        (metric.failures_as_wrong, metric.p_adjusted_failures_as_wrong),
    )
    return any(
        paired is not None
        and p_value is not None
        and (p_value < 0.05) is significant
        and paired.ci_low is not None
        and paired.ci_high is not None
        and (paired.ci_low <= 0 <= paired.ci_high) is significant
        for paired, p_value in lines
    )


def _sides(comparison: Comparison) -> Table:
    from rich import box
    from rich.text import Text

    from benchwright.reports.terminal.tables import WholeTable

    a, b = comparison.run_a, comparison.run_b
    table = WholeTable(box=box.SIMPLE_HEAD)
    for heading in ("", printable(a.title), printable(b.title)):
        table.add_column(heading, overflow="fold")
    for label, one, other in (
        ("eval", a.workflow_name, b.workflow_name),
        ("model", a.model_name, b.model_name),
        *([("at", a.endpoint, b.endpoint)] if a.endpoint != b.endpoint else []),
        ("status", a.status, b.status),
        ("took", duration(a.duration), duration(b.duration)),
        *([("cost", _cost(a), _cost(b))] if a.cost or b.cost else []),
        *_outcomes(a, b),
    ):
        table.add_row(Text(label, "dim"), Text(printable(one) or "–"), Text(printable(other) or "–"))
    return table


def _cost(side: Side) -> str:
    """The cost as in the table of the run, without its judges."""
    return cost_lines({**side.cost, "judges": None})[0] if side.cost and "currency" in side.cost else ""


def _outcomes(a: Side, b: Side) -> list[tuple[str, str, str]]:
    """Samples and all outcomes of both runs, a line each."""
    if a.outcomes is None or b.outcomes is None:
        return []
    counts = [(f"{a.evaluated or 0:,}", f"{b.evaluated or 0:,}")]
    counts += [(f"{a.outcomes.get(name, 0):,}", f"{b.outcomes.get(name, 0):,}") for name in OUTCOMES]
    return [(name, *pair) for name, pair in zip(("samples", *OUTCOMES), counts, strict=True)]


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
    if not differing(paired):
        return f"{metric.name}: no difference in {paired.pairs:,} paired {'rows' if noun == 'sample' else 'steps'}"
    p_value = paired.p_value if metric.p_adjusted is None else metric.p_adjusted
    how = "too few pairs for an interval" if paired.ci_low is None else f"{paired.interval} interval"
    if paired.ci_low is not None and paired.too_few:
        how += ", unreliable with so few pairs"
    return (
        f"{metric.name}: {'up' if paired.difference > 0 else 'down'} {abs(paired.difference):.4f} on {paired.pairs:,} paired "
        f"{'rows' if noun == 'sample' else 'steps'}; {verdict} ({test}, {p_words(p_value)}; {how})"
    )


def _changed(comparison: Comparison) -> Table:
    from rich import box
    from rich.text import Text

    from benchwright.reports.terminal.tables import WholeTable

    table = WholeTable(box=box.SIMPLE_HEAD)
    table.add_column("sample", justify="right", no_wrap=True)
    asked = any(change.question for change in comparison.changed)
    for heading in (printable(comparison.run_a.title), printable(comparison.run_b.title)):
        table.add_column(heading, overflow="fold")
    if asked:
        table.add_column("question", overflow="fold")
    for change in comparison.changed:
        cells = [_ending(change.run_a, change.metric), _ending(change.run_b, change.metric)]
        if asked:
            cells.append(_excerpt(change.question))
        table.add_row(change.step, *(Text(printable(text)) for text in cells))
    return table


def _excerpt(text: str) -> str:
    """The beginning of a prompt, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_QUESTION else f"{line[: _LONGEST_QUESTION - 1]}…"


def _unlisted(comparison: Comparison) -> list[RenderableType]:
    """A line for changes that are not listed."""
    from rich.text import Text

    listed, found = len(comparison.changed), comparison.changes
    if listed == found:
        return []
    return [Text(f"only the first {listed:,} of {found:,} are shown; more with --limit or --all", "dim")]


def _ending(side: JsonValue, metric: str | None) -> str:
    if not isinstance(side, dict):
        return str(side)
    scores = side.get("scores")
    if not isinstance(scores, dict):
        return f"{side.get('outcome')}: {side.get('error') or ''}"
    value = scores.get(metric or "")
    return f"{side.get('outcome')}, {metric} {value}" if metric in scores else f"{side.get('outcome')}"


def workflow_parts(comparison: Comparison) -> list[RenderableType]:
    """Rich renderables, in order."""
    from rich.text import Text

    parts: list[RenderableType] = []
    for heading, found in (("input", comparison.inputs), ("output", comparison.outputs)):
        differences = found.get("differences")
        if isinstance(differences, list) and differences:
            parts += [
                Text(),
                Text(f"{heading} differs", "bold"),
                _difference_table(comparison, [("", differences)]),
            ]
    if comparison.changed:
        rows = [(change.step, field_differences(change.run_a, change.run_b)) for change in comparison.changed]
        parts += [Text(), Text("steps with other outputs", "bold"), _difference_table(comparison, rows)]
        parts += _unlisted(comparison)
    others = [pair for pair in comparison.steps if pair.present != "both" or pair.output == "same"]
    if others:
        parts += [Text(), Text("other steps that differ", "bold")]
        for pair in others:
            run = comparison.run_a.id if pair.present == "only_a" else comparison.run_b.id
            text = (
                f"only in run {run}"
                if pair.present != "both"
                else f"input {pair.input}, status {pair.status}"
            )
            parts.append(Text(f"{printable(pair.step)}: {text}"))
    return parts


def _difference_table(comparison: Comparison, rows: list[tuple[str, list[JsonValue]]]) -> Table:
    from rich import box
    from rich.text import Text

    from benchwright.reports.terminal.tables import WholeTable

    named = any(step for step, _ in rows)
    table = WholeTable(box=box.SIMPLE_HEAD)
    headings = ["field", f"run {comparison.run_a.id}", f"run {comparison.run_b.id}"]
    for heading in ["step", *headings] if named else headings:
        table.add_column(heading, overflow="fold")
    for step, differences in rows:
        for difference in differences:
            if isinstance(difference, dict):
                cells = [str(difference["path"]), _cut(difference["run_a"]), _cut(difference["run_b"])]
                table.add_row(*(Text(printable(cell)) for cell in ([step, *cells] if named else cells)))
    return table


def _cut(value: JsonValue, longest: int = _LONGEST_FIELD) -> str:
    text = exact_json(value).decode()
    return text if len(text) <= longest else text[: longest - 1] + "…"


_NAME_WIDTH = 10
"""Width of a metric's name in a narrow terminal: what the numbers leave of eighty characters."""


class MetricTable:
    """A rich renderable that adapts to the width; numbers are never broken."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.measure import Measurement

        for short, narrow in ((False, False), (True, False), (True, True)):
            table = _table(self._comparison, short=short, narrow=narrow)
            wide = Measurement.get(console, options.update(max_width=10_000), table).maximum
            if wide <= options.max_width:
                break
        yield table


def _table(comparison: Comparison, *, short: bool, narrow: bool) -> Table:
    """`short` breaks names; `narrow` puts intervals below their numbers."""
    from rich import box
    from rich.text import Text

    from benchwright.reports.terminal.tables import WholeTable

    break_ = "\n" if narrow else " "
    table = WholeTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("metric", overflow="fold")
    headings = (
        printable(comparison.run_a.title),
        printable(comparison.run_b.title),
        f"difference{break_}(95 %)",
        "won/lost\ntied" if narrow else "won/lost/tied",
        "p",
    )
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for metric, _ in folded(comparison.metrics)[0]:
        name, paired = printable(metric.name), metric.paired
        style = ("red" if metric.worse else "green") if metric.significant else ""
        counts = "–"
        if paired is not None:
            counts = f"{paired.wins:,}/{paired.losses:,}{break_.strip(' ') or '/'}{paired.ties:,}"
        table.add_row(
            Text(_broken(name) if short else name),
            _value(metric.run_a, break_),
            _value(metric.run_b, break_),
            Text(_difference(metric, break_) if comparison.both or comparison.noun == "step" else "–", style),
            counts,
            _p_value(paired, metric.p_adjusted),
        )
        if metric.failures_as_wrong is not None:
            _add_failures(table, metric, break_, short=short)
    return table


def _add_failures(table: Table, metric: MetricComparison, break_: str, *, short: bool) -> None:
    """Add the same metric with failed samples as wrong, because leaving them out flatters a run that fails on hard rows."""
    from rich.text import Text

    paired = metric.failures_as_wrong
    assert paired is not None
    sides = (metric.run_a, metric.run_b)
    known = [None if side is None else side.failures_as_wrong for side in sides]
    table.add_row(
        Text("failures\nas wrong" if short else "  failures as wrong", "dim"),
        *("–" if value is None else short_number(value) for value in known),
        _paired_difference(paired, break_),
        f"{paired.wins:,}/{paired.losses:,}{break_.strip(' ') or '/'}{paired.ties:,}",
        _p_value(paired, metric.p_adjusted_failures_as_wrong),
    )


def _p_value(paired: PairedResult | None, corrected: float | None) -> str:
    """The corrected p-value; for times, the uncorrected one; empty if no pair differs."""
    if paired is None or not differing(paired):
        return "–"
    return p_text(paired.p_value if corrected is None else corrected)


def _broken(name: str) -> str:
    """A long name on several lines, broken before its underscores.

    >>> _broken("accuracy_with_fallback"), _broken("extraction_rate")
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
    return f"{paired.difference:+.4f}{break_}[{_end(paired.ci_low)}, {_end(paired.ci_high)}]"


def _end(value: float) -> str:
    """An end of the interval of a difference, in three decimals; in more if it would look like 0.

    >>> _end(0.0634), _end(-0.00021), _end(0.0), _end(-4e-18)
    ('+0.063', '-0.0002', '+0.000', '+0.000')
    """
    if same_score(value, 0.0):
        return "+0.000"
    text = f"{value:+.3f}"
    return text if float(text) else f"{value:+.1g}"


def short_number(value: float) -> str:
    """Four decimals; six below a thousandth.

    >>> short_number(0.5), short_number(0.00012345), short_number(12.0)
    ('0.5000', '0.000123', '12.0000')
    """
    return f"{value:.6f}" if 0 < abs(value) < 0.001 else f"{value:.4f}"

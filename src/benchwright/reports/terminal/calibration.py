"""A calibrated judge on the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.core import percent, printable
from benchwright.reports.blocks import Block, Cell, fitted, labelled, line
from benchwright.reports.terminal.result import note_rows
from benchwright.results import Calibration, number, plural
from benchwright.stats import Corrected

_METHODS = {
    "prediction_powered": "by the judge's mean error on the labelled rows",
    "rogan_gladen": "by its sensitivity and specificity",
}


def calibration_blocks(view: Calibration) -> list[Block]:
    """Confusion, agreement, bias and the corrected score."""
    found = view.agreement
    title = f"judge against {_of_rows('label', view.labelled, view.labelled_rows)}; {_of_rows('sample', view.judged, view.judged_rows)} judged"
    names = list(map(printable, found.categories))
    columns = [("human \\ judge", names, 9)] + [
        (name, [f"{row[place]:,}" for row in found.confusion], 9) for place, name in enumerate(names)
    ]
    rows: list[tuple[str, Cell]] = [
        ("accuracy", f"{number(found.agreed)} ({' – '.join(map(number, view.agreed_interval))})"),
        ("kappa", _kappa(view)),
        ("bias", _bias(view)),
    ]
    if view.sensitivity is not None and view.specificity is not None:
        rows.append(
            ("sensitivity", f"{percent(view.sensitivity, 1)}, specificity {percent(view.specificity, 1)}")
        )
    rows.append(("judge's score", number(view.judge_score)))
    rows += [("corrected", _corrected(each)) for each in view.corrected]
    rows += note_rows(view.notes)
    return [
        line(),
        line(view.sentence, "bold"),
        line(),
        line(title, "dim"),
        fitted(columns),
        labelled(rows),
        *_disagreements(view),
    ]


_LONGEST = 300
"""Characters of a text in a list of disagreements."""


def _disagreements(view: Calibration) -> Iterator[Block]:
    """The samples that judge and humans grade differently."""
    if view.disagreements is None:
        return
    found = view.disagreements
    yield line()
    yield line(f"{plural(len(found), 'disagreement')}" if found else "No disagreements.", "bold")
    for each in found:
        place = "" if each.sample_id is None else f"sample {each.sample_id}/{each.repeat or 0}: "
        texts = (
            ("prompt", each.prompt), ("response", each.response), ("target", each.target), ("reason", each.reason),
        )  # fmt: skip
        yield line()
        yield line(printable(f"{place}human {each.label}, judge {each.grade}"), "bold")
        yield labelled([(name, printable(_cut(text))) for name, text in texts if text])


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _of_rows(noun: str, count: int, rows: int) -> str:
    """A count, with the number of rows if copies and repeats make it smaller."""
    return plural(count, noun) + (f" of {plural(rows, 'row')}" if rows < count else "")


def _kappa(view: Calibration) -> str:
    found = view.agreement
    if found.kappa is None or found.ci_low is None or found.ci_high is None:
        return "–"
    weighted = "" if found.weights == "none" else f", {found.weights} weights"
    return f"{found.kappa:.3f} ({found.ci_low:.3f} – {found.ci_high:.3f}{weighted})"


def _bias(view: Calibration) -> str:
    bias = view.bias
    known = bias.ci_low is not None and bias.ci_high is not None
    interval = f" ({bias.ci_low:+.4f} – {bias.ci_high:+.4f})" if known else ""
    return f"{bias.difference:+.4f}{interval}: humans {number(bias.mean_a)}, the judge {number(bias.mean_b)}"


def _corrected(found: Corrected) -> str:
    return (
        f"{number(found.value)} ({number(found.ci_low)} – {number(found.ci_high)}) {_METHODS[found.method]}"
    )

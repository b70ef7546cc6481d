"""The summary as one page for a browser: nothing is loaded from anywhere, and no name becomes markup."""

from __future__ import annotations

from html import escape

from benchwright.core import OUTCOMES, printable
from benchwright.reports.files.work_texts import BESIDE, beside, interval
from benchwright.reports.terminal.workflows import summary_of
from benchwright.reports.views.work_table import Cell, Line, SummaryTable

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2733; --dim: #64707d; --paper: #fbfbf9; --card: #fff; --line: #e3e4e0;
  --bar: #2f6f9f; --whisker: #16364f; --warn: #9a5b00; --warn-paper: #fff5e0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --dim: #98a4b0; --paper: #14181d; --card: #1b2127;
  --line: #2d353d; --bar: #5b9bc8; --whisker: #cfe6f7; --warn: #f0b95a; --warn-paper: #2b2415; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 36px 24px 64px; }
h1 { font-size: 24px; margin: 0 0 4px; letter-spacing: -0.01em; }
h2 { font-size: 17px; margin: 36px 0 12px; }
p.about { color: var(--dim); margin: 0 0 24px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 10px 14px; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
tr:last-child > td { border-bottom: 0; }
th { font-size: 12.5px; font-weight: 600; color: var(--dim); white-space: nowrap; }
td.name { font-weight: 600; overflow-wrap: anywhere; min-width: 8em; }
td.dim, .dim { color: var(--dim); font-size: 13px; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.figure { font-variant-numeric: tabular-nums; width: 250px; min-width: 190px; }
.figure b { font-size: 19px; }
.best b { color: var(--bar); }
.track { position: relative; height: 6px; max-width: 220px; margin: 6px 0 5px;
  border-radius: 3px; background: var(--line); }
.track i { position: absolute; inset: 0 auto 0 0; border-radius: 3px; background: var(--bar); }
.track u { position: absolute; top: -3px; height: 12px; border: solid var(--whisker); border-width: 0 1.5px; }
.track u::after { content: ""; position: absolute; left: 0; right: 0; top: 5px; border-top: 1.5px solid var(--whisker); }
.warn { color: var(--warn); font-size: 13px; }
.outcomes { display: flex; height: 12px; min-width: 180px; border-radius: 3px; overflow: hidden; background: var(--line); }
.outcomes span { min-width: 2px; }
.scored { background: #4c9a6a; } .unparsed { background: #d9a441; } .empty { background: #b9a27c; }
.truncated { background: #c98bb0; } .refused { background: #8a79c0; } .request_failed { background: #c5524a; }
.scorer_failed { background: #a3483f; } .skipped { background: #8f979f; }
.key { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin: 0 5px 0 14px; }
ul.notes { margin: 0; padding: 14px 14px 14px 34px; background: var(--warn-paper); }
ul.notes li { overflow-wrap: anywhere; }
"""


def summary_page(table: SummaryTable, title: str) -> str:
    """The page."""
    body = [
        f"<h1>{_text(title)}</h1>",
        f'<p class="about">{_counted(len(table.models), "model")} on {_counted(len({line.dataset for line in table.lines}), "dataset")}. '
        "Figures are percentages unless the metric says otherwise; the bracket on each bar is the 95 % interval; samples "
        "that failed are left out of a figure and counted beside it.</p>",
        _main(table),
        *([_notes(table)] if table.notes else []),
        "<h2>How the samples ended</h2>",
        _outcomes(table),
        "<h2>What each figure rests on</h2>",
        _beside(table),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def _main(table: SummaryTable) -> str:
    heads = "".join(f"<th>{_text(name)}</th>" for name in ("dataset", "metric", *table.models))
    rows = []
    for line in table.lines:
        chosen = min if line.lower_is_better else max
        best = chosen((cell.value for cell in line.cells.values() if cell.value is not None), default=None)
        cells = "".join(_cell(line, line.cells.get(model), best) for model in table.models)
        about = f'{_text(line.metric)}<br><span class="dim">{_text(line.mode)}, version {_text(line.version)}</span>'
        rows.append(f'<tr><td class="name">{_text(line.dataset)}</td><td>{about}</td>{cells}</tr>')
    return f'<div class="card"><table><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _cell(line: Line, cell: Cell | None, best: float | None) -> str:
    if cell is None:
        return '<td class="figure dim">–</td>'
    if cell.value is None:
        return f'<td class="figure"><b>–</b><br><span class="warn">{_text(cell.remark)}</span></td>'
    kind = "figure best" if cell.value == best and len(line.cells) > 1 and not cell.remark else "figure"
    failed = f', <span class="warn">{cell.failed:,} of {cell.samples:,} failed</span>' if cell.failed else ""
    known = "" if interval(cell) == "–" else f"{interval(cell)}, "
    remark = f'<br><span class="warn">{_text(cell.remark)}</span>' if cell.remark else ""
    return (
        f'<td class="{kind}"><b>{_text(cell.text)}</b>{_track(cell) if line.percent else "<br>"}'
        f'<span class="dim">{_text(known)}n {cell.count:,}{failed}</span>{remark}</td>'
    )


def _track(cell: Cell) -> str:
    value, low, high = (min(100.0, max(0.0, part or 0.0)) for part in (cell.value, cell.low, cell.high))
    whisker = f'<u style="left:{low:.2f}%;width:{high - low:.2f}%"></u>' if high > low else ""
    return f'<div class="track"><i style="width:{value:.2f}%"></i>{whisker}</div>'


def _outcomes(table: SummaryTable) -> str:
    rows = []
    for name, run in table.runs:
        summary = summary_of(run)
        if summary is None or not summary.evaluated:
            rows.append(
                f'<tr><td class="name">{_text(name)}</td><td class="warn">{_text(run.error or run.status)}</td></tr>'
            )
            continue
        there = [
            (o.value, summary.outcomes.get(o.value, 0)) for o in OUTCOMES if summary.outcomes.get(o.value)
        ]
        bar = "".join(
            f'<span class="{outcome}" style="width:{100 * count / summary.evaluated:.3f}%" title="{outcome} {count:,}"></span>'
            for outcome, count in there
        )
        names = {"scored": "replied"} if summary.unscored else {}
        told = "".join(
            f'<span class="key {outcome}"></span>{names.get(outcome, outcome)} {summary.outcomes.get(outcome, 0):,}'
            for outcome in OUTCOMES
        )
        rows.append(
            f'<tr><td class="name">{_text(name)}</td><td><div class="outcomes">{bar}</div>'
            f'<div class="dim" style="margin-left:-14px">{told}</div></td></tr>'
        )
    return f'<div class="card"><table><tbody>{"".join(rows)}</tbody></table></div>'


def _beside(table: SummaryTable) -> str:
    right = {"value", "95 % interval", "n", "samples", "failed", "run", *OUTCOMES}
    heads = "".join(f'<th class="{"number" if name in right else ""}">{_text(name)}</th>' for name in BESIDE)
    rows = []
    for row in beside(table):
        cells = zip(BESIDE, row, strict=True)
        rows.append(
            "<tr>"
            + "".join(f'<td class="{"number" if n in right else ""}">{_text(c)}</td>' for n, c in cells)
            + "</tr>"
        )
    return f'<div class="card"><table><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _notes(table: SummaryTable) -> str:
    items = "".join(f"<li>{_text(note)}</li>" for note in table.notes)
    return f'<h2>To be known beside the numbers</h2><div class="card"><ul class="notes">{items}</ul></div>'


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _text(value: str) -> str:
    return escape(printable(value))

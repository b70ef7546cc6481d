"""A verdict as JUnit XML, which CI systems show test by test, and as Markdown for a pull request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

from benchwright.core import p_text, percent, redact
from benchwright.reports.blocks import Heading, Table, lines
from benchwright.reports.markup import markdown as blocks_markdown, plain_markdown
from benchwright.results import RuleRow, Verdict, Word, figure

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKS = {Word.GO: "✅", Word.NO_GO: "❌", Word.INCONCLUSIVE: "⚠️"}


def junit(verdict: Verdict | str) -> str:
    """One test case for each rule: NO-GO is a failure, a rule that could not be evaluated is an error, and an undecided rule is
    skipped. For a gate that has not judged, with the reason: one test case, with an error."""
    if isinstance(verdict, str):
        case = (
            f'    <testcase classname="gate" name="the gate reaches a verdict" time="0">\n'
            f'      <error message={_attribute(verdict)} type="no verdict"/>\n    </testcase>\n'
        )
        return _suites("gate", {"tests": 1, "failures": 0, "errors": 1, "skipped": 0}, case)
    cases = "".join(_case(verdict, row) for row in verdict.rows)
    counts = {
        "tests": len(verdict.rows),
        "failures": sum(row.verdict is Word.NO_GO for row in verdict.rows),
        "errors": sum(not row.evaluated for row in verdict.rows),
        "skipped": sum(row.evaluated and row.verdict is Word.INCONCLUSIVE for row in verdict.rows),
    }
    properties = "".join(
        f"    <property name={_attribute(name)} value={_attribute(value)}/>\n"
        for name, value in (
            ("verdict", verdict.verdict.value),
            ("run", verdict.run),
            ("ended_at", verdict.ended_at or ""),
            ("baseline", verdict.baseline or ""),
            ("policy", verdict.policy),
            ("alpha", f"{verdict.alpha:g}"),
        )
    )
    told = "\n".join(f"{note.label}: {note.text}" for note in verdict.notes)
    notes = f"    <system-out>{_xml(told)}</system-out>\n" if told else ""
    inner = f"    <properties>\n{properties}    </properties>\n{cases}{notes}"
    return _suites(f"gate {verdict.name}", counts, inner)


def _suites(name: str, counts: Mapping[str, int], inner: str) -> str:
    shown = " ".join(f'{each}="{count}"' for each, count in counts.items())
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites name="benchwright" {shown} time="0">\n'
        f'  <testsuite name={_attribute(name)} {shown} time="0">\n'
        f"{inner}"
        "  </testsuite>\n</testsuites>\n"
    )


def _case(verdict: Verdict, row: RuleRow) -> str:
    begin = f'    <testcase classname={_attribute(f"gate.{verdict.name}.{row.kind}")} name={_attribute(f"{row.rule}: {row.needed}")} time="0"'
    details = _xml("\n".join([*_facts(row), f"rule: {row.where}"]))
    if row.verdict is Word.GO:
        return f"{begin}>\n      <system-out>{details}</system-out>\n    </testcase>\n"
    message = _attribute(row.reason)
    if row.verdict is Word.NO_GO:
        inner = f'<failure message={message} type="NO-GO">{details}</failure>'
    elif row.evaluated:
        inner = f"<skipped message={message}/>\n      <system-out>{details}</system-out>"
    else:
        inner = f'<error message={message} type="INCONCLUSIVE">{details}</error>'
    return f"{begin}>\n      {inner}\n    </testcase>\n"


def _facts(row: RuleRow) -> list[str]:
    facts = [f"{row.verdict.value}: {row.reason}", f"needed: {row.needed}", f"observed: {observed(row)}"]
    if row.p is not None and row.p_holm is not None:
        facts.append(f"{p_text(row.p, named=True)}, after Holm {p_text(row.p_holm)} ({row.test})")
    if row.detectable is not None:
        facts.append(f"smallest detectable: {figure(row.detectable)}")
    return facts


def observed(row: RuleRow) -> str:
    """The figure with its interval: `0.8123 [0.77, 0.85]`."""
    if row.observed is None:
        return "–"
    if row.kind == "run":
        return f"{percent(row.observed)} failed"
    shown = figure(row.observed)
    return (
        shown if row.interval is None else f"{shown} [{figure(row.interval[0])}, {figure(row.interval[1])}]"
    )


def _xml(text: str) -> str:
    """Make characters that XML does not allow visible."""
    return escape(_NOT_XML.sub("�", redact(text)))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("�", redact(text)), {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})


def tests_words(verdict: Verdict) -> str:
    """How many tests a verdict rests on, and how often it says NO-GO by chance."""
    counted = (
        "1 test" if verdict.tests == 1 else f"{verdict.tests} tests, corrected together by Holm's method"
    )
    return f"{counted}; false NO-GO rate at most {percent(verdict.alpha)}"


def markdown(verdict: Verdict | str) -> str:
    """A table for a pull request, with open rules first; for a gate that has not judged, the reason."""
    if isinstance(verdict, str):
        return f"## {_MARKS[Word.INCONCLUSIVE]} No verdict\n\n{plain_markdown(verdict)}\n"
    against = "" if verdict.baseline is None else f" against {plain_markdown(verdict.baseline)}"
    order = {Word.NO_GO: 0, Word.INCONCLUSIVE: 1, Word.GO: 2}
    about = f"{plain_markdown(verdict.run)}{_ended(verdict)}{against}, by {plain_markdown(verdict.policy)}"
    rows = tuple(
        (
            f"{_MARKS[row.verdict]} {row.verdict.value}",
            row.rule,
            observed(row),
            row.needed,
            "" if row.p_holm is None else p_text(row.p_holm),
            row.reason,
        )
        for row in sorted(verdict.rows, key=lambda each: order[each.verdict])
    )
    headings = tuple(map(Heading, ("", "rule", "observed", "needed", "p (Holm)", "why")))
    return "\n".join(
        [
            f"## {_MARKS[verdict.verdict]} {verdict.verdict.value}: {plain_markdown(verdict.name)}\n",
            *([f"{plain_markdown(verdict.sentence)}\n"] if verdict.sentence else []),
            f"{about}\n",
            blocks_markdown([Table(headings, rows)]),
            f"{tests_words(verdict)}.\n"
            + blocks_markdown([lines(f"{note.label}: {note.text}" for note in verdict.notes)]),
        ]
    )


def _ended(verdict: Verdict) -> str:
    if verdict.ended_at is None:
        return ""
    return f" (ended {verdict.ended_at[:16].replace('T', ' ')} UTC)"


VERDICT_DOCUMENTS = {"junit": junit, "markdown": markdown}
"""What writes a verdict, or why there is none, by the name of its format."""

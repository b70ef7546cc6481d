"""Writes the files of a run. Each is written under a temporary name and renamed, so that no file is ever incomplete.

Two runs with the same results in the same folder write identical bytes to `results.yml`, no matter how often one of them
was interrupted: it contains no times, run numbers or speeds, except those of replies that came from earlier runs. Numbers
keep their full precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from benchwright.core import (
    JsonObject,
    Registry,
    RunFile,
    RunSummary,
    UsageError,
    exact_json,
    known_secrets,
    open_artifacts,
    suggest,
)
from benchwright.reports.files.parquet import write_samples
from benchwright.reports.files.plain_yaml import plain_yaml
from benchwright.reports.pages.report import report_page
from benchwright.results import (
    COLUMNS,
    ChosenSamples,
    RunDetails,
    RunSamples,
    result_sentence,
    run_page,
    table_of,
)

ReportWriter: TypeAlias = Callable[[JsonObject, Path], Any]
"""Writes a report. Takes a run, as `show --json` prints it, and the folder of its files."""

REPORT_PLUGINS: Registry[ReportWriter] = Registry("reports", lambda value: Registry.check_function(value, 2))
"""Report writers of installed packages by name."""

EVAL_REPORT = "run_eval"
"""The files that programs for NeMo Evaluator read; the name of their bridge."""
BUILT_IN_REPORTS = (EVAL_REPORT,)
"""Reports that need no package. The run writes them together with its files."""


def write_run_files(details: RunDetails, samples: RunSamples, summary: RunSummary) -> list[str]:
    """Write the files of a run and return their names. Existing ones are replaced."""
    files = open_artifacts(details.run.folder)
    write_run_config(details)
    chosen = ChosenSamples.of(details, summary)
    if details.saves_samples:
        metrics = list(summary.metrics)
        with files.create(RunFile.SAMPLES) as file:
            write_samples(file, samples, metrics, choices=details.ranks_choices, seen=chosen.add)
    else:
        files.remove(RunFile.SAMPLES)  # from another run that used the folder
    overview = chosen.overview(details.run.id)
    if chosen.many:
        samples.keep_overview(overview)
    if details.reports_exchanges("html"):
        page = _page(details, summary, chosen, overview, samples)
        files.write(RunFile.REPORT, page)
    else:
        files.remove(RunFile.REPORT)  # as above
    files.write(RunFile.MANIFEST, indented_json(details.manifest_table()))
    # Written last, so that if results.yml exists the others do too.
    files.write(RunFile.RESULTS, dump_yaml(details.results_document(summary)))
    return [name for name in RunFile if files.exists(name)]


def run_report(details: RunDetails, samples: RunSamples, summary: RunSummary) -> bytes:
    """The content of `report.html`, also for a run whose folder has none."""
    chosen = ChosenSamples.of(details, summary)
    if details.saves_samples:
        for columns in samples.columns(COLUMNS):
            chosen.add(columns)
    return _page(details, summary, chosen, chosen.overview(details.run.id), samples)


def _page(
    details: RunDetails,
    summary: RunSummary,
    chosen: ChosenSamples,
    overview: JsonObject,
    samples: RunSamples,
) -> bytes:
    page = run_page(details, summary, table_of(overview["counts"]), samples.first_request())
    return report_page(
        "run",
        {**page, "distributions": overview["distributions"]},
        title=details.run.title,
        heading=result_sentence(details.run.title, summary),
        bad=not summary.comparable,
        elsewhere=f"The same figures are in {RunFile.RESULTS}.",
        samples=chosen.records,
    )


def write_run_config(details: RunDetails) -> None:
    """Write `run_config.yml`. It needs no results, so it can be written before the first request."""
    open_artifacts(details.run.folder).write(RunFile.CONFIG, dump_yaml(details.run_config()))


def dump_yaml(document: JsonObject) -> bytes:
    """Encode as YAML with sorted keys, one line per value, without secrets."""
    kept = known_secrets().clean_value(document)  # notes and names may quote a server
    if (plain := plain_yaml(kept)) is not None:
        return plain.encode()
    import yaml

    dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # the fast one is not in every build
    text: str = yaml.dump(
        kept, Dumper=dumper, sort_keys=True, allow_unicode=True, default_flow_style=False, width=2**20
    )
    return text.encode()


def indented_json(document: JsonObject | list[JsonObject]) -> bytes:
    """Encode as indented JSON with sorted keys, without secrets."""
    document = known_secrets().clean_value(document)
    try:
        return orjson.dumps(
            document, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
        )
    except TypeError:  # a setting is nested so deeply that it can only be written alone
        return exact_json(document, indent=True) + b"\n"


def check_report(name: str) -> None:
    """Raise UsageError, with similar names, if there is no report with this name."""
    if name not in BUILT_IN_REPORTS:
        _find_report(name)


def _find_report(name: str) -> ReportWriter:
    found = REPORT_PLUGINS.find(name)
    if found is None:
        known = [*BUILT_IN_REPORTS, *REPORT_PLUGINS.names()]
        raise UsageError(f"no report named {name!r}.{suggest(name, known)} There are: {', '.join(known)}")
    return found


def write_reports(details: RunDetails, names: Sequence[str]) -> list[str]:
    """Write reports of installed packages for a run that has ended. Returns one text for each report that failed.

    A report that fails changes nothing about the run, and stops no other.
    """
    problems = []
    for name in names:
        if name in BUILT_IN_REPORTS:
            continue
        try:
            writer = _find_report(name)
            with open_artifacts(details.run.folder).local() as folder:
                writer(details.to_json(), folder)
        except UsageError as error:
            problems.append(f"report {name}: {error}")
        except (Exception, SystemExit) as error:  # a plugin may raise anything
            problems.append(f"report {name} failed: {type(error).__name__}: {error}")
    return problems

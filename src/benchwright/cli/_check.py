"""`benchwright check TARGET`, and `run --dry-run`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from benchwright.cli._flags import (
    add_code_flags,
    add_gold_flag,
    add_run_flags,
    add_suite_flags,
    check_target,
    given,
    name_configuration,
    refuse_code_flags,
    refuse_suite_flags,
    resolved,
    run_options,
)
from benchwright.cli._output import Output, option_range
from benchwright.cli._parser import Parser
from benchwright.cli._process import load
from benchwright.cli._run_configs import add_config_flags, execute_configs, refuse_config_flags
from benchwright.cli._suites import check_pairs, search_names
from benchwright.cli._web import add_web, named_or_nearest, open_page

if TYPE_CHECKING:
    from benchwright.benchmarks import CheckReport
    from benchwright.config import RunOptions
    from benchwright.reports import Block
    from benchwright.runs import ConfiguredRun, Resolved, Suite

_NOT_READY = 2
_GOLD_FAILS = 1


def configure(parser: Parser) -> None:
    """Arguments of `check`: those of `run`, so that a command can be checked by changing one word."""
    add_suite_flags(parser)
    add_run_flags(parser)
    add_code_flags(parser, tags=True)
    add_gold_flag(parser)
    add_config_flags(parser, "--config", "--run-config")
    parser.add_help_all("run_config", "override")
    add_web(parser, "the findings and the first rows")
    parser.common.add_argument("-q", "--quiet", action="store_true", help="print problems only")
    parser.example("benchwright check my_bench.py --num-fewshot 3", "benchwright check --config run.yaml")


def execute(arguments: Namespace, output: Output) -> int:
    """Print one report per benchmark; JSON: `{"checks": […], "exit_code": n}`. Exit code 2 if a run could not start, 1 if
    every gold answer fails."""
    if arguments.run_config is not None:
        refuse_suite_flags(arguments)
        refuse_code_flags(arguments, str(arguments.run_config))
        name_configuration(output)
        flags = {"eval_type": arguments.target, **given(arguments)}
        return execute_configs(
            arguments, flags, output, check=lambda runs: _check_configs(runs, arguments, output)
        )
    refuse_config_flags(arguments)
    check_target(arguments)
    if arguments.search:
        return search_names(arguments, output)
    load("runs")
    name_configuration(output)
    options = run_options(arguments)
    return check_resolved(resolved(arguments, options), options, arguments, output, tasks=False)


def check_resolved(
    found: Resolved, options: RunOptions, arguments: Namespace, output: Output, *, tasks: bool
) -> int:
    """Check what was resolved; `tasks` as for `check_pairs`."""
    from benchwright.cli import _code
    from benchwright.runs import Program

    if isinstance(found, Program):
        return _code.check_program(found.plan, output)
    refuse_code_flags(arguments, arguments.target or "the target")
    if found.is_suite:
        return check_pairs(cast("Suite", found), options, arguments, output, tasks=tasks)
    return check_targets(found, arguments, options, output)


def _check_configs(runs: Sequence[ConfiguredRun], arguments: Namespace, output: Output) -> int:
    """Check what a run configuration describes, all of its tasks."""
    from benchwright.runs import Benchmarks

    found = [(Benchmarks(run.found), run.options, run.config.variables) for run in runs]
    return _show(found, arguments, output)


def check_targets(found: Resolved, arguments: Namespace, options: RunOptions, output: Output) -> int:
    """Check what one target names."""
    return _show([(found, options, {})], arguments, output)


def _show(
    targets: Sequence[tuple[Resolved, RunOptions, Mapping[str, str]]],
    arguments: Namespace,
    output: Output,
) -> int:
    """Check targets, each with its environment variables."""
    from benchwright.config import exported
    from benchwright.runs import check

    reports: list[CheckReport] = []
    codes: list[int] = []
    for found, options, variables in targets:
        with exported(variables):
            of_target: list[CheckReport] = check(found, options)
        reports += of_target
        codes += [
            check_code(each, is_ready(each, options), arguments.allow_failing_gold) for each in of_target
        ]
    code = max(codes, default=0)
    if getattr(arguments, "web", False):  # `run --dry-run` has no such flag
        open_findings(reports, codes, arguments, output)
        return code
    if output.as_json:
        checks = [{"ok": one == 0, **report_json(report)} for report, one in zip(reports, codes, strict=True)]
        output.json({"checks": checks, "exit_code": code})
        return code
    for report, one in zip(reports, codes, strict=True):
        if not (arguments.quiet and one == 0):
            output.show(check_blocks(report, one))
    return code


def open_findings(
    reports: Sequence[CheckReport], codes: Sequence[int], arguments: Namespace, output: Output
) -> None:
    """Open the page with what was found. The server gets the findings: it never reads what a target names."""
    import shlex
    from urllib.parse import quote

    from benchwright.core import known_secrets

    target = str(arguments.target or arguments.run_config)
    checks = [
        {
            "ok": code == 0,
            "verdict": VERDICTS[code][0],
            "findings": [[label, _short(text), style] for label, text, style in findings(report)],
            **report_json(report),
        }
        for report, code in zip(reports, codes, strict=True)
    ]
    page = f"/data?target={quote(target, safe='')}"
    document = {
        "target": target,
        "checks": checks,
        "command": known_secrets().clean(shlex.join(["benchwright", *arguments.typed])),
        "exit_code": max(codes, default=0),
    }
    told = open_page(
        named_or_nearest(arguments),
        page,
        output,
        handed=("/api/handed", {"page": page, "document": document}),
    )
    if output.as_json:
        output.json({**told, "exit_code": document["exit_code"]})


def report_json(report: CheckReport) -> dict[str, Any]:
    """A report as `--json` prints it; long texts without their middle, as on the terminal."""
    from msgspec import Struct, structs

    from benchwright.core import ModelRequest

    def shown(value: Any) -> Any:
        if isinstance(value, str):
            return _short(value)
        if isinstance(value, ModelRequest):
            return {"route": value.route, "body": shown(value.body)}
        if isinstance(value, Struct):
            return shown(structs.asdict(value))
        if isinstance(value, dict):
            return {key: shown(one) for key, one in value.items()}
        return [shown(one) for one in value] if isinstance(value, list | tuple) else value

    return {name: shown(value) for name, value in structs.asdict(report).items()}


def check_code(report: CheckReport, ready: bool, allow_failing_gold: bool) -> int:
    """The exit code of one report: 0 ready, 1 no gold answer scores as right, 2 a run could not start."""
    if not ready:
        return _NOT_READY
    return _GOLD_FAILS if report.gold_fails and not allow_failing_gold else 0


def is_ready(report: CheckReport, options: RunOptions) -> bool:
    """Whether a run could start: there are no problems, or only bad rows that it skips."""
    return report.ok or (bool(options.skip_bad_rows) and report.rows > 0 and not report.errors)


VERDICTS = {
    0: ("ready", "bold green"),
    _GOLD_FAILS: ("no gold answer scores as right", "bold red"),
    _NOT_READY: ("cannot be run", "bold red"),
}
"""The meaning of a report's exit code, and its style."""


def check_blocks(report: CheckReport, code: int) -> list[Block]:
    """The findings of a check and its verdict."""
    from benchwright.core import printable
    from benchwright.reports import Divider, Lines, labelled, line

    verdict = Lines((((report.key, "bold"), (f" on {printable(report.dataset)}: ", ""), VERDICTS[code]),))
    found = labelled((label, (printable(_short(text)), style)) for label, text, style in findings(report))
    shown: list[Block] = [line(), verdict, found]
    for sample in report.samples[:1]:
        texts = [
            (f"{each.get('role')} message for line {sample.line}", str(each.get("content")))
            for each in sample.messages
        ]
        if sample.media:
            texts.insert(0, (f"media for line {sample.line}", "\n".join(sample.media)))
        if sample.choices:
            texts.append(("choices", " | ".join(sample.choices)))
        for heading, text in [*texts, ("target", sample.target)]:
            shown += [Divider(heading), line(printable(_short(text)))]
    return shown


_SHOWN_CHARS = 6000
"""The most characters of a text that are shown; the request contains all of it."""


def _short(text: str) -> str:
    """Replace the middle of a long text by its length.

    >>> len(_short("x" * 5_000_000)) < 7000
    True
    """
    left = len(text) - _SHOWN_CHARS
    if left <= 0:
        return text
    start, end = text[: _SHOWN_CHARS * 2 // 3], text[-_SHOWN_CHARS // 3 :]
    return f"{start}\n… {left:,} characters are not shown here …\n{end}"


def question_type(report: CheckReport) -> str:
    """The type of a file of questions, and its options."""
    options = f", {option_range(report.options)}" if report.options else ""
    return f"{report.data_type}{options}"


def _cost(cost: Mapping[str, Any]) -> Iterator[str]:
    """The cost range of the model and of each judge, and the assumptions."""
    if cost["prompts"] is not None:
        yield f"{cost_range(cost)} (prices of {cost['as_of']})"
    for name, each in (cost["judges"] or {}).items():
        if each["requests"] is None:
            yield f"{name} (judge): unknown, because scoring the gold answers does not call it"
        elif each["prompts"] is None:
            yield f"{name} (judge): not known, because it has no price; {_about(each['requests'])}"
        else:
            yield f"{name} (judge): {cost_range(each)}, {_about(each['requests'])} (prices of {each['as_of']})"
    yield f"assumes {', '.join(cost['assumes'])}"


def _about(requests: int) -> str:
    from benchwright.results import plural

    return f"about {plural(requests, 'request')}"


def cost_range(cost: Mapping[str, Any]) -> str:
    """From empty replies to full-length ones, in words."""
    from benchwright.results import money

    least = money(cost["prompts"], cost["currency"])
    if cost["at_most"] is None:
        return f"at least {least}, for prompts; the length of replies is not limited"
    return f"from {least}, for prompts alone, to {money(cost['at_most'], cost['currency'])} with replies of full length"


def findings(report: CheckReport) -> list[tuple[str, str, str]]:
    """What a check found, as label, text and style."""
    from benchwright.core import BadRow, Information
    from benchwright.results import plural

    found = [("error", text, "red") for text in report.errors]
    found += [("bad row", line, "red") for line in BadRow.lines(report.bad_rows)]
    if report.bad_total > len(report.bad_rows):
        more = plural(report.bad_total - len(report.bad_rows), "more bad row")
        found.append(("", f"… and {more}", "red"))
    told = [text for text in report.warnings if isinstance(text, Information)]
    found += [("warning", text, "yellow") for text in report.warnings if text not in told]
    if told:  # what needs no attention is one line
        found.append(("notes", "; ".join(text.rstrip(".") for text in told), "dim"))
    if report.data_type:
        found.append(("type", question_type(report), ""))
    if report.rows:
        size = f"{plural(report.rows, 'row')}, {plural(report.requests, 'request')}"
        size += f" and about {plural(report.prompt_tokens_estimate, 'prompt token')}"
        found.append(("per repeat", f"{size} (estimated)", ""))
    if report.cost is not None:
        found += [("cost", line, "") for line in _cost(report.cost)]
        judges: Any = report.cost["judges"] or {}
        doubts = [report.cost["doubt"], *(each["doubt"] for each in judges.values())]
        found += [("note", str(doubt), "yellow") for doubt in dict.fromkeys(doubts) if doubt]
    if report.template_fields:
        found.append(("prompt reads", ", ".join(report.template_fields), ""))
    if report.unused_fields:
        # A scorer in Python may read any field of its row.
        unknown = "" if report.data_type else " (not in the prompt; the scorer may use it)"
        found.append(("unused", f"{', '.join(report.unused_fields)}{unknown}", ""))
    fewshot = report.fewshot
    if fewshot is not None:
        found.append(("few-shot", f"{len(fewshot.examples)} examples from {fewshot.source}", ""))
    gold = report.gold
    if gold is not None and gold.tried:
        words = f"{gold.right} of {gold.tried} score as right"
        if gold.key is not None:
            words += f" ({gold.key})"
        if gold.failed:
            words += f", the scorer fails on {gold.failed}"
        if report.rows > gold.looked_at:
            words += f"; only the first {gold.looked_at} of {plural(report.rows, 'row')} were tried"
        found.append(("gold answers", words, "yellow" if gold.failed else ""))
    if report.gold_fails:
        cure = "correct the targets or the scorer, or accept this with --allow-failing-gold"
        found.append(("", f"a model that is always right would get 0: {cure}", "red"))
    if gold is not None and gold.skipped:
        found.append(("gold answers", f"not tried: {gold.skipped}", ""))
    return found

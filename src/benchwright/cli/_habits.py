"""What people type from the habit of other tools, and what it is called here. Loaded only when a command was not understood."""

from __future__ import annotations

from collections.abc import Collection, Sequence

_SAME: dict[tuple[str, ...], tuple[str, ...]] = {
    ("-n", "--n", "-l", "--num", "--count", "--samples", "--num-samples", "--max-samples", "--num-examples", "--max-examples",
     "--examples", "--rows", "--max-rows", "--head", "--subset", "--top"): ("--limit", "--requests"),
    ("-k", "--k", "-r", "--runs", "--epochs", "--num-repeats", "--num-runs", "--attempts"): ("--repeats",),
    ("-m", "--llm", "--model-name", "--models-name"): ("--model", "--model-id"),
    ("-u", "--endpoint", "--api-base", "--server", "--address", "--api-url", "--openai-base-url"): ("--model-url",),
    ("-t", "--temp"): ("--temperature",),
    ("-c", "-j", "-p", "--jobs", "--workers", "--num-workers", "--threads", "--num-threads", "--concurrent", "--max-concurrent",
     "--max-connections", "--num-concurrent", "--batch-size", "--max-workers", "--parallel"): ("--concurrency", "--parallelism"),
    ("-o", "-O", "--out", "--output", "--output-path", "--save", "--save-to", "--outfile", "--out-dir"):
        ("--output-dir", "--output", "--markdown"),
    ("-v", "-vv", "--verbose", "--log-level", "--loglevel"): ("--debug",),
    ("-q", "--silent"): ("--quiet",),
    ("-w",): ("--workspace",),
    ("-f",): ("--format",),
    ("-s",): ("--seed", "--system"),
    ("-d", "--data", "--data-path", "--dataset-path"): ("--dataset",),
    ("--shots", "--num-shots", "--n-shot", "--fewshot", "--few-shot", "--num-few-shot"): ("--num-fewshot",),
    ("--metric", "--metrics", "--scorer", "--scorers"): ("--qa-metrics", "--evaluator"),
    ("--system-prompt", "--system-message", "--sys-prompt"): ("--system",),
    ("--max-new-tokens", "--max-gen-toks", "--max-completion-tokens", "--max-output-tokens"): ("--max-tokens",),
    ("--retries", "--num-retries"): ("--max-retries",),
    ("--qps", "--rps", "--request-per-second"): ("--rate",),
    ("--duration-seconds", "--time"): ("--duration",),
    ("--judge-model-name", "--grader"): ("--judge-model", "--judge-id"),
    ("--prompt", "--prompt-template", "--prompt-file"): ("--template",),
    ("--question", "--question-column", "--question-field", "--prompt-column", "--input-column", "--input-field", "--input-key"):
        ("--input-columns",),
    ("--answer", "--answer-column", "--answer-field", "--target", "--target-column", "--target-field", "--gold", "--label-column",
     "--reference-column", "--expected-column"): ("--output-column",),
    ("--choices", "--choices-column", "--options-column"): ("--options",),
    ("-y", "--force-yes", "--assume-yes"): ("--yes",),
    ("--html", "--report"): ("--output",),
}  # fmt: skip
"""Options of other tools, and those here that mean the same. The first ones that a command has are named."""
_COMMANDS: dict[tuple[str, ...], str] = {
    ("eval", "evaluate", "execute", "exec", "start", "test", "bench", "benchmark", "score"): "run TARGET",
    ("ci", "pipeline"): "run TARGET && benchwright gate last --policy FILE (docs/ci.md)",
    ("result", "results", "view", "open", "status", "info", "inspect", "samples", "get"): "show RUN",
    ("runs", "history", "log", "logs", "ps", "jobs"): "list",
    ("delete", "remove", "del", "erase"): "rm RUN",
    ("diff", "cmp", "vs"): "compare A B",
    ("stop", "kill", "abort"): "cancel RUN",
    ("continue", "restart", "retry"): "resume RUN",
    ("load", "loadtest", "load-test", "stress", "speed", "throughput"): "perf TARGET",
    ("web", "ui", "dashboard", "server", "app"): "serve",
    ("mock", "fake", "demo", "simulator"): "simulate",
    ("lint", "dry-run", "dryrun", "preview", "verify"): "check TARGET",
    ("new", "create", "setup", "quickstart"): "init DIR",
    ("models", "providers"): "ls --models",
    ("benchmarks", "tasks", "evals", "datasets", "plugins"): "ls",
    ("baseline", "baselines", "approve", "promote"): "bless RUN --as NAME",
    ("html", "page"): "report RUN -o FILE.html",
    ("download", "install"): "fetch bfcl",
    ("calibrate",): "judge-calibrate FILE",
    ("repair", "fix"): "doctor",
    ("version",): "--version",
}
"""Commands of other tools, and what to type here."""
_NOT_JSON = {
    "--judge": "To name the judge of the metric judge: --judge-model NAME, or --judge-url URL --judge-id ID"
}
"""Options that take JSON, and those that people mean if they give a plain text."""
_KEYS = (
    "--api-key",
    "--apikey",
    "--key",
    "--token",
    "--api-token",
    "--auth",
    "--bearer",
    "--openai-api-key",
    "--password",
    "-K",
)

_JUDGE_QUESTION = {
    (
        "--judge-template",
        "--judge-prompt",
        "--judge-prompt-template",
        "--rubric",
        "--judge-rubric",
        "--grader-template",
    ): "template",
    ("--criteria", "--judge-criteria"): "criteria",
    ("--score-mapping", "--judge-score-mapping"): "score_mapping",
    ("--grade-pattern", "--judge-pattern"): "grade_pattern",
}
"""Options for the question to a judge, and the parameter of `judge_score` that they mean."""

_SPARE = {
    "run": "run takes one target. For several files: benchwright run --models NAME --datasets {first} {spare} (NAME: demo, or a model "
    "of yours), or name them in a suite (docs/suites.md)",
    "check": "check takes one target. Check the others one by one: benchwright check {spare}",
    "perf": "perf takes one target at a time: benchwright perf {spare}",
    "gate": "gate judges one run. To compare it with another: benchwright gate {first} --baseline {spare} --policy FILE",
    "show": "show takes a run and at most one of its samples: benchwright show {spare}",
    "list": "list takes no run. To see one: benchwright show {spare}",
    "resume": "resume takes one run at a time: benchwright resume {spare}",
    "rescore": "rescore takes one run at a time: benchwright rescore {spare}",
    "bless": "bless takes one run at a time: benchwright bless {spare} --as NAME",
    "ls": "ls lists the evaluations that can be run. The runs: benchwright list",
}
"""What to do with arguments that a command does not take."""


def meant_option(name: str, command: str, known: Collection[str]) -> str | None:
    """The cure for an option that another tool has; None if it is not known from there."""
    plain = name.replace("_", "-").lower() if name.startswith("--") else name
    if plain in _KEYS and plain not in known:
        return (
            "keys are named, never typed: a typed key stays in the shell's history. Export it (export MY_KEY=…) and name the variable: "
            "--api-key-name MY_KEY"
        )
    for theirs, setting in _JUDGE_QUESTION.items():
        if plain in theirs and "--judge" in known and plain not in known:
            from benchwright.core import judge_question_cure

            return judge_question_cure(setting)
    for theirs, ours in _SAME.items():
        if plain not in theirs:
            continue
        there = [flag for flag in ours if flag in known]
        if there:
            more = "; the program's version: benchwright --version" if "--debug" in there else ""
            return f"It is called {' or '.join(there)} here{more}"
        if "--output-dir" in ours or "--html" in theirs:
            return f"The result is printed. To write it to a file: {command} … > FILE, or with --json for programs"
        if "--debug" in ours:
            return "The program's version: benchwright --version; stages and failures as they happen: benchwright run TARGET --debug"
        return None
    return None


def meant_command(name: str) -> str | None:
    """What to type instead of a command that another tool has, after the program's name; None if it is not known from there."""
    plain = name.lower().replace("_", "-")
    return next((ours for theirs, ours in _COMMANDS.items() if plain in theirs), None)


def meant_benchmark_parameter(name: str, known: Collection[str]) -> str | None:
    """The cure for an option that only the decorator `benchmark` has, for a command that runs benchmarks."""
    import inspect

    from benchwright import benchmark

    parameter = name.removeprefix("--").replace("-", "_")
    if "--output-column" not in known or parameter not in inspect.signature(benchmark).parameters:
        return None
    return f"{parameter} is a parameter of benchmarks in Python: @benchmark(…, {parameter}=…), see docs/benchmarks.md"


def meant_by_text(message: str) -> str:
    """The options that people mean who gave a text to an option that takes JSON, after argparse's message about it."""
    flag = message.removeprefix("argument ").partition(":")[0]
    return f". {_NOT_JSON[flag]}" if " is not JSON. " in message and flag in _NOT_JSON else ""


def spare_argument(command: str, first: str | None, spare: Sequence[str]) -> str:
    """What to do with an argument too many."""
    cure = _SPARE.get(command, "")
    return cure.format(first=first or "TARGET", spare=spare[0]) if cure else ""

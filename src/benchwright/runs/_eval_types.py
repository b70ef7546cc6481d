"""Evaluation types in run configurations, and the model types that each supports."""

from __future__ import annotations

from pathlib import Path

from benchwright.benchmarks import BENCHMARK_PLUGINS, BUILTIN_EVALUATIONS, BenchmarkSpec, written_as
from benchwright.config import ConfigFile
from benchwright.core import ConfigError, NotFoundError, normalise_name, suggest


def evaluation_target(written: str, file: ConfigFile | None, cwd: Path) -> str:
    """The target of `benchwright run` for the evaluation `NAME` or `FRAMEWORK.NAME`."""
    if "." not in written or _is_place(written, cwd):
        return written
    known = (*(() if file is None else file.benchmarks), *BENCHMARK_PLUGINS.names())
    if written in known:
        return written
    framework, _, name = written.rpartition(".")
    if "." in framework:
        raise ConfigError(f"config.type is {written!r}; expected NAME or FRAMEWORK.NAME, with one dot")
    if framework == "bfcl":
        from benchwright.bfcl import EVALUATIONS, evaluation_of

        # A category is evaluated with the defaults of the framework: calls as text.
        for each in (name, f"bfcl_{name.removesuffix('_prompting')}_prompting"):
            if evaluation_of(each) is not None:
                return each
        raise NotFoundError(
            f"bfcl has no evaluation or category {name!r}.{suggest(name, EVALUATIONS)} It has: {', '.join(EVALUATIONS)}"
        )
    if BENCHMARK_PLUGINS.find(written) is not None:
        return written
    if (only := framework.removeprefix("byob_")) != name and framework != only and only in known:
        raise NotFoundError(f"{framework} has no benchmark {name!r}. It has: {only}")
    if framework == "nocode":  # types have normalised names, without the hyphens of names
        described = [each for each in (*known, *BUILTIN_EVALUATIONS) if normalise_name(each) == name]
        return next(iter(described), name)
    if framework in (f"byob_{name}", "mcq", "qa") or name in known:
        return name
    entries = [entry for entry in map(BENCHMARK_PLUGINS.entry, known) if entry is not None]
    if offered := [e.name for e in entries if normalise_name(e.package) == normalise_name(framework)]:
        raise NotFoundError(
            f"{framework} has no benchmark {name!r}.{suggest(name, offered)} It has: {', '.join(offered)}"
        )
    packages = sorted({entry.package for entry in entries})
    raise NotFoundError(
        f"config.type is {written!r}, and there is no framework {framework!r}."
        f"{suggest(framework, ['bfcl', *packages])} Known: {', '.join(['bfcl', 'byob_NAME', *packages])}. "
        "What can be run from here: benchwright ls"
    )


def _is_place(written: str, cwd: Path) -> bool:
    """Whether the text names a file, a URI or an object in a module."""
    named = written.endswith(".py") or written_as(written) == "questions"
    return named or ":" in written or "/" in written or (cwd / written).is_file()


def endpoint_types(spec: BenchmarkSpec) -> tuple[str, ...]:
    """The model types that the benchmark supports. A file of questions supports both."""
    if spec.family in ("mcq", "qa") and spec.endpoint_type != "completions_logprob":
        return ("chat", "completions")
    return (spec.endpoint_type,)


def check_type(spec: BenchmarkSpec, model_type: str | None) -> None:
    supported = endpoint_types(spec)
    if model_type is not None and model_type not in supported:
        raise ConfigError(
            f"The benchmark '{spec.name}' does not support the model type '{model_type}'. The benchmark supports "
            f"'{list(supported)}'. Set target.api_endpoint.type, or --model_type"
        )

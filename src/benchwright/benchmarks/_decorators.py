"""`@benchmark` and `@scorer`: the decorators of users' functions. Mistakes are reported when the function is defined."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from benchwright.benchmarks._fields import filters_of
from benchwright.benchmarks._scoring import check_scorer, positional_count
from benchwright.benchmarks._spec import BenchmarkSpec, NextTurn, attach, register
from benchwright.benchmarks._tool_tasks import CallErrors
from benchwright.core import MODEL_TYPES, BenchmarkError, ModelType, normalise_name, suggest
from benchwright.datasets import DatasetRef

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R")

_NEAR = 0.8
"""Similarity from which a keyword counts as a typing error: `choice`, `promt`, `num_fewshots`, `systemprompt`."""


def scorer(function: F) -> F:
    """Mark a function as a scorer. Returns the function itself.

    It takes a `ScorerInput`, or `(sample, config)`, and returns a dict of names to bools or numbers; texts and
    None are kept with the sample but not averaged. It may be `async`. TypeError for any other signature.
    """
    check_scorer(function)
    with suppress(AttributeError, TypeError):  # callables without attributes work as well
        function._is_scorer = True  # type: ignore[attr-defined]  # a mark that other tools look for
    return function


def _refuses_slips(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function with `**keywords` raise BenchmarkError for a keyword that is nearly one of its parameters.

    Keywords are checked before the call, because a mistyped required parameter would otherwise be reported as missing.
    The caller of the result is two frames above the function, not one.
    """
    parameters = inspect.signature(function).parameters.values()
    known = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for keyword in sorted(kwargs.keys() - known):
            near = _nearly(keyword, known)
            if near is not None:
                name = kwargs.get("name", args[0] if args else None)
                whose = f"benchmark {name!r}: " if isinstance(name, str) else ""
                raise BenchmarkError(
                    f"{whose}{keyword!r} is not a parameter of @benchmark. Did you mean {near!r}? To hand it to the "
                    f'scorer on purpose, write extra={{"{keyword}": …}}'
                )
        return function(*args, **kwargs)

    return call


@_refuses_slips
def benchmark(
    name: str,
    dataset: DatasetRef,
    prompt: str,
    target_field: str = "target",
    endpoint_type: ModelType = "chat",
    requirements: Sequence[str] | str | os.PathLike[str] | None = None,
    field_mapping: Mapping[str, str] | None = None,
    extra: Mapping[str, Any] | None = None,
    response_field: str | None = None,
    system_prompt: str | None = None,
    choices: Sequence[str] | None = None,
    choices_field: str | None = None,
    num_fewshot: int = 0,
    fewshot_dataset: DatasetRef | None = None,
    fewshot_prefix: str = "",
    fewshot_split: str | None = None,
    fewshot_template: str | None = None,
    fewshot_separator: str = "\n\n",
    *,
    turns_field: str | None = None,
    next_turn: NextTurn | None = None,
    max_turns: int = 10,
    tools_field: str | None = None,
    expected_calls_field: str | None = None,
    native_calling: bool = True,
    filters: Mapping[str, Any] | None = None,
    lower_is_better: Sequence[str] = (),
    **config: Any,
) -> Callable[[F], F]:
    """Define a benchmark around a scorer. Returns the function itself, with the definition attached.

    Args:
        name: Display name; normalised to small letters, digits and `_` it must be unique in the file.
        dataset: Path (relative: from this file's folder), URI, or a callable or iterable that yields rows.
        prompt: Template text or a .txt, .md, .jinja or .jinja2 file. `{field}`, or Jinja2 (`{%`, `{#`).
        target_field: Column with the expected answer.
        endpoint_type: `chat`, `completions`, or `completions_logprob` to rank `choices`.
        requirements: Packages the scorer needs, as a list or a requirements file.
        field_mapping: Columns to rename, `{"source": "target"}`.
        extra: Settings for the scorer, which sees them as `sample.config`.
        response_field: Column with ready-made responses: score only, no model call.
        system_prompt: Template text or file for the system message.
        choices: Fixed candidate continuations.
        choices_field: Column, or dotted path, with the candidates of each row.
        num_fewshot: Examples before each prompt.
        fewshot_dataset: Where the examples come from (relative: from this file's folder).
        fewshot_prefix: Text before the first example.
        fewshot_split: Split of the primary `hf://` dataset to take the examples from.
        fewshot_template: Template text or file for one example.
        fewshot_separator: Between examples and before the test prompt.
        turns_field: Column with the user turns that follow the prompt: texts or `{"role", "content"}`.
        next_turn: `(conversation)` or `(conversation, row)` to the next user turn; None ends it.
        max_turns: The most user turns of one conversation.
        tools_field: Column, or dotted path, with the functions that the model may call.
        expected_calls_field: Column, or dotted path, with the calls that are expected; it is the target.
        native_calling: Send the functions as `tools`; if false, describe them in the prompt and read calls from the text.
        filters: Rows to keep, `{"field": value}` by the names in the data, compared as text.
        lower_is_better: Scores for which lower is better, such as `["edits"]`; names like `wer`, `error_rate` and
            `latency_s` are known.
        **config: Merged into `extra`; an explicit `extra` wins. A keyword that is nearly a parameter is refused.

    Raises BenchmarkError (a ValueError) for a definition that cannot be used, TypeError for a scorer that
    cannot be called.
    """
    given = dict(locals())
    # The place of `@benchmark`, not that of the function, because a built-in scorer may be decorated too.
    frame = sys._getframe(2)  # skips the check of the keywords
    module = str(frame.f_globals.get("__name__", "__main__"))
    file = frame.f_globals.get("__file__")
    source = Path(file).resolve() if isinstance(file, str) else None
    base_dir = source.parent if source is not None else Path.cwd()
    line = frame.f_lineno
    del frame

    settings = _settings(name, given, base_dir) | {"base_dir": base_dir, "source": source, "line": line}

    def define(function: F) -> F:
        spec = BenchmarkSpec(**settings, scorer=function, passes_config=check_scorer(function))
        register(spec, module)
        attach(function, spec)
        return function

    return define


def _settings(name: str, given: dict[str, Any], base_dir: Path) -> dict[str, Any]:
    """The fields of the definition that the arguments of `@benchmark` fill, checked. An argument that is not named
    here becomes the field of its name."""
    key = _key(name)
    texts = ("prompt", "target_field", "fewshot_prefix", "fewshot_separator")
    _check_texts(name, **{parameter: given[parameter] for parameter in texts})
    _check_endpoint(name, given["endpoint_type"], given["choices"], given["choices_field"])
    _check_turns(
        name,
        given["endpoint_type"],
        given["prompt"],
        given["turns_field"],
        given["next_turn"],
        given["max_turns"],
    )
    _check_tools(name, given)
    examples = given["num_fewshot"]
    if not isinstance(examples, int) or isinstance(examples, bool) or examples < 0:
        raise BenchmarkError(f"benchmark {name!r}: num_fewshot is {examples!r}; expected 0 or more")
    if not given["prompt"] and given["turns_field"] is None and given["response_field"] is None:
        raise BenchmarkError(f"benchmark {name!r}: the prompt is empty")
    extra = _mapping(name, "extra", given.pop("extra")) or {}
    return given | {
        "key": key,
        "requirements": _requirements(name, given["requirements"], base_dir),
        "requirements_file": _requirements_file(given["requirements"], base_dir),
        "field_mapping": _mapping(name, "field_mapping", given["field_mapping"]),
        "config": {**given["config"], **extra},
        "choices": _choices(name, given["choices"]),
        "filters": filters_of(name, given["filters"]),
        "lower_is_better": _names(name, "lower_is_better", given["lower_is_better"]),
        "target_field": given["expected_calls_field"] or given["target_field"],
        "derive": None if given["tools_field"] is None else CallErrors,
    }


def _key(name: object) -> str:
    if callable(name):
        raise BenchmarkError("@benchmark needs its arguments: @benchmark(name=..., dataset=..., prompt=...)")
    key = normalise_name(name) if isinstance(name, str) else ""
    if not key:
        raise BenchmarkError(f"benchmark name {name!r} has no letter (a-z) or digit in it; give it one")
    return key


def _names(benchmark_name: str, parameter: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = (value,)
    if not isinstance(value, Sequence) or not all(isinstance(name, str) for name in value):
        raise BenchmarkError(
            f'benchmark {benchmark_name!r}: {parameter} is {value!r}; give a list of names, such as ["edits"]'
        )
    return tuple(value)


def _check_texts(benchmark_name: str, **values: object) -> None:
    for parameter, value in values.items():
        if not isinstance(value, str):
            raise BenchmarkError(
                f"benchmark {benchmark_name!r}: {parameter} is {type(value).__name__}, not text"
            )


def _check_endpoint(name: str, endpoint_type: str, choices: object, choices_field: object) -> None:
    if endpoint_type not in MODEL_TYPES:
        near = suggest(str(endpoint_type), MODEL_TYPES)
        raise BenchmarkError(
            f"benchmark {name!r}: endpoint_type {endpoint_type!r} is not one of {', '.join(MODEL_TYPES)}.{near}"
        )
    if endpoint_type == "completions_logprob" and choices is None and choices_field is None:
        raise BenchmarkError(
            f"benchmark {name!r}: completions_logprob ranks choices; give choices=[...] or choices_field=..."
        )


def _check_turns(
    name: str,
    endpoint_type: str,
    prompt: str,
    turns_field: str | None,
    next_turn: NextTurn | None,
    max_turns: int,
) -> None:
    if turns_field is None and next_turn is None:
        return
    wrong = None
    if turns_field is not None and next_turn is not None:
        wrong = "give turns_field or next_turn, not both"
    elif endpoint_type != "chat":
        wrong = f"a conversation needs endpoint_type='chat', not {endpoint_type!r}"
    elif not isinstance(max_turns, int) or max_turns < 1:
        wrong = f"max_turns is {max_turns!r}; expected 1 or more"
    elif next_turn is not None and not callable(next_turn):
        wrong = f"next_turn is {type(next_turn).__name__}, not a function"
    elif next_turn is not None and inspect.iscoroutinefunction(next_turn):
        wrong = "next_turn is a coroutine function; write a plain one (it runs in a thread and may wait)"
    elif next_turn is not None and positional_count(next_turn) == 0:
        wrong = "next_turn takes no arguments; it is called with (conversation) or (conversation, row)"
    elif next_turn is not None and not prompt:
        wrong = "the prompt is empty; with next_turn it opens the conversation"
    if wrong:
        raise BenchmarkError(f"benchmark {name!r}: {wrong}")


def _check_tools(name: str, given: Mapping[str, Any]) -> None:
    field, expected = given["tools_field"], given["expected_calls_field"]
    wrong = None
    for parameter in ("tools_field", "expected_calls_field"):
        if not isinstance(given[parameter], str | None):
            wrong = f"{parameter} is {given[parameter]!r}; give the name of a column"
    if field is None and (expected is not None or given["native_calling"] is not True):
        what = "expected_calls_field" if expected is not None else "native_calling"
        wrong = wrong or f"{what} needs tools_field, the column with the functions that the model may call"
    if field is not None and (given["turns_field"] or given["next_turn"]):
        wrong = wrong or "tools_field asks for calls in one turn; leave out turns_field and next_turn"
    if expected is not None and given["target_field"] not in ("target", expected):
        wrong = wrong or "expected_calls_field is the target; leave out target_field"
    if wrong:
        raise BenchmarkError(f"benchmark {name!r}: {wrong}")


def _mapping(name: str, parameter: str, value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise BenchmarkError(f"benchmark {name!r}: {parameter} is {type(value).__name__}, not a dict")
    return dict(value)


def _choices(name: str, choices: Sequence[str] | None) -> tuple[str, ...] | None:
    if choices is None:
        return None
    if isinstance(choices, str) or not isinstance(choices, Sequence) or not choices:
        raise BenchmarkError(
            f"benchmark {name!r}: choices is {choices!r}; give a list of texts such as [' A', ' B']"
        )
    return tuple(str(choice) for choice in choices)


def _requirements_file(value: object, base_dir: Path) -> Path | None:
    return Path(os.path.abspath(base_dir / value)) if isinstance(value, str | os.PathLike) else None


def _requirements(
    name: str, value: Sequence[str] | str | os.PathLike[str] | None, base_dir: Path
) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str | os.PathLike):
        path = base_dir / value
        try:
            lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
        except FileNotFoundError:
            raise FileNotFoundError(
                f"benchmark {name!r}: there is no requirements file {path}; give its path from the benchmark "
                f"file's folder, or a list of requirements"
            ) from None
        return tuple(line for line in lines if line and not line.startswith("#"))
    return tuple(str(requirement) for requirement in value)


def _nearly(keyword: str, known: Iterable[str]) -> str | None:
    from difflib import get_close_matches  # only where there are further keywords

    return next(iter(get_close_matches(keyword, known, n=1, cutoff=_NEAR)), None)

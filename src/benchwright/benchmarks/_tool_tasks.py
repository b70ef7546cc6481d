"""The task of a row for a model that calls functions: its turns, its functions, and the environment of the calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from benchwright.benchmarks._fields import at_path
from benchwright.benchmarks._spec import Derived
from benchwright.core import Information, JsonObject, MissingFieldError, Row, load_data_json

if TYPE_CHECKING:
    from benchwright.benchmarks._prompts import Prompt
    from benchwright.benchmarks._spec import BenchmarkSpec
    from benchwright.toolcalls import Calls, Language


class ToolEnvironment(Protocol):
    """What the calls of one sample act on. Every sample opens its own, so samples never share state."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Execute one call and return the text for the model. If the call fails, the text describes the error."""
        ...


class ToolTurn(Struct, frozen=True):
    """One turn of the user."""

    messages: tuple[JsonObject, ...]
    """The message. Empty if the turn only offers further functions: the model is then informed about them."""
    functions: tuple[JsonObject, ...] = ()
    """Functions offered from this turn on: function documents, or tools in the format of OpenAI's chat route."""


class ToolTask(Struct, frozen=True, kw_only=True):
    """The complete task of one row."""

    max_steps: ClassVar[int] = 20
    """Maximum number of replies with calls in one turn. After that, the sample is stopped and counts as stopped."""

    turns: tuple[ToolTurn, ...]
    """At least one."""
    language: Language = "python"
    """The language in which the values of calls are written."""
    open: Callable[[], ToolEnvironment] | None = None
    """Opens the environment of the calls. None: calls are not executed, and the first reply is the answer."""
    group: str | None = None
    """The part of the evaluation that the row belongs to, if it has parts."""
    obstacle: Callable[[], str | None] | None = None
    """Why no reply could be judged now, such as an expected call that cannot be executed; None if one could. It is called in a
    thread before anything is sent, and a row with an obstacle is skipped."""

    @property
    def text(self) -> str:
        """All user messages, for previews and to recognise rows with the same task."""
        said = (message.get("content") for turn in self.turns for message in turn.messages)
        return "\n".join(text for text in said if isinstance(text, str))

    @property
    def functions(self) -> list[JsonObject]:
        """The functions of all turns."""
        return [function for turn in self.turns for function in turn.functions]


ToolTasks: TypeAlias = Callable[[Row], ToolTask]
"""Turns a row into its task. Raises MissingFieldError, with the reason, if the row has no usable task."""


def task_of_prompt(spec: BenchmarkSpec, row: Row, prompt: Prompt) -> ToolTask:
    """The task of a benchmark with `tools_field`: one turn, its prompt, and the functions of the row."""
    messages: list[JsonObject] = [{"role": "user", "content": prompt.text}]
    if prompt.system is not None:
        messages.insert(0, {"role": "system", "content": prompt.system})
    if spec.history is not None:
        messages[-1:-1] = [dict(message) for message in spec.history(row)]
    functions = read_functions(row, spec.tools_field or "")
    return ToolTask(turns=(ToolTurn(tuple(messages), tuple(functions)),))


def with_system(task: ToolTask, text: str) -> ToolTask:
    """The task with the model's system message, unless the row has its own."""
    first, *later = task.turns
    if first.messages and first.messages[0].get("role") == "system":
        return task
    said = ({"role": "system", "content": text}, *first.messages)
    return replace(task, turns=(replace(first, messages=said), *later))


def read_functions(row: Row, field: str) -> list[JsonObject]:
    """The functions in a column: a list, or its JSON text, of documents or of tools. MissingFieldError for anything else."""
    value = at_path(row, field, _ABSENT)
    if value is _ABSENT:
        raise MissingFieldError(field, row)
    if isinstance(value, str):  # as in CSV files
        try:
            value = load_data_json(value)
        except ValueError as error:
            raise MissingFieldError(field, reason=f'"{field}" is not JSON: {error}') from None
    if not isinstance(value, list | tuple):
        kind = type(value).__name__
        raise MissingFieldError(
            field, reason=f'"{field}" contains {kind} where a list of functions is expected'
        )
    found: list[JsonObject] = []
    for number, item in enumerate(value, 1):
        if wrong := function_problem(item):
            raise MissingFieldError(field, reason=f'function {number} of "{field}": {wrong}')
        found.append(dict(item))
    return found


_ABSENT: Any = object()


def function_document(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The function itself, also if it is inside a tool."""
    inner = item.get("function")
    return inner if item.get("type") == "function" and isinstance(inner, Mapping) else item


def is_tool(item: Mapping[str, Any]) -> bool:
    """Whether a function is in the format of OpenAI's chat route, and is therefore sent unchanged."""
    return function_document(item) is not item


def sent_name(item: Mapping[str, Any]) -> str:
    """The name under which a function is sent as a tool. Names in documents may contain dots; names of tools must not."""
    name = str(function_document(item).get("name"))
    return name if is_tool(item) else name.replace(".", "_")


def gold_calls(
    expected: Any, functions: Sequence[Mapping[str, Any]] = (), *, native: bool, brief: bool = False
) -> Calls:
    """Calls that meet the expectation: each parameter gets its first allowed value.

    `brief` omits optional parameters and takes the last value, because data may list values that their own schema refuses.

    >>> gold_calls([{"geo.area": {"base": [3, 4], "unit": ["m", ""]}}], native=True)
    [{'geo_area': {'base': 3, 'unit': 'm'}}]
    >>> gold_calls([{"geo.area": {"base": [3, 4], "unit": ["m", ""]}}], native=False, brief=True)
    [{'geo.area': {'base': 4}}]
    """
    from benchwright.toolcalls import ground_truth_of

    required = {
        str(each.get("name")): (each.get("parameters") or {}).get("required") or () for each in functions
    }
    return [
        {(name.replace(".", "_") if native else name): _allowed(parameters, required.get(name, ()), brief)}
        for call in ground_truth_of(expected)
        for name, parameters in call.items()
    ]


def _allowed(
    parameters: Mapping[str, Sequence[Any]], required: Container[str], brief: bool
) -> dict[Any, Any]:
    chosen: dict[Any, Any] = {}
    for name, allowed in parameters.items():
        values = [value for value in allowed if value != ""]
        optional = len(values) < len(allowed) and name not in required
        if values and not (optional and brief):
            chosen[name] = _plain(values[-1 if brief else 0], brief)
        elif not optional and len(allowed) > len(values):  # only an empty string is allowed
            chosen[name] = ""
    return chosen


def _plain(value: Any, brief: bool) -> Any:
    if isinstance(value, Mapping) and all(isinstance(allowed, list) for allowed in value.values()):
        return _allowed(value, (), brief)
    return [_plain(item, brief) for item in value] if isinstance(value, list) else value


def function_problem(item: object) -> str | None:
    """Describe what is wrong with a function; None if nothing is."""
    if not isinstance(item, Mapping):
        return f"it is {type(item).__name__}, not an object with a name and parameters"
    function = function_document(item)
    name = function.get("name")
    if not isinstance(name, str) or not name.strip():
        return 'it has no "name"'
    parameters = function.get("parameters")
    if parameters is None:
        return None
    if not isinstance(parameters, Mapping):
        return f'"parameters" of {name} is {type(parameters).__name__}, not an object'
    return _schema_problem(name, parameters)


def _schema_problem(name: str, parameters: Mapping[str, Any]) -> str | None:
    properties, required = parameters.get("properties"), parameters.get("required")
    if properties is not None and not isinstance(properties, Mapping):
        return f'"properties" of {name} is {type(properties).__name__}, not an object'
    for key, schema in (properties or {}).items():
        if not isinstance(schema, Mapping):
            return f'the schema of {key} of {name} is {type(schema).__name__}, not an object such as {{"type": "string"}}'
    if required is None:
        return None
    if not isinstance(required, Sequence) or isinstance(required, str):
        return f'"required" of {name} is {type(required).__name__}, not a list of names'
    if odd := [each for each in required if not isinstance(each, str)]:
        return f'"required" of {name} lists {odd[0]!r}, which is not a name'
    unknown = [str(each) for each in required if each not in (properties or {})]
    return f"{name} requires {', '.join(unknown)}, which its properties do not have" if unknown else None


class CallAdvice:
    """Counts, from the scores, what the lenient reading of calls adds to the strict one, and what servers do to calls: leave them in
    the text, or hide the functions from the model."""

    def __init__(self) -> None:
        self._read_twice = self._otherwise = self._strict = self._lenient = 0
        self._rows = self._silent = self._as_text = 0

    def add(self, scores: Mapping[str, Any]) -> None:
        """Take one sample's scores."""
        if "correct_lenient" in scores:
            self._read_twice += 1
            self._otherwise += scores.get("reading") == "lenient"
            self._strict += bool(scores.get("correct"))
            self._lenient += bool(scores["correct_lenient"])
        error = scores.get("call_error")
        self._rows += 1
        self._silent += error == "no_calls"  # only of functions that were sent as tools
        self._as_text += error == "calls_as_text"

    def remarks(self) -> Iterator[str]:
        """What was found, and what to do about it."""
        if self._read_twice:
            yield Information(
                f"the lenient reading finds other calls in {self._otherwise:,} of {self._read_twice:,} samples; right: "
                f"{self._strict:,} as published (correct), {self._lenient:,} leniently (correct_lenient)"
            )
        if self._as_text:
            yield (
                f"{self._as_text:,} replies contain calls as text: the server does not read its model's calls. Start it with a "
                "parser for them (vLLM: --enable-auto-tool-choice --tool-call-parser NAME), or ask with --no-native-calling"
            )
        if self._rows and self._silent == self._rows:
            yield (
                "no reply calls a function, although functions were sent as tools. If the prompt tokens are too few to "
                "include them, the server does not show them to the model: start it with a chat template that has tools "
                "(llama.cpp: --jinja --chat-template-file FILE), or ask with --no-native-calling"
            )


class CallErrors(Derived):
    """How often calls were wrong in each way, by the `error_type` of the scores."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._advice = CallAdvice()

    def add(self, scores: Mapping[str, Any]) -> None:
        """Take one sample's scores."""
        self._advice.add(scores)
        kind = scores.get("error_type")
        if isinstance(kind, str) and kind:
            self._counts[kind] += 1

    def figures(self) -> dict[str, float]:
        """Samples by their first fault, the most frequent first."""
        return {f"errors.{kind}": float(count) for kind, count in self._counts.most_common()}

    def remarks(self) -> Sequence[str]:
        """The same in one line, and what to do about a server that does not pass on functions or calls."""
        notes: list[str] = []
        if self._counts:
            listed = ", ".join(f"{count:,} × {kind}" for kind, count in self._counts.most_common())
            notes.append(Information(f"wrong calls by their first fault: {listed}"))
        return [*notes, *self._advice.remarks()]

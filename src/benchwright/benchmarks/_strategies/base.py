"""The base of every strategy: the plan of a row, its requests, its answer, and right answers for a check."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from msgspec import Struct

from benchwright.benchmarks._missing_fields import fields_without_column
from benchwright.core import JsonObject, encode_json

if TYPE_CHECKING:
    from benchwright.benchmarks._prompts import Prompt, PromptBuilder
    from benchwright.benchmarks._requests import Generation
    from benchwright.benchmarks._scan import RowScan, ScannedRow
    from benchwright.benchmarks._spec import BenchmarkSpec
    from benchwright.core import ModelReply, ModelRequest, ModelType, Row


def size_of(text: str) -> int:
    """Characters of a text; bytes if it is not ASCII, because tokens are shorter there.

    >>> size_of("two"), size_of("二")
    (3, 3)
    """
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class RowPlan(Struct, frozen=True):
    """What one row will send, without its settings."""

    prompt: Prompt
    requests: int
    """Number of requests of one repeat; a lower bound if a function continues the conversation."""
    chars: int
    """Characters in these requests, as `size_of` counts them."""
    texts: tuple[str, ...] = ()
    """What else distinguishes the row from others with the same prompt: candidates, later turns, the response."""
    choices: tuple[str, ...] = ()
    """The candidates, if candidates are ranked."""
    cut_from: int = 0
    """Number of user turns in the row, if it exceeds `max_turns`."""
    reread: bool = False
    """Whether its target is the text of one candidate and the index or letter of another."""


class Answer(Struct):
    """What the scorer will see, or why it will see nothing."""

    reply: ModelReply | None
    """The reply that decides the outcome (the last, if there are several); None without a model call."""
    response: str
    """The text to score."""
    metadata: dict[str, Any]
    """The row, with what the strategy adds."""
    prompt: str | None = None
    """The prompt, recorded if no call contains it."""
    skipped: str | None = None
    """Why nothing could be requested for the row."""
    broken: str | None = None
    """Why the user's own code could not finish the sample."""
    conversation: list[JsonObject] | None = None
    """All messages, of a conversation."""
    turn_index: int | None = None
    """0-based number of the last turn, of a conversation."""
    extra: dict[str, Any] | None = None
    """Fields of the `SampleRecord` that the strategy fills."""
    usage: tuple[int, ...] | None = None
    """Prompt and completion tokens of all calls of the sample, if the server counted them; then the prompt tokens that it
    took from its cache, if any."""


class Asking(Protocol):
    """How a strategy reaches the model. The code that performs a run supplies it for each sample."""

    def ask(self, request: ModelRequest, part: str | None = None) -> Awaitable[ModelReply]:
        """The reply. `part` names one of several calls of a sample, such as `c001`; None: its only call."""
        ...

    def in_thread(self, function: Callable[..., Any], *arguments: Any) -> Awaitable[Any]:
        """The result of a function that may block, such as one that reads files."""
        ...

    def likelihood(self, reply: ModelReply, context: str, choice: str) -> tuple[float, bool] | ModelReply:
        """Log-probability of a candidate, and whether it is the greedy one; a failed reply if it has none."""
        ...


class Strategy(ABC):
    """One way from a row to an answer. Built once per run; a row passes through `answer` once per repeat."""

    name: ClassVar[str]
    """The strategy's name in `core.STRATEGIES`."""
    threads: ClassVar[int] = 2
    """How many threads `Asking.in_thread` may use."""

    def __init__(
        self,
        spec: BenchmarkSpec,
        prompts: PromptBuilder,
        generation: Generation,
        model_type: ModelType,
        *,
        echo_tokens: int = 0,
    ) -> None:
        """`echo_tokens` is how many tokens the server must be allowed to generate before it echoes a prompt."""
        self._spec = spec
        self._prompts = prompts
        self._build = prompts.build
        self._generation = generation
        self._model_type = model_type
        self._check_row = spec.check_row
        self._echo_tokens = echo_tokens

    @classmethod
    def check(cls, spec: BenchmarkSpec, model_type: ModelType | None) -> None:
        """Raise UsageError if a model of this type cannot answer the rows of a benchmark that this strategy claims."""
        return None

    @abstractmethod
    def plan(self, row: Row) -> RowPlan:
        """What the row will send. Raises MissingFieldError. The caller checks the row."""

    @abstractmethod
    def requests(self, row: Row, repeat: int = 0) -> Sequence[ModelRequest]:
        """The requests that the row sends before any reply is known; for a conversation, the first.

        Sends nothing. Raises MissingFieldError for a row that cannot be used.
        """

    @abstractmethod
    async def answer(self, row: Row, repeat: int, asking: Asking) -> Answer:
        """Ask the model and read the answer. A row that cannot be used is returned as skipped."""

    def gold(self, scanned: ScannedRow, target: Any) -> Iterator[Answer]:
        """Right answers to try on the scorer; one of them must score as right.

        A target is tried in the forms that a model would write: an index also as a letter, a list item by item.
        """
        for response in spellings(target):
            yield Answer(None, response, dict(scanned.row))

    def missing_fields(self, columns: Sequence[str], missing: Mapping[str, int]) -> Iterator[str]:
        """One message for each field that requests need and no row has; see `fields_without_column`."""
        yield from fields_without_column(self._spec, self._prompts, columns, missing)

    def doubts(self, scan: RowScan, source: str) -> Iterator[str]:
        """Warnings about rows that this strategy handles."""
        yield from ()

    def identity(self, row: Row, plan: RowPlan) -> Hashable:
        """Equal for rows with the same question."""
        return (plan.prompt.text, *plan.texts) if plan.texts else plan.prompt.text

    def _checked(self, row: Row) -> None:
        if self._check_row is not None:
            self._check_row(row)


def spellings(target: Any) -> Iterator[str]:
    """A target as models write it."""
    yield str(target)
    if isinstance(target, list | tuple):
        for item in target:
            yield str(item)
    if isinstance(target, list | tuple | dict):
        yield encode_json(target).decode()
    elif isinstance(target, int) or (isinstance(target, str) and target.strip().isdecimal()):
        index = int(target)
        if 0 <= index < 26:
            yield chr(ord("A") + index)


def tokens_of(replies: Sequence[ModelReply]) -> tuple[int, ...] | None:
    """Tokens of all calls together; None if the server did not count one of them, since a partial sum is not a sum."""
    prompt = completion = cached = 0
    for reply in replies:
        if reply.usage is None:
            return None
        prompt += reply.usage.prompt
        completion += reply.usage.completion
        cached += reply.usage.cached or 0
    if not replies:
        return None
    return (prompt, completion, cached) if cached else (prompt, completion)

"""Makes a benchmark of the evaluation: its rows, the task of each row, and its scorer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from benchwright.benchmarks import BenchmarkSpec, CallAdvice, ToolTask, ToolTurn
from benchwright.bfcl._categories import CATEGORIES, Category, categories_of
from benchwright.bfcl._definition import Definition
from benchwright.bfcl._executable import KEYS, check_executable, unexecutable
from benchwright.bfcl._multi_turn import doubtful_truths
from benchwright.bfcl._native import NativeFolder
from benchwright.bfcl._packages import DataProvider, find_provider
from benchwright.bfcl._result_files import write_result_files
from benchwright.bfcl._scores import Scoreboard
from benchwright.bfcl._simulations import Simulation
from benchwright.bfcl._verdicts import verdict_of
from benchwright.core import MissingFieldError, Row, UsageError
from benchwright.datasets import PlacedRow
from benchwright.toolcalls import READABLE, CallVerdict, is_calls

if TYPE_CHECKING:
    from benchwright.bfcl._custom import CustomRows
    from benchwright.scorers import ScorerInput

MINI_SET = Path(__file__).parent / "_mini_set"
"""Rows that ship with the package: a few for each category."""


_COLUMNS = (
    "question", "function", "category", "initial_config", "path", "involved_classes", "missed_function",
    "execution_result_type",
)  # fmt: skip


class EvaluationRows:
    """The rows of all categories; a limit applies to each category."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self._published_rows: list[Row] | None = None
        self._custom: CustomRows | None = None
        self._limit: int | None = None
        self.provider = find_provider(definition.data_version) if definition.path is None else None
        if definition.path is None and definition.data_version == "v4" and self.provider is None:
            raise UsageError(
                "data of version v4 is not installed; get it with: benchwright fetch bfcl --data-version v4"
            )
        self.folder = NativeFolder(
            Path(definition.path) if definition.path and definition.format == "native"
            else self.provider.data if self.provider is not None else MINI_SET,
            self.provider.version if self.provider is not None else "v3",
        )  # fmt: skip
        self.doubts: list[str] = []
        self.hopeless: set[str] = set()
        """Ids of rows that no call can pass; `doubts` lists them."""
        self.categories, skipped = _runnable(categories_of(definition.task), definition)
        self.doubts += skipped
        if not self.categories:
            raise UsageError(f"{definition.name}: nothing can be run. {' '.join(skipped)}")

    def load(self) -> int:
        """Read and check all rows, and return their number. Raises DatasetError if the dataset is broken."""
        if self._definition.path is None:
            return len(self._published())
        return self._checked().sizes.total()

    def rows(self) -> Iterator[Row]:
        """All rows, in the order of categories. Those of a custom dataset are read again in each pass, and none is kept."""
        if self._definition.path is None:
            rows: Iterable[Row] = self._published()
            sizes = Counter(row["category"] for row in rows)
        else:
            custom = self._checked()
            rows, sizes = map(_slim, custom.rows()), custom.sizes
        if self._definition.share is not None:
            rows = _first_share(rows, sizes, self._definition.share)
        return iter(rows) if self._limit is None else _first_rows(rows, self._limit)

    @property
    def name(self) -> str:
        """What the rows are, for people."""
        if self._definition.path is not None:
            return self._definition.path
        return self.provider.origin if self.provider is not None else "rows that ship with benchwright"

    def limited(self, limit: int | None) -> EvaluationRows:
        """The same rows, but only the first ones of each category."""
        limited = copy(self)
        limited._limit = limit
        return limited

    def functions(self, row: Row) -> list[dict[str, Any]]:
        """The functions of a row; simulated classes are described once for all rows."""
        found: list[dict[str, Any]] = row.get("function") or []
        return found if "involved_classes" not in row else self.folder.documents(row["involved_classes"])

    def simulation(self, row: Row) -> Simulation:
        """The simulated classes of a row in their initial state."""
        published = self.provider or find_provider(self._definition.data_version)
        return Simulation(
            row.get("initial_config") or {},
            row["involved_classes"],
            self.functions(row),
            source=published.classes if isinstance(published, DataProvider) else None,
            long_context="long_context" in row["category"],
        )

    def _published(self) -> list[Row]:
        if self._published_rows is None:
            self._published_rows = list(self._read_published())
        return self._published_rows

    def _read_published(self) -> Iterator[Row]:
        from benchwright.bfcl._row_rules import unreachable

        hopeless = []
        for category in self.categories:
            if not self.folder.has(category):
                continue
            for row in self.folder.rows(category):
                as_text = not self._definition.native_calling
                if category.check == "ast" and unreachable(row, category, as_text=as_text) is not None:
                    hopeless.append(row["id"])
                yield _slim(row)
        self.hopeless.update(hopeless)
        if hopeless:
            self.doubts.append(
                f"{len(hopeless)} rows have a ground truth that no call can match: {', '.join(hopeless)}"
            )

    def _checked(self) -> CustomRows:
        """The custom dataset, all of whose rows were checked."""
        if self._custom is not None:
            return self._custom
        from benchwright.bfcl._custom import read_custom

        definition = self._definition
        found = read_custom(
            Path(str(definition.path)),
            definition.format,  # type: ignore[arg-type]  # checked when it was defined
            self.categories,
            template=Path(definition.template) if definition.template else None,
            details=definition.details,
            skip_bad_rows=definition.skip_bad_rows,
            as_text=not definition.native_calling,
            opens=self.simulation,
        )
        self.doubts += found.doubts
        self.hopeless.update(found.hopeless)
        acting = sum(size for name, size in found.sizes.items() if CATEGORIES[name].check == "multi_turn")
        if acting:
            rows = (row for row in found.rows() if "involved_classes" in row)
            self.doubts += doubtful_truths(rows, acting, self.simulation)
        self._custom = found
        return found


def _first_rows(rows: Iterable[Row], limit: int) -> Iterator[Row]:
    """The first rows of each category, because a limit on all rows together would leave out categories."""
    seen: Counter[str] = Counter()
    for row in rows:
        seen[row["category"]] += 1
        if seen[row["category"]] <= limit:
            yield row


def _first_share(rows: Iterable[Row], sizes: Counter[str], share: float) -> Iterator[Row]:
    """The first rows of each category, up to a share of them, rounded up."""
    seen: Counter[str] = Counter()
    for row in rows:
        category = row["category"]
        if seen[category] < ceil(share * sizes[category] - 1e-9):
            seen[category] += 1
            yield row


def _slim(row: Row) -> Row:
    """Leave out the documents of simulated classes, which would be in every record of a sample."""
    if "involved_classes" not in row:
        return row
    rest = {key: value for key, value in row.items() if key != "function"}
    return PlacedRow(rest, row.line) if isinstance(row, PlacedRow) else rest


def _runnable(categories: list[Category], definition: Definition) -> tuple[list[Category], list[str]]:
    """Categories that can be run, and why others cannot."""
    if definition.executable_module is not None:
        live = [category.name for category in categories if category.check == "rest"]
        notes = [f"{', '.join(live)}: skipped, because they call services on the network"] if live else []
        return [category for category in categories if category.check != "rest"], notes
    skipped = [category.name for category in categories if category.check in ("executable", "rest")]
    if not skipped:
        return categories, []
    note = (
        f"{', '.join(skipped)}: skipped. Executable rows need a module with their functions (executable_module), the "
        f"published ones also keys of services: {', '.join(KEYS)}"
    )
    return [category for category in categories if category.name not in skipped], [note]


def load_evaluation(definition: Definition) -> BenchmarkSpec:
    """The evaluation as a benchmark."""
    rows = EvaluationRows(definition)
    count = rows.load()  # a broken dataset must stop the run here
    doubts = list(rows.doubts)
    if definition.path is None and rows.provider is None:
        doubts.insert(
            0,
            f"these rows ship with benchwright ({count} in all); the published ones come with: benchwright fetch bfcl",
        )
    module = Path(definition.executable_module) if definition.executable_module else None
    return BenchmarkSpec(
        name=definition.name,
        key=definition.name,
        dataset=rows,
        prompt="",
        scorer=_Scorer(rows, module),
        target_field="ground_truth",
        sources=_COLUMNS,
        native_calling=definition.native_calling,
        tool_tasks=partial(_task, rows, module),
        limited=rows.limited,
        gold=partial(_gold, rows),
        base_dir=Path(definition.folder),
        headline="correct",
        partial_metrics=tuple(CATEGORIES),
        derive=partial(_Scores, rows.folder.version),
        doubts=tuple(doubts),
        family="bfcl",
        write_files=partial(write_result_files, rows.folder.version),
        rules=json.dumps(
            [*replace(definition, folder="", name="", output=None).to_json().items()], default=str
        ),
    )


def _gold(rows: EvaluationRows, row: Row) -> Any:
    """The expected calls, which reports show and the check tries if they are in Python and in one turn; `""` if none are
    expected or no call can match them. If that holds for every row, the check tries them all the same, and fails."""
    category = CATEGORIES[row["category"]]
    if category.check == "multi_turn" or (category.check == "ast" and category.language != "python"):
        return row.get("ground_truth", "")
    if category.check != "ast":
        return ""
    if row["id"] in rows.hopeless and len(rows.hopeless) < rows.load():
        return ""
    truths = row.get("ground_truth", "")
    if not category.by_place or not truths:
        return truths
    return [{row["function"][0]["name"]: expected} for truth in truths for expected in truth.values()]


def _task(rows: EvaluationRows, module: Path | None, row: Row) -> ToolTask:
    turns = row.get("question")
    if not isinstance(turns, list) or not turns:
        raise MissingFieldError("question", row)
    functions = rows.functions(row)
    category = CATEGORIES[row["category"]]
    if category.check != "multi_turn":
        turn = ToolTurn(tuple(turns[0]), tuple(functions))
        obstacle = None
        if category.check == "executable" and module is not None:
            obstacle = partial(unexecutable, row["ground_truth"], module)
        return ToolTask(turns=(turn,), language=category.language, group=category.name, obstacle=obstacle)
    missed: Mapping[str, list[str]] = row.get("missed_function") or {}
    held = {name for names in missed.values() for name in names}
    found = []
    for number, messages in enumerate(turns):
        offered = [each for each in functions if each["name"] in missed.get(str(number), ())]
        if number == 0:
            offered += [each for each in functions if each["name"] not in held]
        found.append(ToolTurn(tuple(messages), tuple(offered)))
    return ToolTask(turns=tuple(found), open=partial(rows.simulation, row), group=category.name)


class _Scores(Scoreboard):
    """The scoreboard, the gain from the lenient reading, and advice about servers that do not pass on functions or calls."""

    def __init__(self, version: str) -> None:
        super().__init__(version)
        self._advice = CallAdvice()

    def add(self, scores: Mapping[str, Any]) -> None:
        """Take one sample's scores."""
        super().add(scores)
        self._advice.add(scores)

    def remarks(self) -> list[str]:
        """Notes of the scoreboard, and the advice."""
        return [*super().remarks(), *self._advice.remarks()]


class _Scorer:
    """Scores the calls of a sample."""

    __name__ = "bfcl"

    def __init__(self, rows: EvaluationRows, module: Path | None) -> None:
        self._rows = rows
        self._module = module

    def __call__(self, sample: ScorerInput) -> dict[str, Any]:
        row = sample.metadata
        verdict = self._verdict(row)
        category, error = CATEGORIES[row["category"]], row.get("_call_error")
        acts = category.check == "multi_turn"
        # Words instead of calls are an answer; a text that looks like calls but cannot be read is not.
        unread = category.check == "ast" and row.get("_calls") is None and error not in READABLE
        return {
            "correct": verdict.valid,
            category.name: verdict.valid,
            "parsed": not unread,
            "category": category.name,
            **verdict.fault,
            "call_error": None if acts and any(map(any, row.get("_turns") or ())) else error,
            **self._lenient(row, acts),
        }

    def _lenient(self, row: Row, acts: bool) -> dict[str, Any]:
        """The score of the same replies under the lenient rules; nothing if it is not requested."""
        if "_lenient_calls" not in row:
            return {}
        calls, turns = row["_lenient_calls"], row["_lenient_turns"]
        differs = turns != row["_turns"] if acts else calls != row["_calls"]
        again = {**row, "_calls": calls, "_turns": turns}
        return {
            "correct_lenient": self._verdict(again).valid,
            "reading": "lenient" if differs else None,
        }

    def _verdict(self, row: Row) -> CallVerdict:
        calls, category = row.get("_calls"), CATEGORIES[row["category"]]
        if category.check == "executable":
            if not is_calls(calls) or calls is None:
                return CallVerdict(False, "executable_decoder:decoder_failed", "the reply contains no calls")
            assert self._module is not None  # without a module such rows are left out
            return check_executable(
                calls,
                row["ground_truth"],
                row.get("execution_result_type") or (),
                self._module,
                offered=row["function"],
                simple=category.name == "exec_simple",
            )
        return verdict_of(
            row,
            calls,
            error=row.get("_call_error"),
            why=row.get("_call_problem"),
            native=bool(row.get("_native_calling")),
            turns=row.get("_turns"),
            stopped=bool(row.get("_stopped")),
            open_simulation=partial(self._rows.simulation, row) if "involved_classes" in row else None,
        )

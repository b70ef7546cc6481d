"""`run_suite` runs every pair of a model and a dataset, one or several at a time; `check_suite` only plans and
checks them, without sending anything."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from msgspec import Struct
from msgspec.structs import replace

from benchwright.benchmarks import AskableRows, CheckReport, SamplePrompt
from benchwright.config import (
    BODY_SETTINGS,
    ConfigFile,
    LoadOptions,
    RunOptions,
    SuiteOptions,
    find_config,
    keywords_in_errors,
)
from benchwright.core import ConfigError, NotFoundError, UsageError, canonical_json, refuse_while_loading
from benchwright.endpoints import OpenEndpoint
from benchwright.engine import Prepared, Watcher
from benchwright.reports import WorkFolder
from benchwright.results import Pair, WorkRun, WorkTask
from benchwright.runs._jobs import INTERRUPTED
from benchwright.runs._notebook import notebook_watcher
from benchwright.runs._result import recorded_result
from benchwright.runs._run import samples_as_sent, with_cost, with_problems, with_steps
from benchwright.runs._session import Session
from benchwright.runs._suites.names import chosen_models
from benchwright.runs._suites.pairs import Pairs, PairTask, plan_pairs
from benchwright.runs._suites.result import PairResult, SuiteResult, compared
from benchwright.runs._suites.suite import Suite, load_suite
from benchwright.runs._suites.tasks import (
    Finished,
    PairJob,
    perform_tasks,
    scored_later,
    scoring_tasks,
    sending_tasks,
    with_known,
    with_newest,
)
from benchwright.store import Store

if TYPE_CHECKING:
    from benchwright.config import RunKeywords
    from benchwright.runs._run import Plan

DEFAULT_WORK_DIR = Path("outputs/default")
"""Default folder for the work folders of commands."""


@keywords_in_errors
def run_suite(
    suite: Suite | str | os.PathLike[str],
    options: RunOptions | None = None,
    how: SuiteOptions | None = None,
    /,
    *,
    watcher: Watcher | None = None,
    planned: Callable[[Pairs], None] | None = None,
    finished: Finished | None = None,
    endpoint: OpenEndpoint | None = None,
    config: ConfigFile | None = None,
    **keywords: Unpack[RunKeywords],
) -> SuiteResult:
    """Run every pair of a suite and return all results.

    Args:
        suite: The file, or the result of `read_suite`.
        options: Options of every run; they override the suite's settings.
        how: Options of the suite as a whole; they override those in its file.
        watcher: Receives the progress of all runs.
        planned: Called with all pairs, before the first request.
        finished: Called after each pair.
        endpoint: Replaces every model's endpoint, for tests.
        config: The configuration to look names up in; None searches the current folder and its parents.
        keywords: Fields of `RunOptions` and `SuiteOptions`, instead of the two objects.

    All pairs are planned and checked before the first request; a pair that cannot run raises an error. Once they
    run, a pair that fails does not stop the others.
    """
    refuse_while_loading("run_suite")
    if options is None and how is None:
        options, how = SuiteOptions.split(keywords, "run_suite")
    elif keywords:
        raise UsageError("run_suite() takes options as objects or as keywords, not both")
    options, how = options or RunOptions(), how or SuiteOptions()
    watcher = watcher or notebook_watcher()
    with Session(options.workspace, options.store, config=config) as session:
        suite = opened_suite(suite, cwd=session.cwd)
        how = how.over(suite.settings)
        asks = how.mode not in ("eval", "viz")  # these modes need no server, not even for the model's name
        all_pairs = planned_suite(
            suite, options, how, cwd=session.cwd, config=session.config, ask_server=asks, endpoint=endpoint
        )
        pairs = None if all_pairs is None else all_pairs.pairs
        if planned is not None and all_pairs is not None:
            planned(all_pairs)
        newest = _newest(suite, pairs, options, how, session)
        folder = None if newest is not None else _reused(how, suite, pairs)
        root, known = (None, ()) if folder is None else folder.recorded()
        with nullcontext(session) if root is None else Session(root, options.store) as place:
            store = place.store
            work = _Work(store, options, how, folder, known, watcher, finished, endpoint)
            if folder is not None:
                results = work.do(with_known(pairs, known, how.models or ()))
            else:
                results = work.do(pairs or () if newest is None else newest)
            return SuiteResult(
                name=(None if all_pairs is None else all_pairs.suite) or suite.name,
                pairs=results,
                comparison=compared(store, results, how.summarizer),
                notes=() if all_pairs is None else all_pairs.notes,
                work_folder=None if work.folder is None else work.folder.path,
            )


def opened_suite(suite: Suite | str | os.PathLike[str], *, cwd: Path) -> Suite:
    """Return the suite, reading it from its file if needed."""
    if isinstance(suite, Suite):
        return suite
    if not isinstance(suite, str | os.PathLike):
        raise UsageError(
            f"a suite is a file, and this is a {type(suite).__name__}. Write it to one and give its path: "
            'Path("suite.json").write_text(json.dumps({"models": ["demo"], "datasets": ["questions.csv"]})), then '
            'run_suite("suite.json")'
        )
    found = load_suite(os.fspath(suite), cwd=cwd)
    if found is None:
        raise ConfigError(
            f"{os.fspath(suite)} is not a suite: it has no list of datasets. For a single target: benchwright run"
        )
    return found


def planned_suite(
    suite: Suite,
    options: RunOptions,
    how: SuiteOptions,
    *,
    cwd: Path,
    config: ConfigFile | None = None,
    ask_server: bool = True,
    endpoint: OpenEndpoint | None = None,
) -> Pairs | None:
    """Plan the pairs of a suite; None if only a work folder defines them."""
    if how.mode in ("eval", "viz") and how.reuse is None:
        raise UsageError(
            f"--mode {how.mode} works on what an earlier command recorded: add --reuse for the newest run or work folder, or "
            "--reuse 20260131_120000 for the one of that time"
        )
    if how.reuse is not None and not suite.datasets:
        return None
    if how.models and not suite.chosen:  # the command line has chosen them, in the folder that it names
        suite = chosen_models(suite, how.models, cwd=cwd)
    if how.mode == "infer":
        options = replace(options, infer_only=True)
    return plan_pairs(
        suite, options, config or find_config(cwd),
        cwd=cwd, ask_server=ask_server, endpoint=endpoint,
    )  # fmt: skip


def _is_bare(suite: Suite, how: SuiteOptions) -> bool:
    """Whether a target alone is to be reused: such a command makes no work folder."""
    return how.reuse == "" and how.work_dir is None and not suite.path.is_file()


def _newest(
    suite: Suite, pairs: Sequence[PairTask] | None, options: RunOptions, how: SuiteOptions, session: Session
) -> list[PairTask] | None:
    """A target alone with its newest run in the workspace; None if there is none, or if a work folder is meant."""
    if not pairs or not _is_bare(suite, how):
        return None
    given = any((options.model, options.model_url, options.model_id))
    return with_newest(session.store, pairs, any_model=not given)


def _reused(how: SuiteOptions, suite: Suite, pairs: Sequence[PairTask] | None) -> WorkFolder | None:
    if how.reuse is None:
        return None
    try:
        return WorkFolder.find(how.work_dir or DEFAULT_WORK_DIR, how.reuse or None)
    except NotFoundError:
        if not pairs or not _is_bare(suite, how):
            raise
        names = " ".join(dict.fromkeys(pair.planned.settings.asked for pair in pairs))
        raise NotFoundError(
            f"--reuse: there is no run of {names} here. Request the replies first: benchwright run {names} --mode infer"
        ) from None


class _Work:
    """One call of `run_suite` on an open store."""

    def __init__(
        self,
        store: Store,
        options: RunOptions,
        how: SuiteOptions,
        folder: WorkFolder | None,
        known: Sequence[WorkTask],
        watcher: Watcher | None,
        finished: Finished | None,
        endpoint: OpenEndpoint | None,
    ) -> None:
        self._store = store
        self._options = options
        self._how = how
        self._tasks = {(task.model, task.dataset): task for task in known}
        self._watcher = watcher
        self._finished = finished
        self._endpoint = endpoint
        self.folder = folder

    def do(self, pairs: Sequence[PairTask]) -> tuple[PairResult, ...]:
        """Do what the mode asks for."""
        if self._how.mode == "viz":
            results = [self._recorded(each) for each in pairs]
        elif self._how.mode == "eval":
            results = self._perform(scoring_tasks(self._store, pairs, self._options))
        else:
            results = self._send(pairs)
        self._write()
        return tuple(results)

    def _send(self, pairs: Sequence[PairTask]) -> list[PairResult]:
        """Send requests, then score the replies of runs that only collect replies."""
        later = [each for each in pairs if self._how.mode != "infer" and scored_later(self._store, each)]
        results = self._perform(sending_tasks(self._store, pairs, self._options), not_yet=later)
        if not later or any(result.exit_code == INTERRUPTED for result in results):
            return results
        scored = self._perform(scoring_tasks(self._store, later, self._options))
        done = {(result.model, result.dataset): result for result in scored}
        return [done.get((result.model, result.dataset), result) for result in results]

    def _perform(self, jobs: Sequence[PairJob], not_yet: Sequence[PairTask] = ()) -> list[PairResult]:
        waiting = {each.label for each in not_yet}

        def finished(pair: PairResult) -> None:
            if self._finished is not None and pair.label not in waiting:
                self._finished(pair)

        self._remember(jobs)
        return perform_tasks(
            self._store, jobs, self._how,
            watcher=self._watcher, finished=finished, endpoint=self._endpoint,
        )  # fmt: skip

    def _recorded(self, each: PairTask) -> PairResult:
        if each.run_id is None:
            raise UsageError(
                f"the work folder has no run of {each.label}; leave it out, or run it: --mode all --reuse"
            )
        result = recorded_result(self._store.run(each.run_id))
        if result is None:
            error = self._store.run(each.run_id).error or "it has no result yet"
            return PairResult(each.model, each.dataset, each.run_id, error=error, exit_code=1)
        return PairResult(each.model, each.dataset, each.run_id, result, exit_code=result.exit_code)

    def _remember(self, jobs: Sequence[PairJob]) -> None:
        """Write the folder's list of runs before the first request, so that a killed suite can resume."""
        for pair, job in jobs:
            self._tasks[pair.model, pair.dataset] = WorkTask(pair.model, pair.dataset, job.run.id)
        if self._how.work_dir is not None and self.folder is None:
            self.folder = WorkFolder.make(self._how.work_dir)
        if self.folder is not None:
            self.folder.record(self._store.workspace.root, list(self._tasks.values()))

    def _write(self) -> None:
        if self.folder is not None:
            self.folder.write(
                self._store.workspace.root,
                [WorkRun.of(self._store, task) for task in self._tasks.values()],
                details=bool(self._how.dump_eval_details),
                extract_rate=bool(self._how.dump_extract_rate),
            )


class PairCheck(Pair, frozen=True):
    """The findings about one pair."""

    report: CheckReport
    """Findings about the dataset, and reasons why this model cannot be called. Pairs with equal findings share one
    object."""
    ready: bool
    """Whether a run could start: there are no errors, or only in rows that it may skip."""
    samples: tuple[SamplePrompt, ...] = ()
    """The first rows, as this model would get them."""


class SuiteCheck(Struct, frozen=True):
    """The findings about a suite."""

    pairs: tuple[PairCheck, ...]
    """In the order of the models, then of the datasets."""
    notes: tuple[str, ...]
    """Notes for the user before it runs."""


def check_suite(suite: Suite, options: RunOptions, how: SuiteOptions) -> SuiteCheck:
    """Check every pair without sending anything. Raises if the pairs cannot be planned."""
    planned = planned_suite(suite, options, how, cwd=Path.cwd(), ask_server=False)
    reports: dict[bytes, tuple[CheckReport, AskableRows | None]] = {}
    with_reasons: dict[tuple[bytes, tuple[str, ...], tuple[str, ...]], CheckReport] = {}
    checks = []
    for pair in planned.pairs if planned is not None else ():
        settings, spec = pair.planned.settings, pair.planned.spec
        of_rows = Prepared.row_settings(spec, settings)
        # All models share one loaded benchmark, so its identity is part of the key, as for shared rows.
        key = canonical_json([id(spec), of_rows.model_type, settings.rows_and_prompts()])
        if key not in reports:
            reports[key] = CheckReport.with_rows(spec, of_rows)
        found, rows = reports[key]
        shown = () if rows is None else SamplePrompt.first_of(rows.but(generation=of_rows.generation))
        samples, unsendable = samples_as_sent(shown, settings)
        problems = (*Prepared.problems(spec, settings), *unsendable)
        report = with_steps(found, settings)
        report = with_reasons.setdefault((key, problems, report.warnings), with_problems(report, problems))
        ready = report.ok or (settings.skip_bad_rows and report.rows > 0 and not report.errors)
        checks.append(PairCheck(pair.model, pair.dataset, with_cost(report, spec, settings), ready, samples))
    return SuiteCheck(tuple(checks), () if planned is None else planned.notes)


def plan_pair_loads(
    suite: Suite,
    options: RunOptions,
    load: LoadOptions,
    config: ConfigFile | None,
    *,
    ask_server: bool = True,
) -> list[Plan]:
    """The load tests of every model with every dataset. `ask_server` as for `ChosenModel.of`."""
    from benchwright.runs._origins import with_load  # neither is for suites that only evaluate
    from benchwright.runs._perf import load_run_options

    pairs = planned_suite(
        suite,
        load_run_options(options, load),
        SuiteOptions(),
        cwd=Path.cwd(),
        config=config,
        ask_server=ask_server,
    )
    if pairs is None or not pairs.pairs:
        raise UsageError(f"{suite.path} has no datasets to send")
    how = load.over({} if config is None else config.perf)
    usual = next(setting.default for setting in BODY_SETTINGS if setting.name == "max_tokens")
    return [
        replace(
            pair.planned,
            settings=with_load(pair.planned.settings, load, config),
            load=how,
            route_given=options.model_type is not None,
            length_given=pair.planned.settings.generation.settings.get("max_tokens") != usual,
        )
        for pair in pairs.pairs
    ]

"""What can be said about a suite as a whole: the `run` table of its file, and flags of the same names."""

from __future__ import annotations

from benchwright.config._setting import Setting
from benchwright.core import UsageError, suggest

MODES = ("all", "infer", "eval", "viz")
"""What is done: ask and score, only ask, only score what was asked, only show."""

SUMMARIZERS = ("example", "headline")
"""What the comparison shows of each dataset: all metrics, or the one that stands for it."""

SUITE_SETTINGS: tuple[Setting, ...] = (
    Setting("mode", "text", "all, infer (ask, score later), eval (score what was asked) or viz (show)"),
    Setting("work_dir", "text", "write <DIR>/<time>/ with predictions, results and a summary (default: outputs/default)"),
    Setting("max_num_workers", "int", "runs under way at once (default: 1)", least=1),
    Setting("merge_ds", "bool", "all datasets of a model at once, within its limit of requests"),
    Setting("summarizer", "text", "example (all metrics) or headline (one per dataset) in the comparison"),
    Setting("dump_eval_details", "bool", "add every sample to the results of the work folder"),
    Setting("dump_extract_rate", "bool", "add the share of readable answers to the results of the work folder"),
)  # fmt: skip
"""Every setting of a suite, in the order of the help text."""

_LOAD_MODES = ("perf", "perf_viz")
_JUDGE_MODES = ("judge", "infer_judge")
_LOAD_SUMMARIZERS = ("default_perf", "stable_stage")


def checked_mode(mode: str) -> str:
    """The mode, or UsageError that says what to do instead."""
    if mode in MODES:
        return mode
    if mode in _LOAD_MODES:
        raise UsageError(f"--mode {mode} is a load test: benchwright perf, which is not built yet")
    if mode in _JUDGE_MODES:
        raise UsageError(
            f"--mode {mode}: a judge is asked while scoring, so it needs no mode of its own. Choose it with "
            "--qa-metric judge, and --mode all, or infer and later eval"
        )
    raise UsageError(f"--mode {mode} is not known.{suggest(mode, MODES)} Expected one of {', '.join(MODES)}")


def checked_summarizer(name: str) -> str:
    """The summarizer, or UsageError that lists what there is."""
    if name in SUMMARIZERS:
        return name
    if name.partition("/")[0] in _LOAD_SUMMARIZERS:
        raise UsageError(
            f"--summarizer {name} belongs to load tests (benchwright perf, not built yet); "
            f"here: {', '.join(SUMMARIZERS)}"
        )
    near = suggest(name, SUMMARIZERS)
    raise UsageError(f"--summarizer {name} is not known.{near} Expected one of {', '.join(SUMMARIZERS)}")

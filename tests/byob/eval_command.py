"""The command of bring-your-own-benchmark runs."""

from __future__ import annotations

from benchwright.cli import main


def run_eval(url: str, *more: str) -> int:
    """Evaluate the sums of `byob_sums.py` with the model at `url`."""
    words = [
        "--eval_type",
        "byob_sums.sums",
        "--model_id",
        "m",
        "--model_type",
        "chat",
        "--output_dir",
        "out",
    ]
    return main(["run_eval", *words, "--model_url", url, *more])

"""The process that tries a wheel: it loads the package, and reads a row of each local dataset."""

from __future__ import annotations

import sys
from importlib import import_module

from benchwright.benchmarks import BenchmarkSpec
from benchwright.core import BenchwrightError, is_hub_uri
from benchwright.datasets import open_dataset


def main(package: str, folder: str, data: bool) -> None:
    """Exit with 1 and one line on standard error if a benchmark of the package cannot be used."""
    sys.path.insert(0, folder)
    try:
        module = import_module(package)
        for spec in [value for value in vars(module).values() if isinstance(value, BenchmarkSpec)]:
            for ref in (spec.dataset, spec.fewshot_dataset):
                if (
                    data
                    and ref is not None
                    and not (isinstance(ref, str) and "://" in ref)
                    and not is_hub_uri(ref)
                ):
                    open_dataset(ref, base_dir=spec.base_dir).head(1, on_bad=lambda bad: None)
    except (BenchwrightError, OSError, ImportError, ValueError) as error:
        print(f"{type(error).__name__}: {error}".replace("\n", " "), file=sys.stderr)
        raise SystemExit(1) from None

"""Runs the `datasets` library in a separate process: an order on standard input, the answer in a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Carry out one order."""
    order = json.load(sys.stdin)
    try:
        answer = _list(order) if order["do"] == "list" else _load(order)
    except Exception as exc:
        reason: BaseException = exc
        while reason.__cause__ is not None:  # the library wraps the actual error in others
            reason = reason.__cause__
        answer = {"error": f"{type(reason).__name__}: {' '.join(str(reason).split())[:1000]}"}
    place = Path(order["answer"])
    aside = place.with_suffix(".part")
    aside.write_text(json.dumps(answer), encoding="utf-8")
    aside.replace(place)


def _list(order: dict[str, Any]) -> dict[str, Any]:
    import datasets

    config = order["config"]
    if config is None:
        config = datasets.get_dataset_default_config_name(order["repo"], revision=order["commit"])
        if config is None:
            names = datasets.get_dataset_config_names(order["repo"], revision=order["commit"])
            raise ValueError(f"no default configuration; choose one of {', '.join(names)}")
    splits = datasets.get_dataset_split_names(order["repo"], config, revision=order["commit"])
    return {"config": config, "splits": list(splits)}


def _load(order: dict[str, Any]) -> dict[str, Any]:
    import datasets

    options: dict[str, Any] = {}
    if order["data_files"] is not None:
        options["data_files"] = {order["split"]: order["data_files"]}
    else:
        options["name"] = order["config"]
    if order["field"] is not None:
        options["field"] = order["field"]
    if order["trust_remote_code"] and int(datasets.__version__.partition(".")[0]) < 4:
        options["trust_remote_code"] = True
    found = datasets.load_dataset(
        order["repo"], revision=order["commit"], split=order["split"], cache_dir=order["cache"], **options
    )
    found.to_parquet(order["target"])
    return {"rows": found.num_rows}


if __name__ == "__main__":
    main()

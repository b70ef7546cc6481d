"""Grading replies blindly: samples without the judge's verdict, and how far people and the judge agree so far."""

from __future__ import annotations

import random
from collections.abc import Sequence

from benchwright.core import JsonObject, JsonValue, NotFoundError, UsageError
from benchwright.results import StoreSamples
from benchwright.runs._calibrate import calibrate_judge
from benchwright.runs._run_grades import graded_samples, run_grades
from benchwright.store import Label, Store

_MOST_RUNS = 8


def blind_samples(store: Store, runs: Sequence[int], seed: int, limit: int) -> JsonObject:
    """Samples with a judge's grade in an order that the seed decides, with the grades to choose from; with a limit of 0, the grades alone.
    Nothing tells which model replied, or what the judge says."""
    if len(runs) > _MOST_RUNS:
        raise UsageError(f"at most {_MOST_RUNS} runs can be mixed; there are {len(runs)}")
    for run_id in dict.fromkeys(runs):
        store.run(run_id)
    scale = list(
        dict.fromkeys(grade for run_id in dict.fromkeys(runs) for grade in run_grades(store, run_id))
    )
    if not scale:
        listed = " and ".join(map(str, runs))
        raise NotFoundError(
            f"run {listed} has no grades of a judge. Runs with a scorer that asks a judge have them, and workflows that give their rows a "
            "judge_grade: sample.score(judge_grade=4)"
        )
    if not limit:
        return {"grades": list[JsonValue](scale), "graded": None, "samples": []}
    places = [
        (run_id, index, repeat)
        for run_id in dict.fromkeys(runs)
        for index, repeat, _, _ in graded_samples(store, run_id)
    ]
    random.Random(seed).shuffle(places)  # an order, not a secret
    return {
        "grades": list[JsonValue](scale),
        "graded": len(places),
        "samples": [_shown(store, place) for place in places[:limit]],
    }


def _shown(store: Store, place: tuple[int, int, int]) -> JsonObject:
    run_id, index, repeat = place
    view = next(each for each in StoreSamples.views(store, run_id, index) if each.repeat == repeat)
    row = next(
        step.input_hash.hex()
        for key, step in store.recorded(run_id, "score", index, index).items()
        if int(key[16:20]) == repeat
    )
    reply = Label.reply_id(view.response)
    given = [label for label in store.labels([row], kind="judge") if label.reply == reply]
    return {
        "run_id": run_id,
        "sample_id": index,
        "repeat": repeat,
        "prompt": view.prompt,
        "response": view.response,
        "target": view.target,
        "label": given[0].value if given else None,
    }


def judge_agreement(store: Store, runs: Sequence[int]) -> JsonObject:
    """How far judges agree with the labels of people, by run; null for a run without such labels."""
    found: JsonObject = {}
    for run_id in runs:
        store.run(run_id)
        try:
            found[str(run_id)] = calibrate_judge(run=run_id, workspace=store.workspace).to_json()
        except NotFoundError:
            found[str(run_id)] = None
    return {"runs": found}

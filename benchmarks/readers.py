"""CPU time of the readers of answers per reply, and of an earlier version's beside it.

`python -m benchmarks.readers --before FOLDER`, where `FOLDER` is the `src` folder of the earlier version. Both sides are measured in
turn, each in a process of its own, and the quickest round counts: other programs can only make a round slower.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchwright.scorers import (
    ScorerInput,
    boolean_yesno_strict,
    gsm8k_answer_strict,
    mcq_letter_strict,
    qa_answers,
)

_REASONING = (
    "Natalia sold 48 clips in April. In May she sold half as many, which is 48 / 2 = 24 clips. We add both months to get the "
    "number of clips. That gives 48 + 24 = 72. So she sold 72 clips altogether."
)
_NUMBERS = {
    "one number": ("There are 42 apples in the basket.", "42"),
    "answer is": ("The answer is 42.", "42"),
    "bare": ("42", "42"),
    "marked": (f"{_REASONING}\n#### 72", "72"),
    "marked alone": ("#### 42", "42"),
    "boxed": (r"Adding both gives $\boxed{72}$.", "72"),
    "five sentences": (_REASONING, "72"),
    "money": ("She pays $18.50 in total.", "18.5"),
    "two numbers": ("There are 12 boxes with 3 pens each, so 36 pens.", "36"),
    "equation last": ("Natalia sold 24 clips in May. Altogether she sold 48 + 24 = 72 clips.", "72"),
    "list": ("1. April: 48 clips\n2. May: 48 / 2 = 24 clips\n\nTherefore, the total is **72 clips**.", "72"),
    "thousands": ("Each of the 3 machines costs $400. So the company pays 3 x $400 = $1,200.", "1200"),
    "three sentences": ("He buys 3 pens. Each costs 2 dollars. The total cost is 6 dollars.", "6"),
}
_DISCUSSION = (
    "Let us look at each option. Option A is the capital of France, which is in the west of the continent. Option B is the capital "
    "of the United Kingdom. Option D is known for its museums but lies too far in the north. The question asks for the city with the "
    "Colosseum, which was built in the first century. The only city that fits is Rome. Therefore, the correct answer is C."
)
_LETTERS = {
    "letter": ("B", "B"),
    "letter and text": ("B. London", "B"),
    "answer is B": ("The answer is B.", "B"),
    "bold": ("The correct answer is **B) London**.", "B"),
    "letter and reason": ("B) London, because it lies on the Thames and is the seat of the government.", "B"),
    "discussion": (_DISCUSSION, "C"),
    "option is correct": (
        "The Colosseum is an amphitheatre. It was built in Italy, so option C is correct.",
        "C",
    ),
    "text in a sentence": ("The Colosseum is famous. Gladiators fought there. It stands in Rome.", "C"),
    "text": ("It must be London.", "B"),
}
_VERDICTS = {
    "yes": ("Yes.", "yes"),
    "yes, sentence": ("Yes, Canberra is the capital of Australia.", "yes"),
    "no, because": ("No, because Sydney is only the largest city of the country.", "no"),
    "four sentences": (
        "Sydney is the largest city of the country and often taken for its capital. But the government has its seat in another city. It was "
        "founded in 1913 as a compromise between Sydney and Melbourne. So the answer is no.",
        "no",
    ),
    "bold yes": ("**Yes.** Canberra is the capital of Australia. It was founded in 1913.", "yes"),
    "so yes": (
        "Sydney is the largest city. The parliament sits elsewhere. So yes, Canberra is the capital.",
        "yes",
    ),
    "statement last": (
        "It was founded in 1913 as a compromise. Canberra is the capital of Australia.",
        "yes",
    ),
    "statement": ("Canberra is the capital of Australia.", "yes"),
    "the answer is": ("The answer is yes.", "yes"),
    "not correct": ("That is not correct.", "no"),
}
_CHOICES = ["Paris", "London", "Rome", "Berlin"]
_QUESTION = "Is Canberra the capital of Australia?"


def _samples() -> dict[str, tuple[Callable[[ScorerInput], object], ScorerInput]]:
    numeric = qa_answers(["numeric"])
    found: dict[str, tuple[Callable[[ScorerInput], object], ScorerInput]] = {}
    for shape, (reply, target) in _NUMBERS.items():
        found[f"numeric · {shape}"] = numeric, ScorerInput(reply, target, {})
        found[f"gsm8k_answer_strict · {shape}"] = gsm8k_answer_strict, ScorerInput(reply, target, {})
    for shape, (reply, target) in _LETTERS.items():
        found[f"mcq_letter_strict · {shape}"] = (
            mcq_letter_strict,
            ScorerInput(reply, target, {"choices": _CHOICES}),
        )
    for shape, (reply, target) in _VERDICTS.items():
        found[f"boolean_yesno_strict · {shape}"] = boolean_yesno_strict, ScorerInput(reply, target, {})
        asked = ScorerInput(reply, target, {"question": _QUESTION})
        found[f"boolean_yesno_strict, asked · {shape}"] = boolean_yesno_strict, asked
    return found


def _measure(seconds: float) -> dict[str, tuple[float, bool]]:
    """Microseconds per reply, and whether it is read right."""
    figures = {}
    for name, (score, sample) in _samples().items():
        scores = score(sample)
        assert isinstance(scores, dict)
        right = bool(scores.get("correct", scores.get("numeric")))
        begun, count = time.process_time(), 0
        while time.process_time() - begun < seconds or count < 20:
            for _ in range(20):
                score(sample)
            count += 20
        figures[name] = (time.process_time() - begun) / count * 1e6, right
    return figures


def _side(source: Path, seconds: float) -> dict[str, tuple[float, bool]]:
    command = [sys.executable, __file__, "--measure", str(seconds)]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(command, env=environment, check=True, capture_output=True)
    figures: dict[str, tuple[float, bool]] = json.loads(done.stdout)
    return figures


def main() -> None:
    """Measure, and print one line for each shape of reply."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.readers", description=__doc__)
    parser.add_argument(
        "--before", type=Path, metavar="FOLDER", help="the `src` folder of an earlier version"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", type=float, metavar="SECONDS", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(_measure(given.measure)))
        return
    now = Path(__file__).resolve().parents[1] / "src"
    sides = {"now": now, "before": given.before} if given.before else {"now": now}
    best: dict[str, dict[str, tuple[float, bool]]] = {side: {} for side in sides}
    for _ in range(given.rounds):
        for side, source in sides.items():
            for name, figure in _side(source, 0.02).items():
                best[side][name] = min(tuple(figure), best[side].get(name, tuple(figure)))
    print(
        f"{'µs per reply':44}"
        + "".join(f"{side:>10}" for side in sides)
        + ("     ratio" if given.before else "")
    )
    for name, (took, right) in best["now"].items():
        line = f"{name:44}{took:9.1f}{' ' if right else '✗'}"
        if given.before:
            earlier, was_right = best["before"][name]
            line += f"{earlier:9.1f}{' ' if was_right else '✗'}{took / earlier:10.2f}"
        print(line)
    print("✗: read otherwise than expected")


if __name__ == "__main__":
    main()

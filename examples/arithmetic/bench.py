"""Sixty sums and word problems. Run it with: benchwright run examples/arithmetic/bench.py"""

from benchwright import ScorerInput, benchmark, scorer
from benchwright.scorers import gsm8k_answer


@benchmark(
    name="arithmetic",
    dataset="questions.jsonl",
    prompt="{question}\nReply with the number only.",
    target_field="answer",
)
@scorer
def check(sample: ScorerInput) -> dict:
    result = gsm8k_answer(sample)
    # One key for each kind of question, so that each has its own mean in the table.
    return {**result, f"correct_{sample.metadata['kind']}": result["correct"]}

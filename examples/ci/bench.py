"""Sixty sums and word problems, judged by a gate. Run it with: benchwright run bench.py"""

from benchwright import ScorerInput, benchmark, scorer
from benchwright.scorers import gsm8k_answer


@benchmark(
    name="sums",
    dataset="questions.jsonl",
    prompt="{question}\nReply with the number only.",
    target_field="answer",
)
@scorer
def check(sample: ScorerInput) -> dict:
    return gsm8k_answer(sample)

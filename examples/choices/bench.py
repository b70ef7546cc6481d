"""Rank choices by log-likelihood: the model writes nothing, and the likeliest choice is its answer."""

from benchwright import ScorerInput, benchmark, multiple_choice_acc, scorer


@benchmark(
    name="sums",
    dataset="sums.jsonl",
    prompt="{question}",
    target_field="answer",
    endpoint_type="completions_logprob",
    choices_field="choices",
)
@scorer
def rank(sample: ScorerInput) -> dict:
    return multiple_choice_acc(sample)

"""A judge grades open answers. Start one first: benchwright simulate --port 8077"""

from benchwright import ScorerInput, benchmark, judge_score, scorer


@benchmark(
    name="open-questions",
    dataset="open_questions.jsonl",
    prompt="{question}",
    target_field="answer",
    judge={"url": "http://127.0.0.1:8077/v1", "model_id": "demo"},
)
@scorer
def graded(sample: ScorerInput) -> dict:
    return judge_score(sample, template="binary_qa", criteria="The same fact as the reference.")

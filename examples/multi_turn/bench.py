"""Conversations: the `turns` of a row are sent one after the other, and the last reply is scored."""

from benchwright import ScorerInput, benchmark, scorer


@benchmark(
    name="follow-ups",
    dataset="chats.jsonl",
    prompt="",
    turns_field="turns",
    target_field="answer",
    system_prompt="You are a calculator. Answer with the number only.",
)
@scorer
def last_answer(sample: ScorerInput) -> dict:
    assert sample.conversation is not None
    replies = [m["content"] for m in sample.conversation if m["role"] == "assistant"]
    return {"correct": str(sample.target) in sample.response, "turns": len(replies)}

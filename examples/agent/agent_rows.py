"""An agent that is evaluated row by row: each row is a sample with scores, and its page shows the conversation.

Every model call and every tool call is a step. Stop the run and start it again with --resume: it continues where it stopped.
"""

from benchwright import WorkflowContext, entrypoint, run_agent, workflow

STOCK = {"desk": 4, "lamp": 0, "chair": 12}
ROWS = [{"item": item, "pieces": pieces} for item, pieces in STOCK.items()]


def stock_of_item(item: str) -> dict:
    """Return how many pieces of an item are in stock."""
    return {"item": item, "pieces": STOCK[item.lower()]}


async def handler(input_value, ctx: WorkflowContext):
    given = input_value or {}
    right = 0
    for row in given.get("rows", ROWS):
        async with ctx.sample(row["item"], row) as sample:
            found = await run_agent(
                ctx,
                given.get("model", "demo"),
                messages=[
                    {"role": "user", "content": f'How many pieces of the item "{row["item"]}" are in stock?'}
                ],
                tools=[stock_of_item],
                step_key=f"agent/{row['item']}",
                temperature=0,
            )
            correct = str(row["pieces"]) in found["content"]
            sample.score(
                correct=correct,
                tool_calls=found["tool_calls"],
                response=found["content"],
                target=row["pieces"],
            )
            right += correct
    return {"right": right}


if __name__ == "__main__":
    entrypoint(workflow("agent_rows", handler))

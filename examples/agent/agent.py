"""An agent as a durable workflow: the model calls Python functions until it can answer.

Every model call and every tool call is a step. Stop the run and start it again with --resume: it continues where it stopped.
"""

from benchwright import WorkflowContext, entrypoint, run_agent, workflow

STOCK = {"desk": 4, "lamp": 0, "chair": 12}


def stock_of_item(item: str) -> dict:
    """Return how many pieces of an item are in stock."""
    return {"item": item, "pieces": STOCK.get(item.lower(), 0)}


def order_item(item: str, pieces: int) -> dict:
    """Order pieces of an item from the supplier."""
    return {"item": item, "ordered": pieces}


QUESTION = 'How many pieces of the item "desk" are in stock?'


async def handler(input_value, ctx: WorkflowContext):
    given = input_value or {}
    return await run_agent(
        ctx,
        given.get("model", "demo"),
        messages=[{"role": "user", "content": given.get("question", QUESTION)}],
        tools=[stock_of_item, order_item],
        temperature=0,
    )


if __name__ == "__main__":
    entrypoint(workflow("agent", handler))

"""Log-likelihoods straight from the model, without any server: run by the Python that has llama-cpp-python.

python oracle.py MODEL.gguf ROWS.jsonl  →  JSON: per row, per choice, [log-likelihood, greedy]
"""

import json
import math
import sys

from llama_cpp import Llama

model = Llama(
    sys.argv[1],
    logits_all=True,
    n_ctx=1024,
    n_threads=1,
    verbose=False,
    kv_overrides={"tokenizer.ggml.add_bos_token": True},
)


def likelihood(context: str, choice: str) -> tuple[float, bool]:
    tokens = model.tokenize((context + choice).encode(), add_bos=True, special=False)
    model.reset()
    model.eval(tokens)
    boundary, at, total, greedy = len(context.encode()), 0, 0.0, True
    for position, token in enumerate(tokens[1:], 1):  # the first is the model's own beginning-of-text
        if at >= boundary:
            logits = [float(value) for value in model.scores[position - 1]]
            top = max(logits)
            total += logits[token] - top - math.log(sum(math.exp(value - top) for value in logits))
            greedy = greedy and logits.index(top) == token
        at += len(model.detokenize([token]))
    return total, greedy


with open(sys.argv[2], encoding="utf-8") as rows:
    found = [
        [likelihood(row["question"], choice) for choice in row["choices"]] for row in map(json.loads, rows)
    ]
json.dump(found, sys.stdout)

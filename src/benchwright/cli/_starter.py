"""The files that `init` writes: a benchmark that runs at once, to be changed line by line."""

from __future__ import annotations

_CONFIG = """\
# What is written here is the default of every run from this folder; flags on the command line win.

[run]
parallelism = 16

# A model under a short name: benchwright run my_bench --model local
# [models.local]
# base_url = "http://localhost:8000/v1"
# model = "my-model"
# api_key_name = "MY_KEY"        # the variable that holds the key, never the key itself

# A benchmark under a short name: benchwright run my_bench
[benchmarks.my_bench]
file = "my_bench.py"
"""

_BENCHMARK = '''\
"""A first benchmark. Run it with: benchwright run my_bench.py"""

from benchwright import ScorerInput, benchmark, scorer


@benchmark(
    name="my_bench",
    dataset="qa.jsonl",  # beside this file; one JSON object per line
    prompt="{question}\\nReply with the number only.",  # {names} are fields of the rows
    target_field="answer",
)
@scorer
def check(sample: ScorerInput) -> dict:
    reply = sample.response.strip().rstrip(".")
    return {"correct": reply == sample.target}
'''

_QUESTIONS = (
    ("What is 43 + 11?", "54"),
    ("What is 8 - 6?", "2"),
    ("What is 3 times 8?", "24"),
    ("What is 120 + 75?", "195"),
    ("What is 17 - 9?", "8"),
    ("What is 12 times 12?", "144"),
    ("What is 96 divided by 8?", "12"),
    ("What is 250 - 125?", "125"),
    ("What is 7 times 6?", "42"),
    ("What is 1000 + 1?", "1001"),
    ("Ana has 73 books and gives away 29. How many books are left?", "44"),
    ("Dana has 55 apples and buys 6 more. How many apples does Dana have now?", "61"),
)
_DATA = "".join(f'{{"question": "{question}", "answer": "{answer}"}}\n' for question, answer in _QUESTIONS)

STARTER: dict[str, str] = {"benchwright.toml": _CONFIG, "my_bench.py": _BENCHMARK, "qa.jsonl": _DATA}
"""File name → content."""

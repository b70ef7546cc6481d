"""`[benchmarks.NAME]` tables that describe an evaluation themselves: its data, its style and its grader."""

"""`[benchmarks.NAME]` tables that name no file: programs, evaluations described in the table itself, built-in ones."""

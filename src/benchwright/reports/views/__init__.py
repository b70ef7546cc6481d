"""Views: recorded runs as immutable values, from which tables, pages, files and `--json` are made."""

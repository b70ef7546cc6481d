"""Recorded runs as frozen values: what tables, pages, files and `--json` are made of."""

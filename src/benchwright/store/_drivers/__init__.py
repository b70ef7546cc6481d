"""One file per driver; `store/_backends.py` has a row for each."""

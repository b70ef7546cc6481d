"""Datasets of the Hugging Face hub: from a URI to rows, pinned to one commit.

settings     endpoint, token, offline, cache folder
client       requests through `huggingface_hub`: retries and their budget
session      the library's session: time limits, and the token for the hub only
hub          the commit of a revision, the files of a commit
download     the bytes of a file, resumed and checked
errors       failures, and messages with the cure
card, layout, splits         which files make up a configuration and a split
pins, commits, records       the commit of a run, and what this machine knows of commits
loaders, viewer, library     where rows come from: files, export, viewer, the `datasets` library
parts, row_files, row_cache  rows as immutable Parquet with checksums
disk, upkeep                 files written whole; listing and pruning the cache
resolve                      a URI becomes a `ResolvedHub`
source, random_access        its rows, in order or by number
"""

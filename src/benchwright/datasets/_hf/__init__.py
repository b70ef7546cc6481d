"""Datasets of the Hugging Face hub: from a URI to rows, pinned to one commit.

settings    what the environment says: endpoint, token, offline, cache folder
client      requests through `huggingface_hub`: time limits, retries, one trusted host
hub         the commit of a revision, the files of a commit
download    a file's bytes, resumed and checked
complaints  refusals in words, with the cure
card, layout, patterns, split_text, choose     which files make up a configuration and a split
records     what was learned of a commit, kept for offline use
row_cache, row_files, parts                    rows as immutable Parquet with checksums
export, viewer, client_library                 other ways to the same rows
resolve     a URI becomes a `ResolvedHub`
source, random_access                          rows of it, in order or by number
"""

"""One reader for each format of data files. `core/_data_names.py` names the reader of each format."""

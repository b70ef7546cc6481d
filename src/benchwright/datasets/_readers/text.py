"""Text files: every line is a row with the one field `text`."""

from __future__ import annotations

from contextlib import closing

from benchwright.datasets._stored import StoredFile
from benchwright.datasets._values import Chunk, Chunks


def read_lines(file: StoredFile) -> Chunks:
    number = 0
    with closing(file.text_blocks()) as blocks:
        for block in blocks:
            chunk = Chunk()
            lines = block.split(b"\n" if b"\n" in block else b"\r")
            if not lines[-1]:
                lines.pop()
            for line in lines:
                number += 1
                try:
                    chunk.add({"text": line.removesuffix(b"\r").decode("utf-8")}, number)
                except UnicodeDecodeError:
                    chunk.add_bad(number, "not valid UTF-8")
            yield chunk

"""Downloaded files as rows: the parsers of local files, and what only hub datasets need."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchwright.core import DatasetError
from benchwright.datasets._delimited import read_separated
from benchwright.datasets._formats import PARSERS
from benchwright.datasets._hf.layout import format_of
from benchwright.datasets._hf.row_cache import Filled
from benchwright.datasets._hf.row_files import RowWriter
from benchwright.datasets._json_field import list_keys, read_json_field
from benchwright.datasets._stored import StoredFile
from benchwright.datasets._values import Chunk, Chunks, Trouble

MOST_BAD_ROWS = 1000
"""In a part; beyond it the files are not what they are taken for."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are to be read, where their names do not tell."""

    field: str | None = None
    """Top-level key under which JSON files keep the rows."""
    delimiter: str | None = None
    """What separates cells in CSV files."""


def rows_of(path: Path, published: str, reading: Reading) -> Chunks:
    """The rows of a downloaded file. `published` is its path in the repository, which messages name."""
    file = StoredFile(path, published)
    format = format_of(published) or "jsonl"
    if reading.field is not None and format in ("json", "jsonl"):
        return read_json_field(file, reading.field)
    if format == "json":
        return _json(file)
    if format == "csv" and reading.delimiter not in (None, ","):
        return read_separated(file, reading.delimiter or ",")
    if format == "txt":
        return _lines(file)
    if format == "arrow":
        return _arrow(file)
    return PARSERS[format](file)


def convert(files: list[tuple[Path, str]], reading: Reading, target: Path) -> Filled:
    """All rows of some files in a new Parquet file. Raises DatasetError where one cannot be read to its end."""
    out = RowWriter(target)
    troubles: list[Trouble] = []
    try:
        for path, published in files:
            with closing(rows_of(path, published, reading)) as chunks:
                for chunk in chunks:
                    for bad in chunk.troubles:
                        reason = f"in {published}: {bad.reason}"
                        troubles.append(Trouble(out.added + bad.after, bad.line, reason, bad.field))
                    if len(troubles) > MOST_BAD_ROWS:
                        first = troubles[0]
                        raise DatasetError(
                            f"{published}: more than {MOST_BAD_ROWS} bad rows. The first, line {first.line}: {first.reason}"
                        )
                    out.add(chunk.rows)
        out.close()
    except BaseException:
        out.abandon()
        raise
    return Filled(out.rows, "exact" if out.exact else "json", tuple(troubles))


def _json(file: StoredFile) -> Chunks:
    """A `.json` file; where its rows are under a key, the error says which."""
    try:
        yield from PARSERS["json"](file)
    except DatasetError as exc:
        if keys := list_keys(file):
            raise file.error(f"keeps its rows under a key: add &field={keys[0]} to the URI") from exc
        raise


def _lines(file: StoredFile) -> Chunks:
    """A text file: every line is a row with the one field `text`."""
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


def _arrow(file: StoredFile) -> Chunks:
    """An Arrow file, of either kind."""
    import pyarrow as pa

    from benchwright.datasets._parquet import batch_rows

    done = 0
    try:
        with file.path.open("rb") as raw:
            is_file = raw.read(6) == b"ARROW1"
            raw.seek(0)
            source = pa.ipc.open_file(raw) if is_file else pa.ipc.open_stream(raw)
            batches = (source.get_batch(i) for i in range(source.num_record_batches)) if is_file else source
            for whole in batches:
                for at in range(0, whole.num_rows, 1024):
                    rows = batch_rows(whole.slice(at, 1024))
                    yield Chunk(rows, list(range(done + 1, done + 1 + len(rows))))
                    done += len(rows)
    except (pa.ArrowException, OSError) as exc:
        raise file.error(f"is not an Arrow file that can be read: {exc}") from exc

"""Arrow files (also called Feather), and Arrow streams, as the `datasets` library saves them."""

from __future__ import annotations

from contextlib import closing

from benchwright.datasets._readers.parquet import batch_rows, opened
from benchwright.datasets._stored import StoredFile
from benchwright.datasets._values import Chunk, Chunks


def read_arrow(file: StoredFile) -> Chunks:
    """Rows of an Arrow file; their line is the row number. Values as in Parquet files."""
    import pyarrow as pa

    done = 0
    try:
        with closing(opened(file)) as raw:
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

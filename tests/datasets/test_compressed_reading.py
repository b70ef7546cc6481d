"""gzip and zstd, told by content; a damaged file never passes for a short one."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from benchwright import load_dataset
from benchwright.core import DatasetError
from benchwright.datasets import open_dataset
from benchwright.datasets._stored import StoredFile

PACK: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".zst": zstandard.compress}
TEXTS = {
    "x.jsonl": b'{"a": "1"}\n{"a": "2"}\n',
    "x.json": b'[{"a": "1"},\n {"a": "2"}]',
    "x.csv": b"\xef\xbb\xbfa\r\n1\r\n2\r\n",
    "x.tsv": b"a\n1\n2\n",
    "x": b'{"a": "1"}\n{"a": "2"}',
}


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("name", TEXTS)
def test_every_format_is_read_compressed(tmp_path: Path, name: str, ending: str) -> None:
    path = tmp_path / (name + ending.upper())
    path.write_bytes(PACK[ending](TEXTS[name]))
    assert load_dataset(path) == [{"a": "1"}, {"a": "2"}]


@pytest.mark.parametrize("ending", PACK)
def test_content_not_name_tells_compression(tmp_path: Path, ending: str) -> None:
    plain = tmp_path / ("unpacked.csv" + ending)
    plain.write_bytes(TEXTS["x.csv"])
    packed = tmp_path / "packed.csv"
    packed.write_bytes(PACK[ending](TEXTS["x.csv"]))
    assert load_dataset(plain) == load_dataset(packed) == [{"a": "1"}, {"a": "2"}]


@pytest.mark.parametrize("ending", PACK)
def test_joined_archives_are_read_to_the_end(tmp_path: Path, ending: str) -> None:
    path = tmp_path / ("x.jsonl" + ending)
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd" if ending == ".zst" else b""
    path.write_bytes(skippable + PACK[ending](b'{"a": 1}\n{"a"') + skippable + PACK[ending](b": 2}\n"))
    assert load_dataset(path) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("kept", [0.5, 0.999])
@pytest.mark.parametrize("name", ["x.jsonl", "x.csv"])
def test_a_file_cut_short_raises(tmp_path: Path, name: str, ending: str, kept: float) -> None:
    import random

    noise = random.Random(1)
    rows = [
        f'{{"a": "{noise.random()}"}}' if name == "x.jsonl" else f"{noise.random()}" for _ in range(30_000)
    ]
    packed = PACK[ending](("a\n" * (name == "x.csv") + "\n".join(rows) + "\n").encode())
    path = tmp_path / (name + ending)
    path.write_bytes(packed[: int(len(packed) * kept)])
    bad: list[object] = []
    with pytest.raises(DatasetError, match="damaged or cut short"):
        list(open_dataset(path).batches(on_bad=bad.append))
    assert not bad


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("text", [b'{"a": 1}\n' * 4, bytes(range(32, 127)) * 2, b"\xff" * 300])
def test_no_cut_goes_unnoticed(tmp_path: Path, ending: str, text: bytes) -> None:
    packed = PACK[ending](text) + PACK[ending](text)
    frame_end = len(packed) // 2
    path = tmp_path / ("x.jsonl" + ending)
    for length in range(4, len(packed)):
        path.write_bytes(packed[:length])
        if length != frame_end:
            with pytest.raises(DatasetError, match="damaged or cut short"):
                b"".join(StoredFile(path, "x").blocks())


@pytest.mark.parametrize("ending", PACK)
def test_damage_inside_raises(tmp_path: Path, ending: str) -> None:
    packed = bytearray(PACK[ending](TEXTS["x.jsonl"] * 1000))
    packed[len(packed) // 2] ^= 0xFF
    packed[len(packed) // 2 + 1] ^= 0xFF
    path = tmp_path / ("x.jsonl" + ending)
    path.write_bytes(packed)
    with pytest.raises(DatasetError):
        load_dataset(path)


@pytest.mark.parametrize("ending", PACK)
def test_nothing_compressed_is_nothing(tmp_path: Path, ending: str) -> None:
    path = tmp_path / ("x.jsonl" + ending)
    path.write_bytes(PACK[ending](b""))
    assert load_dataset(path) == []
    path.write_bytes(b"")
    assert load_dataset(path) == []

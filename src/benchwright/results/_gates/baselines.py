"""Baselines, with which gates compare: a recorded run, or a portable file with hashes of rows and their scores, but no
prompts, replies or keys."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryFile
from types import NoneType
from typing import IO, Any

import orjson

from benchwright.core import (
    VERSION,
    ConfigError,
    JsonObject,
    Outcome,
    RunKind,
    RunSummary,
    SampleRecord,
    UsageError,
    clause,
    encode_json,
    known_secrets,
    load_each,
    load_exact_json,
    ready,
    rfc3339,
)
from benchwright.perf import LoadSummary, RequestRecord
from benchwright.results._clusters import SampleReader, SampleTexts, row_identity, unread_identity
from benchwright.results._found_runs import FoundRun
from benchwright.store import RunRecord

FORMAT = "benchwright-baseline"
FORMAT_VERSION = 2
"""Version 2 adds the group of samples that failed."""
_READABLE = (1, FORMAT_VERSION)
FILE_IN_FOLDER = "baseline.jsonl"
"""The file in a baseline that is a folder."""
_PIECE = 1 << 17
"""Bytes that are read together."""
_ABOUT = ("name", "model", "status")
"""Fields of a run that the first line of the file contains."""
_TABLES = ("run", "settings", "manifest")
"""Tables that the first line contains."""


class BaselineSamples:
    """The samples in a portable baseline, read from its file as often as needed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def scored(self) -> Iterator[tuple[int, int, bytes, bytes]]:
        """Row, repeat, hash of the row's content and record of every sample."""
        for row, repeat, digest, outcome, scores, *more in chain.from_iterable(_decoded(self._path)):
            yield (
                row,
                repeat,
                bytes.fromhex(digest),
                SampleRecord(
                    row, repeat, None, Outcome(outcome), scores=scores, group=more[0] if more else None
                ).score_text(),
            )

    def row_texts(self) -> Iterator[tuple[int, bytes | None]]:
        """Nothing, because the hashes identify the rows."""
        return iter(())

    def texts(self, keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], SampleTexts]:
        """Nothing: the file has no texts."""
        return {}


def baseline_file(path: Path) -> Path | None:
    """The file of a portable baseline: the given file, or the one in the given folder; None if there is none."""
    inside = path / FILE_IN_FOLDER
    return inside if inside.is_file() else path if path.is_file() else None


def write_baseline(path: Path, baseline: FoundRun) -> tuple[Path, int, str]:
    """Write a portable baseline: into a folder, or as one file if the name has an ending. Returns the file, its number of
    samples or requests, and its checksum."""
    folder = path.is_dir() or not path.suffix
    target = path / FILE_IN_FOLDER if folder else path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=target.parent) as body:  # the first line counts the others
            count = 0
            for line in _lines(baseline):
                body.write(known_secrets().clean_json(line) + b"\n")
                count += 1
            first = _first_line(baseline, count)
            checksum = _checksum(first, _pieces(body))
            stamped = encode_json({"sha256": checksum})[:-1] + b"," + first[1:]
            replace_file(target, chain([stamped + b"\n"], _pieces(body)))
    except OSError as error:
        raise UsageError(
            f"{target} cannot be written: {error.strerror}. Choose another place for the baseline"
        ) from None
    return target, count, checksum


def _first_line(baseline: FoundRun, count: int) -> bytes:
    run = baseline.run
    header: JsonObject = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "benchwright": VERSION,
        "kind": run.kind,
        "run": {
            "title": baseline.title,
            **{name: getattr(run, name) for name in _ABOUT},
            "created_at": rfc3339(run.created_at),
        },
        "count": count,
        "settings": run.settings,
        "manifest": run.manifest,
        "summary": run.summary,
    }
    return known_secrets().clean_json(encode_json(header))


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    """The content of a file from its start."""
    file.seek(0)
    while piece := file.read(1 << 20):
        yield piece


def _plain(path: Path) -> Iterator[bytes]:
    """The first line of a baseline, then the others in pieces of many lines, as they were written: Git and editors on Windows
    may write other line endings and a byte-order mark. No value contains these bytes."""
    with path.open("rb") as file:
        yield file.readline().removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
        while lines := file.readlines(_PIECE):
            yield b"".join(lines).replace(b"\r\n", b"\n")


def _decoded(path: Path) -> Iterator[list[Any]]:
    """The lines of a baseline but for the first, many at a time."""
    for piece in islice(_plain(path), 1, None):
        yield load_each(piece.removesuffix(b"\n").split(b"\n"))


def portable_baseline(path: Path) -> FoundRun | None:
    """The baseline in a file, or in the file of a folder; None if there is none. Raises as `read_baseline`."""
    file = baseline_file(path)
    return None if file is None else read_baseline(file)


def read_baseline(path: Path) -> FoundRun:
    """Read a portable baseline. Raises ConfigError for a file that is not a baseline, was changed, or has a newer version."""
    try:
        lines = _plain(path)
        head = next(lines).removesuffix(b"\n")
        header = _header(path, head)
        rest = b"{" + head.removeprefix(encode_json({"sha256": header["sha256"]})[:-1] + b",")
        checksum = _checksum(rest, lines)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    if checksum != header["sha256"]:
        raise ConfigError(
            f"{path}: its checksum does not fit: the file was changed or cut. Export the baseline again: benchwright "
            "export RUN --baseline PATH"
        )
    try:
        if not all(isinstance(header[name], dict) for name in _TABLES):
            raise ValueError("its first line is not that of a baseline")
        pieces = _decoded(path)
        requests = list(map(_request, chain.from_iterable(pieces))) if header["kind"] == RunKind.LOAD else []
        count = len(requests) + sum(map(_checked, pieces))
        if count != header["count"]:
            raise ValueError("its first line does not describe the others")
        about = header["run"]
        run = RunRecord(
            id=0,
            **{name: about[name] for name in _ABOUT},
            target="",
            folder=path.resolve().parent if path.name == FILE_IN_FOLDER else path.resolve(),
            settings=header["settings"],
            manifest=header["manifest"],
            summary=header["summary"],
            error=None,
            created_at=_seconds(about.get("created_at")),
            finished_at=None,
            kind=header["kind"],
        )
        title = f"{about['title']} in {path}"
        if run.summary is not None:  # a newer version may have figures unknown here
            (LoadSummary if run.kind == RunKind.LOAD else RunSummary).from_json(run.summary)
        samples = BaselineSamples(path)
        return FoundRun(
            run=run, title=title, samples=samples, sent=tuple(requests), filed=True, portable=True
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{path} does not contain a baseline that benchwright {VERSION} can read: {type(error).__name__}: {clause(error)}. Benchwright "
            f"{header.get('benchwright')} wrote it: update the older one, and export the baseline again"
        ) from error


def _seconds(moment: object) -> float:
    """A time of the first line, in seconds since the epoch; 0 if there is none."""
    return datetime.fromisoformat(moment).timestamp() if isinstance(moment, str) else 0.0


def _checked(lines: Sequence[Any]) -> int:
    """The number of lines, all of which are samples; raises if one is not."""
    rows, repeats, digests, outcomes, scores = zip(*[line[:5] for line in lines], strict=True)
    if {*map(type, rows), *map(type, repeats)} != {int} or not {*map(type, scores)} <= {dict, NoneType}:
        raise ValueError("a line is not that of a sample")
    for outcome in set(outcomes):
        Outcome(outcome)
    for digest in digests:
        bytes.fromhex(digest)
    return len(lines)


def _header(path: Path, line: bytes) -> dict[str, Any]:
    try:
        header = orjson.loads(line)
    except orjson.JSONDecodeError:
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT or "sha256" not in header:
        raise ConfigError(
            f"{path}:1: this is not a baseline: its first line is not that of one. Write one with: benchwright export RUN "
            "--baseline PATH"
        )
    if header.get("version") not in _READABLE:
        raise ConfigError(
            f"{path}:1: a baseline of version {header.get('version')!r}, which benchwright {header.get('benchwright')} "
            f"wrote; this one reads versions up to {FORMAT_VERSION}. Update benchwright, or export the baseline again"
        )
    return header


def _lines(baseline: FoundRun) -> Iterator[bytes]:
    if baseline.run.kind == RunKind.LOAD:
        yield from map(_request_line, baseline.requests())
        return
    samples = baseline.samples.scored() if baseline.portable else _by_content(baseline.samples)
    for row, repeat, digest, text in samples:
        record = SampleRecord.from_score(text)
        scores = record.scores
        if scores is not None:  # gates need only numbers, and texts may quote a reply
            scores = {name: value for name, value in scores.items() if isinstance(value, bool | int | float)}
        group = [] if record.group is None else [record.group]
        yield encode_json([row, repeat, digest.hex(), record.outcome.value, scores, *group])


def _by_content(samples: SampleReader) -> Iterator[tuple[int, int, bytes, bytes]]:
    """Row, repeat, hash of the row's content and record of every sample. The hash does not depend on the order of keys."""
    last, identity = -1, b""
    for (row, repeat, _, record), (_, text) in zip(samples.scored(), samples.row_texts(), strict=True):
        if text is None:  # a row that could not be read is identified by the reason
            yield row, repeat, unread_identity(SampleRecord.from_score(record).error), record
            continue
        if row != last:
            last, identity = row, row_identity(load_exact_json(text))
        yield row, repeat, identity, record


_UNNEEDED = {"error": None, "reply": None, "score_error": None}
"""Texts of a request that may quote a prompt or a reply."""


def _request_line(record: RequestRecord) -> bytes:
    from msgspec import json, structs

    return json.encode(structs.replace(record, **_UNNEEDED))


def _request(line: Any) -> RequestRecord:
    from msgspec import convert

    return convert(line, ready(RequestRecord))


def _checksum(header: bytes, body: Iterable[bytes]) -> str:
    digest = hashlib.sha256(header)
    digest.update(b"\n")
    for piece in body:
        digest.update(piece)
    return digest.hexdigest()


def replace_file(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file completely or not at all. Others may read it, as far as the folder allows."""
    part = path.with_name(f".{path.name}.{os.getpid()}-{token_hex(4)}")
    try:
        with part.open("wb") as file:
            file.writelines([content] if isinstance(content, bytes) else content)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise

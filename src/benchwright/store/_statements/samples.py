"""Reads pages of filtered samples, from indexes that are updated in bulk.

A page reads one index range per facet, or per facet and bucket of a metric, and merges them in sample order. So it takes
one look-up per range and one read per sample of the page, independent of the size of the run.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from heapq import merge
from itertools import islice
from time import monotonic
from typing import Any

from benchwright.core import SampleRecord, step_key
from benchwright.store._driver import Driver, Row
from benchwright.store._index_entries import index_entries
from benchwright.store._records import SampleSteps
from benchwright.store._sample_filters import (
    ANY_LABEL,
    Facet,
    SampleFilter,
    SampleOrder,
    bucket_of,
    facet_and_values,
    facet_of,
    found_text,
    is_of_reply,
    place_of,
    reply_values,
    sample_at,
)
from benchwright.store._statements.labels import Labels
from benchwright.store._statements.marks import FIGURES as _FIGURES, INDEXING, INDEXING_UPTO, SET_MARK
from benchwright.store._statements.schema import SAMPLE_INDEX, SAMPLE_METRICS
from benchwright.store._statements.steps import SAMPLE_COLUMNS, Steps
from benchwright.store._workflow_records import Page
from benchwright.store._workspace import Workspace

_ROWS_AT_ONCE = 20_000
"""Steps indexed per transaction, so that others can write in between, and other threads can work while these are sorted."""
_MOST_SEARCHED = 5_000
"""Samples that one page searches for a text."""
_SEARCHED_AT_ONCE = 200
_FEW = 1_000
"""Places that are looked at one by one, rather than looked up for every value of a figure."""
_MOST_SEARCHED_BYTES = 20_000_000
"""About the most bytes that one page of a search over all texts reads."""
_FIRST_BLOCK = 16
"""Rows of a range that are read first. A page takes few from each of many ranges."""
_KEYS_PER_STATEMENT = 500
"""Older builds of SQLite accept at most 999 values."""
PAGE = (
    "SELECT i.key, s.output FROM {table} i JOIN steps s ON s.run_id = i.run_id AND s.key = i.key"
    " WHERE i.run_id = ? AND i.facet = ? AND i.key > ? ORDER BY i.key LIMIT ?"
)
"""Keys of one facet, with their records."""
METRIC_PAGE = (
    "SELECT i.key, s.output, i.value FROM {table} i JOIN steps s ON s.run_id = i.run_id AND s.key = i.key"
    " WHERE i.run_id = ? AND i.name = ? AND i.facet = ? AND i.bucket = ? AND i.value > ? AND i.value < ?"
    " AND i.key > ? ORDER BY i.key LIMIT ?"
)
"""Keys of one facet and one bucket of a metric, with their records and values."""
PAGE_BACK = PAGE.replace("i.key > ?", "i.key < ?").replace("ORDER BY i.key", "ORDER BY i.key DESC")
METRIC_PAGE_BACK = METRIC_PAGE.replace("i.key > ?", "i.key < ?").replace(
    "ORDER BY i.key", "ORDER BY i.key DESC"
)
"""The same backwards."""
VALUE_PAGE = (
    "SELECT value, key FROM {table} i WHERE run_id = ? AND name = ? AND facet = ? AND bucket = ? AND value > ? AND value < ?"
    " AND (value > ? OR value = ? AND key > ?){chosen} ORDER BY value, key LIMIT ?"
)
VALUE_PAGE_BACK = (
    "SELECT value, key FROM {table} i WHERE run_id = ? AND name = ? AND facet = ? AND bucket = ? AND value > ? AND value < ?"
    " AND (value < ? OR value = ? AND key < ?){chosen} ORDER BY value DESC, key DESC LIMIT ?"
)
"""Values and keys of one facet and one bucket, in the order of values."""
_FACETS = "samples"
"""The name in `marks` of how far facets are indexed."""
_FACET_TABLE = "sample_index"
_FIGURE_TABLE = "sample_metrics"
_INSERT_FACET = "INSERT INTO {table} VALUES (?,?,?) ON CONFLICT DO NOTHING"
_INSERT_FIGURE = (
    "INSERT INTO {table} VALUES (?,?,?,?,?,?)"
    " ON CONFLICT (run_id, name, facet, bucket, key) DO UPDATE SET value = excluded.value"
)
_SCORES = "key >= 'score/' AND key < 'score0'"
CONTENTS = "\1row"
"""What leads from the content of a row to its samples, among the figures: the bucket has the beginning of the content's hash. No metric has
such a name."""


class Samples(Steps, Labels):
    """Reads samples page by page."""

    def __init__(self, workspace: Workspace, driver: Driver, *, read_only: bool = False) -> None:
        super().__init__(workspace, driver, read_only=read_only)
        self._looked_at: set[tuple[int, str | None]] = set()
        self._places: Sequence[int] | None = None
        """The places that the table of chosen samples has."""

    def index_samples(self, at_least: int = 1) -> None:
        """Update the index if it lacks at least this many records.

        This is done in bulk, before a page or after a large run, because updating it with every row made recording a fifth
        slower.
        """
        done, newest = self._indexed_and_newest(_FACETS)
        if newest - done < at_least:
            return
        while done < newest:
            upto = min(done + _ROWS_AT_ONCE, newest)
            rows = self._facet_rows("rowid > ? AND rowid <= ?", (done, upto))
            with self._transaction(bulk=True) as connection:
                connection.executemany(_INSERT_FACET.format(table=_FACET_TABLE), rows)
                # Another process may have come further meanwhile.
                done = max(upto, self._indexed_and_newest(_FACETS)[0])
                connection.execute(SET_MARK, (_FACETS, done))

    def page_samples(
        self, run_id: int, where: SampleFilter | None = None, *, after: int | None = None, limit: int = 100,
        order: SampleOrder | None = None, patience_s: float | None = None,
    ) -> Page[SampleSteps]:  # fmt: skip
        """Samples of a run that pass the filter, in sample order or another; `after` is `next` of the page before.

        A page looks at a limited number of samples for what is not indexed. If it did not find enough, it is shorter than `limit`,
        and the search continues at `next`. The same holds for the time in which a figure is indexed: then `indexed` tells how far.
        """
        where, order = where or SampleFilter(), order or SampleOrder()
        if where.labelled is not None or (
            order.by is not None and where.places is not None and len(where.places) <= _FEW
        ):
            return self._page_of_few(run_id, where, order, after, limit)
        figure = order.indexed_as or (where.metric if where.places is None else None)
        if figure is not None and patience_s is not None and not self._read_only:
            reached = self._index_figure(run_id, figure, monotonic() + patience_s)
            if reached is not None:
                return Page(indexed=(self._count_upto(run_id, reached), self.count_steps(run_id, "score")))
        if order.by is not None:
            looks = where.looks or where.metric not in (None, order.indexed_as)
            # A block is found by a scan of its bucket: many small ones would take the square of the samples.
            block = _MOST_SEARCHED + 1 if looks else limit + 1
            pairs = self._by_value(run_id, where, order, after, block)
            return self._search(run_id, partial(_is_current, where, order), pairs, limit, looks=looks)
        if where.places is not None:
            looks = where != SampleFilter(places=where.places)
            pairs = ((key, None) for key in _keys_at(where.places, after, back=order.descending))
            return self._search(run_id, partial(_is_current, where, order), pairs, limit, looks=looks)
        start = (
            ("score0" if order.descending else "score/")
            if after is None
            else step_key("score", *sample_at(after))
        )
        block = _SEARCHED_AT_ONCE if where.looks else limit + 1
        keys = self._keys(run_id, where, start, block, back=order.descending)
        if where.looks:
            pairs = ((key, None) for key in keys)
            return self._search(
                run_id, lambda sample, _: where.passes_by_content(sample), pairs, limit, looks=True
            )
        found = list(islice(keys, limit + 1))
        items = self._in_order(run_id, found[:limit])
        more = len(found) > limit
        return Page(items, place_of(*items[-1][:2]) if more and items else None)

    def _page_of_few(
        self, run_id: int, where: SampleFilter, order: SampleOrder, after: int | None, limit: int
    ) -> Page[SampleSteps]:
        """A page of labelled samples, of which there are few, or of few places. Each is looked at."""
        if where.labelled is None:
            keys = list(_keys_at(where.places or (), None, back=False))
        else:
            kind = None if where.labelled == ANY_LABEL else where.labelled
            keys = [step_key("score", index, repeat) for index, repeat, _ in self.labelled(run_id, kind)]
        name = order.indexed_as
        found: list[tuple[float, int, SampleSteps]] = []
        for sample in self._samples_of(run_id, keys):
            if not where.has_place(place_of(*sample[:2])):
                continue
            value = None if name is None else _value_of(sample, name)
            if (name is None or value is not None) and _is_current(where, order, sample, value):
                found.append((value or 0.0, place_of(*sample[:2]), sample))
        found.sort(key=lambda each: each[:2], reverse=order.descending)
        start = next((at + 1 for at, each in enumerate(found) if each[1] == after), 0)
        if after is not None and not start and name is None:  # its label was taken away meanwhile
            start = sum((place >= after) if order.descending else (place <= after) for _, place, _ in found)
        items = [sample for *_, sample in found[start : start + limit]]
        more = start + limit < len(found)
        return Page(items, place_of(*items[-1][:2]) if more else None, None)

    def same_row(
        self, run_id: int, index: int, repeat: int = 0, *, limit: int = 50, patience_s: float = math.inf
    ) -> tuple[list[tuple[int, SampleSteps]], int]:
        """Samples of other runs on the same row content: where they have it under the same number, by one look-up; else by an index of the
        contents of their rows, which runs of the same name get when they are first asked for a row."""
        until = monotonic() + patience_s
        key = step_key("score", index, 0)
        found = self._connection.execute(
            "SELECT s.input_hash, s.output, r.name FROM steps s JOIN runs r ON r.id = s.run_id WHERE s.run_id = ? AND s.key = ?",
            (run_id, key),
        ).fetchone()
        if found is None:
            return [], 0
        digest, score, title = found
        name = _name_of(score)
        runs = self._connection.execute(
            "SELECT r.id, s.input_hash, s.output FROM runs r LEFT JOIN steps s ON s.run_id = r.id AND s.key = ? AND s.input_hash = ?"
            " WHERE r.id != ? AND (s.key IS NOT NULL OR r.name = ?) ORDER BY r.id DESC LIMIT ?",
            (key, digest, run_id, title, limit),
        ).fetchall()
        samples, unread = [], 0
        for run, same, output in runs:
            here = key if same is not None and _name_of(output) == name else None
            if here is None:
                keys = self._keys_of_row(run, digest, until)
                unread += keys is None
                here = self._named(run, keys or [], name)
            if here is not None:
                at = int(here[6:15])
                ends = [step_key("score", at, number) for number in dict.fromkeys((repeat, 0))]
                samples += next(
                    (
                        [(run, each) for each in some]
                        for end in ends
                        if (some := list(self._samples_between(run, end, end + "0")))
                    ),
                    [],
                )
        return samples, unread

    def _keys_of_row(self, run_id: int, digest: bytes, until: float) -> list[str] | None:
        """The keys of the samples on a row content, in order; None if the contents of the rows could not be indexed in time."""
        if not self._read_only and self._index_figure(run_id, CONTENTS, until) is not None:
            return None
        table = self._figure_table(run_id, CONTENTS)
        found = self._connection.execute(
            f"SELECT i.key FROM {table} i JOIN steps s ON s.run_id = i.run_id AND s.key = i.key"
            " WHERE i.run_id = ? AND i.name = ? AND i.facet = '' AND i.bucket = ? AND s.input_hash = ? ORDER BY i.key",
            (run_id, CONTENTS, _bucket_of_row(digest), digest),
        )
        return [key for (key,) in found.fetchall()]

    def _named(self, run_id: int, keys: Sequence[str], name: str | None) -> str | None:
        """Of copies of a row, that with a name; without names, the first."""
        if len(keys) > 1 and name is not None:
            for sample in self._samples_of(run_id, list(keys)):
                if _name_of(sample.score) == name:
                    return step_key("score", *sample[:2])
        return keys[0] if keys else None

    def differing(self, run_id: int, other: int) -> list[tuple[int, int, bytes, bytes]] | None:
        """Samples whose records differ between two runs with the same rows under the same numbers; None if they have other rows. The
        database compares the texts, so that only these need be read: a sixth of the time for a million."""
        totals = {self.count_steps(each, "score") for each in (run_id, other)}
        same = (
            "FROM steps s JOIN steps o ON o.run_id = ? AND o.key = s.key AND o.input_hash = s.input_hash"
            " WHERE s.run_id = ? AND s.key >= 'score/' AND s.key < 'score0'"
        )
        paired = self._connection.execute(f"SELECT count(*) {same}", (other, run_id)).fetchone()[0]
        if totals != {paired}:
            return None
        rows = self._connection.execute(
            f"SELECT s.key, o.output, s.output {same} AND s.output != o.output ORDER BY s.key",
            (other, run_id),
        )
        return [(int(key[6:15]), int(key[16:20]), before, now) for key, before, now in rows]

    def find_text(
        self, run_id: int, text: str, *, after: str = "", limit: int = 100, most: int = 5_000
    ) -> tuple[list[tuple[str, str, str]], int, str | None]:
        """Steps of samples with a text, after a key. No index has texts, so it looks at a limited number, and at some megabytes."""
        found: list[tuple[str, str, str]] = []
        looked, size = 0, 0
        while True:
            rows = self._connection.execute(
                "SELECT key, output, coalesce(call_input, CASE WHEN key < 'judge' THEN input END),"
                " coalesce(call_output, CASE WHEN key < 'score' THEN output END)"
                " FROM steps WHERE run_id = ? AND key > ? ORDER BY key LIMIT ?",
                (run_id, after, _SEARCHED_AT_ONCE),
            ).fetchall()
            for row in rows:
                after, looked = row[0], looked + 1
                size += sum(len(part) for part in row[1:] if part is not None)
                if (hit := found_text(text, *row)) is not None:
                    found.append(hit)
                if len(found) == limit or looked == most or size > _MOST_SEARCHED_BYTES:
                    return found, looked, after
            if len(rows) < _SEARCHED_AT_ONCE:
                return found, looked, None

    def sample_counts(self, run_id: int) -> dict[Facet, int]:
        """How many samples of a run have the same values for filters. Read from the index, so that a million take no second."""
        rows = self._connection.execute(
            f"SELECT facet, count(*) FROM {self._facet_table(run_id)} WHERE run_id = ? GROUP BY facet",
            (run_id,),
        )
        counts = {Facet.from_text(facet): int(count) for facet, count in rows}
        if sum(counts.values()) == self.count_steps(run_id, "score"):
            return counts
        # A record was replaced or deleted since it was indexed, and its old entry is counted too.
        return Counter(Facet.from_text(facet_of(output)) for *_, output in self.scored(run_id))

    def _keys(
        self, run_id: int, where: SampleFilter, start: str, block: int, *, back: bool = False
    ) -> Iterator[str]:
        """The keys that pass a filter, from the indexes, in order. Each range is read in blocks of this many."""
        table = (
            self._facet_table(run_id) if where.metric is None else self._figure_table(run_id, where.metric)
        )
        fixed: tuple[int | str, ...] = (run_id,) if where.metric is None else (run_id, where.metric)
        facets = [
            facet
            for facet in self._distinct(table, "facet", fixed, "")
            if where.passes(Facet.from_text(facet))
        ]
        if where.metric is None:
            page = (PAGE_BACK if back else PAGE).format(table=table)
            return merge(
                *(self._of_facet(page, run_id, facet, start, block) for facet in facets), reverse=back
            )
        page = (METRIC_PAGE_BACK if back else METRIC_PAGE).format(table=table)
        low, high = (bucket_of(min(max(bound, -1e300), 1e300)) for bound in where.bounds)
        return merge(
            *(
                self._of_bucket(page, (run_id, where.metric, facet, bucket, *where.bounds), start, block)
                for facet in facets
                for bucket in self._distinct(table, "bucket", (*fixed, facet), low - 1, high)
            ),
            reverse=back,
        )

    def _by_value(
        self, run_id: int, where: SampleFilter, order: SampleOrder, after: int | None, block: int
    ) -> Iterator[tuple[str, float | None]]:
        """The keys of samples with a figure, and its values, in its order: bucket by bucket, as the values of one are all on one side
        of those of the next. What the index cannot tell is left to `_is_current`."""
        name = order.indexed_as or ""
        table = self._figure_table(run_id, name)
        back, bounds = order.descending, where.bounds if where.metric == name else SampleFilter().bounds
        start: tuple[float, str] = (math.inf, "score0") if back else (-math.inf, "score/")
        buckets: set[int] = set()
        facets = [
            facet
            for facet in self._distinct(table, "facet", (run_id, name), "")
            if where.passes(Facet.from_text(facet))
        ]
        for facet in facets:
            buckets.update(self._distinct(table, "bucket", (run_id, name, facet), -(2**62)))
        if after is not None:
            key = step_key("score", *sample_at(after))
            value = next(
                (_value_of(each, name) for each in self._samples_between(run_id, key, key + "0")), None
            )
            if value is None:
                return
            start, here = (value, key), bucket_of(value)
            buckets = {bucket for bucket in buckets if (bucket <= here if back else bucket >= here)}
        sql = (VALUE_PAGE_BACK if back else VALUE_PAGE).format(table=table, chosen=self._chosen(where.places))
        for bucket in sorted(buckets, reverse=back):
            fixed = (run_id, name)
            ranges = [self._values(sql, (*fixed, facet, bucket, *bounds), start, block) for facet in facets]
            for value, key in merge(*ranges, reverse=back):
                yield key, value

    def _chosen(self, places: Sequence[int] | None) -> str:
        """The condition for keys at places. They are put into a table of this connection, where the database looks them up: a million values
        take a tenth of the time that they take here. It stays for the next page with the same places."""
        if places is None:
            return ""
        table = self._scratch("chosen_samples", "(key {key} PRIMARY KEY) {by_key}")
        if self._places is not places:
            self._places = None
            self._connection.execute(f"DELETE FROM {table}")
            keys = [(step_key("score", *sample_at(place)),) for place in places]
            self._connection.executemany(f"INSERT INTO {table} VALUES (?)", keys)
            self._places = places
        return f" AND EXISTS (SELECT 1 FROM {table} c WHERE c.key = i.key)"

    def _values(
        self, sql: str, fixed: tuple[object, ...], start: tuple[float, str], block: int
    ) -> Iterator[tuple[float, str]]:
        """Values with their keys after a place, read in blocks. A block sorts its whole bucket, so there should be few."""
        while rows := self._connection.execute(sql, (*fixed, start[0], *start, block)).fetchall():
            yield from rows
            if len(rows) < block:
                return
            start = rows[-1]

    def _of_facet(self, page: str, run_id: int, facet: str, start: str, block: int) -> Iterator[str]:
        """The keys of a facet. A record that was replaced since it was indexed is left out, because its new entry counts."""
        for key, output in self._blocks(page, (run_id, facet), start, block):
            if facet_of(output) == facet:
                yield key

    def _of_bucket(
        self, page: str, fixed: tuple[int, str, str, int, float, float], start: str, block: int
    ) -> Iterator[str]:
        _, name, facet, *_ = fixed
        for key, output, value in self._blocks(page, fixed, start, block):
            found, values = facet_and_values(output)
            if found == facet and values.get(name) == value:
                yield key

    def _blocks(self, sql: str, fixed: tuple[object, ...], start: str, block: int) -> Iterator[Row]:
        """The rows of a range after a key, read in blocks: no statement stays open while its rows are used."""
        size = min(_FIRST_BLOCK, block)
        while rows := self._connection.execute(sql, (*fixed, start, size)).fetchall():
            yield from rows
            if len(rows) < size:
                return
            start, size = rows[-1][0], min(4 * size, block)

    def _search(
        self,
        run_id: int,
        passes: Callable[[SampleSteps, float | None], bool],
        pairs: Iterator[tuple[str, float | None]],
        limit: int,
        *,
        looks: bool,
    ) -> Page[SampleSteps]:
        """Look at samples in the order of their keys, which come with their indexed values. `looks`: whether many may not pass, so
        that it matters how far this came."""
        items: list[SampleSteps] = []
        searched = 0
        at_once = _SEARCHED_AT_ONCE if looks else limit + 1
        while searched < _MOST_SEARCHED and (block := list(islice(pairs, at_once))):
            samples = {
                step_key("score", *sample[:2]): sample
                for sample in self._in_order(run_id, [key for key, _ in block])
            }
            for key, value in block:
                searched += 1
                if key in samples and passes(samples[key], value):
                    items.append(samples[key])
                    if len(items) > limit:
                        last = place_of(*items[limit - 1][:2])
                        return Page(items[:limit], last, searched - 1 if looks else None)
        looked = searched if looks else None
        if next(pairs, None) is None:
            return Page(items, looked=looked)
        last_key = block[-1][0]
        return Page(items, _place_of_key(last_key), looked)

    def _in_order(self, run_id: int, keys: list[str]) -> list[SampleSteps]:
        """The samples of keys in any order, in that order."""
        ordered = sorted(set(keys))
        samples = self._samples_of(run_id, ordered)
        if ordered == keys:
            return samples
        found = {step_key("score", *sample[:2]): sample for sample in samples}
        return [found[key] for key in keys if key in found]

    def _samples_of(self, run_id: int, keys: list[str]) -> list[SampleSteps]:
        """The samples of these sorted keys. Neighbours are read together."""
        if not keys:
            return []
        if int(keys[-1][6:15]) - int(keys[0][6:15]) <= 2 * len(keys):
            chosen = set(keys)
            between = self._samples_between(run_id, keys[0], keys[-1] + "0")
            return [sample for sample in between if step_key("score", sample.sample, sample.repeat) in chosen]
        found: list[SampleSteps] = []
        for at in range(0, len(keys), _KEYS_PER_STATEMENT):
            part = keys[at : at + _KEYS_PER_STATEMENT]
            for row in self._connection.execute(
                f"SELECT {SAMPLE_COLUMNS} FROM steps WHERE run_id = ? AND key IN ({','.join('?' * len(part))})"
                " ORDER BY key",
                (run_id, *part),
            ):
                sample = SampleSteps._make(row)
                if sample.call_output is None:  # its calls may be in separate rows
                    key = step_key("score", sample.sample, sample.repeat)
                    found += self._samples_between(run_id, key, key + "0")
                else:
                    found.append(sample)
        return found

    def _distinct(
        self, table: str, column: str, values: tuple[int | str, ...], last: str | int, most: int | None = None
    ) -> Iterator[Any]:
        """The distinct values of an index's next column, with one look-up for each."""
        names = ("run_id", "name", "facet") if len(values) > 1 else ("run_id",)
        fixed = " AND ".join(f"{name} = ?" for name in names[: len(values)])
        sql = f"SELECT min({column}) FROM {table} WHERE {fixed} AND {column} > ?"
        while (found := self._connection.execute(sql, (*values, last)).fetchone()[0]) is not None:
            if most is not None and found > most:
                return
            yield found
            last = found

    # -- the indexes --

    def _facet_rows(self, which: str, values: tuple[int, ...]) -> list[Row]:
        found = self._connection.execute(
            f"SELECT run_id, output, key FROM steps WHERE {which} AND {_SCORES}", values
        )
        rows = found.fetchall()
        facets = index_entries([output for _, output, _ in rows], None)
        # Inserting in the order of the index is four times as fast.
        return sorted((run_id, facet, key) for (run_id, _, key), (facet, _) in zip(rows, facets, strict=True))

    def _index_figure(self, run_id: int, name: str, until: float = math.inf) -> str | None:
        """Index one figure of one run. All figures of all runs took half a minute for a million samples; few are ever looked at. If it is
        not done at a time, returns the key that it reached; the next call goes on there."""
        figure = f"{run_id}/{name}"
        done, newest = self._indexed_and_newest(f"{_FIGURES}{figure}")
        if done >= newest:
            return None
        begun = [f"{INDEXING}{figure}", f"{INDEXING_UPTO}{figure}"]
        after: str | None = "score/"
        place, upto = (self._mark(name) for name in begun)
        if place is not None and upto is not None:  # samples that came since are indexed by the next pass
            after, newest = step_key("score", *sample_at(place)), upto
        while after is not None:
            # Read before others must wait for the transaction.
            rows, after = self._figure_rows(run_id, name, done, after)
            with self._transaction(bulk=True) as connection:
                connection.executemany(_INSERT_FIGURE.format(table=_FIGURE_TABLE), rows)
                if after is None:
                    connection.execute("DELETE FROM marks WHERE name IN (?, ?)", begun)
                    connection.execute(SET_MARK, (f"{_FIGURES}{figure}", newest))
                elif monotonic() > until:
                    values = (_place_of_key(after), newest)
                    connection.executemany(SET_MARK, list(zip(begun, values, strict=True)))
                    return after
        return self._index_figure(run_id, name, until) if upto is not None else None

    def _count_upto(self, run_id: int, key: str) -> int:
        """How many samples there are up to a key."""
        found = self._connection.execute(
            "SELECT count(*) FROM steps WHERE run_id = ? AND key >= 'score/' AND key <= ?", (run_id, key)
        )
        return int(found.fetchone()[0])

    def _mark(self, name: str) -> int | None:
        found = self._connection.execute("SELECT value FROM marks WHERE name = ?", (name,)).fetchone()
        return None if found is None else int(found[0])

    def _figure_rows(self, run_id: int, name: str, done: int, after: str) -> tuple[list[Row], str | None]:
        """Entries of samples after a row number and a key, and the key to continue after; None if there are no more."""
        rows: list[Row] = []
        if name == CONTENTS:
            hashes = self._connection.execute(
                "SELECT key, input_hash FROM steps WHERE run_id = ? AND key > ? AND key < 'score0' AND rowid > ?"
                " ORDER BY key LIMIT ?",
                (run_id, after, done, _ROWS_AT_ONCE),
            ).fetchall()
            rows = sorted((run_id, name, "", _bucket_of_row(digest), key, 0.0) for key, digest in hashes)
            return rows, hashes[-1][0] if len(hashes) == _ROWS_AT_ONCE else None
        of_reply = is_of_reply(name)
        reply = "call_output" if of_reply else "NULL"
        found = self._connection.execute(
            f"SELECT key, output, {reply} FROM steps WHERE run_id = ? AND key > ? AND key < 'score0' AND rowid > ?"
            " ORDER BY key LIMIT ?",
            (run_id, after, done, _ROWS_AT_ONCE),
        ).fetchall()
        replies = None
        if of_reply:  # a sample's calls may be in separate rows
            replies = [self._last_reply(run_id, key) if told is None else told for key, _, told in found]
        entries = index_entries([score for _, score, _ in found], name, replies)
        for (key, _, _), (facet, value) in zip(found, entries, strict=True):
            if value is not None:
                rows.append((run_id, name, facet, bucket_of(value), key, value))
        rows.sort()
        return rows, found[-1][0] if len(found) == _ROWS_AT_ONCE else None

    def _last_reply(self, run_id: int, key: str) -> bytes | None:
        return next((each.call_output for each in self._samples_between(run_id, key, key + "0")), None)

    def _indexed_and_newest(self, mark: str) -> tuple[int, int]:
        newest = self._connection.execute("SELECT coalesce(max(rowid), 0) FROM steps").fetchone()[0]
        return self._mark(mark) or 0, int(newest)

    def _facet_table(self, run_id: int) -> str:
        """The table of facets: in the database, or one of this connection if a read-only database lacks records in it."""
        if not self._read_only:
            self.index_samples()
            return _FACET_TABLE
        if not self._lags(_FACETS):
            return _FACET_TABLE
        table = self._scratch(f"{_FACET_TABLE}_here", SAMPLE_INDEX)
        if (run_id, None) not in self._looked_at:
            self._connection.executemany(
                _INSERT_FACET.format(table=table), self._facet_rows("run_id = ?", (run_id,))
            )
            self._looked_at.add((run_id, None))
        return table

    def _figure_table(self, run_id: int, name: str) -> str:
        """The table of figures, with this one of this run: as above."""
        if not self._read_only:
            self._index_figure(run_id, name)
            return _FIGURE_TABLE
        if not self._lags(f"{_FIGURES}{run_id}/{name}"):
            return _FIGURE_TABLE
        table = self._scratch(f"{_FIGURE_TABLE}_here", SAMPLE_METRICS)
        if (run_id, name) not in self._looked_at:
            after: str | None = "score/"
            while after is not None:
                rows, after = self._figure_rows(run_id, name, 0, after)
                self._connection.executemany(_INSERT_FIGURE.format(table=table), rows)
            self._looked_at.add((run_id, name))
        return table

    def _lags(self, mark: str) -> bool:
        done, newest = self._indexed_and_newest(mark)
        return done < newest


def _bucket_of_row(digest: bytes) -> int:
    return int.from_bytes(digest[:7], "big")


def _name_of(score: bytes) -> str | None:
    """The name that a workflow gave the row of a score."""
    return SampleRecord.score_fields(score).get("name") if b'"n":' in score else None


def _place_of_key(key: str) -> int:
    return place_of(int(key[6:15]), int(key[16:20]))


def _keys_at(places: Sequence[int], after: int | None, *, back: bool) -> Iterator[str]:
    """The keys of samples at places in ascending order, from one of them on; `back`: towards the first."""
    if after is not None:
        places = places[: bisect_left(places, after)] if back else places[bisect_right(places, after) :]
    return (step_key("score", *sample_at(place)) for place in (reversed(places) if back else places))


def _value_of(sample: SampleSteps, name: str) -> float | None:
    """A value of a sample by its name in the index."""
    values = facet_and_values(sample.score)[1]
    return values[name] if name in values else reply_values(sample.score, sample.call_output).get(name)


def _is_current(where: SampleFilter, order: SampleOrder, sample: SampleSteps, value: float | None) -> bool:
    """Whether a sample that an index named with a value passes by its record, which may have been replaced since."""
    facet, values = facet_and_values(sample.score)
    if not where.passes(Facet.from_text(facet)) or _value_of(sample, order.indexed_as or "") != value:
        return False
    if where.metric is not None:
        low, high = where.bounds
        found = values.get(where.metric)
        if found is None or not low < found < high:
            return False
    return where.passes_by_content(sample)

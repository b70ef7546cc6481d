"""The statements of labels and trials."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec.structs import replace

from benchwright.core import JsonObject, NotFoundError, encode_json
from benchwright.store._driver import Row
from benchwright.store._labels import Label, Trial
from benchwright.store._records import load_json, storable, storable_json, storable_message
from benchwright.store._statements.opened import Opened

_COLUMNS = "row_hash, kind, value, reply, who, created_at, run_id, sample_id, repeat, id"
_ROWS_PER_STATEMENT = 500
"""Older builds of SQLite accept at most 999 values."""
_SCORES = "key >= 'score/' AND key < 'score0'"

_FOUND: dict[tuple[object, ...], list[Row]] = {}
"""Keys and hashes of samples with labels, by all on which they depend. Nothing leads from the hash of a row to its samples, so that all
of them are looked at: half a second for a million."""
_MOST_QUESTIONS, _MOST_FOUND = 16, 5_000


class Labels(Opened):
    """Labels by the content of rows."""

    def add_label(self, label: Label) -> Label:
        """Record a label in place of the same person's earlier one on the same thing. One that says the same stays as it is."""
        label = replace(label, value=storable_message(label.value), who=storable(label.who)).checked()
        with self._transaction() as connection:
            known = connection.execute(
                f"SELECT {_COLUMNS} FROM labels WHERE key = ?", (label.key,)
            ).fetchone()
            if known is not None and known[2] == label.value:
                return _label(known)
            values = (
                bytes.fromhex(label.row), label.kind, label.value, label.reply, label.who, label.created_at, label.run_id,
                label.sample_id, label.repeat, label.key,
            )  # fmt: skip
            connection.execute("DELETE FROM labels WHERE key = ?", (label.key,))
            connection.execute(
                "INSERT INTO labels (row_hash, kind, value, reply, who, created_at, run_id, sample_id, repeat, key)"
                " VALUES (?,?,?,?,?,?,?,?,?,?)",
                values,
            )
            found = connection.execute(f"SELECT {_COLUMNS} FROM labels WHERE key = ?", (label.key,))
            return _label(found.fetchone())

    def remove_label(self, number: int) -> Label:
        """Delete a label."""
        with self._transaction() as connection:
            known = connection.execute(f"SELECT {_COLUMNS} FROM labels WHERE id = ?", (number,)).fetchone()
            if known is None:
                raise NotFoundError(f"there is no label {number}. See: benchwright labels RUN")
            connection.execute("DELETE FROM labels WHERE id = ?", (number,))
        return _label(known)

    def labels(
        self, rows: Collection[str] | None = None, *, kind: str | None = None, who: str | None = None,
        after: int | None = None, limit: int | None = None,
    ) -> list[Label]:  # fmt: skip
        """Labels, newest first; those of rows, a kind or a person. `after` is the number of the last one of the page before."""
        if not self._has_labels:
            return []
        if rows is not None:
            given = sorted(set(rows))
            parts = [given[at : at + _ROWS_PER_STATEMENT] for at in range(0, len(given), _ROWS_PER_STATEMENT)]
            found = [
                label
                for part in parts
                for label in self._labels(
                    {f"row_hash IN ({','.join('?' * len(part))})": [bytes.fromhex(each) for each in part]},
                    kind,
                    who,
                    after,
                    limit,
                )
            ]
            return sorted(found, key=lambda label: -label.id)[:limit]
        return self._labels({}, kind, who, after, limit)

    def _labels(
        self,
        where: dict[str, list[bytes]],
        kind: str | None,
        who: str | None,
        after: int | None,
        limit: int | None,
    ) -> list[Label]:
        conditions: dict[str, list[object]] = {text: list(values) for text, values in where.items()}
        for text, value in (("kind = ?", kind), ("who = ?", who), ("id < ?", after)):
            if value is not None:
                conditions[text] = [value]
        chosen = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        limited = "" if limit is None else f" LIMIT {int(limit)}"
        values = [value for each in conditions.values() for value in each]
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM labels{chosen} ORDER BY id DESC{limited}", values
        )
        return [_label(row) for row in rows]

    def labelled(self, run_id: int, kind: str | None = None) -> Iterator[tuple[int, int, str]]:
        """Row number, repeat and row identity of the samples of a run whose rows have labels, in sample order."""
        if not self._has_labels or not self._labels({}, kind, None, None, 1):
            return
        question = self._label_question(run_id, kind)
        found = None if question is None else _FOUND.get(question)
        if found is None:
            chosen = "" if kind is None else " WHERE kind = ?"
            found = self._connection.execute(
                f"SELECT key, input_hash FROM steps WHERE run_id = ? AND {_SCORES}"
                f" AND input_hash IN (SELECT row_hash FROM labels{chosen}) ORDER BY key",
                (run_id, *(() if kind is None else (kind,))),
            ).fetchall()
            if question is not None and len(found) <= _MOST_FOUND:
                _FOUND[question] = found
                while len(_FOUND) > _MOST_QUESTIONS:
                    kept = [*_FOUND]  # another thread may add one meanwhile
                    _FOUND.pop(kept[0], None)
        for key, digest in found:
            yield int(key[6:15]), int(key[16:20]), digest.hex()

    def _label_question(self, run_id: int, kind: str | None) -> tuple[object, ...] | None:
        """All on which it depends which samples of a run have labels; None while the run goes on. A label that is given again keeps its
        number, its row and its kind."""
        ended = self._connection.execute(
            "SELECT finished_at, starts FROM runs WHERE id = ?", (run_id,)
        ).fetchone()
        if ended is None or ended[0] is None:
            return None
        labels = self._connection.execute("SELECT count(*), max(id) FROM labels").fetchone()
        newest = self._connection.execute(
            f"SELECT count(*), max(rowid) FROM steps WHERE run_id = ? AND {_SCORES}", (run_id,)
        ).fetchone()
        return (self._connection.place, run_id, kind, *ended, *labels, *newest)

    def add_trial(self, trial: Trial) -> Trial:
        """Record a trial."""
        content = storable_json(encode_json(trial.content))
        values = (trial.run_id, trial.sample_id, trial.repeat, storable(trial.who), trial.created_at, content)
        with self._transaction(durable=True) as connection:
            connection.execute(
                "INSERT INTO trials (run_id, sample_id, repeat, who, created_at, content) VALUES (?,?,?,?,?,?)",
                values,
            )
            number = connection.execute("SELECT max(id) FROM trials").fetchone()[0]
        return replace(trial, id=number)

    def trials(self, run_id: int, sample: tuple[int, int] | None = None) -> list[Trial]:
        """Trials of a run, or of one of its samples, newest first."""
        if not self._has_labels:
            return []
        chosen = "" if sample is None else " AND sample_id = ? AND repeat = ?"
        rows = self._connection.execute(
            "SELECT run_id, sample_id, repeat, who, created_at, content, id FROM trials"
            f" WHERE run_id = ?{chosen} ORDER BY id DESC",
            (run_id, *(sample or ())),
        )
        names = ("run_id", "sample_id", "repeat", "who", "created_at")
        return [
            Trial(**dict(zip(names, row, strict=False)), content=_object(row[5]), id=row[6]) for row in rows
        ]


def _label(row: Row) -> Label:
    digest, *others = row
    return Label(row=digest.hex(), **dict(zip(_COLUMNS.split(", ")[1:], others, strict=True)))


def _object(text: bytes) -> JsonObject:
    found = load_json(text)
    return found if isinstance(found, dict) else {}

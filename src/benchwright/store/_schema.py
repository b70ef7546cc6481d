"""The database schema as numbered migrations. A migration, once released, is never edited."""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (  # 1: runs, steps, events.
        """
        CREATE TABLE runs (
            id          INTEGER PRIMARY KEY,
            name        TEXT NOT NULL,          -- normalised benchmark name
            target      TEXT NOT NULL,          -- what the user typed
            model       TEXT NOT NULL,          -- model id, as shown in listings
            status      TEXT NOT NULL,          -- queued running interrupted completed failed canceled
            folder      TEXT NOT NULL,          -- where the run's files are written
            settings    BLOB NOT NULL,          -- everything needed to go on, frozen at the start (JSON)
            manifest    BLOB NOT NULL,          -- hashes, fingerprints, versions, seed (JSON)
            summary     BLOB,                   -- written last; its presence means the numbers are final (JSON)
            error       TEXT,
            owner       TEXT,                   -- the live process that executes the run (JSON), or null
            heartbeat   REAL,                   -- wall clock of the owner's last sign of life
            created_at  REAL NOT NULL,
            finished_at REAL
        )
        """,
        """
        CREATE TABLE steps (
            run_id      INTEGER NOT NULL,
            key         TEXT NOT NULL,          -- call/000000012/0, judge/000000012/0/1, score/000000012/0 …
            input_hash  BLOB NOT NULL,          -- covers all that can change the output
            input       BLOB,                   -- what was hashed, so that a hit or miss can be explained
            output      BLOB,                   -- the result (JSON)
            reusable    INTEGER NOT NULL,       -- 1: another run may take this output for the same hash
            started_at  REAL NOT NULL,
            finished_at REAL NOT NULL
        )
        """,
        """
        CREATE UNIQUE INDEX steps_by_key ON steps (run_id, key)
        """,
        """
        CREATE TABLE reply_index (
            input_hash  BLOB PRIMARY KEY,
            step        INTEGER NOT NULL        -- rowid of the newest reusable step with that hash
        ) WITHOUT ROWID
        """,
        "CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
        """
        CREATE TABLE events (
            id          INTEGER PRIMARY KEY AUTOINCREMENT,
            run_id      INTEGER NOT NULL,
            kind        TEXT NOT NULL,          -- run.started run.resumed run.stopped run.finished warning
            message     TEXT NOT NULL,
            created_at  REAL NOT NULL
        )
        """,
        """
        CREATE INDEX events_by_run ON events (run_id)
        """,
    ),
)

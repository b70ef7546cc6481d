"""The database schema as numbered migrations. A migration, once released, is never edited."""

from __future__ import annotations

import sqlite3

SAMPLE_INDEX = """
        CREATE TABLE sample_index (
            run_id      INTEGER NOT NULL,
            facet       TEXT NOT NULL,          -- outcome/verdict/marks, out of the score
            key         TEXT NOT NULL,          -- of the score
            PRIMARY KEY (run_id, facet, key)
        ) WITHOUT ROWID
        """
SAMPLE_METRICS = """
        CREATE TABLE sample_metrics (
            run_id      INTEGER NOT NULL,
            name        TEXT NOT NULL,          -- of the metric
            facet       TEXT NOT NULL,          -- as in sample_index
            bucket      INTEGER NOT NULL,       -- of the value: few per run, in the order of values
            key         TEXT NOT NULL,          -- of the score
            value       REAL NOT NULL,
            PRIMARY KEY (run_id, name, facet, bucket, key)
        ) WITHOUT ROWID
        """

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
    (  # 2: workflows: runs with an input and an output, steps with attempts, metric points, events of steps.
        "ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'benchmark'",  # benchmark workflow
        "ALTER TABLE runs ADD COLUMN input BLOB",  # of a workflow (JSON)
        "ALTER TABLE runs ADD COLUMN output BLOB",  # what its handler returned (JSON)
        "ALTER TABLE runs ADD COLUMN tags BLOB",  # the user's own labels (JSON object)
        "ALTER TABLE runs ADD COLUMN lease TEXT",  # who knows this word may write; new with each claim
        "ALTER TABLE runs ADD COLUMN starts INTEGER NOT NULL DEFAULT 1",  # times it was started or resumed
        """
        CREATE TABLE workflow_steps (
            id          INTEGER PRIMARY KEY,    -- of a sequence in `marks`: known before the row is written
            run_id      INTEGER NOT NULL,
            key         TEXT NOT NULL,          -- the user's name for the step, unique in its run
            generation  INTEGER NOT NULL,       -- 1, 2 …: an older one was superseded, its row is kept
            attempt     INTEGER NOT NULL,       -- 1, 2 …: how often this generation was begun
            input_hash  TEXT NOT NULL,          -- SHA-256 of the input's canonical JSON
            input       BLOB,                   -- that JSON; null when only the hash is known
            status      TEXT NOT NULL,          -- running completed failed interrupted
            output      BLOB,                   -- JSON
            error       TEXT,
            owner       TEXT,                   -- lease and holder that began the attempt
            started_at  REAL NOT NULL,          -- of the last attempt
            finished_at REAL,
            UNIQUE (run_id, key, generation)
        )
        """,
        """
        CREATE TABLE metrics (
            id          INTEGER PRIMARY KEY,
            run_id      INTEGER NOT NULL,
            step_id     INTEGER,                -- null: of the run as a whole
            name        TEXT NOT NULL,
            value       REAL NOT NULL,
            unit        TEXT,
            tags        TEXT,                   -- JSON object with sorted keys
            slot        INTEGER,                -- n-th point of that name there; a resumed run fills it again
            attempt     INTEGER NOT NULL,       -- of the step
            superseded  INTEGER NOT NULL,       -- 1: of an attempt whose step was executed again
            created_at  REAL NOT NULL
        )
        """,
        """
        CREATE UNIQUE INDEX metrics_by_slot ON metrics
            (run_id, coalesce(step_id, 0), name, coalesce(tags, ''), slot) WHERE slot IS NOT NULL
        """,
        "CREATE INDEX metrics_by_run ON metrics (run_id, id)",
        "ALTER TABLE events ADD COLUMN step_id INTEGER",
        "ALTER TABLE events ADD COLUMN data BLOB",  # JSON
        "INSERT OR IGNORE INTO marks VALUES ('workflow_steps', 0)",  # the last step number given out
    ),
    (  # 3: a sample's only call may be in the row of its score: half the rows, two thirds of the time.
        "ALTER TABLE steps ADD COLUMN call_hash BLOB",  # as input_hash; null: the call has its own row
        "ALTER TABLE steps ADD COLUMN call_input BLOB",  # as input
        "ALTER TABLE steps ADD COLUMN call_output BLOB",  # as output; `reusable` then speaks of the call
    ),
    (  # 4: samples by what filters ask for. Filled in bulk; `marks` has how far, so older runs are indexed when asked for.
        SAMPLE_INDEX,
    ),
    (  # 5: every commit checks the lease. Its column comes after settings and manifest, kilobytes that need not be read.
        "CREATE INDEX runs_by_lease ON runs (lease)",
    ),
    (  # 6: samples by the value of a metric, filled when somebody filters by one; attempts of a step that failed.
        SAMPLE_METRICS,
        "ALTER TABLE workflow_steps ADD COLUMN failures INTEGER NOT NULL DEFAULT 0",
    ),
    (  # 7: how long processes worked on a run. A run waits in a suite, and between a kill and a resume.
        "ALTER TABLE runs ADD COLUMN began REAL",  # wall clock of the start that has not ended, or null
        "ALTER TABLE runs ADD COLUMN worked REAL",  # seconds of all starts that ended; null: of an older version
    ),
)


LAST_RUN = (
    "SELECT max(coalesce((SELECT max(id) FROM runs), 0),"
    " coalesce((SELECT value FROM marks WHERE name = 'removed_run'), 0))"
)
"""The highest run number ever used. A removed run's number counts, because users may have noted it."""


def show_as_newest(connection: sqlite3.Connection, version: int) -> None:
    """Make a read-only database of an older version readable with the current statements.

    Temporary views of the connection take precedence over the tables of the database.
    """
    connection.execute("PRAGMA temp_store = MEMORY")
    if version > 1:
        connection.execute("CREATE TEMP VIEW runs AS SELECT *, NULL AS began, NULL AS worked FROM main.runs")
    if version > 2:
        return
    connection.execute(
        "CREATE TEMP VIEW steps AS SELECT rowid AS rowid, *, NULL AS call_hash, NULL AS call_input,"
        " NULL AS call_output FROM main.steps"
    )
    if version > 1:
        return
    connection.execute(
        "CREATE TEMP VIEW runs AS SELECT *, 'benchmark' AS kind, NULL AS input, NULL AS output, NULL AS tags,"
        " NULL AS lease, 1 AS starts, NULL AS began, NULL AS worked FROM main.runs"
    )
    connection.execute("CREATE TEMP VIEW events AS SELECT *, NULL AS step_id, NULL AS data FROM main.events")
    for statement in MIGRATIONS[1]:
        if statement.lstrip().startswith("CREATE TABLE"):
            connection.execute(statement.replace("CREATE TABLE", "CREATE TEMP TABLE", 1))

"""The tables, for every database. Words in braces are given by its dialect."""

from __future__ import annotations

from benchwright.store._driver import Access, Connection, Driver
from benchwright.store._records import StoreError

SAMPLE_INDEX = """(
    run_id      {integer} NOT NULL,
    facet       {key} NOT NULL,         -- outcome/verdict/marks, out of the score
    key         {key} NOT NULL,         -- of the score
    PRIMARY KEY (run_id, facet, key)
) {by_key}"""
SAMPLE_METRICS = """(
    run_id      {integer} NOT NULL,
    name        {key} NOT NULL,         -- of the metric
    facet       {key} NOT NULL,         -- as in sample_index
    bucket      {integer} NOT NULL,       -- of the value: few per run, in the order of values
    key         {key} NOT NULL,         -- of the score
    value       {number} NOT NULL,
    PRIMARY KEY (run_id, name, facet, bucket, key)
) {by_key}"""

_TABLES = (
    """
    CREATE TABLE runs (
        id          {integer} PRIMARY KEY,
        name        TEXT NOT NULL,          -- normalised benchmark name
        target      TEXT NOT NULL,          -- what the user typed
        model       TEXT NOT NULL,          -- model id, as shown in listings
        status      TEXT NOT NULL,          -- queued running interrupted completed failed canceled
        folder      TEXT NOT NULL,          -- where the run's files are written
        settings    {bytes} NOT NULL,       -- everything needed to go on, frozen at the start (JSON)
        manifest    {bytes} NOT NULL,       -- hashes, fingerprints, versions, seed (JSON)
        summary     {bytes},                -- written last; its presence means the numbers are final (JSON)
        error       TEXT,
        owner       TEXT,                   -- the live process that executes the run (JSON), or null
        heartbeat   {number},               -- wall clock of the owner's last sign of life
        created_at  {number} NOT NULL,
        finished_at {number},
        kind        TEXT NOT NULL DEFAULT 'benchmark',
        input       {bytes},                -- of a workflow (JSON)
        output      {bytes},                -- what its handler returned (JSON)
        tags        {bytes},                -- the user's own labels (JSON object)
        lease       TEXT,                   -- who knows this word may write; new with each claim
        starts      {integer} NOT NULL DEFAULT 1, -- times it was started or resumed
        began       {number},               -- wall clock of the start that has not ended, or null
        worked      {number}                -- seconds that processes worked on it, in all starts that ended; null: not known
    )
    """,
    # Every commit checks the lease. Its column comes after settings and manifest, kilobytes that need not be read.
    "CREATE INDEX runs_by_lease ON runs (lease)",
    """
    CREATE TABLE steps ({row_number}
        run_id      {integer} NOT NULL,
        key         {key} NOT NULL,         -- call/000000012/0, judge/000000012/0/1, score/000000012/0 …
        input_hash  {bytes} NOT NULL,       -- covers all that can change the output
        input       {bytes},                -- what was hashed, so that a hit or miss can be explained
        output      {bytes},                -- the result (JSON)
        reusable    {integer} NOT NULL,       -- 1: another run may take this output for the same hash
        started_at  {number} NOT NULL,
        finished_at {number} NOT NULL,
        call_hash   {bytes},                -- of a sample's only call, as input_hash; null: calls have their own rows
        call_input  {bytes},                -- as input. One row for both is half the rows, and two thirds of the time
        call_output {bytes}                 -- as output; `reusable` then speaks of the call
    )
    """,
    "CREATE UNIQUE INDEX steps_by_key ON steps (run_id, key)",
    """
    CREATE TABLE reply_index (
        input_hash  {bytes} PRIMARY KEY,
        step        {integer} NOT NULL        -- rowid of the newest reusable step with that hash
    ) {by_key}
    """,
    "CREATE TABLE marks (name {key} PRIMARY KEY, value {integer} NOT NULL) {by_key}",
    """
    CREATE TABLE events (
        id          {counted},
        run_id      {integer} NOT NULL,
        kind        TEXT NOT NULL,
        message     TEXT NOT NULL,
        created_at  {number} NOT NULL,
        step_id     {integer},                -- of a workflow
        data        {bytes}                 -- JSON
    )
    """,
    "CREATE INDEX events_by_run ON events (run_id)",
    """
    CREATE TABLE workflow_steps (
        id          {integer} PRIMARY KEY,    -- of a sequence in `marks`: known before the row is written
        run_id      {integer} NOT NULL,
        key         {key} NOT NULL,         -- the user's name for the step, unique in its run
        generation  {integer} NOT NULL,       -- 1, 2 …: an older one was superseded, its row is kept
        attempt     {integer} NOT NULL,       -- 1, 2 …: how often this generation was begun
        input_hash  TEXT NOT NULL,          -- SHA-256 of the input's canonical JSON
        input       {bytes},                -- that JSON; null when only the hash is known
        status      TEXT NOT NULL,          -- running completed failed interrupted
        output      {bytes},                -- JSON
        error       TEXT,
        owner       TEXT,                   -- lease and holder that began the attempt
        started_at  {number} NOT NULL,      -- of the last attempt
        finished_at {number},
        failures    {integer} NOT NULL DEFAULT 0, -- attempts of this generation that failed
        UNIQUE (run_id, key, generation)
    )
    """,
    """
    CREATE TABLE metrics (
        id          {numbered},
        run_id      {integer} NOT NULL,
        step_id     {integer},                -- null: of the run as a whole
        name        TEXT NOT NULL,
        value       {number} NOT NULL,
        unit        TEXT,
        tags        TEXT,                   -- JSON object with sorted keys
        slot        {integer},                -- n-th point of that name there; a resumed run fills it again
        attempt     {integer} NOT NULL,       -- of the step
        superseded  {integer} NOT NULL,       -- 1: of an attempt whose step was executed again
        created_at  {number} NOT NULL
    )
    """,
    """
    CREATE UNIQUE INDEX metrics_by_slot ON metrics
        (run_id, coalesce(step_id, 0), name, coalesce(tags, ''), slot) WHERE slot IS NOT NULL
    """,
    "CREATE INDEX metrics_by_run ON metrics (run_id, id)",
    # Samples by what filters ask for, filled in bulk; `marks` has how far.
    f"CREATE TABLE sample_index {SAMPLE_INDEX}",
    f"CREATE TABLE sample_metrics {SAMPLE_METRICS}",
    "INSERT INTO marks VALUES ('workflow_steps', 0)",  # the last step number given out
)
_FIRST = 7
"""The version of these tables. Those before it were never released."""
_CHANGES: tuple[tuple[str, ...], ...] = (
    # How far a live run has come (JSON), written with the heartbeat.
    ("ALTER TABLE runs ADD COLUMN progress {bytes}",),
    # What people say of rows, whichever run they saw them in; and samples that were sent again by hand.
    (
        """
        CREATE TABLE labels (
            id          {counted},
            key         {key} NOT NULL UNIQUE,  -- what there is one label of: see `Label.key`
            row_hash    {bytes} NOT NULL,       -- the row, as input_hash of its scores
            kind        TEXT NOT NULL,
            value       TEXT,
            reply       TEXT,                   -- the reply that it is about, or null
            who         TEXT NOT NULL,
            created_at  {number} NOT NULL,
            run_id      {integer} NOT NULL,     -- where it was seen; the run may be gone
            sample_id   {integer} NOT NULL,
            repeat      {integer} NOT NULL
        )
        """,
        "CREATE INDEX labels_by_row ON labels (row_hash)",
        """
        CREATE TABLE trials (
            id          {counted},
            run_id      {integer} NOT NULL,
            sample_id   {integer} NOT NULL,
            repeat      {integer} NOT NULL,
            who         TEXT NOT NULL,
            created_at  {number} NOT NULL,
            content     {bytes} NOT NULL        -- what was sent and what came of it (JSON)
        )
        """,
        "CREATE INDEX trials_by_run ON trials (run_id, sample_id, repeat)",
    ),
    # What the end of a run found in all its samples (JSON), so that no page reads them all.
    ("ALTER TABLE runs ADD COLUMN overview {bytes}",),
)
"""The statements of each later version, in order. One that was released is never edited."""
VERSION = _FIRST + len(_CHANGES)
TELLS_PROGRESS = 8
"""The version from which runs have their progress."""
HAS_LABELS = 9
"""The version from which there are labels and trials."""
HAS_OVERVIEWS = 10
"""The version from which runs have their overview."""

LAST_RUN = "SELECT max(id) FROM (SELECT id FROM runs UNION ALL SELECT value FROM marks WHERE name = 'removed_run') AS numbers"
"""The highest run number ever used. A removed run's number counts, because users may have noted it."""


def connected(driver: Driver, access: Access = "write", *, log_pages: int = 0) -> Connection:
    """Open a database with the tables of this version, and create or change them unless it is only read."""
    try:
        connection = driver.connect(access, log_pages=log_pages)
        try:
            if _known_version(connection) < VERSION and access != "read":
                _change(connection)
        except BaseException:
            connection.close()
            raise
    except driver.errors as error:
        raise driver.not_read(error) from error
    return connection


def _change(connection: Connection) -> None:
    # Two processes may open a new workspace at once; the second waits here, and then finds it done.
    connection.begin()
    try:
        version = _known_version(connection)
        later = (statement for change in _CHANGES[max(version - _FIRST, 0) :] for statement in change)
        statements = (*(() if version else _TABLES), *later)
        for statement in statements:
            connection.execute(statement.format_map(connection.words))
        connection.set_version(VERSION)
        connection.commit()
    except BaseException:
        connection.rollback()
        raise


def _known_version(connection: Connection) -> int:
    version = connection.version()
    if version > VERSION:
        raise StoreError(
            f"{connection.place} was written by a newer benchwright (schema {version}, this one knows {VERSION}). "
            "Upgrade benchwright, or choose another --workspace."
        )
    if 0 < version < _FIRST:
        raise StoreError(
            f"{connection.place} was written by a benchwright before 0.1.0 (schema {version}, this one reads {_FIRST} and later). "
            "Choose another --workspace, or move the file away: its runs can be read from their folders with benchwright doctor"
        )
    return version

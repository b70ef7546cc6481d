PRAGMA user_version = 7;
BEGIN TRANSACTION;
CREATE TABLE events (
            id          INTEGER PRIMARY KEY AUTOINCREMENT,
            run_id      INTEGER NOT NULL,
            kind        TEXT NOT NULL,          -- run.started run.resumed run.stopped run.finished warning
            message     TEXT NOT NULL,
            created_at  REAL NOT NULL
        , step_id INTEGER, data BLOB);
INSERT INTO "events" VALUES(1,1,'run.started','started on sums.py',1.79495330920105624194e+09,NULL,NULL);
INSERT INTO "events" VALUES(2,1,'run.finished','completed',1.79495330920291709902e+09,NULL,NULL);
INSERT INTO "events" VALUES(3,2,'run.started','my_eval',1.7949533092077879906e+09,NULL,NULL);
INSERT INTO "events" VALUES(4,2,'step.started','a',1.79495330920843696592e+09,1,NULL);
INSERT INTO "events" VALUES(5,2,'step.completed','a',1.79495330920858597758e+09,1,NULL);
INSERT INTO "events" VALUES(6,2,'note','half',1.79495330920879149439e+09,NULL,NULL);
INSERT INTO "events" VALUES(7,2,'run.completed','completed',1.79495330920889782904e+09,NULL,NULL);
INSERT INTO "events" VALUES(8,3,'run.started','started on b.py',1.79495330921156239509e+09,NULL,NULL);
CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "marks" VALUES('replies',2);
INSERT INTO "marks" VALUES('samples',2);
INSERT INTO "marks" VALUES('workflow_steps',1);
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
        );
INSERT INTO "metrics" VALUES(1,2,NULL,'acc',0.5,'ratio',NULL,0,0,0,1.79495330920865821841e+09);
CREATE TABLE reply_index (
            input_hash  BLOB PRIMARY KEY,
            step        INTEGER NOT NULL        -- rowid of the newest reusable step with that hash
        ) WITHOUT ROWID
        ;
INSERT INTO "reply_index" VALUES(X'6330',1);
INSERT INTO "reply_index" VALUES(X'6331',2);
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
        , kind TEXT NOT NULL DEFAULT 'benchmark', input BLOB, output BLOB, tags BLOB, lease TEXT, starts INTEGER NOT NULL DEFAULT 1, began REAL, worked REAL);
INSERT INTO "runs" VALUES(1,'sums','sums.py','demo','completed',CAST(X'00776F726B73706163652F2E62656E63687772696768742F72756E732F303030312D73756D73' AS TEXT),X'7B226C696D6974223A327D',X'7B2264617461736574223A7B2266696E6765727072696E74223A2266227D7D',X'7B226576616C7561746564223A327D',NULL,NULL,1.79495330919993257524e+09,1.79495330919993257524e+09,1.79495330920283985135e+09,'benchmark',NULL,NULL,NULL,NULL,1,NULL,2.907276153564453125e-03);
INSERT INTO "runs" VALUES(2,'my_eval','my_eval','','completed',CAST(X'00776F726B73706163652F2E62656E63687772696768742F72756E732F303030322D6D795F6576616C' AS TEXT),X'7B7D',X'7B7D',X'7B227374657073223A7B22636F6D706C65746564223A317D2C226D657472696373223A7B22616363223A7B2276616C7565223A302E352C22636F756E74223A312C226C617374223A302E352C226D696E223A302E352C226D6178223A302E352C22756E6974223A22726174696F227D7D7D',NULL,NULL,1.7949533092077879906e+09,1.7949533092077879906e+09,1.79495330920889782904e+09,'workflow',X'7B226E223A317D',X'33',X'7B227465616D223A2261227D',NULL,1,NULL,1.1098384857177734375e-03);
INSERT INTO "runs" VALUES(3,'left','b.py','m','running',CAST(X'00776F726B73706163652F2E62656E63687772696768742F72756E732F303030332D6C656674' AS TEXT),X'7B7D',X'7B7D',NULL,NULL,'["elsewhere",1,"x"]',1.79495330921125221257e+09,1.79495330921125221257e+09,NULL,'benchmark',NULL,NULL,NULL,'8b8ce777b76f0416',1,1.79495330921125221257e+09,0.0);
CREATE TABLE sample_index (
            run_id      INTEGER NOT NULL,
            facet       TEXT NOT NULL,          -- outcome/verdict/marks, out of the score
            key         TEXT NOT NULL,          -- of the score
            PRIMARY KEY (run_id, facet, key)
        ) WITHOUT ROWID
        ;
INSERT INTO "sample_index" VALUES(1,'//','score/000000000/0000');
INSERT INTO "sample_index" VALUES(1,'//','score/000000001/0000');
CREATE TABLE sample_metrics (
            run_id      INTEGER NOT NULL,
            name        TEXT NOT NULL,          -- of the metric
            facet       TEXT NOT NULL,          -- as in sample_index
            bucket      INTEGER NOT NULL,       -- of the value: few per run, in the order of values
            key         TEXT NOT NULL,          -- of the score
            value       REAL NOT NULL,
            PRIMARY KEY (run_id, name, facet, bucket, key)
        ) WITHOUT ROWID
        ;
CREATE TABLE steps (
            run_id      INTEGER NOT NULL,
            key         TEXT NOT NULL,          -- call/000000012/0, judge/000000012/0/1, score/000000012/0 …
            input_hash  BLOB NOT NULL,          -- covers all that can change the output
            input       BLOB,                   -- what was hashed, so that a hit or miss can be explained
            output      BLOB,                   -- the result (JSON)
            reusable    INTEGER NOT NULL,       -- 1: another run may take this output for the same hash
            started_at  REAL NOT NULL,
            finished_at REAL NOT NULL
        , call_hash BLOB, call_input BLOB, call_output BLOB);
INSERT INTO "steps" VALUES(1,'score/000000000/0000',X'6830',X'7B2271223A307D',X'7B226F7574636F6D65223A2273636F726564222C2273636F726573223A7B22636F7272656374223A747275657D7D',1,1.0,2.0,X'6330',X'7B2270726F6D7074223A2270227D',X'7B2274223A2272227D');
INSERT INTO "steps" VALUES(1,'score/000000001/0000',X'6831',X'7B2271223A317D',X'7B226F7574636F6D65223A2273636F726564222C2273636F726573223A7B22636F7272656374223A747275657D7D',1,1.0,2.0,X'6331',X'7B2270726F6D7074223A2270227D',X'7B2274223A2272227D');
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
            finished_at REAL, failures INTEGER NOT NULL DEFAULT 0,
            UNIQUE (run_id, key, generation)
        );
INSERT INTO "workflow_steps" VALUES(1,2,'a',1,1,'6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b',X'31','completed',X'32',NULL,'104ab65b6e4c576f',1.79495330920843696592e+09,1.79495330920858597758e+09,0);
CREATE UNIQUE INDEX steps_by_key ON steps (run_id, key)
        ;
CREATE INDEX events_by_run ON events (run_id)
        ;
CREATE UNIQUE INDEX metrics_by_slot ON metrics
            (run_id, coalesce(step_id, 0), name, coalesce(tags, ''), slot) WHERE slot IS NOT NULL
        ;
CREATE INDEX metrics_by_run ON metrics (run_id, id);
CREATE INDEX runs_by_lease ON runs (lease);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('events',8);
COMMIT;

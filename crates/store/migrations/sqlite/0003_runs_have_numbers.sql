-- A log names its run by a number. The index of all logs is written to in as many places as there are runs going on:
-- the smaller its entries, the fewer pages that is. AUTOINCREMENT: a number never comes back, so what is late for a
-- run that has been removed finds none.

CREATE TABLE new_runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat TEXT REFERENCES chats (id) ON DELETE CASCADE,
    message TEXT,
    model TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    finished_at BIGINT,
    summary TEXT
);
INSERT INTO new_runs (id, owner, chat, message, model, started_at, finished_at, summary)
SELECT id, owner, chat, message, model, started_at, finished_at, summary FROM runs ORDER BY rowid;

CREATE TABLE new_segments (
    run BIGINT NOT NULL REFERENCES new_runs (number) ON DELETE CASCADE,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    lines TEXT NOT NULL,
    PRIMARY KEY (run, first_seq)
);
INSERT INTO new_segments (run, first_seq, last_seq, lines)
SELECT new_runs.number, first_seq, last_seq, lines
FROM segments JOIN new_runs ON new_runs.id = segments.run ORDER BY segments.rowid;

CREATE TABLE new_run_inputs (
    run TEXT PRIMARY KEY REFERENCES new_runs (id) ON DELETE CASCADE,
    input TEXT NOT NULL
);
INSERT INTO new_run_inputs (run, input) SELECT run, input FROM run_inputs;

DROP TABLE run_inputs;
DROP TABLE segments;
DROP TABLE runs;
-- Renaming a table renames it in what refers to it, too.
ALTER TABLE new_runs RENAME TO runs;
ALTER TABLE new_segments RENAME TO segments;
ALTER TABLE new_run_inputs RENAME TO run_inputs;

CREATE INDEX runs_by_owner ON runs (owner);
CREATE INDEX runs_by_chat ON runs (chat);
CREATE INDEX runs_unfinished ON runs (started_at) WHERE finished_at IS NULL;
CREATE INDEX runs_chatless ON runs (finished_at) WHERE chat IS NULL;

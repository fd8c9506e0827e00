-- Several servers on one database: which of them are alive, whose a run is, and what others ask its server to do. SQLite's
-- file has one server only, so there all of it stays empty.

CREATE TABLE servers (
    id TEXT COLLATE "C" PRIMARY KEY,
    -- By the database's own clock, milliseconds since 1970.
    alive_until BIGINT NOT NULL
);
ALTER TABLE runs ADD COLUMN server TEXT COLLATE "C";
CREATE TABLE run_commands (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    command TEXT NOT NULL
);
CREATE INDEX run_commands_by_run ON run_commands (run);

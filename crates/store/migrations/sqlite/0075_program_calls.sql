-- Calls of programs that runners execute, and the runners themselves.

-- Runners that have called: `about` is JSON with what they can run.
CREATE TABLE runners (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    about TEXT NOT NULL,
    draining BOOLEAN NOT NULL,
    seen_at BIGINT NOT NULL
);

-- `state` is waiting, leased, done (a result is there), taken (the result is in the files of the chat), lost (the lease ended
-- without a result) or refused (it never ran). `work`, `result` and `lines` are JSON. A call is leased once.
CREATE TABLE program_calls (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    call TEXT NOT NULL,
    workspace TEXT NOT NULL,
    directory TEXT,
    state TEXT NOT NULL,
    stop BOOLEAN NOT NULL DEFAULT FALSE,
    runner TEXT,
    lease TEXT UNIQUE,
    leased_until BIGINT NOT NULL DEFAULT 0,
    turn BIGINT NOT NULL DEFAULT 0,
    work TEXT NOT NULL,
    output TEXT NOT NULL DEFAULT '',
    result TEXT,
    lines TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (run, call)
);
CREATE INDEX program_calls_waiting ON program_calls (created_at) WHERE state = 'waiting';
CREATE INDEX program_calls_by_runner ON program_calls (runner) WHERE state = 'leased';
-- The programs of a chat run one at a time.
CREATE UNIQUE INDEX program_calls_one_at_a_time ON program_calls (workspace) WHERE state = 'leased';

-- Contents of files that a program has changed, until they are in the files of the chat.
CREATE TABLE program_files (
    lease TEXT NOT NULL REFERENCES program_calls (lease) ON DELETE CASCADE,
    sha256 TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (lease, sha256)
);

-- The runner that had the last call of a chat, and how many calls there were: it has the Python variables.
CREATE TABLE program_places (
    workspace TEXT NOT NULL PRIMARY KEY,
    runner TEXT NOT NULL,
    turn BIGINT NOT NULL,
    used_at BIGINT NOT NULL
);

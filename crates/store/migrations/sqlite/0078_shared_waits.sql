-- Exports and imports in progress, one for each account.
CREATE TABLE transfers (
    owner TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    server TEXT NOT NULL
);

-- When the next request to a website may begin.
CREATE TABLE host_turns (
    origin TEXT PRIMARY KEY,
    next_at BIGINT NOT NULL
);
CREATE INDEX host_turns_by_time ON host_turns (next_at);

-- Model servers and keys that a server leaves alone for a while, so that the others do not have to find out.
CREATE TABLE upstream_pauses (
    name TEXT PRIMARY KEY,
    server TEXT NOT NULL,
    until BIGINT NOT NULL,
    -- Why, as JSON.
    reason TEXT NOT NULL
);

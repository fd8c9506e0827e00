-- Exports and imports in progress, one for each account.
CREATE TABLE transfers (
    owner TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    server TEXT COLLATE "C" NOT NULL
);

-- When the next request to a website may begin.
CREATE TABLE host_turns (
    origin TEXT COLLATE "C" PRIMARY KEY,
    next_at BIGINT NOT NULL
);
CREATE INDEX host_turns_by_time ON host_turns (next_at);

-- Model servers and keys that a server leaves alone for a while, so that the others do not have to find out.
CREATE TABLE upstream_pauses (
    name TEXT COLLATE "C" PRIMARY KEY,
    server TEXT COLLATE "C" NOT NULL,
    until BIGINT NOT NULL,
    -- Why, as JSON.
    reason TEXT NOT NULL
);

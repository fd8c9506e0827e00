-- Those who were suspended since a certain time.
DROP INDEX users_suspended;
CREATE INDEX users_suspended ON users (suspended_at) WHERE suspended_at IS NOT NULL;

-- Failed attempts to sign in, by address, account or both.
CREATE TABLE sign_in_failures (
    name TEXT PRIMARY KEY,
    count INTEGER NOT NULL,
    last_at INTEGER NOT NULL
);
CREATE INDEX sign_in_failures_by_time ON sign_in_failures (last_at);

-- What was used within a minute of the clock, against limits per minute; the minute is in milliseconds / 60,000.
CREATE TABLE minute_usage (
    minute INTEGER NOT NULL,
    subject TEXT NOT NULL,
    requests INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    cost_micro_usd INTEGER NOT NULL,
    PRIMARY KEY (minute, subject)
);

-- Sessions of MCP clients, so that every server can go on with them.
CREATE TABLE mcp_sessions (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    api_key TEXT,
    person TEXT,
    -- The client's `initialize` parameters, as JSON.
    initialized TEXT NOT NULL,
    used_at INTEGER NOT NULL
);
CREATE INDEX mcp_sessions_by_owner ON mcp_sessions (owner);
CREATE INDEX mcp_sessions_by_use ON mcp_sessions (used_at);

-- The chats that they have used.
CREATE TABLE mcp_session_chats (
    session TEXT NOT NULL REFERENCES mcp_sessions (id) ON DELETE CASCADE,
    chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (session, chat)
);
CREATE INDEX mcp_session_chats_by_chat ON mcp_session_chats (chat);

-- Turns of the programs of a chat: the server whose programs run, or none, and how many turns there were.
CREATE TABLE program_turns (
    workspace TEXT PRIMARY KEY,
    server TEXT NOT NULL,
    number INTEGER NOT NULL,
    held_until INTEGER NOT NULL
);

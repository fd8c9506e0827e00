-- Those who were suspended since a certain time.
DROP INDEX users_suspended;
CREATE INDEX users_suspended ON users (suspended_at) WHERE suspended_at IS NOT NULL;

-- Failed attempts to sign in, by address, account or both.
CREATE TABLE sign_in_failures (
    name TEXT COLLATE "C" PRIMARY KEY,
    count BIGINT NOT NULL,
    last_at BIGINT NOT NULL
);
CREATE INDEX sign_in_failures_by_time ON sign_in_failures (last_at);

-- What was used within a minute of the clock, against limits per minute; the minute is in milliseconds / 60,000.
CREATE TABLE minute_usage (
    minute BIGINT NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    requests BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    cost_micro_usd BIGINT NOT NULL,
    PRIMARY KEY (minute, subject)
);

-- Sessions of MCP clients, so that every server can go on with them.
CREATE TABLE mcp_sessions (
    id TEXT COLLATE "C" PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    api_key TEXT COLLATE "C",
    person TEXT COLLATE "C",
    -- The client's `initialize` parameters, as JSON.
    initialized TEXT NOT NULL,
    used_at BIGINT NOT NULL
);
CREATE INDEX mcp_sessions_by_owner ON mcp_sessions (owner);
CREATE INDEX mcp_sessions_by_use ON mcp_sessions (used_at);

-- The chats that they have used.
CREATE TABLE mcp_session_chats (
    session TEXT COLLATE "C" NOT NULL REFERENCES mcp_sessions (id) ON DELETE CASCADE,
    chat TEXT COLLATE "C" NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    used_at BIGINT NOT NULL,
    PRIMARY KEY (session, chat)
);
CREATE INDEX mcp_session_chats_by_chat ON mcp_session_chats (chat);

-- Turns of the programs of a chat: the server whose programs run, or none, and how many turns there were.
CREATE TABLE program_turns (
    workspace TEXT COLLATE "C" PRIMARY KEY,
    server TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    held_until BIGINT NOT NULL
);

-- The first schema. Its twin for the other database differs in column types only.
-- COLLATE "C": ids and names sort by bytes, as they do on SQLite, whatever the server's language.

CREATE TABLE users (
    id TEXT COLLATE "C" PRIMARY KEY,
    email TEXT NOT NULL,
    -- The address in lower case: what is compared.
    email_key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE sessions (
    id TEXT COLLATE "C" PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    token_hash BYTEA NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_by_owner ON sessions (owner);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE api_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    secret_hash BYTEA NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
);
CREATE INDEX api_keys_by_owner ON api_keys (owner);

CREATE TABLE connections (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    base_url TEXT NOT NULL,
    sealed_key BYTEA,
    models TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE settings (
    name TEXT COLLATE "C" PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE chats (
    id TEXT COLLATE "C" PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    -- The title in lower case, for the search.
    search_text TEXT NOT NULL,
    current_message TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX chats_by_owner ON chats (owner, updated_at);

CREATE TABLE messages (
    id TEXT COLLATE "C" PRIMARY KEY,
    chat TEXT COLLATE "C" NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    parent TEXT COLLATE "C",
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    -- The text parts in lower case, for the search.
    search_text TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    model TEXT,
    run TEXT COLLATE "C",
    summary TEXT
);
CREATE INDEX messages_by_chat ON messages (chat, created_at);

CREATE TABLE runs (
    id TEXT COLLATE "C" PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat TEXT COLLATE "C" REFERENCES chats (id) ON DELETE CASCADE,
    message TEXT COLLATE "C",
    model TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    finished_at BIGINT,
    summary TEXT
);
CREATE INDEX runs_by_owner ON runs (owner);
CREATE INDEX runs_by_chat ON runs (chat);
CREATE INDEX runs_unfinished ON runs (started_at) WHERE finished_at IS NULL;
CREATE INDEX runs_chatless ON runs (finished_at) WHERE chat IS NULL;

-- The logs: one row holds consecutive events of one run, a JSON line each.
CREATE TABLE segments (
    run TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    lines TEXT NOT NULL,
    PRIMARY KEY (run, first_seq)
);

-- A workspace is named by the id of its chat or, for a run without a chat, of its run.
CREATE TABLE files (
    workspace TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    content BYTEA NOT NULL,
    size_bytes BIGINT NOT NULL,
    version BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, path)
);

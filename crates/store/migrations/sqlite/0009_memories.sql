-- What agents keep of a person beyond one chat: texts that they write themselves, and what they have learned.

-- `agent` is the name of the one agent that has the text, empty where all have it. `by_agent` is who wrote it last, nothing
-- where the person did.
CREATE TABLE memories (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    agent TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    content TEXT NOT NULL,
    pinned BOOLEAN NOT NULL,
    version BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    by_agent TEXT,
    by_chat TEXT REFERENCES chats (id) ON DELETE SET NULL,
    UNIQUE (owner, agent, name)
);
CREATE INDEX memories_by_chat ON memories (by_chat);

-- The tool calls that have changed one, written together with the change: a call that is made again after a crash finds
-- itself here.
CREATE TABLE memory_calls (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    call TEXT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (run, call)
);

-- Whether agents may use the memory, and since when they learn from what the person writes; nothing where they do not.
ALTER TABLE users ADD COLUMN uses_memory BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE users ADD COLUMN learns_since BIGINT;

-- What was learned. `corrected` ones are in the person's words.
CREATE TABLE facts (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    content TEXT NOT NULL,
    chat TEXT REFERENCES chats (id) ON DELETE SET NULL,
    message TEXT,
    learned_at BIGINT NOT NULL,
    corrected BOOLEAN NOT NULL
);
CREATE INDEX facts_by_owner ON facts (owner, learned_at);
CREATE INDEX facts_by_chat ON facts (chat);

-- Up to when the messages of a chat were looked at, so that none is looked at twice.
CREATE TABLE learned_chats (
    chat TEXT PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE,
    looked_until BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    retry_at BIGINT NOT NULL
);

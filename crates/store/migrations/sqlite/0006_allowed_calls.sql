-- Tool calls that a person has allowed for good. `chat` is empty where it holds in all of them; `arguments` are patterns
-- as JSON, empty where any will do.

CREATE TABLE allowed_calls (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat TEXT REFERENCES chats (id) ON DELETE CASCADE,
    tool TEXT NOT NULL,
    arguments TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX allowed_calls_by_owner ON allowed_calls (owner, chat);
CREATE INDEX allowed_calls_by_chat ON allowed_calls (chat);

-- Who has given a chat its title: 'words' are the first ones of its first message, until a model finds a better one;
-- what a person has written, or nobody knows of, stays.
ALTER TABLE chats ADD COLUMN titled_by TEXT NOT NULL DEFAULT 'person';

-- What a person could say next, below an answer: a list of texts as JSON.
CREATE TABLE follow_ups (
    message TEXT NOT NULL PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    texts TEXT NOT NULL
);

-- Model calls beside a chat, of the latest days: which pipelines they were for (names with commas), what they took and came to.
CREATE TABLE pipeline_calls (
    id TEXT NOT NULL PRIMARY KEY,
    pipelines TEXT NOT NULL,
    owner TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat TEXT REFERENCES chats (id) ON DELETE CASCADE,
    run TEXT REFERENCES runs (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    at BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost_micro_usd BIGINT,
    outcome TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX pipeline_calls_by_run ON pipeline_calls (run);
CREATE INDEX pipeline_calls_by_chat ON pipeline_calls (chat);
CREATE INDEX pipeline_calls_by_owner ON pipeline_calls (owner);
CREATE INDEX pipeline_calls_by_at ON pipeline_calls (pipelines, at);

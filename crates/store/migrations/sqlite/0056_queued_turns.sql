-- What people wrote to a run and no agent has read: it begins the next turn of the run's chat.
CREATE TABLE queued_turns (
    run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    -- The inputs as in the log, a JSON array, oldest first.
    inputs TEXT NOT NULL,
    -- The specification of the run, as it was stored with it.
    request TEXT,
    queued_at BIGINT NOT NULL
);

-- Who wrote a message, as JSON, where that is not the owner of the chat.
ALTER TABLE messages ADD COLUMN author TEXT;

-- Whether a reader of a shared chat may also write in it.
ALTER TABLE chat_readers ADD COLUMN may_reply BOOLEAN NOT NULL DEFAULT FALSE;

-- Whether everybody who is signed in and has a chat's address may read it.
ALTER TABLE chats ADD COLUMN open BOOLEAN NOT NULL DEFAULT FALSE;

-- The people who may read a chat that is not theirs.
CREATE TABLE chat_readers (
    chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    reader TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    since BIGINT NOT NULL,
    PRIMARY KEY (chat, reader)
);
CREATE INDEX chat_readers_by_reader ON chat_readers (reader, since);

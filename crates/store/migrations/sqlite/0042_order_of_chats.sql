-- How people keep order among their chats: folders, what stands above, what is put away, and tags.
CREATE TABLE folders (
    id TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    -- The name in small letters: each is there once.
    name_key TEXT NOT NULL,
    UNIQUE (owner, name_key)
);

ALTER TABLE chats ADD COLUMN pinned BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE chats ADD COLUMN archived BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE chats ADD COLUMN folder TEXT REFERENCES folders (id) ON DELETE SET NULL;
-- Whether a person has chosen the tags; then no model does.
ALTER TABLE chats ADD COLUMN tagged_by_hand BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX chats_by_folder ON chats (folder) WHERE folder IS NOT NULL;

CREATE TABLE chat_tags (
    chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    -- Its place among the chat's.
    place BIGINT NOT NULL,
    PRIMARY KEY (chat, tag)
);

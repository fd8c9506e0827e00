-- A file that came with a message is a collection that only its chat knows; one that was not sent yet has no chat.
ALTER TABLE collections ADD COLUMN attached BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE collections ADD COLUMN chat TEXT REFERENCES chats (id) ON DELETE CASCADE;
CREATE INDEX collections_of_chats ON collections (chat) WHERE chat IS NOT NULL;
CREATE INDEX collections_not_sent ON collections (created_at) WHERE attached AND chat IS NULL;

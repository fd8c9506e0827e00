-- When a temporary chat is deleted; nothing for the others.
ALTER TABLE chats ADD COLUMN expires_at BIGINT;
CREATE INDEX chats_by_expiry ON chats (expires_at) WHERE expires_at IS NOT NULL;

-- The directory of the machine that a chat's files are in, by its name in the configuration; nothing where they are
-- virtual. Chosen when the chat is made, never changed.

ALTER TABLE chats ADD COLUMN directory TEXT;

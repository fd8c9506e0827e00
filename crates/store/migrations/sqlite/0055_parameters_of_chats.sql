-- What is set for the model calls of a chat, as JSON; nothing where its agent and model decide.

ALTER TABLE chats ADD COLUMN parameters TEXT;

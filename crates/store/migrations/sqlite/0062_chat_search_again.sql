-- Words are folded and stemmed differently now, so everything is indexed again, the newest first. Until then it is found by
-- the words that it has.
INSERT INTO search_due (chat, message, at, turn)
SELECT id, '', updated_at, 0 FROM chats WHERE title <> ''
ON CONFLICT (chat, message) DO UPDATE SET turn = search_due.turn + 1;
INSERT INTO search_due (chat, message, at, turn)
SELECT chat, id, created_at, 0 FROM messages WHERE run IS NULL OR summary IS NOT NULL
ON CONFLICT (chat, message) DO UPDATE SET turn = search_due.turn + 1;

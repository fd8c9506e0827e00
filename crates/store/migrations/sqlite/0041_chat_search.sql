-- What the search through chats finds: titles, messages and what tools have answered, each with the words that it has. All of
-- it is made from the chats, and made again from them after a copy is restored.
CREATE TABLE search_pieces (
    -- When it was said, in milliseconds, times 2^20, and a number for those of one moment: what is newer is greater.
    id INTEGER PRIMARY KEY,
    chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    -- Empty for the title.
    message TEXT NOT NULL,
    -- The event of the message's run that has what the tool answered; 0 for the rest.
    seq BIGINT NOT NULL
);
CREATE INDEX search_pieces_by_chat ON search_pieces (chat, message);

-- The words come as they are compared, so nothing is left to do but to cut at the blanks.
CREATE VIRTUAL TABLE search_words USING fts5 (words, tokenize = 'ascii', detail = 'none', columnsize = 0, prefix = '2 3 4');
-- What is deleted leaves no word behind.
INSERT INTO search_words (search_words, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER search_pieces_gone AFTER DELETE ON search_pieces
BEGIN
    DELETE FROM search_words WHERE rowid = OLD.id;
END;

-- What the search does not know yet, or not as it is now. Triggers note it, so that no writer can forget to; `turn` tells whether
-- it has changed again meanwhile.
CREATE TABLE search_due (
    chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    message TEXT NOT NULL,
    at BIGINT NOT NULL,
    turn BIGINT NOT NULL,
    PRIMARY KEY (chat, message)
);
CREATE INDEX search_due_by_time ON search_due (at);

CREATE TRIGGER chats_search_new AFTER INSERT ON chats WHEN NEW.title <> ''
BEGIN
    INSERT INTO search_due (chat, message, at, turn) VALUES (NEW.id, '', NEW.updated_at, 0)
    ON CONFLICT (chat, message) DO UPDATE SET turn = search_due.turn + 1;
END;
CREATE TRIGGER chats_search_named AFTER UPDATE OF title ON chats WHEN NEW.title <> OLD.title
BEGIN
    INSERT INTO search_due (chat, message, at, turn) VALUES (NEW.id, '', NEW.updated_at, 0)
    ON CONFLICT (chat, message) DO UPDATE SET turn = search_due.turn + 1;
END;
-- An answer comes with the end of its run.
CREATE TRIGGER messages_search_new AFTER INSERT ON messages WHEN NEW.run IS NULL OR NEW.summary IS NOT NULL
BEGIN
    INSERT INTO search_due (chat, message, at, turn) VALUES (NEW.chat, NEW.id, NEW.created_at, 0)
    ON CONFLICT (chat, message) DO UPDATE SET turn = search_due.turn + 1;
END;
CREATE TRIGGER messages_search_filled AFTER UPDATE OF content ON messages
BEGIN
    INSERT INTO search_due (chat, message, at, turn) VALUES (NEW.chat, NEW.id, NEW.created_at, 0)
    ON CONFLICT (chat, message) DO UPDATE SET turn = search_due.turn + 1;
END;

INSERT INTO search_due (chat, message, at, turn) SELECT id, '', updated_at, 0 FROM chats WHERE title <> '';
INSERT INTO search_due (chat, message, at, turn)
SELECT chat, id, created_at, 0 FROM messages WHERE run IS NULL OR summary IS NOT NULL;

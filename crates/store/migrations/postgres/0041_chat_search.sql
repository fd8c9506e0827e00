-- What the search through chats finds: titles, messages and what tools have answered, each with the words that it has. All of
-- it is made from the chats, and made again from them after a copy is restored.
CREATE TABLE search_pieces (
    -- When it was said, in milliseconds, times 2^20, and a number for those of one moment: what is newer is greater.
    id BIGINT NOT NULL PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL,
    chat TEXT COLLATE "C" NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    -- Empty for the title.
    message TEXT COLLATE "C" NOT NULL,
    -- The event of the message's run that has what the tool answered; 0 for the rest.
    seq BIGINT NOT NULL,
    words TSVECTOR NOT NULL
);
-- Words that most texts have are found soonest from the newest on, all others by the index of words.
CREATE INDEX search_pieces_by_owner ON search_pieces (owner, id);
CREATE INDEX search_pieces_by_chat ON search_pieces (chat, message);
CREATE INDEX search_pieces_by_words ON search_pieces USING gin (words) WITH (fastupdate = off);

-- What the search does not know yet, or not as it is now. Triggers note it, so that no writer can forget to; `turn` tells whether
-- it has changed again meanwhile.
CREATE TABLE search_due (
    chat TEXT COLLATE "C" NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    message TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    turn BIGINT NOT NULL,
    PRIMARY KEY (chat, message)
);
CREATE INDEX search_due_by_time ON search_due (at);

CREATE FUNCTION chats_search_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_due (chat, message, at, turn) VALUES (NEW.id, '', NEW.updated_at, 0)
    ON CONFLICT (chat, message) DO UPDATE SET turn = search_due.turn + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER chats_search_new AFTER INSERT ON chats FOR EACH ROW WHEN (NEW.title <> '')
EXECUTE FUNCTION chats_search_due();
CREATE TRIGGER chats_search_named AFTER UPDATE OF title ON chats FOR EACH ROW WHEN (NEW.title <> OLD.title)
EXECUTE FUNCTION chats_search_due();

CREATE FUNCTION messages_search_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_due (chat, message, at, turn) VALUES (NEW.chat, NEW.id, NEW.created_at, 0)
    ON CONFLICT (chat, message) DO UPDATE SET turn = search_due.turn + 1;
    RETURN NULL;
END $$;
-- An answer comes with the end of its run.
CREATE TRIGGER messages_search_new AFTER INSERT ON messages FOR EACH ROW
WHEN (NEW.run IS NULL OR NEW.summary IS NOT NULL) EXECUTE FUNCTION messages_search_due();
CREATE TRIGGER messages_search_filled AFTER UPDATE OF content ON messages FOR EACH ROW
EXECUTE FUNCTION messages_search_due();

INSERT INTO search_due (chat, message, at, turn) SELECT id, '', updated_at, 0 FROM chats WHERE title <> '';
INSERT INTO search_due (chat, message, at, turn)
SELECT chat, id, created_at, 0 FROM messages WHERE run IS NULL OR summary IS NOT NULL;

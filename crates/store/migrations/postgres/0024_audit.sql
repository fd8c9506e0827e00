-- Who did what to accounts, keys and settings. Lines are added and, when they are old, taken away; none is changed. They name
-- no row of another table, as they outlive what they are about.
CREATE TABLE audit (
    id TEXT COLLATE "C" PRIMARY KEY,
    at BIGINT NOT NULL,
    -- An account, and its address as it was then; neither where nobody was signed in.
    actor TEXT COLLATE "C",
    actor_email TEXT,
    -- The key that it was done with, where not by a browser.
    key TEXT,
    address TEXT,
    request TEXT,
    action TEXT COLLATE "C" NOT NULL,
    -- The id or name of what it was done to, and what people called it then.
    subject TEXT COLLATE "C",
    subject_name TEXT,
    -- A JSON object, or nothing.
    details TEXT,
    -- All that a line can be found by, as the search folds it.
    search_text TEXT NOT NULL
);
CREATE INDEX audit_by_time ON audit (at);

-- Answers that were asked for beside another one, to the same message: the first of them, and for one that was made of some
-- the ids of those, as JSON.
CREATE TABLE answers_beside (
    message TEXT NOT NULL PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    beside TEXT NOT NULL,
    made_of TEXT NOT NULL
);

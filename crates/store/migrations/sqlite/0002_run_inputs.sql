-- What a caller sent along with a run and only that caller's protocol understands, such as its ids of messages.

CREATE TABLE run_inputs (
    run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    input TEXT NOT NULL
);

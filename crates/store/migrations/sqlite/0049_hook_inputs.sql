-- What hooks of the administrator look at and nobody has seen yet, so that a restart does not lose it.
CREATE TABLE hook_inputs (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    -- What it is: a tool call or an answer of the run.
    item TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (run, item)
);

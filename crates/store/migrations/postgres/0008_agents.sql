-- Agents that the administrator has defined in the page. `definition` is JSON.

CREATE TABLE agents (
    name TEXT COLLATE "C" PRIMARY KEY,
    definition TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

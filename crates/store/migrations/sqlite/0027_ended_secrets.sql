-- Secrets of keys that were taken back or replaced, and from when on they are over: they stay a while, so that every server
-- ends what was opened with them.

CREATE TABLE ended_secrets (
    secret_hash BLOB PRIMARY KEY,
    ended_at BIGINT NOT NULL
);
CREATE INDEX ended_secrets_by_time ON ended_secrets (ended_at);

-- How a connection shares its models' requests with others, and whether it is used.
ALTER TABLE connections ADD COLUMN weight BIGINT NOT NULL DEFAULT 1;
ALTER TABLE connections ADD COLUMN enabled BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE connections ADD COLUMN together BOOLEAN NOT NULL DEFAULT FALSE;

-- The keys of a connection, sealed. One that was there before keeps the name it was sealed for: its connection's.
CREATE TABLE connection_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    connection TEXT COLLATE "C" NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
    sealed_key BYTEA NOT NULL,
    weight BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX connection_keys_by_connection ON connection_keys (connection);
INSERT INTO connection_keys (id, connection, sealed_key, weight, created_at)
    SELECT 'ckey' || substr(id, 5), id, sealed_key, 1, created_at FROM connections WHERE sealed_key IS NOT NULL;
ALTER TABLE connections DROP COLUMN sealed_key;

-- Links with which people choose a new password, one for each at most. Only the hash of the secret is stored.
CREATE TABLE password_resets (
    owner TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    token_hash BYTEA NOT NULL UNIQUE,
    expires_at BIGINT NOT NULL
);
CREATE INDEX password_resets_by_expiry ON password_resets (expires_at);

-- Links with which people make accounts for themselves.
CREATE TABLE invitations (
    id TEXT COLLATE "C" PRIMARY KEY,
    token_hash BYTEA NOT NULL UNIQUE,
    -- The only address that it is for, as typed and as compared; nothing where for any.
    email TEXT,
    email_key TEXT,
    most_uses BIGINT NOT NULL,
    uses BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX invitations_by_expiry ON invitations (expires_at);

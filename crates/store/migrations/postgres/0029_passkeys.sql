-- Passkeys: the public keys with which people sign in, and how often each was used by its authenticator's count. Challenges that
-- were used up are kept until they are too old anyway.

CREATE TABLE passkeys (
    id TEXT COLLATE "C" PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    credential_id BYTEA NOT NULL UNIQUE,
    public_key BYTEA NOT NULL,
    uses BIGINT NOT NULL,
    name TEXT NOT NULL,
    host TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    copied_at BIGINT
);
CREATE INDEX passkeys_by_owner ON passkeys (owner);

CREATE TABLE used_challenges (
    challenge_hash BYTEA PRIMARY KEY,
    expires_at BIGINT NOT NULL
);

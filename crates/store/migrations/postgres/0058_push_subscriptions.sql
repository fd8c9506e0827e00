-- Browsers that are notified of what happens in chats while no page is open: each with the session that it was made in,
-- and what is sent to it, encrypted.
CREATE TABLE push_subscriptions (
    id TEXT COLLATE "C" PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- Nothing where a proxy signs people in.
    session TEXT COLLATE "C" REFERENCES sessions (id) ON DELETE CASCADE,
    -- SHA-256 of its address at the push service.
    endpoint_hash BYTEA NOT NULL UNIQUE,
    sealed BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX push_subscriptions_by_owner ON push_subscriptions (owner);
CREATE INDEX push_subscriptions_by_session ON push_subscriptions (session);

-- Addresses that are told when a background run of their owner has ended. The address and its secret are sealed.
CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    sealed BLOB NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX webhooks_by_owner ON webhooks (owner);

-- What they are told, and how that stands.
CREATE TABLE webhook_deliveries (
    webhook TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    -- When it is tried next; nothing where it was taken or given up.
    due_at BIGINT,
    -- Until then one server sees to it, and no other.
    claimed_until BIGINT NOT NULL DEFAULT 0,
    -- When it was tried last, and why that failed.
    tried_at BIGINT,
    problem TEXT,
    PRIMARY KEY (webhook, run)
);
CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (due_at);
CREATE INDEX webhook_deliveries_by_run ON webhook_deliveries (run);

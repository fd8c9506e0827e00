-- What a key may do, as a JSON list of scopes; nothing where it may do all that its owner may.
ALTER TABLE api_keys ADD COLUMN scopes TEXT;
-- The models and agents it may use, as a JSON list; nothing where all.
ALTER TABLE api_keys ADD COLUMN models TEXT;
ALTER TABLE api_keys ADD COLUMN expires_at BIGINT;
-- Whether it belongs to a program that speaks for people of its own.
ALTER TABLE api_keys ADD COLUMN front_end BOOLEAN NOT NULL DEFAULT FALSE;
-- What that program signs its people's names with.
ALTER TABLE api_keys ADD COLUMN sealed_signing_key BLOB;
-- The secret before the last change of it, and how long it is still good.
ALTER TABLE api_keys ADD COLUMN old_secret_hash BLOB;
ALTER TABLE api_keys ADD COLUMN old_until BIGINT;
CREATE UNIQUE INDEX api_keys_by_old_secret ON api_keys (old_secret_hash);

-- What model calls have used, added up by UTC day. No key and no person are ''. Rows outlive accounts and keys.
CREATE TABLE usage (
    day BIGINT NOT NULL,
    owner TEXT NOT NULL,
    model TEXT NOT NULL,
    api_key TEXT NOT NULL,
    person TEXT NOT NULL,
    requests BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost_micro_usd BIGINT NOT NULL,
    PRIMARY KEY (day, owner, model, api_key, person)
);
CREATE INDEX usage_by_owner ON usage (owner, day);
CREATE INDEX usage_by_key ON usage (api_key, day);

-- On whose account a run is, beside its owner's.
ALTER TABLE runs ADD COLUMN api_key TEXT;
ALTER TABLE runs ADD COLUMN person TEXT;
-- How far its log is in `usage`; nothing once all of it is.
ALTER TABLE runs ADD COLUMN booked_seq BIGINT;
UPDATE runs SET booked_seq = 0 WHERE finished_at IS NULL;
CREATE INDEX runs_unbooked ON runs (finished_at) WHERE booked_seq IS NOT NULL AND finished_at IS NOT NULL;

-- When an administrator suspended an account; nothing where it may be used.

ALTER TABLE users ADD COLUMN suspended_at BIGINT;
CREATE INDEX users_suspended ON users (id) WHERE suspended_at IS NOT NULL;

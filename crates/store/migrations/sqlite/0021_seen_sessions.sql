-- Sessions as their people see them. One that was ended stays a while, so that every server hears of it.
ALTER TABLE sessions ADD COLUMN user_agent TEXT;
ALTER TABLE sessions ADD COLUMN address TEXT;
ALTER TABLE sessions ADD COLUMN last_used_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN ended_at BIGINT;
UPDATE sessions SET last_used_at = created_at;
CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL;

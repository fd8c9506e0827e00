-- Finished logs, sealed: one row holds the whole log, compressed, instead of the many of `segments`.

ALTER TABLE runs ADD COLUMN sealed_seq BIGINT NOT NULL DEFAULT 0;
-- Whether the log is still to be sealed: not if it is empty, or cannot be read.
ALTER TABLE runs ADD COLUMN to_seal BOOLEAN NOT NULL DEFAULT TRUE;
CREATE INDEX runs_to_seal ON runs (finished_at) WHERE to_seal AND finished_at IS NOT NULL;

-- `content`, or the object in its place, is a gzip file of several members with the events up to `runs.sealed_seq`, a JSON
-- line each. `parts` is JSON: for each member the numbers of its first and last event, where it begins, and its sizes.
CREATE TABLE sealed_logs (
    run BIGINT NOT NULL PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
    parts TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    content BLOB NOT NULL,
    object TEXT REFERENCES objects (key)
);
CREATE INDEX sealed_logs_by_object ON sealed_logs (object) WHERE object IS NOT NULL;
CREATE INDEX sealed_logs_to_move ON sealed_logs (run) WHERE object IS NULL AND size_bytes >= 65536;

CREATE TRIGGER sealed_logs_release AFTER DELETE ON sealed_logs WHEN OLD.object IS NOT NULL
BEGIN
    UPDATE objects SET check_at = 0 WHERE key = OLD.object;
END;
CREATE TRIGGER sealed_logs_replace AFTER UPDATE ON sealed_logs WHEN OLD.object IS NOT NULL AND OLD.object IS NOT NEW.object
BEGIN
    UPDATE objects SET check_at = 0 WHERE key = OLD.object;
END;

-- Earlier states of files. A trigger keeps them, so that no writer can forget to, and only what replaces a file pays.

-- A deleted file stays as a row without content, so that its numbers go on and its past is still there.
ALTER TABLE files ADD COLUMN deleted BOOLEAN NOT NULL DEFAULT FALSE;

CREATE TABLE file_versions (
    -- Counts up: what is smaller is older.
    id INTEGER PRIMARY KEY,
    workspace TEXT NOT NULL,
    path TEXT NOT NULL,
    version BIGINT NOT NULL,
    content BLOB NOT NULL,
    size_bytes BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    deleted BOOLEAN NOT NULL,
    UNIQUE (workspace, path, version),
    FOREIGN KEY (workspace, path) REFERENCES files (workspace, path) ON DELETE CASCADE
);
CREATE INDEX file_versions_by_age ON file_versions (workspace, id, size_bytes);

-- At most 50 states of a file, and of a workspace 2,000 with 64 MB; the oldest go first.
CREATE TRIGGER files_keep_past AFTER UPDATE ON files
BEGIN
    INSERT INTO file_versions (workspace, path, version, content, size_bytes, changed_at, deleted)
    VALUES (OLD.workspace, OLD.path, OLD.version, OLD.content, OLD.size_bytes, OLD.changed_at, OLD.deleted);
    DELETE FROM file_versions
    WHERE workspace = OLD.workspace AND path = OLD.path AND version <= OLD.version - 50;
    DELETE FROM file_versions WHERE id IN (
        SELECT id FROM (
            SELECT id,
                SUM(size_bytes) OVER (ORDER BY id DESC) AS newer_bytes,
                ROW_NUMBER() OVER (ORDER BY id DESC) AS place
            FROM file_versions WHERE workspace = OLD.workspace
        ) AS aged WHERE newer_bytes > 64000000 OR place > 2000
    );
END;

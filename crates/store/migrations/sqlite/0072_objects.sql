-- Large contents may be objects of an object storage. Then `content` is empty, and `object` is the key: with the hash of the
-- content in it, and never used again.

CREATE TABLE objects (
    key TEXT NOT NULL PRIMARY KEY,
    size_bytes BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    -- When to look whether a row refers to it: some time after it was written, or after a row that did is gone (0 until that
    -- time is set). NULL while nothing has to be looked for.
    check_at BIGINT
);
CREATE INDEX objects_to_check ON objects (check_at) WHERE check_at IS NOT NULL;

-- Objects to which nothing can refer any more, and which are still to be deleted in the storage.
CREATE TABLE removed_objects (
    key TEXT NOT NULL PRIMARY KEY
);

ALTER TABLE files ADD COLUMN object TEXT REFERENCES objects (key);
ALTER TABLE file_versions ADD COLUMN object TEXT REFERENCES objects (key);
ALTER TABLE document_files ADD COLUMN object TEXT REFERENCES objects (key);
CREATE INDEX files_by_object ON files (object) WHERE object IS NOT NULL;
CREATE INDEX file_versions_by_object ON file_versions (object) WHERE object IS NOT NULL;
CREATE INDEX document_files_by_object ON document_files (object) WHERE object IS NOT NULL;

-- What is moved to an object storage. The sizes are that from which contents are objects.
CREATE INDEX files_to_move ON files (workspace, path) WHERE object IS NULL AND size_bytes >= 65536;
CREATE INDEX file_versions_to_move ON file_versions (id) WHERE object IS NULL AND size_bytes >= 65536;
CREATE INDEX document_files_to_move ON document_files (document) WHERE object IS NULL AND length(content) >= 65536;

-- A file that moves to an object storage, or back, keeps its version, and gets no earlier state.
DROP TRIGGER files_keep_past;
CREATE TRIGGER files_keep_past AFTER UPDATE ON files WHEN OLD.version <> NEW.version
BEGIN
    INSERT INTO file_versions (workspace, path, version, content, size_bytes, changed_at, deleted, object)
    VALUES (OLD.workspace, OLD.path, OLD.version, OLD.content, OLD.size_bytes, OLD.changed_at, OLD.deleted, OLD.object);
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

-- An object that a row has referred to is looked at.
CREATE TRIGGER files_release AFTER DELETE ON files WHEN OLD.object IS NOT NULL
BEGIN
    UPDATE objects SET check_at = 0 WHERE key = OLD.object;
END;
CREATE TRIGGER files_replace AFTER UPDATE ON files WHEN OLD.object IS NOT NULL AND OLD.object IS NOT NEW.object
BEGIN
    UPDATE objects SET check_at = 0 WHERE key = OLD.object;
END;
CREATE TRIGGER file_versions_release AFTER DELETE ON file_versions WHEN OLD.object IS NOT NULL
BEGIN
    UPDATE objects SET check_at = 0 WHERE key = OLD.object;
END;
CREATE TRIGGER file_versions_replace AFTER UPDATE ON file_versions WHEN OLD.object IS NOT NULL AND OLD.object IS NOT NEW.object
BEGIN
    UPDATE objects SET check_at = 0 WHERE key = OLD.object;
END;
CREATE TRIGGER document_files_release AFTER DELETE ON document_files WHEN OLD.object IS NOT NULL
BEGIN
    UPDATE objects SET check_at = 0 WHERE key = OLD.object;
END;
CREATE TRIGGER document_files_replace AFTER UPDATE ON document_files WHEN OLD.object IS NOT NULL AND OLD.object IS NOT NEW.object
BEGIN
    UPDATE objects SET check_at = 0 WHERE key = OLD.object;
END;

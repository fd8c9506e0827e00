-- Where the documents of a collection come from: other systems that the server asks, and clients that send what changed.
CREATE TABLE sources (
    id TEXT NOT NULL PRIMARY KEY,
    collection TEXT NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    -- Unique within the collection.
    name TEXT NOT NULL,
    -- JSON without the secret; NULL if a client sends the documents.
    settings TEXT,
    -- The secret, encrypted.
    sealed BLOB,
    -- The interval of synchronizations, minutes; NULL if each is started by hand.
    every_minutes BIGINT,
    -- When the next one is due; NULL if none is.
    next_at BIGINT,
    created_at BIGINT NOT NULL,
    UNIQUE (collection, name)
);
CREATE INDEX sources_by_time ON sources (next_at);

-- The synchronizations of a source.
CREATE TABLE syncs (
    id TEXT NOT NULL PRIMARY KEY,
    source TEXT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    -- `running`, `waiting` for a person to confirm deletions, `done`, `failed` or `cancelled`.
    state TEXT NOT NULL,
    -- Whether its documents are known.
    listed BOOLEAN NOT NULL,
    -- Why it failed, as JSON.
    problem TEXT,
    -- Until when the server that works on it is not presumed dead.
    claimed_until BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX syncs_by_source ON syncs (source, started_at);
CREATE INDEX syncs_by_state ON syncs (state);

-- The documents of a synchronization: those of the source, and those that it deletes. When it ends, only those remain whose
-- documents it has changed, or could not read.
CREATE TABLE sync_items (
    sync TEXT NOT NULL REFERENCES syncs (id) ON DELETE CASCADE,
    -- Its id in the source.
    item TEXT NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    size_bytes BIGINT,
    modified_at BIGINT,
    url TEXT,
    -- JSON; NULL for all who may read the collection.
    readers TEXT,
    -- `missing`, `unchanged`, `added`, `updated`, `unlisted`, `deleted` or `failed`.
    state TEXT NOT NULL,
    -- As JSON.
    problem TEXT,
    PRIMARY KEY (sync, item)
);

-- Which document of a source a document is.
CREATE TABLE synced_documents (
    document TEXT NOT NULL PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    source TEXT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    item TEXT NOT NULL,
    -- Its name there; that of the document differs if another document has it.
    name TEXT NOT NULL,
    -- The version that was stored last.
    version TEXT NOT NULL,
    -- As JSON, as in `document_readers`; NULL for all who may read the collection.
    readers TEXT,
    modified_at BIGINT,
    url TEXT,
    UNIQUE (source, item)
);

-- Who may read a restricted document, of those who may read its collection, besides the owner: people by their email
-- addresses, groups by their names, and people by the domains of their addresses.
ALTER TABLE documents ADD COLUMN restricted BOOLEAN NOT NULL DEFAULT FALSE;
CREATE TABLE document_readers (
    document TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    -- `person`, `group` or `domain`.
    kind TEXT NOT NULL,
    -- In lower case.
    name_key TEXT NOT NULL,
    PRIMARY KEY (document, kind, name_key)
);

-- Whether nobody has checked that the address is theirs: they have signed up on their own.
ALTER TABLE users ADD COLUMN email_unproven BOOLEAN NOT NULL DEFAULT FALSE;

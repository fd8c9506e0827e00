-- Whether an answer or a report cites the document's current text.
ALTER TABLE documents ADD COLUMN cited BOOLEAN NOT NULL DEFAULT FALSE;

-- Cited texts of documents, copied when the text changes or its document is deleted. Those who may read the collection may
-- read them.
CREATE TABLE document_copies (
    document TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    collection TEXT COLLATE "C" NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    content TEXT NOT NULL,
    structure TEXT NOT NULL,
    -- Of the text and the structure together.
    characters BIGINT NOT NULL,
    replaced_at BIGINT NOT NULL,
    -- Whether only those of `document_copy_readers` and the owner may read it.
    restricted BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (document, version)
);
CREATE INDEX document_copies_by_collection ON document_copies (collection, replaced_at);

-- Who could read a cited text when it was copied, as in `document_readers`.
CREATE TABLE document_copy_readers (
    document TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    name_key TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (document, version, kind, name_key),
    FOREIGN KEY (document, version) REFERENCES document_copies (document, version) ON DELETE CASCADE
);

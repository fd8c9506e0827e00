-- Tags and metadata of documents. One row for each value, so that both databases find documents by a value through an index,
-- however many documents there are.
CREATE TABLE document_metadata (
    document TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    -- That of the document.
    collection TEXT NOT NULL,
    -- `tags`, or a key in lower case.
    name TEXT NOT NULL,
    -- 0 for the file, 1 for its source, 2 for people. Values of a higher one replace those of lower ones.
    origin BIGINT NOT NULL,
    -- The order of several values.
    position BIGINT NOT NULL,
    -- `text`, `number`, `date`, `boolean`, or `removed` if lower ones have a value that people have removed.
    kind TEXT NOT NULL,
    -- As it is shown.
    value TEXT NOT NULL,
    -- Folded for comparison.
    value_key TEXT NOT NULL,
    -- Of numbers, and of dates in Unix milliseconds.
    number REAL,
    -- Whether it is neither replaced nor removed.
    effective BOOLEAN NOT NULL,
    PRIMARY KEY (document, name, origin, position)
);
-- Covers filters and lists of values.
CREATE INDEX document_metadata_by_value ON document_metadata (collection, name, value_key, kind, number, document) WHERE effective;

-- Tags and metadata in the source, as JSON.
ALTER TABLE sync_items ADD COLUMN metadata TEXT;
ALTER TABLE synced_documents ADD COLUMN metadata TEXT;

-- What an embedding model makes of documents. Vectors can be compared with those of their space only: of one model that
-- was given texts in one way. `chunking` counts the ways in which texts are cut. `used_at` is when a server was set to it
-- last.
CREATE TABLE embedding_spaces (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    model TEXT COLLATE "C" NOT NULL,
    query_prefix TEXT NOT NULL,
    passage_prefix TEXT COLLATE "C" NOT NULL,
    chunking BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    UNIQUE (model, passage_prefix, chunking)
);

-- How far the pieces of a document are embedded. `version` is that of the document's text; `due_at` is when somebody may
-- go on with it.
CREATE TABLE document_embeddings (
    document TEXT COLLATE "C" NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    space TEXT COLLATE "C" NOT NULL REFERENCES embedding_spaces (id) ON DELETE CASCADE,
    version BIGINT NOT NULL,
    pieces BIGINT NOT NULL,
    done BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    problem TEXT,
    due_at BIGINT NOT NULL,
    PRIMARY KEY (document, space)
);
CREATE INDEX document_embeddings_by_space ON document_embeddings (space);

-- The vectors of some pieces in a row, from `first` on, one after another: a scale in 4 bytes, and a byte for each dimension.
CREATE TABLE document_vectors (
    document TEXT COLLATE "C" NOT NULL,
    space TEXT COLLATE "C" NOT NULL,
    first BIGINT NOT NULL,
    pieces BIGINT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (document, space, first),
    FOREIGN KEY (document, space) REFERENCES document_embeddings (document, space) ON DELETE CASCADE
);

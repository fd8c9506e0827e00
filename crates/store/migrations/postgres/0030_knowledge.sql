-- Documents that are searched. `version` counts up with every change of what can be found in a collection.
CREATE TABLE collections (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    description TEXT NOT NULL,
    open BOOLEAN NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX collections_by_owner ON collections (owner, id);
CREATE INDEX collections_open ON collections (id) WHERE open;

-- `upload` counts the files that came under the name; `version` is the collection's when its text changed last, 0 where it
-- has none yet.
CREATE TABLE documents (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    collection TEXT COLLATE "C" NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    size_bytes BIGINT NOT NULL,
    state TEXT NOT NULL,
    problem TEXT,
    upload BIGINT NOT NULL,
    claimed_until BIGINT NOT NULL,
    version BIGINT NOT NULL,
    chunks BIGINT NOT NULL,
    characters BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (collection, name)
);
CREATE INDEX documents_to_read ON documents (created_at, id) WHERE state = 'waiting';

-- Apart from the rows that are listed, as these are long.
CREATE TABLE document_files (
    document TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    content BYTEA NOT NULL
);
-- `structure` is JSON: the title, the pages and the headings of the text.
CREATE TABLE document_texts (
    document TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    content TEXT NOT NULL,
    structure TEXT NOT NULL
);

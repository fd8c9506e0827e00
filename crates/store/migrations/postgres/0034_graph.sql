-- What the documents of a collection speak of, where its owner wants it: each thing once, by the key of its name.
ALTER TABLE collections ADD COLUMN graph BOOLEAN NOT NULL DEFAULT FALSE;

CREATE TABLE entities (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    collection TEXT COLLATE "C" NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    name_key TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    UNIQUE (collection, name_key)
);

-- How far a document is looked at. `version` is that of its text; `done` counts pieces of it; `due_at` is when somebody may go
-- on with it.
CREATE TABLE document_graphs (
    document TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    version BIGINT NOT NULL,
    done BIGINT NOT NULL,
    pieces BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    problem TEXT,
    due_at BIGINT NOT NULL
);

-- Where a document speaks of a thing, and how it says that two belong together, with the words that do; places are characters.
CREATE TABLE mentions (
    entity TEXT COLLATE "C" NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    document TEXT COLLATE "C" NOT NULL REFERENCES document_graphs (document) ON DELETE CASCADE,
    first BIGINT NOT NULL,
    behind BIGINT NOT NULL,
    quote TEXT NOT NULL,
    PRIMARY KEY (entity, document, first)
);
CREATE INDEX mentions_by_document ON mentions (document);
CREATE TABLE relations (
    source TEXT COLLATE "C" NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    target TEXT COLLATE "C" NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    kind TEXT COLLATE "C" NOT NULL,
    document TEXT COLLATE "C" NOT NULL REFERENCES document_graphs (document) ON DELETE CASCADE,
    first BIGINT NOT NULL,
    behind BIGINT NOT NULL,
    quote TEXT NOT NULL,
    PRIMARY KEY (source, target, kind, document, first)
);
CREATE INDEX relations_by_target ON relations (target);
CREATE INDEX relations_by_document ON relations (document);

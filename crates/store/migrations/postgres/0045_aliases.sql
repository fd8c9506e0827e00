-- Names of a graph that mean the same thing, by their keys, so that they still do when a document is read again: what is
-- said of the alias is said of the entity.
CREATE TABLE entity_aliases (
    collection TEXT COLLATE "C" NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    alias_key TEXT COLLATE "C" NOT NULL,
    entity_key TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (collection, alias_key)
);

-- The people and the groups of people who may read a collection that is not theirs.
CREATE TABLE collection_readers (
    collection TEXT COLLATE "C" NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    reader TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    since BIGINT NOT NULL,
    PRIMARY KEY (collection, reader)
);
CREATE INDEX collection_readers_by_reader ON collection_readers (reader);
CREATE TABLE collection_groups (
    collection TEXT COLLATE "C" NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    group_id TEXT COLLATE "C" NOT NULL REFERENCES user_groups (id) ON DELETE CASCADE,
    PRIMARY KEY (collection, group_id)
);
CREATE INDEX collection_groups_by_group ON collection_groups (group_id);

-- Files that came with messages are collections, too, and many; lists have none of them.
CREATE INDEX collections_listed ON collections (id) WHERE NOT attached;

-- A picture waits for the model that looks at it: reading has told that it is one. `failures` counts how often that failed.
ALTER TABLE documents ADD COLUMN picture BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE documents ADD COLUMN failures BIGINT NOT NULL DEFAULT 0;

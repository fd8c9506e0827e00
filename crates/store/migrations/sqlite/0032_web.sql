-- What was read of the web, for each person: a copy stays as it was read, so that what is cited from it can be looked up.
-- `asked` is the address that was asked for, `url` where it led to. The latest copy of an address is the one read last.
CREATE TABLE pages (
    id TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    asked TEXT NOT NULL,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    fetched_at BIGINT NOT NULL,
    checked_at BIGINT NOT NULL
);
CREATE INDEX pages_by_address ON pages (owner, asked, id);

-- Pages of the web that become documents of a collection. A crawl is claimed by the server that works on it.
CREATE TABLE crawls (
    id TEXT NOT NULL PRIMARY KEY,
    collection TEXT NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    depth BIGINT NOT NULL,
    most_pages BIGINT NOT NULL,
    state TEXT NOT NULL,
    claimed_until BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX crawls_by_collection ON crawls (collection, id);
CREATE INDEX crawls_to_do ON crawls (id) WHERE state = 'running';

-- The addresses that a crawl has met, in the order of `place`.
CREATE TABLE crawl_pages (
    crawl TEXT NOT NULL REFERENCES crawls (id) ON DELETE CASCADE,
    place BIGINT NOT NULL,
    url TEXT NOT NULL,
    depth BIGINT NOT NULL,
    state TEXT NOT NULL,
    problem TEXT,
    PRIMARY KEY (crawl, place),
    UNIQUE (crawl, url)
);
CREATE INDEX crawl_pages_to_do ON crawl_pages (crawl, place) WHERE state = 'waiting';

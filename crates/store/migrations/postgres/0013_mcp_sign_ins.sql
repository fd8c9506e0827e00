-- What people have signed in to MCP servers with, who we are to the servers that sign them in, and sign-ins that are
-- going on. All of it is sealed with the server's key.

CREATE TABLE mcp_credentials (
    owner TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    server TEXT COLLATE "C" NOT NULL,
    sealed BYTEA NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (owner, server)
);
CREATE TABLE mcp_clients (
    server TEXT COLLATE "C" PRIMARY KEY,
    sealed BYTEA NOT NULL
);
CREATE TABLE mcp_sign_ins (
    state_hash BYTEA PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    server TEXT COLLATE "C" NOT NULL,
    sealed BYTEA NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX mcp_sign_ins_by_owner ON mcp_sign_ins (owner, expires_at);

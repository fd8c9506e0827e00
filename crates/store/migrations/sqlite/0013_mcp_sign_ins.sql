-- What people have signed in to MCP servers with, who we are to the servers that sign them in, and sign-ins that are
-- going on. All of it is sealed with the server's key.

CREATE TABLE mcp_credentials (
    owner TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    server TEXT NOT NULL,
    sealed BLOB NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (owner, server)
);
CREATE TABLE mcp_clients (
    server TEXT PRIMARY KEY,
    sealed BLOB NOT NULL
);
CREATE TABLE mcp_sign_ins (
    state_hash BLOB PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    server TEXT NOT NULL,
    sealed BLOB NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX mcp_sign_ins_by_owner ON mcp_sign_ins (owner, expires_at);

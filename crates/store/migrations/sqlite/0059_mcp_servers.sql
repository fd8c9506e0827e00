-- MCP servers that administrators added in the settings.
CREATE TABLE mcp_servers (
    -- The first part of its tools' names.
    name TEXT PRIMARY KEY,
    -- JSON, without secrets.
    settings TEXT NOT NULL,
    -- Headers and the client secret, encrypted.
    sealed BLOB,
    enabled BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL
);
-- Counts the changes of what servers hold in memory, so that each sees what another has changed.
CREATE TABLE setting_changes (
    topic TEXT PRIMARY KEY,
    number BIGINT NOT NULL
);

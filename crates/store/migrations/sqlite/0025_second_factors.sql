-- What somebody is asked for beside the password: codes of an app, made from a secret that is sealed.
CREATE TABLE second_factors (
    owner TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    sealed_secret BLOB NOT NULL,
    -- The first code has shown that the app has it; nothing where the person is still at it.
    confirmed_at BIGINT,
    -- Codes of this step of time and earlier ones are used up.
    last_step BIGINT NOT NULL
);

-- Codes for whoever has lost the app, each good once. Only their hashes are stored.
CREATE TABLE recovery_codes (
    owner TEXT NOT NULL REFERENCES second_factors (owner) ON DELETE CASCADE,
    code_hash BLOB NOT NULL,
    PRIMARY KEY (owner, code_hash)
);

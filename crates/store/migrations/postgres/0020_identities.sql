-- Whom providers of OpenID Connect know as whom: a provider's address, its name for a person, and the account here.

CREATE TABLE identities (
    issuer TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_by_owner ON identities (owner);

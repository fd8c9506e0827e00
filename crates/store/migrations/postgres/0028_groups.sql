-- Groups of people, and what is only for some of them.
CREATE TABLE user_groups (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    -- The name in small letters: no two groups have the same.
    name_key TEXT COLLATE "C" NOT NULL UNIQUE,
    description TEXT NOT NULL,
    -- What the group is called at the provider that signs people in; nothing where it is not there.
    provider_name TEXT COLLATE "C",
    created_at BIGINT NOT NULL
);

-- Who is in them: because an administrator has said so, because the provider did when the person last came, or both.
CREATE TABLE group_members (
    group_id TEXT COLLATE "C" NOT NULL REFERENCES user_groups (id) ON DELETE CASCADE,
    member TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    by_hand BOOLEAN NOT NULL,
    by_provider BOOLEAN NOT NULL,
    PRIMARY KEY (group_id, member)
);
CREATE INDEX group_members_by_member ON group_members (member);

-- For whom a thing is that does not follow the rule for more than itself: for everybody, or only for groups.
CREATE TABLE permissions (
    kind TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    everybody BOOLEAN NOT NULL,
    PRIMARY KEY (kind, name)
);

-- The groups that may use a thing.
CREATE TABLE group_permissions (
    kind TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    group_id TEXT COLLATE "C" NOT NULL REFERENCES user_groups (id) ON DELETE CASCADE,
    PRIMARY KEY (kind, name, group_id)
);
CREATE INDEX group_permissions_by_group ON group_permissions (group_id);

-- Grows with each change of any of it, so that servers see that there was one. One row, or none.
CREATE TABLE group_changes (
    id BIGINT PRIMARY KEY,
    number BIGINT NOT NULL
);

CREATE INDEX users_admins ON users (id) WHERE role = 'admin';

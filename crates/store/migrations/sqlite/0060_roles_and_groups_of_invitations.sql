-- The role of accounts that are created with an invitation.
ALTER TABLE invitations ADD COLUMN role TEXT NOT NULL DEFAULT 'user';

-- The groups that they join.
CREATE TABLE invitation_groups (
    invitation TEXT NOT NULL REFERENCES invitations (id) ON DELETE CASCADE,
    group_id TEXT NOT NULL REFERENCES user_groups (id) ON DELETE CASCADE,
    PRIMARY KEY (invitation, group_id)
);
CREATE INDEX invitation_groups_by_group ON invitation_groups (group_id);
CREATE INDEX invitations_by_email ON invitations (email_key);

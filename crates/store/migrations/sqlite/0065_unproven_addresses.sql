-- Finds the restricted documents of a collection. Most have none.
CREATE INDEX documents_restricted ON documents (collection) WHERE restricted;

-- Whether the link was sent to the address of the account, so that who uses it has that address.
ALTER TABLE password_resets ADD COLUMN mailed BOOLEAN NOT NULL DEFAULT FALSE;

-- Accounts that people have created themselves, as far as the audit log goes back, without an invitation for their address.
-- An administrator who has changed the address of one has proven it.
UPDATE users SET email_unproven = TRUE
WHERE EXISTS (
    SELECT 1 FROM audit WHERE audit.action = 'user.sign_up' AND audit.actor = users.id
    AND NOT EXISTS (
        SELECT 1 FROM invitations
        WHERE invitations.id = audit.details ->> '$.invitation' AND invitations.email_key = users.email_key
    )
)
AND NOT EXISTS (
    SELECT 1 FROM audit WHERE audit.action = 'user.change' AND audit.subject = users.id
    AND audit.details ->> '$.email' IS NOT NULL
);

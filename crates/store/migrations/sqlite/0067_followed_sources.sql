-- The provider's name of a group in lower case, by which the readers of documents are matched. Names with other letters
-- than ASCII are folded by the program when it opens the database.
ALTER TABLE user_groups ADD COLUMN provider_key TEXT;
UPDATE user_groups SET provider_key = LOWER(provider_name);

-- The position in the change feed of the source up to which its documents are known, as JSON; NULL if all have to be listed.
ALTER TABLE sources ADD COLUMN feed_position TEXT;

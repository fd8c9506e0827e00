-- Where the files of a run are, unless those are its chat's or its own: the workspace of a chat that another program has.
ALTER TABLE runs ADD COLUMN workspace TEXT;

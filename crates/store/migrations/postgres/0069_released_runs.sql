-- Whether the server that had the run last has released it in an orderly way. False from the time on that another one goes
-- on with it, so that it tells whether that one has crashed.
ALTER TABLE runs ADD COLUMN released BOOLEAN NOT NULL DEFAULT FALSE;

-- The runs that no server has, which all look for often. Most of the time there are none.
CREATE INDEX runs_left ON runs (started_at) WHERE finished_at IS NULL AND server IS NULL;

-- The request that a run comes from: its id, and the trace of the caller that it belongs to, as JSON. Nothing where no
-- request asked for the run.

ALTER TABLE runs ADD COLUMN origin TEXT;

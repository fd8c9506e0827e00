-- How research was wanted outlives its run, whose forks are research too. That somebody wants its report now is not forgotten
-- when the server stops.
ALTER TABLE runs ADD COLUMN research TEXT;
ALTER TABLE runs ADD COLUMN report_wanted BOOLEAN NOT NULL DEFAULT FALSE;

-- Where a run waits for people: the number of the last event that has changed for what. Otherwise 0. The log says it too,
-- but servers on the same database look here for what the others' runs do.

ALTER TABLE runs ADD COLUMN waiting_seq BIGINT NOT NULL DEFAULT 0;

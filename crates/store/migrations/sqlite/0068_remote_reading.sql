-- A document waits for a service that reads it: a model that transcribes, or the external document reader. As for pictures,
-- `failures` counts how often that failed.
ALTER TABLE documents ADD COLUMN remote BOOLEAN NOT NULL DEFAULT FALSE;

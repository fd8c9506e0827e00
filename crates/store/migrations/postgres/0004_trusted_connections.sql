-- A trusted server is told who asks.

ALTER TABLE connections ADD COLUMN trusted BOOLEAN NOT NULL DEFAULT FALSE;

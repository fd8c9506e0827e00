-- Whether the server has released the run in an orderly way. False from the time on that it goes on with it, so that it tells
-- whether it has crashed.
ALTER TABLE runs ADD COLUMN released BOOLEAN NOT NULL DEFAULT FALSE;

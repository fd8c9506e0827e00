-- What a run needs to go on after a restart, as JSON; empty once it has ended, and for runs that end with the server.

ALTER TABLE runs ADD COLUMN request TEXT;

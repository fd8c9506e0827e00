-- The name that a caller gave to the request that started a run, so that sending it again starts no other one; with the
-- hash of the request. Forgotten after a day.

ALTER TABLE runs ADD COLUMN idempotency_key TEXT;
ALTER TABLE runs ADD COLUMN request_hash BLOB;
CREATE UNIQUE INDEX runs_idempotency ON runs (owner, idempotency_key) WHERE idempotency_key IS NOT NULL;

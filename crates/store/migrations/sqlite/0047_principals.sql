-- Who began a chat, as runs have it: the API key, and the person whom a front end spoke for.
ALTER TABLE chats ADD COLUMN api_key TEXT;
ALTER TABLE chats ADD COLUMN person TEXT;
UPDATE chats SET
    api_key = (SELECT runs.api_key FROM runs WHERE runs.chat = chats.id ORDER BY runs.started_at, runs.id LIMIT 1),
    person = (SELECT runs.person FROM runs WHERE runs.chat = chats.id ORDER BY runs.started_at, runs.id LIMIT 1);

-- The models and agents that the key of a run is limited to, as a JSON list; nothing where it is not limited.
ALTER TABLE runs ADD COLUMN key_models TEXT;
UPDATE runs SET key_models = (SELECT models FROM api_keys WHERE api_keys.id = runs.api_key) WHERE finished_at IS NULL;

-- The name of a request means something only together with who sent it.
DROP INDEX runs_idempotency;
CREATE UNIQUE INDEX runs_idempotency ON runs (owner, idempotency_key, COALESCE(api_key, ''), COALESCE(person, ''))
    WHERE idempotency_key IS NOT NULL;

-- Which format a model server speaks, what that needs beside address and key, and the headers and query parameters that
-- are sent with every request: sealed, as they may be secret.
ALTER TABLE connections ADD COLUMN kind TEXT NOT NULL DEFAULT 'openai';
ALTER TABLE connections ADD COLUMN options TEXT NOT NULL DEFAULT '{}';
ALTER TABLE connections ADD COLUMN sealed_extras BLOB;

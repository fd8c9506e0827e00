-- When a crawl that has ended was taken off its collection's page. It stays, as it tells where documents came from.
ALTER TABLE crawls ADD COLUMN dismissed_at INTEGER;

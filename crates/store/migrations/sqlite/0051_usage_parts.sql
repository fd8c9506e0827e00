-- Of the tokens read and written, the ones from and into the provider's cache and those of reasoning.
ALTER TABLE usage ADD COLUMN cached_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN cache_write_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN reasoning_tokens INTEGER NOT NULL DEFAULT 0;
-- Of the requests, those whose price is unknown and those whose tokens are an estimate.
ALTER TABLE usage ADD COLUMN unpriced_requests INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN estimated_requests INTEGER NOT NULL DEFAULT 0;
-- Until now a cost of nothing meant that nobody knew it.
UPDATE usage SET unpriced_requests = requests WHERE cost_micro_usd = 0;

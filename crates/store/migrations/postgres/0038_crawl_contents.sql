-- What an address of a crawl has led to: the sum of its content, so that the same page at another address is known also after
-- a restart, and the document that it became.
ALTER TABLE crawl_pages ADD COLUMN content_sum TEXT COLLATE "C";
ALTER TABLE crawl_pages ADD COLUMN document TEXT COLLATE "C";
CREATE INDEX crawl_pages_by_content ON crawl_pages (crawl, content_sum);

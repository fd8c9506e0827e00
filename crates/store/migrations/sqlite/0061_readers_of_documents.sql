-- The version of the reader that extracted a document's text: an earlier one's documents are read again. NULL where a model
-- described the file.
ALTER TABLE documents ADD COLUMN reader BIGINT DEFAULT 0;
CREATE INDEX documents_by_reader ON documents (reader, id) WHERE state = 'ready';

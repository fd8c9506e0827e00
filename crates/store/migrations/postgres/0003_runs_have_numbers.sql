-- A log names its run by a number. The index of all logs is written to in as many places as there are runs going on:
-- the smaller its entries, the fewer pages that is.

ALTER TABLE runs ADD COLUMN number BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE;

ALTER TABLE segments RENAME TO old_segments;
ALTER TABLE old_segments RENAME CONSTRAINT segments_pkey TO old_segments_pkey;
CREATE TABLE segments (
    run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    lines TEXT NOT NULL,
    PRIMARY KEY (run, first_seq)
);
INSERT INTO segments (run, first_seq, last_seq, lines)
SELECT runs.number, first_seq, last_seq, lines
FROM old_segments JOIN runs ON runs.id = old_segments.run;
DROP TABLE old_segments;

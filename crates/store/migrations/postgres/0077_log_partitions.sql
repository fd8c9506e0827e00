-- Logs are partitioned by the numbers of their runs: a partition whose logs are all sealed or deleted is dropped, which gives
-- the space of its index back at once. `log_partitions.rs` creates and drops them.

ALTER TABLE segments RENAME TO segments_0;
ALTER TABLE segments_0 RENAME CONSTRAINT segments_pkey TO segments_0_pkey;

CREATE TABLE segments (
    run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    lines TEXT NOT NULL,
    PRIMARY KEY (run, first_seq)
) PARTITION BY RANGE (run);

-- What no other partition is for. It stays empty, unless the next one could not be created in time.
CREATE TABLE segments_rest PARTITION OF segments DEFAULT;

DO $$
DECLARE
    bound BIGINT;
BEGIN
    SELECT (COALESCE(MAX(number), 0) / 1000000 + 1) * 1000000 INTO bound FROM runs;
    EXECUTE format('ALTER TABLE segments ATTACH PARTITION segments_0 FOR VALUES FROM (MINVALUE) TO (%s)', bound);
END $$;

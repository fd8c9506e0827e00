-- Whether a run has ended in a chat that its owner has not looked at since.
ALTER TABLE chats ADD COLUMN unread BOOLEAN NOT NULL DEFAULT FALSE;

-- What agents do at set times: either at those that `cron` names in the time zone, or once.
CREATE TABLE schedules (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    prompt TEXT NOT NULL,
    model TEXT,
    cron TEXT,
    once_at BIGINT,
    time_zone TEXT NOT NULL,
    new_chat BOOLEAN NOT NULL,
    enabled BOOLEAN NOT NULL,
    -- Where its runs go, if not each into a chat of its own.
    chat TEXT REFERENCES chats (id) ON DELETE SET NULL,
    -- When it is due; nothing where it is off or over.
    next_at BIGINT,
    -- Its latest run, which may be gone.
    last_run TEXT,
    -- Why it has turned itself off.
    problem TEXT,
    changed_at BIGINT NOT NULL,
    -- Until then one server sees to it, and no other.
    claimed_until BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX schedules_by_owner ON schedules (owner);
CREATE INDEX schedules_by_time ON schedules (next_at);
CREATE INDEX schedules_by_chat ON schedules (chat);

-- What came of its latest times.
CREATE TABLE schedule_turns (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    schedule TEXT NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
    due_at BIGINT NOT NULL,
    noted_at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    note TEXT,
    run TEXT REFERENCES runs (id) ON DELETE SET NULL,
    chat TEXT REFERENCES chats (id) ON DELETE SET NULL
);
CREATE INDEX schedule_turns_by_schedule ON schedule_turns (schedule, number);
CREATE INDEX schedule_turns_by_run ON schedule_turns (run);
CREATE INDEX schedule_turns_by_chat ON schedule_turns (chat);

-- The name of the schedule that has said it, where no person did.
ALTER TABLE messages ADD COLUMN schedule TEXT;

-- A tool's code at one version, on one server.
CREATE TABLE codes (
    code    INTEGER PRIMARY KEY,
    server  TEXT NOT NULL,
    scope   TEXT NOT NULL,
    tool    TEXT NOT NULL,
    version INTEGER NOT NULL,
    UNIQUE (server, scope, tool, version)
);

-- Processes that run tasks. A number is never used twice.
CREATE TABLE holders (
    holder      INTEGER PRIMARY KEY AUTOINCREMENT,
    server      TEXT NOT NULL,
    scope       TEXT NOT NULL,
    build       TEXT NOT NULL,
    process     INTEGER NOT NULL,
    lease_until INTEGER NOT NULL
);

CREATE TABLE tasks (
    task       INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    code       INTEGER NOT NULL REFERENCES codes,
    caller     TEXT NOT NULL,
    -- Who has claimed it last and not given it up; 0 for nobody.
    holder     INTEGER NOT NULL,
    fencing    INTEGER NOT NULL,
    -- The last entry of its journal, and its last status, or 0.
    seq        INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    ended      INTEGER NOT NULL,
    running    INTEGER NOT NULL,
    -- 1: others have appended what the holder has not seen; 2: its own process
    -- has, which needs no telling.
    unseen     INTEGER NOT NULL,
    -- 1: if it has to be recovered now, it is a suspect; 2: it is one.
    distrust   INTEGER NOT NULL,
    -- 1: held; 2: held as poisonous.
    held       INTEGER NOT NULL,
    -- Of the holders that could not run it, the first and the last to have come.
    held_first INTEGER NOT NULL,
    held_last  INTEGER NOT NULL,
    held_build TEXT NOT NULL,
    -- When somebody must run it, and when time does something to it; in
    -- milliseconds since the Unix epoch, 9223372036854775807 for never.
    wake_at    INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    snapshot   TEXT NOT NULL
);

CREATE INDEX tasks_to_wake ON tasks (code, holder, wake_at)
    WHERE wake_at < 9223372036854775807;
CREATE INDEX tasks_distrusted ON tasks (code, holder) WHERE distrust > 0;
CREATE INDEX tasks_held_before ON tasks (code, holder, held_last) WHERE held = 1;
CREATE INDEX tasks_held_after ON tasks (code, holder, held_first) WHERE held = 1;
CREATE INDEX tasks_poisonous ON tasks (code, holder, held_build) WHERE held = 2;
CREATE INDEX tasks_unseen ON tasks (holder) WHERE unseen = 1;
CREATE INDEX tasks_due ON tasks (due_at) WHERE due_at < 9223372036854775807;

CREATE TABLE journal (
    task   INTEGER NOT NULL REFERENCES tasks ON DELETE CASCADE,
    seq    INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    -- In which form the event is written.
    format INTEGER NOT NULL,
    event  TEXT NOT NULL,
    PRIMARY KEY (task, seq)
) WITHOUT ROWID;

-- Counted as they change: a table is not read to count it.
CREATE TABLE totals (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    live   INTEGER NOT NULL,
    stored INTEGER NOT NULL
);
INSERT INTO totals VALUES (1, 0, 0);

CREATE TABLE callers (
    caller TEXT PRIMARY KEY,
    live   INTEGER NOT NULL
) WITHOUT ROWID;

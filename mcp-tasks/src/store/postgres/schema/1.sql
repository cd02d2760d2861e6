-- A tool's code at one version, on one server.
CREATE TABLE @codes (
    code    INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    server  TEXT NOT NULL,
    scope   TEXT NOT NULL,
    tool    TEXT NOT NULL,
    version BIGINT NOT NULL,
    UNIQUE (server, scope, tool, version)
);

-- Processes that run tasks. A number is never used twice. Whoever is not here
-- holds nothing.
CREATE TABLE @holders (
    holder      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    server      TEXT NOT NULL,
    scope       TEXT NOT NULL,
    build       TEXT NOT NULL,
    lease_ms    BIGINT NOT NULL,
    lease_until BIGINT NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE @tasks (
    task       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         TEXT COLLATE "C" NOT NULL UNIQUE,
    code       INTEGER NOT NULL,
    caller     TEXT COLLATE "C" NOT NULL,
    -- Grows with every change of the row: whoever has worked out a change from a
    -- row writes only over that row.
    revision   BIGINT NOT NULL,
    -- Who has claimed it, 0 for nobody, and how manieth claim that is.
    holder     BIGINT NOT NULL,
    fencing    BIGINT NOT NULL,
    -- The last entry of its journal, and its last status, or 0.
    seq        BIGINT NOT NULL,
    status     BIGINT NOT NULL,
    running    BOOLEAN NOT NULL,
    -- 1: others have appended what the holder has not seen; 2: its own process
    -- has, which needs no telling.
    unseen     SMALLINT NOT NULL,
    -- Its holder has died while it ran.
    recover    BOOLEAN NOT NULL,
    -- 1: if it has to be recovered, it is a suspect; 2: it is one.
    distrust   SMALLINT NOT NULL,
    -- 1: held; 2: held as poisonous.
    held       SMALLINT NOT NULL,
    -- Of the holders that could not run it, the first and the last to have come.
    held_first BIGINT NOT NULL,
    held_last  BIGINT NOT NULL,
    held_build TEXT NOT NULL,
    -- Times are milliseconds since the Unix epoch, 9223372036854775807 for never.
    -- When its next timer is due.
    timer_at   BIGINT NOT NULL,
    -- When somebody must claim it, if nobody has; 0 if something has arrived, -1 if
    -- it runs, -2 if it is to be recovered and a suspect. Of a task that somebody
    -- has it says nothing, so that what its holder writes touches no index.
    wake_at    BIGINT NOT NULL,
    ended      BOOLEAN NOT NULL,
    -- 0 working, 1 input required, 2 completed, 3 failed, 4 cancelled.
    state      SMALLINT NOT NULL,
    updated_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- When time does something to it.
    due_at     BIGINT NOT NULL,
    snapshot   TEXT NOT NULL
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02
);

CREATE INDEX tasks_claimed ON @tasks (holder) WHERE holder > 0;
CREATE INDEX tasks_ready ON @tasks (code, caller, task)
    WHERE holder = 0 AND wake_at BETWEEN -1 AND 0;
CREATE INDEX tasks_to_wake ON @tasks (code, wake_at)
    WHERE holder = 0 AND wake_at BETWEEN 1 AND 9223372036854775806;
CREATE INDEX tasks_suspected ON @tasks (code, task) WHERE holder = 0 AND wake_at = -2;
CREATE INDEX tasks_watched ON @tasks (task) WHERE holder > 0 AND distrust = 2;
CREATE INDEX tasks_held_before ON @tasks (code, held_last) WHERE holder = 0 AND held = 1;
CREATE INDEX tasks_held_after ON @tasks (code, held_first) WHERE holder = 0 AND held = 1;
CREATE INDEX tasks_poisonous ON @tasks (code, held_build) WHERE holder = 0 AND held = 2;
CREATE INDEX tasks_due ON @tasks (due_at) WHERE due_at < 9223372036854775807;
CREATE INDEX tasks_of_callers ON @tasks (caller, ended, task);

CREATE TABLE @journal (
    task   BIGINT NOT NULL,
    seq    BIGINT NOT NULL,
    at     BIGINT NOT NULL,
    -- In which form the event is written.
    format SMALLINT NOT NULL,
    event  TEXT NOT NULL,
    PRIMARY KEY (task, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Counted as they change: a table is not read to count it. The sum over the slots
-- counts, of which each change takes any: many change at once.
CREATE TABLE @totals (
    slot   INTEGER PRIMARY KEY,
    live   BIGINT NOT NULL,
    stored BIGINT NOT NULL
) WITH (fillfactor = 20);
INSERT INTO @totals SELECT slot, 0, 0 FROM generate_series(0, 31) AS slot;

-- The live tasks of authenticated callers.
CREATE TABLE @callers (
    caller TEXT COLLATE "C" PRIMARY KEY,
    live   BIGINT NOT NULL
) WITH (fillfactor = 50);

-- Who runs functions of which only so many may run at once. The seats of a lane are
-- numbered from 0: each is taken once.
CREATE TABLE @seats (
    server TEXT COLLATE "C" NOT NULL,
    scope  TEXT COLLATE "C" NOT NULL,
    -- 0 for the functions of a tool, 1 for those of a caller; and its name.
    kind   INTEGER NOT NULL,
    name   TEXT COLLATE "C" NOT NULL,
    seat   INTEGER NOT NULL,
    holder BIGINT NOT NULL,
    run    BIGINT NOT NULL,
    PRIMARY KEY (server, scope, kind, name, seat)
);
CREATE INDEX seats_of_runs ON @seats (holder, run);

-- Holders that wait for a seat in a lane, since when, and when they last asked.
CREATE TABLE @seats_wanted (
    server TEXT COLLATE "C" NOT NULL,
    scope  TEXT COLLATE "C" NOT NULL,
    kind   INTEGER NOT NULL,
    name   TEXT COLLATE "C" NOT NULL,
    holder BIGINT NOT NULL,
    since  BIGINT NOT NULL,
    asked  BIGINT NOT NULL,
    PRIMARY KEY (server, scope, kind, name, holder)
);
CREATE INDEX seats_wanted_by ON @seats_wanted (holder);

-- Keys that seal the state of calls which travels through clients.
CREATE TABLE @sealing_keys (
    id      BYTEA PRIMARY KEY,
    secret  BYTEA NOT NULL,
    made_at BIGINT NOT NULL
);

-- States that were accepted, until they would be too old for that.
CREATE TABLE @spent_states (
    run   TEXT COLLATE "C" NOT NULL,
    round BIGINT NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (run, round)
);
CREATE INDEX spent_states_until ON @spent_states (until);

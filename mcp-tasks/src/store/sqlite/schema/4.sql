-- Who runs functions of which only so many may run at once, and who waits to.
CREATE TABLE seats (
    server TEXT NOT NULL,
    scope  TEXT NOT NULL,
    -- 0 for the functions of a tool, 1 for those of a caller; and its name.
    kind   INTEGER NOT NULL,
    name   TEXT NOT NULL,
    holder INTEGER NOT NULL,
    -- The run that has the seat; 0 for a holder that waits for one.
    run    INTEGER NOT NULL,
    -- Since when it waits, and when it last asked.
    since  INTEGER NOT NULL,
    asked  INTEGER NOT NULL,
    PRIMARY KEY (server, scope, kind, name, holder, run)
) WITHOUT ROWID;

CREATE INDEX seats_of_runs ON seats (holder, run);

-- Of what is to wake at one time, that is what ran or what something has arrived
-- for, the callers are found one after the other; and so are those with timers.
DROP INDEX tasks_to_wake;
CREATE INDEX tasks_to_wake ON tasks (code, holder, wake_at, caller)
    WHERE wake_at < 9223372036854775807;
CREATE INDEX tasks_with_timers ON tasks (code, holder, caller, wake_at)
    WHERE wake_at > 0 AND wake_at < 9223372036854775807;

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

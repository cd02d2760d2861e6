-- Keys that seal the state of calls which travels through clients.
CREATE TABLE sealing_keys (
    id      BLOB PRIMARY KEY,
    secret  BLOB NOT NULL,
    made_at INTEGER NOT NULL
) WITHOUT ROWID;

-- States that were accepted, until they would be too old for that.
CREATE TABLE spent_states (
    run   TEXT NOT NULL,
    round INTEGER NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (run, round)
) WITHOUT ROWID;

CREATE INDEX spent_states_until ON spent_states (until);

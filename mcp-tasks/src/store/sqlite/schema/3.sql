-- What a task says that it is: 0 working, 1 input required, 2 completed, 3
-- failed, 4 cancelled.
ALTER TABLE tasks ADD COLUMN state INTEGER NOT NULL DEFAULT 0;

UPDATE tasks SET state = CASE
    WHEN json_extract(snapshot, '$.outcome') = 'cancelled' THEN 4
    WHEN json_type(snapshot, '$.outcome.failed') IS NOT NULL THEN 3
    WHEN ended THEN 2
    WHEN held = 0 AND json_array_length(snapshot, '$.input_requests') > 0 THEN 1
    ELSE 0
END;

-- A task is numbered when it begins: within an entry the newest is the last.
CREATE INDEX tasks_of_callers ON tasks (caller, state);

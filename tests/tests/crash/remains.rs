//! What a killed server has left in its file.

use std::collections::BTreeMap;

use mcp_tasks_tests::StoreFile;
use mcp_tasks_tests::trial::Journal;

/// The store's tasks by id.
pub(crate) type Remains = BTreeMap<String, Stored>;

/// A task as it is stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stored {
    pub(crate) tool: String,
    pub(crate) ended: bool,
    pub(crate) journal: Journal,
}

/// Reads the file, of which no server is left.
pub(crate) fn read(file: &StoreFile) -> Remains {
    let has_content = std::fs::metadata(file.path()).is_ok_and(|found| found.len() > 0);
    let has_log = std::fs::metadata(file.path().with_extension("db-wal")).is_ok();
    if !has_content && !has_log {
        // It was killed before it had made the file.
        return Remains::new();
    }
    let rows = file.look(|connection| {
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'journal'";
        if connection.query_row(tables, (), |row| row.get::<_, i64>(0))? == 0 {
            return Ok(Vec::new());
        }
        // How a task ended is kept in its snapshot, and nothing else of it.
        let mut found = connection.prepare(
            "SELECT id, tool, ended, coalesce(journal.seq, tasks.seq),
                 coalesce(event, json_object('finished', json(snapshot -> '$.outcome')))
             FROM tasks JOIN codes USING (code) LEFT JOIN journal USING (task)",
        )?;
        let rows = found.query_map((), |row| {
            let (id, tool): (String, String) = (row.get(0)?, row.get(1)?);
            let (seq, event): (i64, String) = (row.get(3)?, row.get(4)?);
            Ok((id, tool, row.get(2)?, seq.unsigned_abs(), event))
        })?;
        rows.collect::<Result<Vec<_>, _>>()
    });
    let mut remains = Remains::new();
    for (id, tool, ended, seq, event) in rows {
        let event = serde_json::from_str(&event).expect("events are JSON");
        let stored = remains.entry(id).or_default();
        (stored.tool, stored.ended) = (tool, ended);
        stored.journal.insert(seq, event);
    }
    remains
}

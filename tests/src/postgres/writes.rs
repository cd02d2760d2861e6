//! Who has written what into a database: a trigger on each table takes note.

use serde_json::Value;

use super::Database;

/// Takes note of every row that is written from here on. `application_name` is who
/// it is that writes.
const NOTE: &str = "
CREATE SCHEMA IF NOT EXISTS noted;
CREATE TABLE IF NOT EXISTS noted.writes (
    number    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    writer    text NOT NULL,
    relation  text NOT NULL,
    operation text NOT NULL,
    row       json NOT NULL
);
CREATE OR REPLACE FUNCTION noted.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO noted.writes (writer, relation, operation, row) VALUES (
        current_setting('application_name'), TG_TABLE_NAME, TG_OP,
        CASE TG_OP WHEN 'DELETE' THEN row_to_json(OLD) ELSE row_to_json(NEW) END
    );
    RETURN NULL;
END $$;
DO $$
DECLARE found regclass;
BEGIN
    FOR found IN
        SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname <> 'noted'
          AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
    LOOP
        EXECUTE format('CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON %s
            FOR EACH ROW EXECUTE FUNCTION noted.note()', found);
    END LOOP;
END $$;
";

/// One row that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// What the writer calls itself.
    pub writer: String,
    /// The table, without its schema.
    pub table: String,
    /// `INSERT`, `UPDATE` or `DELETE`.
    pub operation: String,
    /// The row after it; of one that was deleted, before.
    pub row: Value,
}

impl Database {
    /// Takes note of everything that is written from here on, into the tables that
    /// there are by now.
    pub async fn note_writes(&self) {
        let noted = self.connect().await.batch_execute(NOTE).await;
        noted.unwrap_or_else(|error| panic!("{}: {error:?}", self.url()));
    }

    /// What was noted, in order.
    pub async fn writes(&self) -> Vec<Write> {
        let client = self.connect().await;
        let query =
            "SELECT writer, relation, operation, row::text FROM noted.writes ORDER BY number";
        let rows = client.query(query, &[]).await;
        let rows = rows.unwrap_or_else(|error| panic!("{}: {error:?}", self.url()));
        let write = |row: &tokio_postgres::Row| {
            let json: &str = row.get(3);
            Write {
                writer: row.get(0),
                table: row.get(1),
                operation: row.get(2),
                row: serde_json::from_str(json).expect("rows are JSON"),
            }
        };
        rows.iter().map(write).collect()
    }
}

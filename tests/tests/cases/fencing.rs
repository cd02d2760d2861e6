//! What the store itself refuses: c81 once more, seen in its rows.
//!
//! A process that has slept knows by its own clock that its lease is over. The
//! store must not depend on that: a write that was sent in time may arrive late.

use std::collections::BTreeSet;
use std::time::Duration;

use mcp_tasks_tests::postgres::{Cluster, Database, Relay, Write};
use mcp_tasks_tests::{Client, Fixture, Launch, PATIENCE, Transport};
use rusqlite::{Connection, OpenFlags};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use crate::outages::on_postgres;
use crate::processes::{gone, pause_between_writes, two};
use crate::steps::until_lines;
use crate::{FIXTURES, Store, on_every_shared_store};

on_every_shared_store! {
    c81_the_record_of_a_task_that_was_taken_over_stays_as_it_is,
}

on_postgres! {
    c81_no_two_processes_write_under_one_claim,
    c81_a_write_that_arrives_after_the_lease_is_refused,
}

/// A task in the store: the number of its last claim, and its journal.
#[derive(Debug, PartialEq)]
struct Record {
    fencing: i64,
    journal: Vec<(i64, String)>,
}

impl Record {
    /// Reads it while servers are at work.
    async fn read(server: &Fixture, id: &str) -> Self {
        match server.launch().database() {
            Some(database) => Self::in_database(database, id).await,
            None => Self::in_file(server, id),
        }
    }

    async fn in_database(database: &Database, id: &str) -> Self {
        let client = database.connect().await;
        let task = "SELECT task, fencing FROM mcp_tasks.tasks WHERE id = $1";
        let row = client.query_one(task, &[&id]).await.unwrap();
        let (task, fencing): (i64, i64) = (row.get(0), row.get(1));
        let journal = "SELECT seq, event FROM mcp_tasks.journal WHERE task = $1 ORDER BY seq";
        let rows = client.query(journal, &[&task]).await.unwrap();
        Self {
            fencing,
            journal: rows.iter().map(|row| (row.get(0), row.get(1))).collect(),
        }
    }

    fn in_file(server: &Fixture, id: &str) -> Self {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = Connection::open_with_flags(server.file().path(), flags).unwrap();
        let (task, fencing): (i64, i64) = connection
            .query_row(
                "SELECT task, fencing FROM tasks WHERE id = ?1",
                (id,),
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .unwrap();
        let mut journal = connection
            .prepare("SELECT seq, event FROM journal WHERE task = ?1 ORDER BY seq")
            .unwrap();
        let entries = journal.query_map((task,), |row| Ok((row.get(0)?, row.get(1)?)));
        Self {
            fencing,
            journal: entries.unwrap().collect::<Result<_, _>>().unwrap(),
        }
    }
}

const STEPS: u32 = 25;

/// Begins a task that works for a while, and waits until it does.
async fn working(client: &Client, folder: &TempDir) -> String {
    let file = folder.path().join("steps.txt");
    let id = client
        .task("steps", json!({ "file": file, "n": STEPS }))
        .await;
    until_lines(&file, 5).await;
    id
}

async fn c81_the_record_of_a_task_that_was_taken_over_stays_as_it_is(
    store: Store,
    transport: Transport,
) {
    let folder = TempDir::new().unwrap();
    let (a, b) = two(store, transport, &["--lease", "1000"]).await;
    let (woken, client) = (a.client(), b.client());
    let id = working(&woken, &folder).await;
    let first = Record::read(&a, &id).await;
    pause_between_writes(&a).await;
    let key = client.until_asked(&id, None).await;
    let taken_over = Record::read(&b, &id).await;
    assert!(taken_over.fencing > first.fencing);
    assert_eq!(taken_over.journal[..first.journal.len()], first.journal);

    a.unpause();
    gone(&woken).await;
    // It has had time to try, and knows of it what is so.
    assert_eq!(woken.get(&id).await, client.get(&id).await);
    assert_eq!(Record::read(&b, &id).await, taken_over);
    woken.answer(&id, &key, "on").await;
    assert_eq!(client.until_text(&id).await, "done");
}

/// Two servers on one database that knows them by name.
async fn known(database: &Database, via: &Database, transport: Transport) -> [Fixture; 2] {
    let launch = Launch::new(FIXTURES, transport).flags(&["--lease", "1000"]);
    let a = launch.clone().on(&via.known_to_it_as("a")).start().await;
    let b = launch.over(transport.other());
    let b = b.on(&database.known_to_it_as("b")).start().await;
    database.note_writes().await;
    [a, b]
}

/// What was written to tasks and their journals.
async fn writes(database: &Database) -> Vec<Write> {
    let mut writes = database.writes().await;
    writes.retain(|write| ["tasks", "journal"].contains(&&*write.table));
    writes
}

async fn c81_no_two_processes_write_under_one_claim(transport: Transport) {
    let folder = TempDir::new().unwrap();
    let database = Database::create().await;
    let [a, b] = known(&database, &database, transport).await;
    let id = working(&a.client(), &folder).await;
    a.pause().await;
    let key = b.client().until_asked(&id, None).await;
    a.unpause();
    gone(&a.client()).await;
    b.client().answer(&id, &key, "on").await;
    assert_eq!(b.client().until_text(&id).await, "done");

    let writes = writes(&database).await;
    let last_of_a = writes.iter().rposition(|write| write.writer == "a");
    let first_of_b = writes.iter().position(|write| write.writer == "b");
    assert!(last_of_a < first_of_b, "{writes:#?}");
    // Whoever sets a task free that another has left writes under no claim.
    let claimed = |write: &&Write| {
        write.row["holder"]
            .as_i64()
            .is_some_and(|holder| holder > 0)
    };
    let fencing = |writer: &str| {
        let its = writes.iter().filter(claimed);
        let its = its.filter(|write| write.writer == writer);
        its.filter_map(|write| write.row["fencing"].as_i64())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(
        (fencing("a").len(), fencing("b").len()),
        (1, 1),
        "{writes:#?}"
    );
    assert!(fencing("a") < fencing("b"));
}

async fn c81_a_write_that_arrives_after_the_lease_is_refused(transport: Transport) {
    // At the moment that a test takes, it may happen to wait for the reply to the
    // last one, and nothing is on the way.
    for round in 1..=5 {
        if write_late(transport).await {
            println!("in round {round}");
            return;
        }
    }
    panic!("no write is ever on the way");
}

/// Begins each entry of the log.
const MARK: char = '§';

/// Has a process send the result of a step that arrives when another has taken over,
/// and it is dead; tells whether it did.
async fn write_late(transport: Transport) -> bool {
    let folder = TempDir::new().unwrap();
    let settings = &[("log_statement", "all"), ("log_line_prefix", "§%a ")];
    let cluster = Cluster::start_with(settings).await;
    let relay = Relay::to(&cluster).await;
    let database = cluster.database().await;
    let [mut a, b] = known(&database, &database.through(&relay), transport).await;
    let client = b.client();
    let id = working(&a.client(), &folder).await;
    relay.hold();
    let key = client.until_asked(&id, None).await;
    a.kill().await;
    let taken_over = Record::read(&b, &id).await;
    let (written, logged) = (writes(&database).await, cluster.log().len());

    relay.mend();
    until_disconnected(&database, "a").await;
    assert_eq!(Record::read(&b, &id).await, taken_over);
    assert_eq!(writes(&database).await, written);
    client.answer(&id, &key, "on").await;
    assert_eq!(client.until_text(&id).await, "done");
    let log = cluster.log();
    let mut late = log[logged..].split(MARK);
    late.any(|entry| entry.starts_with("a ") && entry.contains("journal (task, seq"))
}

/// Waits until the database has carried out all that a process had sent.
async fn until_disconnected(database: &Database, process: &str) {
    let observer = database.connect().await;
    let gone = async {
        let query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1";
        while observer
            .query_one(query, &[&process])
            .await
            .unwrap()
            .get::<_, i64>(0)
            > 0
        {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, gone).await.expect("it stays connected");
}

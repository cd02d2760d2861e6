//! The PostgreSQL that tests run on: each test alone in a database, a server that
//! can be taken away and brought back, and that never outlives who began it.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mcp_tasks_tests::PATIENCE;
use mcp_tasks_tests::postgres::{Cluster, Database, Relay, connect};
use tokio::time::{sleep, timeout};

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn each_test_is_alone_in_its_database() {
    let (one, other) = (Database::create().await, Database::create().await);
    assert_ne!(one.url(), other.url());
    let client = one.connect().await;
    let made = client
        .batch_execute("CREATE TABLE t (x int); INSERT INTO t VALUES (1)")
        .await;
    made.unwrap();
    let client = other.connect().await;
    let found = client
        .query_one("SELECT to_regclass('t') IS NULL", &[])
        .await;
    assert!(found.unwrap().get::<_, bool>(0));
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn a_database_goes_with_its_test_and_takes_those_along_who_use_it() {
    let database = Database::create().await;
    let (client, url) = (database.connect().await, database.url().to_owned());
    drop(database);
    client.batch_execute("SELECT").await.unwrap_err();
    let gone = connect(&url).await.map(drop).unwrap_err();
    let code = gone.code().map(|code| code.code().to_owned());
    assert_eq!(code.as_deref(), Some("3D000"), "{gone:?}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn what_is_committed_survives_that_the_server_stops_and_that_it_crashes() {
    let cluster = Cluster::start_new().await;
    let database = cluster.database().await;
    let client = database.connect().await;
    client
        .batch_execute("CREATE TABLE t (x int)")
        .await
        .unwrap();
    let insert = "INSERT INTO t VALUES (1)";
    client.batch_execute(insert).await.unwrap();

    cluster.stop().await;
    client.batch_execute(insert).await.unwrap_err();
    connect(database.url()).await.map(drop).unwrap_err();
    cluster.start().await;
    let client = database.connect().await;
    client.batch_execute(insert).await.unwrap();

    cluster.kill().await;
    client.batch_execute(insert).await.unwrap_err();
    cluster.start().await;
    cluster.restart().await;
    let client = database.connect().await;
    let count = client.query_one("SELECT count(*) FROM t", &[]).await;
    assert_eq!(count.unwrap().get::<_, i64>(0), 2);
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn a_commit_is_on_the_disk_unless_a_test_says_otherwise() {
    let fsync = async |cluster: &Cluster| {
        let client = connect(&cluster.url("postgres")).await.unwrap();
        let shown = client.query_one("SHOW fsync", &[]).await.unwrap();
        shown.get::<_, String>(0)
    };
    assert_eq!(fsync(&Cluster::start_new().await).await, "on");
    let lax = Cluster::start_with(&[("fsync", "off")]).await;
    assert_eq!(fsync(&lax).await, "off");
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn a_cluster_ends_with_its_last_handle() {
    let cluster = Cluster::start_new().await;
    let (port, folder) = (cluster.port(), cluster.socket_folder().to_owned());
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok());
    let database = cluster.database().await;
    drop(cluster);
    database.connect().await;
    drop(database);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    assert!(!folder.exists());
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn no_cluster_outlives_a_process_that_is_killed() {
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "another_process", "--ignored", "--nocapture"])
        .env(ROLE, "holds a cluster")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
    let line = lines.find_map(|line| Some(line.unwrap().strip_prefix("> ")?.to_owned()));
    let line = line.expect("it ended without a word");
    let (port, folder) = line.split_once(' ').unwrap();
    let port: u16 = port.parse().unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok());
    other.kill().unwrap();
    other.wait().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while TcpStream::connect(("127.0.0.1", port)).is_ok() || Path::new(folder).exists() {
        assert!(Instant::now() < deadline, "{folder} is still there");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn who_writes_what_is_noted() {
    let database = Database::create().await;
    let client = database.connect().await;
    client
        .batch_execute("CREATE TABLE t (x int)")
        .await
        .unwrap();
    database.note_writes().await;
    let (one, other) = (
        database.known_to_it_as("one"),
        database.known_to_it_as("other"),
    );
    for (database, statement) in [
        (&one, "INSERT INTO t VALUES (1)"),
        (&other, "UPDATE t SET x = 2"),
        (&one, "UPDATE t SET x = 3 WHERE x = 1"),
        (&one, "DELETE FROM t"),
    ] {
        let client = database.connect().await;
        client.batch_execute(statement).await.unwrap();
    }
    let noted = database.writes().await;
    let noted: Vec<_> = noted
        .iter()
        .map(|write| (&*write.writer, &*write.operation, write.row["x"].as_i64()))
        .collect();
    let expected = [
        ("one", "INSERT", Some(1)),
        ("other", "UPDATE", Some(2)),
        ("one", "DELETE", Some(2)),
    ];
    assert_eq!(noted, expected);
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn a_relay_holds_what_is_sent_or_loses_it() {
    let cluster = Cluster::start_new().await;
    let database = cluster.database().await;
    let direct = database.connect().await;
    direct
        .batch_execute("CREATE TABLE t (x int)")
        .await
        .unwrap();
    let count = async || {
        let row = direct.query_one("SELECT count(*) FROM t", &[]).await;
        row.unwrap().get::<_, i64>(0)
    };
    let relay = Relay::to(&cluster).await;
    let through = database.through(&relay);
    let client = through.connect().await;
    client
        .batch_execute("INSERT INTO t VALUES (1)")
        .await
        .unwrap();
    assert_eq!(count().await, 1);

    // Its sender has given up by the time that it arrives.
    relay.hold();
    let late = client.batch_execute("INSERT INTO t VALUES (2)");
    let late = timeout(Duration::from_millis(300), late).await;
    late.unwrap_err();
    drop(client);
    assert_eq!(count().await, 1);
    relay.mend();
    let deadline = Instant::now() + PATIENCE;
    while count().await < 2 {
        assert!(Instant::now() < deadline, "it never arrives");
        sleep(Duration::from_millis(5)).await;
    }

    let client = through.connect().await;
    relay.cut();
    client
        .batch_execute("INSERT INTO t VALUES (3)")
        .await
        .unwrap_err();
    connect(through.url()).await.map(drop).unwrap_err();
    relay.mend();
    through.connect().await;
    assert_eq!(count().await, 2);
}

/// Tells a process that it is the other one, and what it is to do.
const ROLE: &str = "MCP_TASKS_TEST_ROLE";

#[tokio::test]
#[ignore = "run by another test, as another process"]
async fn another_process() {
    if std::env::var_os(ROLE).is_some() {
        let cluster = Cluster::start_new().await;
        let folder = cluster.socket_folder().display();
        println!("\n> {} {folder}", cluster.port());
        std::future::pending::<()>().await;
    }
}

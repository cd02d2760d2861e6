//! Store files that cannot be used: c68. The server says why, ends, and leaves
//! them as they are.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use mcp_tasks_tests::{Launch, Refusal, StoreFile, Transport, keys};
use rusqlite::Connection;
use serde_json::json;
use tokio::time::sleep;

use crate::{FIXTURES, durable, over_every_transport};

over_every_transport! {
    c68_a_file_that_is_cut_off_is_refused,
    c68_a_file_that_is_cut_off_beside_its_log_is_refused_unless_the_log_makes_it_whole,
    c68_a_file_that_is_damaged_is_refused,
    c68_a_locked_file_is_refused,
    c68_a_file_that_others_write_to_without_end_is_refused,
    c68_a_read_only_file_is_refused,
    c68_a_file_in_a_read_only_directory_is_refused,
    c68_a_file_of_a_newer_version_is_refused,
    c68_a_file_of_another_program_is_refused,
    c68_what_is_no_file_is_refused,
    c68_a_file_that_was_refused_works_once_it_can,
}

/// A store with a task that waits, as a killed server leaves it, and the task's
/// id. All of it is in the file itself: it has been opened and closed since.
async fn filled(transport: Transport) -> (StoreFile, String) {
    let mut server = durable(transport, &[]).await;
    let client = server.client();
    for _ in 0..20 {
        client.task("ask1", json!({})).await;
    }
    let id = client.task("ask1", json!({})).await;
    client.until_asked(&id, None).await;
    server.kill().await;
    let file = server.file().clone();
    drop(open(&file).query_row("SELECT count(*) FROM tasks", (), |_| Ok(())));
    (file, id)
}

fn open(file: &StoreFile) -> Connection {
    Connection::open(file.path()).unwrap()
}

/// Everything in the directory of a store, byte for byte.
fn all_of(file: &StoreFile) -> BTreeMap<String, Option<Vec<u8>>> {
    let entries = fs::read_dir(file.folder()).unwrap();
    entries
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).ok())
        })
        .collect()
}

/// Starts a server on a file that it must refuse, with words that contain
/// these, and without touching anything.
async fn refused(transport: Transport, file: &StoreFile, words: &[&str]) {
    let before = all_of(file);
    let refusal = Launch::new(FIXTURES, transport).on(file).refused().await;
    assert_eq!(all_of(file), before, "something was touched");
    says(&refusal, words);
}

/// Checks that somebody is told what is wrong with which file, and no more.
fn says(refusal: &Refusal, words: &[&str]) {
    assert_eq!(refusal.code, Some(1), "{refusal:?}");
    let said = &refusal.said;
    assert!(said.starts_with("fixtures: "), "{said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    assert!(said.contains("tasks.db"), "{said}");
    for word in words {
        assert!(said.contains(word), "`{word}` is not in: {said}");
    }
}

async fn c68_a_file_that_is_cut_off_is_refused(transport: Transport) {
    let (file, _) = filled(transport).await;
    let whole = fs::read(file.path()).unwrap();
    for length in [whole.len() / 2, whole.len() - 1, 5000, 4096, 1000, 100, 17] {
        fs::write(file.path(), &whole[..length]).unwrap();
        refused(transport, &file, &[]).await;
    }
}

async fn c68_a_file_that_is_cut_off_beside_its_log_is_refused_unless_the_log_makes_it_whole(
    transport: Transport,
) {
    let mut server = durable(transport, &[]).await;
    let client = server.client();
    let id = client.task("ask1", json!({})).await;
    client.until_asked(&id, None).await;
    server.kill().await;
    let file = server.file();
    let left = all_of(file);
    let whole = fs::read(file.path()).unwrap();
    let log = file.folder().join("tasks.db-wal");
    assert!(fs::metadata(&log).unwrap().len() > 0);
    for length in [whole.len() - 1, whole.len() / 2, 4096, 1000, 17, 1, 0] {
        for (name, bytes) in &left {
            fs::write(file.folder().join(name), bytes.as_ref().unwrap()).unwrap();
        }
        fs::write(file.path(), &whole[..length]).unwrap();
        let before = fs::read(&log).unwrap();
        let mut again = server.launch().spawn();
        // Over stdio only a reply tells that it has started.
        let gone = match again.client().await {
            Ok(client) => client
                .attempt("tasks/get", json!({ "taskId": id }))
                .await
                .map(|reply| assert_eq!(reply.result()["status"], "input_required"))
                .is_err(),
            Err(_) => true,
        };
        if gone {
            let code = again.ended().await.code();
            let said = again.said();
            says(&Refusal { code, said }, &[]);
            assert_eq!(fs::read(file.path()).unwrap(), whole[..length]);
            assert_eq!(fs::read(&log).unwrap(), before);
        } else {
            assert!(length > 0);
            again.kill().await;
        }
    }
}

async fn c68_a_file_that_is_damaged_is_refused(transport: Transport) {
    let (file, _) = filled(transport).await;
    let whole = fs::read(file.path()).unwrap();
    let damage = |from: usize, to: usize| {
        let mut bytes = whole.clone();
        bytes[from..to].fill(0xa5);
        bytes
    };
    for bytes in [damage(0, 100), damage(0, 4096), damage(100, 4096)] {
        fs::write(file.path(), bytes).unwrap();
        refused(transport, &file, &[]).await;
    }
}

async fn c68_a_locked_file_is_refused(transport: Transport) {
    let (file, _) = filled(transport).await;
    let before = all_of(&file);
    // While this process has it locked, it must not read it in any other way:
    // that would give up the lock.
    let connection = open(&file);
    connection
        .pragma_update(None, "locking_mode", "EXCLUSIVE")
        .unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let refusal = Launch::new(FIXTURES, transport).on(&file).refused().await;
    connection.execute_batch("ROLLBACK").unwrap();
    drop(connection);
    says(&refusal, &["locked"]);
    assert_eq!(all_of(&file), before, "something was touched");
}

async fn c68_a_file_that_others_write_to_without_end_is_refused(transport: Transport) {
    let (file, id) = filled(transport).await;
    let connection = open(&file);
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let refusal = Launch::new(FIXTURES, transport).on(&file).refused().await;
    connection.execute_batch("ROLLBACK").unwrap();
    says(&refusal, &["locked"]);
    // If they come to an end, it waits for that.
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    let launch = Launch::new(FIXTURES, transport).on(&file);
    let starting = tokio::spawn(async move {
        let server = launch.start().await;
        let task = server.client().get(&id).await;
        assert_eq!(keys(&task), ["answer"]);
    });
    sleep(Duration::from_secs(1)).await;
    connection.execute_batch("ROLLBACK").unwrap();
    starting.await.unwrap();
}

async fn c68_a_read_only_file_is_refused(transport: Transport) {
    let (file, id) = filled(transport).await;
    let set_mode = |mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(file.path(), permissions).unwrap();
    };
    set_mode(0o400);
    refused(transport, &file, &["read-only"]).await;
    set_mode(0o600);
    let server = Launch::new(FIXTURES, transport).on(&file).start().await;
    server.client().answer(&id, "answer", "yes").await;
    assert_eq!(server.client().until_text(&id).await, "got: yes");
}

async fn c68_a_file_in_a_read_only_directory_is_refused(transport: Transport) {
    let (file, id) = filled(transport).await;
    let set_mode = |mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(file.folder(), permissions).unwrap();
    };
    set_mode(0o500);
    refused(transport, &file, &["read-only", "directory"]).await;
    set_mode(0o700);
    let server = Launch::new(FIXTURES, transport).on(&file).start().await;
    server.client().answer(&id, "answer", "yes").await;
    assert_eq!(server.client().until_text(&id).await, "got: yes");
}

async fn c68_a_file_of_a_newer_version_is_refused(transport: Transport) {
    let (file, _) = filled(transport).await;
    let ours: i64 = open(&file)
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    for version in [ours + 1, 1000] {
        let connection = open(&file);
        connection
            .pragma_update(None, "user_version", version)
            .unwrap();
        drop(connection);
        refused(transport, &file, &["newer", &version.to_string()]).await;
    }
}

async fn c68_a_file_of_another_program_is_refused(transport: Transport) {
    let file = StoreFile::new();
    for text in [
        "no database at all\n".repeat(1000).as_str(),
        "a",
        "SQLite format 3",
    ] {
        fs::write(file.path(), text).unwrap();
        refused(transport, &file, &[]).await;
    }
    fs::remove_file(file.path()).unwrap();
    let connection = open(&file);
    connection
        .execute_batch("CREATE TABLE tasks (id TEXT); INSERT INTO tasks VALUES ('theirs')")
        .unwrap();
    drop(connection);
    refused(transport, &file, &["another program"]).await;
}

async fn c68_what_is_no_file_is_refused(transport: Transport) {
    let file = StoreFile::new();
    fs::create_dir(file.path()).unwrap();
    refused(transport, &file, &["directory"]).await;
    fs::remove_dir(file.path()).unwrap();
    let folder = file.folder().join("missing/tasks.db");
    let store = format!("sqlite:{}", folder.display());
    let launch = Launch::new(FIXTURES, transport).flags(&["--store", &store]);
    let refusal = launch.refused().await;
    assert_eq!(refusal.code, Some(1));
    assert!(refusal.said.contains("does not exist"), "{}", refusal.said);
    assert!(all_of(&file).is_empty());
}

async fn c68_a_file_that_was_refused_works_once_it_can(transport: Transport) {
    let (file, id) = filled(transport).await;
    let whole = fs::read(file.path()).unwrap();
    fs::write(file.path(), &whole[..whole.len() / 2]).unwrap();
    refused(transport, &file, &[]).await;
    fs::write(file.path(), &whole).unwrap();
    let server = Launch::new(FIXTURES, transport).on(&file).start().await;
    server.client().answer(&id, "answer", "yes").await;
    assert_eq!(server.client().until_text(&id).await, "got: yes");
}

//! A file that cannot be used is refused in words, and left as it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mcp_tasks::SqliteStore;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tempfile::{TempDir, tempdir};

/// A directory for one test.
fn place() -> (TempDir, PathBuf) {
    let directory = tempdir().unwrap();
    let file = directory.path().join("tasks.db");
    (directory, file)
}

/// A store of ours with nothing open any more.
fn ours() -> (TempDir, PathBuf) {
    let (directory, file) = place();
    drop(SqliteStore::open(&file).unwrap());
    (directory, file)
}

/// Everything in the directory of a file.
fn contents(file: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let directory = fs::read_dir(file.parent().unwrap()).unwrap();
    let paths = directory.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

/// Why a file is not opened; everything is as before.
#[track_caller]
fn refused(file: &Path) -> String {
    let mut before = contents(file);
    let error = SqliteStore::open(file).expect_err("it cannot be used");
    assert!(
        matches!(error, mcp_tasks::Error::Store { .. }),
        "not of this kind: {error}"
    );
    let mut after = contents(file);
    // SQLite's index of the log, which it rebuilds at will.
    let index = file.with_file_name("tasks.db-shm");
    if before.contains_key(&file.with_file_name("tasks.db-wal")) {
        after.remove(&index);
        before.remove(&index);
    }
    assert!(before == after, "it was touched: {:?}", after.keys());
    let words = error.to_string();
    assert!(words.contains(&*file.to_string_lossy()), "{words}");
    words
}

#[track_caller]
fn says(words: &str, parts: &[&str]) {
    for part in parts {
        assert!(words.contains(part), "`{part}` is not in: {words}");
    }
}

#[test]
fn a_directory_that_does_not_exist_is_named() {
    let (_directory, file) = place();
    let file = file.with_file_name("missing").join("tasks.db");
    let error = SqliteStore::open(&file).unwrap_err().to_string();
    says(&error, &["missing` does not exist", "create it first"]);
    assert!(!file.parent().unwrap().exists());
}

#[test]
fn a_directory_is_not_a_file() {
    let (directory, _) = place();
    let error = SqliteStore::open(directory.path()).unwrap_err().to_string();
    says(&error, &["is a directory", "name a file inside of it"]);
}

#[test]
fn a_file_is_not_a_directory() {
    let (_directory, file) = place();
    fs::write(&file, "").unwrap();
    let error = SqliteStore::open(file.join("tasks.db")).unwrap_err();
    says(&error.to_string(), &["is not a directory"]);
}

#[test]
fn a_text_is_not_a_database() {
    let (_directory, file) = place();
    fs::write(&file, "to do: buy milk\n".repeat(1000)).unwrap();
    says(&refused(&file), &["not a SQLite database"]);
    fs::write(&file, "short").unwrap();
    says(&refused(&file), &["not a SQLite database"]);
}

#[test]
fn the_database_of_another_program_is_refused() {
    let (_directory, file) = place();
    let other = Connection::open(&file).unwrap();
    other.execute_batch("CREATE TABLE tasks (id)").unwrap();
    drop(other);
    says(&refused(&file), &["another program", "a file of its own"]);
}

#[test]
fn the_database_of_another_program_is_refused_while_that_runs() {
    let (_directory, file) = place();
    let other = Connection::open(&file).unwrap();
    let log = "PRAGMA journal_mode = WAL; PRAGMA application_id = 7; CREATE TABLE t (id)";
    other.execute_batch(log).unwrap();
    says(&refused(&file), &["another program"]);
    other.execute_batch("INSERT INTO t VALUES (1)").unwrap();
}

#[test]
fn an_empty_file_becomes_a_store() {
    let (_directory, file) = place();
    fs::write(&file, "").unwrap();
    drop(SqliteStore::open(&file).unwrap());
    drop(SqliteStore::open(&file).unwrap());
}

#[test]
fn a_database_with_nothing_in_it_becomes_a_store() {
    let (_directory, file) = place();
    let other = Connection::open(&file).unwrap();
    let emptied = "CREATE TABLE t (id); DROP TABLE t;";
    other.execute_batch(emptied).unwrap();
    drop(other);
    assert!(fs::metadata(&file).unwrap().len() > 0);
    drop(SqliteStore::open(&file).unwrap());
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let (_directory, file) = ours();
    let newer = Connection::open(&file).unwrap();
    newer.execute_batch("PRAGMA user_version = 999").unwrap();
    drop(newer);
    says(&refused(&file), &["newer version", "999", "update"]);
}

#[test]
fn a_newer_version_that_is_in_the_log_alone_is_refused() {
    let (_directory, file) = ours();
    let newer = Connection::open(&file).unwrap();
    newer
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .unwrap();
    newer.execute_batch("PRAGMA user_version = 999").unwrap();
    drop(newer);
    assert!(file.with_file_name("tasks.db-wal").exists());
    says(&refused(&file), &["newer version", "999"]);
}

#[test]
fn a_file_that_was_cut_off_is_refused() {
    let (_directory, file) = ours();
    let whole = fs::read(&file).unwrap();
    for length in [100, 512, 4096, 5000, whole.len() / 2, whole.len() - 1] {
        fs::write(&file, &whole[..length]).unwrap();
        says(&refused(&file), &["put back a copy"]);
    }
    // Nothing but the start of the header.
    fs::write(&file, &whole[..60]).unwrap();
    refused(&file);
    fs::write(&file, &whole).unwrap();
    drop(SqliteStore::open(&file).unwrap());
}

#[test]
fn a_file_whose_first_page_is_overwritten_is_refused() {
    let (_directory, file) = ours();
    let mut bytes = fs::read(&file).unwrap();
    bytes[100..4096].fill(0x55);
    fs::write(&file, &bytes).unwrap();
    says(&refused(&file), &["damaged"]);
}

#[test]
fn a_file_without_our_tables_is_refused() {
    let (_directory, file) = ours();
    let other = Connection::open(&file).unwrap();
    other.execute_batch("DROP TABLE journal").unwrap();
    drop(other);
    says(
        &refused(&file),
        &["no such table: journal", "put back a copy"],
    );
}

#[test]
fn a_file_that_another_program_keeps_locked_is_refused_after_a_while() {
    let (_directory, file) = ours();
    let other = Connection::open(&file).unwrap();
    let lock = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE t (id)";
    other.execute_batch(lock).unwrap();
    let began = Instant::now();
    let error = SqliteStore::open(&file).unwrap_err().to_string();
    says(&error, &["tasks.db", "locked", "five seconds"]);
    assert!(began.elapsed() >= Duration::from_secs(4));
    other.execute_batch("ROLLBACK").unwrap();
    drop(other);
    drop(SqliteStore::open(&file).unwrap());
}

#[test]
fn any_name_will_do() {
    let (directory, _) = place();
    for name in [
        "a b?c#d%41&e.db",
        "\u{fc}ber\u{1f980}.db",
        "-x:y\"'.db",
        "memory",
    ] {
        let file = directory.path().join(name);
        drop(SqliteStore::open(&file).unwrap());
        drop(SqliteStore::open(&file).unwrap());
        assert!(fs::metadata(&file).unwrap().len() > 0, "{name}");
    }
}

#[test]
fn many_that_open_a_new_file_at_once_share_it() {
    let (_directory, file) = place();
    let stores: Vec<_> = std::thread::scope(|scope| {
        let opening: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| SqliteStore::open(&file).unwrap()))
            .collect();
        opening.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(stores.len(), 8);
}

#[cfg(unix)]
mod permissions {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::tasks::{enlisted, now};
    use mcp_tasks::store::TaskStore;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[tokio::test]
    async fn only_the_owner_may_read_what_is_created() {
        let (directory, file) = place();
        let store = enlisted(&file).await;
        store.renew(now()).await.unwrap();
        let mut names = Vec::new();
        for path in contents(&file).into_keys() {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
            names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
        names.sort();
        let wanted = [
            "tasks.db",
            "tasks.db-holder-1",
            "tasks.db-shm",
            "tasks.db-wal",
        ];
        assert_eq!(names, wanted);
        drop(store);
        let left: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
        assert_eq!(left.len(), 1);
    }

    #[test]
    fn a_read_only_file_is_refused() {
        let (_directory, file) = ours();
        set_mode(&file, 0o444);
        says(
            &refused(&file),
            &["the file is read-only", "change the mode"],
        );
    }

    #[test]
    fn a_read_only_directory_is_refused() {
        let (directory, file) = ours();
        set_mode(directory.path(), 0o555);
        let words = refused(&file);
        let new = SqliteStore::open(directory.path().join("new.db"));
        set_mode(directory.path(), 0o755);
        says(&words, &["the directory", "is read-only"]);
        says(&new.unwrap_err().to_string(), &["is read-only"]);
    }

    #[tokio::test]
    async fn all_names_of_a_file_stand_for_one_store() {
        let (directory, file) = ours();
        let other = directory.path().join("other.db");
        symlink(&file, &other).unwrap();
        let one = enlisted(&file).await;
        let two = enlisted(&other).await;
        for _ in 0..2 {
            assert!(one.renew(now()).await.unwrap());
            assert!(two.renew(now()).await.unwrap());
        }
    }
}

/// What version 2 brought: what is kept for calls that ask in rounds. Version 3:
/// by what tasks are listed. Version 4: who may run what.
#[test]
fn a_file_of_an_older_version_is_brought_up_to_date() {
    let (_directory, file) = ours();
    let older = Connection::open(&file).unwrap();
    let undo = "DROP TABLE sealing_keys; DROP TABLE spent_states; DROP TABLE seats;
        DROP INDEX tasks_with_timers;
        DROP INDEX tasks_of_callers; ALTER TABLE tasks DROP COLUMN state;
        PRAGMA user_version = 1;";
    older.execute_batch(undo).unwrap();
    let question = r#"[["key",{"method":"elicitation/create","params":{}}]]"#;
    let tasks = [
        (
            "working",
            0,
            0,
            r#""input_requests":[],"outcome":null"#.to_owned(),
        ),
        (
            "asking",
            0,
            0,
            format!(r#""input_requests":{question},"outcome":null"#),
        ),
        (
            "held",
            0,
            1,
            format!(r#""input_requests":{question},"outcome":null"#),
        ),
        (
            "done",
            1,
            0,
            r#""input_requests":[],"outcome":{"completed":{"result":{}}}"#.to_owned(),
        ),
        (
            "failed",
            1,
            0,
            r#""input_requests":[],"outcome":{"failed":{"error":{}}}"#.to_owned(),
        ),
        (
            "cancelled",
            1,
            0,
            r#""input_requests":[],"outcome":"cancelled""#.to_owned(),
        ),
    ];
    older
        .execute("INSERT INTO codes VALUES (1, 's', '', 't', 1)", ())
        .unwrap();
    for (id, ended, held, snapshot) in &tasks {
        let insert =
            "INSERT INTO tasks VALUES (NULL, ?1, 1, 'anonymous', 0, 1, 1, 0, ?2, 0, 0, 0, ?3, 0, 0,
            '', 9223372036854775807, 9223372036854775807, ?4)";
        let snapshot = format!("{{{snapshot}}}");
        older.execute(insert, (id, ended, held, snapshot)).unwrap();
    }
    drop(older);
    drop(SqliteStore::open(&file).unwrap());
    let newer = Connection::open(&file).unwrap();
    let count = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table}");
        newer
            .query_row(&sql, (), |row| row.get::<_, i64>(0))
            .unwrap()
    };
    assert_eq!((count("sealing_keys"), count("spent_states")), (0, 0));
    assert_eq!(count("seats"), 0);
    let states: Vec<i64> = newer
        .prepare("SELECT state FROM tasks ORDER BY task")
        .unwrap()
        .query_map((), |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(states, [0, 1, 0, 2, 3, 4]);
}

/// Whoever has a question open is found without a look at other tasks.
#[test]
fn lists_of_a_caller_are_answered_by_an_index() {
    let (_directory, file) = ours();
    let store = Connection::open(&file).unwrap();
    let plan: Vec<String> = store
        .prepare(
            "EXPLAIN QUERY PLAN SELECT id, seq, snapshot FROM tasks
             WHERE code IN (SELECT code FROM codes WHERE server = 's' AND scope = '')
             AND caller = 'ada' AND state = 1 ORDER BY task DESC LIMIT 100",
        )
        .unwrap()
        .query_map((), |row| row.get(3))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let plan = plan.join("\n");
    assert!(
        plan.contains("tasks_of_callers (caller=? AND state=?)"),
        "{plan}"
    );
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
}

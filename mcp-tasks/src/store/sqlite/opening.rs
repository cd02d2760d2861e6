//! Opening a file, or saying why it is left alone.
//!
//! A file that is not ours, or not fit for use, is found out before anything is
//! written to it or put beside it: SQLite looks at it as an unchangeable file
//! first. Files are read through SQLite only, never directly: closing any
//! handle of a file gives up all locks that a process has on it.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::schema::{self, APPLICATION_ID, VERSION};
use super::trouble::in_words;
use crate::Error;

/// How long to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// How much of the write-ahead log is left on the disk when it is done with.
const LOG_LIMIT: i64 = 64 << 20;

/// More statements than the store has.
const STATEMENTS: usize = 64;

/// A file that is fit for use.
pub(super) struct Opened {
    /// Without symbolic links, so that all processes put the same name beside
    /// it.
    pub(super) path: PathBuf,
    pub(super) writer: Connection,
    pub(super) reader: Connection,
    /// What changes whenever another connection writes.
    pub(super) version: i64,
}

/// Opens a file; creates it if there is none.
pub(super) fn open(path: &Path) -> Result<Opened, Error> {
    // A file may be created and closed here: nobody else in this process may
    // have it locked then.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    try_open(path).map_err(|problem| Error::Store {
        path: path.to_owned(),
        problem,
    })
}

pub(super) type Checked<T> = Result<T, String>;

fn try_open(path: &Path) -> Checked<Opened> {
    look_at_place(path)?;
    let path = fs::canonicalize(path).map_err(|error| error.to_string())?;
    look_at_file(&path)?;

    let mut writer = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    if length(&log_of(&path)) > 0 {
        // Should the file be refused after all, its log stays as it is.
        writer
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .map_err(told)?;
    }
    if writer.is_readonly("main").map_err(told)? {
        return Err(read_only("the file"));
    }
    check_length(&writer, &path)?;
    bring_up_to_date(&mut writer)?;
    check_tables(&writer)?;
    set_up_writer(&writer).map_err(told)?;
    writer
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
        .map_err(told)?;
    let reader = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let version = writer
        .query_row("PRAGMA data_version", (), |row| row.get(0))
        .map_err(told)?;
    Ok(Opened {
        path,
        writer,
        reader,
        version,
    })
}

/// The path with something added to its last part.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// What can be seen without opening the file. Creates it if there is none.
fn look_at_place(path: &Path) -> Checked<()> {
    let directory = directory_of(path);
    match fs::metadata(directory) {
        Ok(found) if !found.is_dir() => {
            return Err(format!(
                "`{}` is not a directory; choose another place",
                directory.display()
            ));
        }
        Ok(found) if found.permissions().readonly() => {
            return Err(read_only(&format!(
                "the directory `{}`",
                directory.display()
            )));
        }
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(format!(
                "the directory `{}` does not exist; create it first",
                directory.display()
            ));
        }
        Err(error) => return Err(error.to_string()),
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            Err("it is a directory; name a file inside of it".to_owned())
        }
        Ok(found) if !found.is_file() => Err("it is not an ordinary file; name another".to_owned()),
        Ok(found) if found.permissions().readonly() => Err(read_only("the file")),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => create(path),
        Err(error) => Err(error.to_string()),
    }
}

fn read_only(what: &str) -> String {
    format!(
        "{what} is read-only, and a store writes to its file and puts others beside it; \
         change the mode, or choose another place"
    )
}

/// Creates a store under another name first, so that the file is there all at
/// once: neither processes that start at the same time nor the next one after a
/// crash find half of it.
fn create(path: &Path) -> Checked<()> {
    let chance = RandomState::new().build_hasher().finish();
    let draft = beside(path, &format!("-new-{chance:016x}"));
    create_empty(&draft)?;
    let created = write_draft(&draft).and_then(|()| put_in_place(&draft, path));
    // If it stays there, it is in nobody's way.
    let _ = fs::remove_file(&draft);
    created
}

fn write_draft(draft: &Path) -> Checked<()> {
    let mut connection = connect(draft, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    bring_up_to_date(&mut connection)?;
    set_up_writer(&connection).map_err(told)?;
    connection.close().map_err(|(_, error)| told(error))
}

fn put_in_place(draft: &Path, path: &Path) -> Checked<()> {
    match fs::hard_link(draft, path) {
        Ok(()) => {
            // Where a directory cannot be opened, its entries are on the disk
            // when the system has put them there.
            if let Ok(directory) = fs::File::open(directory_of(path)) {
                directory.sync_all().map_err(|error| error.to_string())?;
            }
            Ok(())
        }
        // Another process was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        // There are file systems without hard links.
        Err(_) => create_empty(path),
    }
}

/// An empty file that only its owner may read, as what SQLite puts beside it
/// will be.
fn create_empty(path: &Path) -> Checked<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        // Another process was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(format!("the file cannot be created: {error}")),
    }
}

pub(super) fn log_of(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

pub(super) fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

/// Looks into the file without locking it or putting anything beside it.
fn look_at_file(path: &Path) -> Checked<()> {
    match length(path) {
        0 if length(&log_of(path)) == 0 => return Ok(()),
        // SQLite would throw away the log.
        0 => return Err(cut_off("it is empty, and its log `-wal` is not")),
        // SQLite takes such a file for an empty one, and would write over it.
        1 => return Err("the file is not a SQLite database".to_owned()),
        _ => {}
    }
    let is_damaged =
        |error: &rusqlite::Error| error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt);
    let looked = match Header::look(path) {
        // While its log is being worked in, by a process that may have died
        // over it, a file may look like that; with its log it is whole.
        Err(error) if is_damaged(&error) => {
            if length(&log_of(path)) > 0 {
                return Ok(());
            }
            // Or that has come to its end by now.
            Header::look(path)
        }
        looked => looked,
    };
    looked.map_err(told)?.check().map(drop)
}

/// The URI of a file, with how SQLite is to take it.
pub(super) fn uri(path: &Path, how: &str) -> String {
    let mut uri = "file:".to_owned();
    if cfg!(windows) {
        uri.push('/');
    }
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b'.' | b'-' | b'_' | b':' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => {
                use std::fmt::Write;
                write!(uri, "%{byte:02x}").expect("writing to a string does not fail");
            }
        }
    }
    uri.push('?');
    uri.push_str(how);
    uri
}

/// What a file says that it is.
pub(super) struct Header {
    application: i32,
    version: usize,
    /// How many tables and the like it has.
    objects: i64,
}

impl Header {
    fn look(path: &Path) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Self::read(&Connection::open_with_flags(
            // As one that nobody changes.
            uri(path, "immutable=1"),
            flags,
        )?)
    }

    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let number = |sql| connection.query_row(sql, (), |row| row.get(0));
        let version: i64 = connection.query_row("PRAGMA user_version", (), |row| row.get(0))?;
        Ok(Self {
            application: connection.query_row("PRAGMA application_id", (), |row| row.get(0))?,
            // A negative version is nobody's.
            version: usize::try_from(version).unwrap_or(usize::MAX),
            objects: number("SELECT count(*) FROM sqlite_schema")?,
        })
    }

    /// The version of the file; 0 for one with nothing in it.
    pub(super) fn check(&self) -> Checked<usize> {
        if self.application == APPLICATION_ID && self.version > 0 {
            if self.version > VERSION {
                return Err(format!(
                    "it was written by a newer version of mcp-tasks (format {}, this one knows \
                     formats up to {VERSION}); update this server, or give it another file",
                    self.version
                ));
            }
            return Ok(self.version);
        }
        if self.application == 0 && self.version == 0 && self.objects == 0 {
            return Ok(0);
        }
        Err(
            "it is the SQLite database of another program; give this server a file of its own"
                .to_owned(),
        )
    }
}

fn connect(path: &Path, mode: OpenFlags) -> Checked<Connection> {
    let connection =
        Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(told)?;
    connection.busy_timeout(PATIENCE).map_err(told)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Whether every page is there, in the file or in its log.
fn check_length(connection: &Connection, path: &Path) -> Checked<()> {
    let number = |sql| connection.query_row(sql, (), |row| row.get::<_, i64>(0));
    let pages = number("PRAGMA page_count").map_err(told)?;
    let page_size = number("PRAGMA page_size").map_err(told)?;
    let wanted = pages.cast_unsigned() * page_size.cast_unsigned();
    // In this order: what is gone from the log by now is in the file by now.
    let log = length(&log_of(path));
    let found = length(path);
    if found + log >= wanted {
        return Ok(());
    }
    Err(cut_off(&format!("{found} of {wanted} bytes are there")))
}

fn cut_off(how: &str) -> String {
    format!("it is cut off: {how}; put back a copy of the file")
}

/// Whether the tables that the version promises are there.
pub(super) fn check_tables(connection: &Connection) -> Checked<()> {
    let tables = "SELECT 1 FROM codes, holders, tasks, journal, totals, callers";
    match connection.prepare(tables) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!(
            "it is not complete: {}; put back a copy of the file",
            in_words(&error)
        )),
    }
}

fn bring_up_to_date(connection: &mut Connection) -> Checked<()> {
    // Also if there is nothing to do: if another program keeps the file locked,
    // now is the time to say so.
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(told)?;
    let version = Header::read(&transaction).map_err(told)?.check()?;
    if version < VERSION {
        schema::migrate(&transaction, version).map_err(told)?;
    }
    transaction.commit().map_err(told)
}

fn set_up_writer(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // The references are for whoever looks at the file. To have them checked
    // would cost each new entry a search for its task, which has just been read.
    connection.pragma_update(None, "foreign_keys", false)?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_LIMIT, |_| Ok(()))
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn told(error: rusqlite::Error) -> String {
    in_words(&error)
}

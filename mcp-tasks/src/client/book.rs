//! The book of open tasks: what a client must know to go on after a crash (P83).
//!
//! A folder with a small file per task, which is replaced as a whole, so that
//! several processes can share it and none finds half a file.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Answer, ClientError};

const FORMAT: u32 = 1;

/// Open tasks on disk, with the answers that were given to their questions.
///
/// A client with a book enters each call that becomes a task, and strikes it out
/// when it ends. An answer is written down before it is sent, and kept until the
/// server has it: whatever happens to the client, a question is put to its
/// person once.
///
/// # What is stored
///
/// The id of the task, which for a server without authentication is all that it
/// takes to see and answer it; the tool's name; where the server is (a URL, or a
/// program with its arguments, but neither headers nor the environment); and
/// answers on their way. Folder and files are readable for their owner alone.
#[derive(Clone, Debug)]
pub struct TaskBook {
    folder: Arc<Path>,
}

/// A task in a [`TaskBook`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BookEntry {
    format: u32,
    /// The task's id.
    pub id: Arc<str>,
    /// The tool that was called, if that is known.
    pub tool: Option<Arc<str>>,
    /// Where its server is, if that can be said.
    pub server: Option<ServerAddress>,
    /// When the server says it was created, in ISO 8601.
    pub created_at: Option<String>,
    /// For how long from then on it is kept, in milliseconds; `None` for no limit.
    pub ttl_ms: Option<u64>,
    answers: BTreeMap<Arc<str>, Recorded>,
}

/// An answer that was given: the answer itself until the server has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Recorded {
    ToSend(Answer),
    Sent,
}

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ServerAddress {
    /// A program that is spoken to over its stdin and stdout.
    Stdio {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        arguments: Vec<String>,
        /// The folder that it is started in.
        directory: Option<PathBuf>,
    },
    /// A URL.
    Http(String),
}

impl BookEntry {
    /// A task of which nothing has been answered.
    pub(super) fn new(id: Arc<str>) -> Self {
        Self {
            format: FORMAT,
            id,
            tool: None,
            server: None,
            created_at: None,
            ttl_ms: None,
            answers: BTreeMap::new(),
        }
    }

    /// How long it is kept from its creation on.
    pub fn ttl(&self) -> Option<Duration> {
        self.ttl_ms.map(Duration::from_millis)
    }

    pub(super) fn recorded(&self, key: &str) -> Option<&Recorded> {
        self.answers.get(key)
    }
}

impl TaskBook {
    /// Opens a book; makes the folder if there is none.
    ///
    /// # Errors
    ///
    /// [`ClientError::Book`] if the folder cannot be made.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, ClientError> {
        let folder: PathBuf = folder.into();
        make_private(&folder).map_err(|error| trouble(&folder, &error))?;
        Ok(Self {
            folder: folder.into(),
        })
    }

    /// The open tasks, those that were created first before the others.
    ///
    /// # Errors
    ///
    /// [`ClientError::Book`] if the folder or one of its files cannot be read.
    pub fn entries(&self) -> Result<Vec<BookEntry>, ClientError> {
        let files = fs::read_dir(&self.folder).map_err(|error| trouble(&self.folder, &error))?;
        let mut entries = Vec::new();
        for file in files {
            let path = file.map_err(|error| trouble(&self.folder, &error))?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                entries.extend(read(&path)?);
            }
        }
        entries.sort_by(|a, b| (&a.created_at, &a.id).cmp(&(&b.created_at, &b.id)));
        Ok(entries)
    }

    /// The task of this id.
    ///
    /// # Errors
    ///
    /// [`ClientError::Book`] if its file cannot be read.
    pub fn entry(&self, id: &str) -> Result<Option<BookEntry>, ClientError> {
        read(&self.place(id))
    }

    /// Strikes out a task; false if it is not in the book.
    ///
    /// # Errors
    ///
    /// [`ClientError::Book`] if its file cannot be removed.
    pub fn remove(&self, id: &str) -> Result<bool, ClientError> {
        let path = self.place(id);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(trouble(&path, &error)),
        }
    }

    /// Enters a task, unless it is there, and gives what is written of it.
    pub(super) fn enter(&self, fresh: BookEntry) -> Result<Page, ClientError> {
        let path = self.place(&fresh.id);
        let page = |entry| Page {
            book: self.clone(),
            entry: Arc::new(Mutex::new(entry)),
        };
        if let Some(there) = read(&path)? {
            return Ok(page(there));
        }
        write(&path, &fresh)?;
        Ok(page(fresh))
    }

    /// Ids are the server's, and may be anything: the file's name is not.
    fn place(&self, id: &str) -> PathBuf {
        let digest = Sha256::digest(id.as_bytes());
        let name: String = digest[..16]
            .iter()
            .flat_map(|byte| [byte >> 4, byte & 15])
            .filter_map(|digit| char::from_digit(u32::from(digit), 16))
            .collect();
        self.folder.join(name).with_extension("json")
    }
}

/// One task in a book, by whoever follows it.
///
/// A page that cannot be written is logged: the person's answer is on its way to
/// the server all the same.
#[derive(Clone, Debug)]
pub(super) struct Page {
    book: TaskBook,
    entry: Arc<Mutex<BookEntry>>,
}

impl Page {
    pub(super) fn entry(&self) -> BookEntry {
        self.lock().clone()
    }

    /// Writes an answer down that is about to be sent. On disk when this returns.
    pub(super) async fn will_send(&self, key: Arc<str>, answer: Answer) {
        self.record(key, Recorded::ToSend(answer)).await;
    }

    /// The server has the answer.
    pub(super) async fn was_sent(&self, key: Arc<str>) {
        self.record(key, Recorded::Sent).await;
    }

    /// The server does not take the answer.
    pub(super) async fn was_refused(&self, key: Arc<str>) {
        self.change(move |entry| {
            entry.answers.remove(&key);
        })
        .await;
    }

    /// The task has ended.
    pub(super) async fn close(&self) {
        let (book, id) = (self.book.clone(), self.lock().id.clone());
        on_disk(move || book.remove(&id).map(|_| ())).await;
    }

    async fn record(&self, key: Arc<str>, recorded: Recorded) {
        self.change(move |entry| {
            entry.answers.insert(key, recorded);
        })
        .await;
    }

    async fn change(&self, change: impl FnOnce(&mut BookEntry) + Send + 'static) {
        let page = self.clone();
        on_disk(move || {
            // Held until the file is written: the newest state is the last one.
            let mut entry = page.lock();
            change(&mut entry);
            write(&page.book.place(&entry.id), &entry)
        })
        .await;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BookEntry> {
        self.entry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn on_disk(work: impl FnOnce() -> Result<(), ClientError> + Send + 'static) {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!("{error}"),
        Err(error) => tracing::warn!("the book of tasks could not be written: {error}"),
    }
}

fn read(path: &Path) -> Result<Option<BookEntry>, ClientError> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(trouble(path, &error)),
    };
    let malformed = |error: serde_json::Error| ClientError::Book {
        place: path.display().to_string(),
        problem: format!("this is not a page of a book of tasks: {error}"),
    };
    let Format { format } = serde_json::from_str(&text).map_err(malformed)?;
    if format != FORMAT {
        return Err(ClientError::Book {
            place: path.display().to_string(),
            problem: format!(
                "it has the format {format}, and this program knows {FORMAT}: a newer one has \
                 written it"
            ),
        });
    }
    serde_json::from_str(&text).map(Some).map_err(malformed)
}

/// Replaces a file as a whole: whoever reads it finds the old or the new one.
fn write(path: &Path, entry: &BookEntry) -> Result<(), ClientError> {
    let written = || -> io::Result<()> {
        let text = serde_json::to_vec(entry)?;
        let mut nonce = [0; 8];
        getrandom::fill(&mut nonce).map_err(io::Error::other)?;
        let new = path.with_extension(format!("{:016x}", u64::from_le_bytes(nonce)));
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&new)?;
        let done = file
            .write_all(&text)
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&new, path));
        if done.is_err() {
            // There is nothing in it that anybody misses.
            let _ = fs::remove_file(&new);
        }
        // The file's name is on the disk when its folder is.
        #[cfg(unix)]
        let done = done.and_then(|()| match path.parent() {
            Some(folder) => fs::File::open(folder)?.sync_all(),
            None => Ok(()),
        });
        done
    };
    written().map_err(|error| trouble(path, &error))
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn trouble(path: &Path, error: &io::Error) -> ClientError {
    ClientError::Book {
        place: path.display().to_string(),
        problem: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str) -> BookEntry {
        BookEntry {
            tool: Some("deploy".into()),
            server: Some(ServerAddress::Http("http://localhost/mcp".to_owned())),
            ..BookEntry::new(id.into())
        }
    }

    #[tokio::test]
    async fn an_answer_stays_in_the_book_until_the_server_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let book = TaskBook::open(folder.path().join("deep/book")).unwrap();
        let page = book.enter(entry("../a/b")).unwrap();
        page.will_send("k".into(), Answer::decline()).await;
        page.will_send("l".into(), Answer::consent()).await;
        page.was_sent("l".into()).await;

        let again = book.enter(entry("../a/b")).unwrap().entry();
        assert!(
            matches!(again.recorded("k"), Some(Recorded::ToSend(answer)) if *answer == Answer::decline())
        );
        assert!(matches!(again.recorded("l"), Some(Recorded::Sent)));
        page.was_refused("k".into()).await;
        let again = book.entry("../a/b").unwrap().unwrap();
        assert!(again.recorded("k").is_none());

        page.close().await;
        assert!(book.entries().unwrap().is_empty());
        assert!(!book.remove("../a/b").unwrap());
        let left: Vec<_> = fs::read_dir(folder.path().join("deep/book"))
            .unwrap()
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn what_others_have_written_is_named_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let book = TaskBook::open(folder.path()).unwrap();
        for (text, expected) in [("{", "not a page"), (r#"{"format":9}"#, "a newer one")] {
            fs::write(book.place("a"), text).unwrap();
            let error = book.entry("a").unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            assert_eq!(fs::read_to_string(book.place("a")).unwrap(), text);
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let book = TaskBook::open(folder.path().join("book")).unwrap();
        book.enter(entry("a")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.path().join("book")), 0o700);
        assert_eq!(mode(&book.place("a")), 0o600);
    }
}

//! Which server is meant, how it is reached, and how that is said again to whoever
//! comes back later.
//!
//! Headers may be secrets: their values go into requests and nowhere else.

use std::collections::VecDeque;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_tasks::client::{BookEntry, ClientError, ServerAddress, TaskBook, TaskClient};
use tokio::sync::mpsc;

use crate::exit::{Exit, Stop};
use crate::flags::Server;
use crate::screen::harmless;

/// How many lines of a server's stderr are kept in case that it does not start.
const LAST_LINES: usize = 20;

/// A server, and what goes along with requests to it.
pub(crate) struct Target {
    address: Address,
    headers: Vec<(String, String)>,
    /// The flags that brought the headers, as far as they may be shown.
    flags: Vec<String>,
    /// Whether a header was given that may not be shown.
    hidden: bool,
}

#[derive(Clone, Debug)]
enum Address {
    Http(String),
    Stdio {
        program: PathBuf,
        arguments: Vec<String>,
        directory: Option<PathBuf>,
    },
}

/// What a server writes to its stderr.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    last: Arc<Mutex<VecDeque<String>>>,
    /// Where each line goes at once, if it is wanted.
    lines: Option<mpsc::UnboundedSender<String>>,
}

impl Log {
    /// A log, and its lines if they are wanted.
    pub(crate) fn new(wanted: bool) -> (Self, mpsc::UnboundedReceiver<String>) {
        let (send, lines) = mpsc::unbounded_channel();
        let log = Self {
            last: Arc::default(),
            lines: wanted.then_some(send),
        };
        (log, lines)
    }

    fn take(&self, line: &str) {
        if let Some(lines) = &self.lines {
            // Whoever has read them may have gone.
            drop(lines.send(line.to_owned()));
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() == LAST_LINES {
            last.pop_front();
        }
        last.push_back(line.to_owned());
    }

    /// The last lines, of those that have come since this was asked for last; but only
    /// once if the server has been started twice and has said the same each time.
    pub(crate) fn take_last(&self) -> String {
        /// More would hide what there is to say about them.
        const SHOWN: usize = 10;
        let last = std::mem::take(&mut *self.last.lock().unwrap_or_else(PoisonError::into_inner));
        let lines = Vec::from(last);
        let (first, second) = lines.split_at(lines.len() / 2);
        let lines = if first == second { second } else { &lines };
        let lines = &lines[lines.len().saturating_sub(SHOWN)..];
        let lines = lines.iter().map(|line| format!("\n  {line}"));
        lines.collect()
    }
}

impl Target {
    /// The server of the flags, or else that of the book's entry.
    pub(crate) fn find(flags: &Server, entry: Option<&BookEntry>) -> Result<Self, Stop> {
        let address = match (&flags.http, flags.command.split_first()) {
            (Some(url), _) => Address::Http(checked(url)?),
            (None, Some((program, arguments))) => Address::Stdio {
                program: program.into(),
                arguments: arguments.to_vec(),
                // Whoever resumes may be elsewhere.
                directory: env::current_dir().ok(),
            },
            (None, None) => match entry.and_then(|entry| entry.server.clone()) {
                Some(ServerAddress::Http(url)) => Address::Http(url),
                Some(ServerAddress::Stdio {
                    program,
                    arguments,
                    directory,
                }) => Address::Stdio {
                    program,
                    arguments,
                    directory,
                },
                _ => {
                    return Err(Stop::usage(
                        "which server? Add --http URL, or -- and the command that starts it",
                    ));
                }
            },
        };
        let mut target = Self {
            address,
            headers: Vec::new(),
            flags: Vec::new(),
            hidden: false,
        };
        target.take_headers(flags)?;
        if !target.headers.is_empty() && !matches!(target.address, Address::Http(_)) {
            return Err(Stop::usage("headers are for servers over HTTP"));
        }
        Ok(target)
    }

    fn take_headers(&mut self, flags: &Server) -> Result<(), Stop> {
        for given in &flags.header {
            if let Some(path) = given.strip_prefix('@') {
                self.headers.extend(headers_in(path)?);
                let path = fs::canonicalize(path).unwrap_or_else(|_| path.into());
                self.flags.push("--header".to_owned());
                self.flags.push(format!("@{}", path.display()));
            } else {
                self.headers.push(header(given)?);
                self.hidden = true;
            }
        }
        if let Some(name) = &flags.bearer_token_env {
            let token = env::var(name).map_err(|_| {
                Stop::usage(format_args!(
                    "there is no variable `{name}` in the environment, or it is no text"
                ))
            })?;
            self.headers.push((
                "authorization".to_owned(),
                format!("Bearer {}", token.trim()),
            ));
            self.flags.push("--bearer-token-env".to_owned());
            self.flags.push(name.clone());
        }
        Ok(())
    }

    /// Connects.
    pub(crate) async fn connect(
        &self,
        book: Option<TaskBook>,
        deadline: Option<Duration>,
        log: Log,
    ) -> Result<TaskClient, Stop> {
        let mut builder = TaskClient::builder().identity("mcp-tasks", env!("CARGO_PKG_VERSION"));
        if let Some(book) = book {
            builder = builder.book(book);
        }
        if let Some(deadline) = deadline {
            builder = builder.deadline(deadline);
        }
        let connected = match &self.address {
            Address::Http(url) => {
                for (name, value) in &self.headers {
                    builder = builder.header(name, value);
                }
                Box::pin(builder.connect_http(url.as_str())).await
            }
            Address::Stdio {
                program,
                arguments,
                directory,
            } => {
                let mut command = Command::new(program);
                command.args(arguments);
                if let Some(directory) = directory {
                    command.current_dir(directory);
                }
                let lines = log.clone();
                builder = builder.log(move |line| lines.take(line));
                Box::pin(builder.connect_stdio(command)).await
            }
        };
        connected.map_err(|error| {
            let mut stop = Stop::from(error);
            let last = log.take_last();
            if !last.is_empty() {
                stop.words = format!("{}\nIt has said:{last}", stop.words);
            }
            stop
        })
    }

    /// The command that goes on with a task, to be copied. A task that is in the
    /// book needs no server's address.
    pub(crate) fn command(&self, what: &str, id: &str, in_book: bool) -> Vec<String> {
        let mut words = vec!["mcp-tasks".to_owned(), what.to_owned(), id.to_owned()];
        words.extend(self.flags.iter().cloned());
        if in_book {
            return words;
        }
        match &self.address {
            Address::Http(url) => words.extend(["--http".to_owned(), url.clone()]),
            Address::Stdio {
                program, arguments, ..
            } => {
                words.push("--".to_owned());
                words.push(program.display().to_string());
                words.extend(arguments.iter().cloned());
            }
        }
        words
    }

    /// Whether the server ends with this program.
    pub(crate) fn is_child(&self) -> bool {
        matches!(self.address, Address::Stdio { .. })
    }

    /// Whether headers must be given again that [`command`](Self::command) does
    /// not have.
    pub(crate) fn hides_headers(&self) -> bool {
        self.hidden
    }
}

/// A server's address, for people.
pub(crate) fn shown(address: Option<&ServerAddress>) -> String {
    match address {
        Some(ServerAddress::Http(url)) => url.split(['?', '#']).next().unwrap_or(url).to_owned(),
        Some(ServerAddress::Stdio {
            program, arguments, ..
        }) => {
            let program = program.display().to_string();
            let words = std::iter::once(program).chain(arguments.iter().cloned());
            quoted(words)
        }
        _ => "unknown".to_owned(),
    }
}

/// Words as a shell takes them, quoted only where they must be.
pub(crate) fn quoted(words: impl IntoIterator<Item = String>) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+=:,./@%".contains(c);
    let quote = |word: String| {
        if word.is_empty() || word.contains(|c| !is_plain(c)) {
            return shell_words::quote(&word).into_owned();
        }
        word
    };
    let words: Vec<_> = words.into_iter().map(quote).collect();
    harmless(&words.join(" ")).into_owned()
}

/// A URL may not carry a password: it would be in the book, and on screens.
fn checked(url: &str) -> Result<String, Stop> {
    let Some((_, rest)) = url.split_once("://") else {
        return Err(Stop::usage(format_args!(
            "`{url}` is no URL; write http://HOST:PORT/mcp"
        )));
    };
    let authority = rest;
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(Stop::usage(
            "the URL has a user or a password in it, which would be kept and shown; \
             give a header instead (--header @FILE, --bearer-token-env VAR)",
        ));
    }
    Ok(url.to_owned())
}

/// The headers in a file, one per line.
fn headers_in(path: &str) -> Result<Vec<(String, String)>, Stop> {
    let text = fs::read_to_string(path)
        .map_err(|error| Stop::file(format_args!("`{path}` cannot be read: {error}")))?;
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(header).collect()
}

/// A header; what is wrong with it is said without it.
fn header(text: &str) -> Result<(String, String), Stop> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(Stop::usage("a header is written `Name: value`")),
    }
}

impl From<ClientError> for Stop {
    fn from(error: ClientError) -> Self {
        let words = error.to_string();
        match error {
            ClientError::Denied(_) => Self::new(
                Exit::NoConnection,
                format_args!(
                    "{words}\nCredentials are given with --bearer-token-env VAR or --header @FILE"
                ),
            ),
            ClientError::Connect { .. } | ClientError::NoReply { .. } => {
                Self::new(Exit::NoConnection, words)
            }
            ClientError::Book { .. } => Self::file(words),
            ClientError::Unsendable { .. } => Self::usage(words),
            _ => Self::new(Exit::CallFailed, words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(http: Option<&str>, header: &[&str], command: &[&str]) -> Server {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Server {
            http: http.map(str::to_owned),
            header: texts(header),
            bearer_token_env: None,
            command: texts(command),
        }
    }

    #[test]
    fn the_command_to_come_back_with_is_quoted_and_has_no_secrets() {
        let flags = server(Some("http://h/mcp"), &["X-Key: s3cret"], &[]);
        let target = Target::find(&flags, None).unwrap();
        assert_eq!(
            quoted(target.command("resume", "id 1", false)),
            "mcp-tasks resume 'id 1' --http http://h/mcp"
        );
        assert!(target.hides_headers());
        let flags = server(None, &[], &["./my server", "--flag", "a b"]);
        let target = Target::find(&flags, None).unwrap();
        assert_eq!(
            quoted(target.command("resume", "a", false)),
            "mcp-tasks resume a -- './my server' --flag 'a b'"
        );
        assert_eq!(
            quoted(target.command("resume", "a", true)),
            "mcp-tasks resume a"
        );
    }

    #[test]
    fn what_is_wrong_with_a_header_or_url_is_said_without_it() {
        for flags in [
            server(Some("http://h/mcp"), &["s3cret"], &[]),
            server(Some("http://me:s3cret@h/mcp"), &[], &[]),
            server(None, &["X-Key: s3cret"], &["program"]),
            server(None, &[], &[]),
        ] {
            let stop = Target::find(&flags, None).err().unwrap();
            assert_eq!(stop.exit, Exit::Usage);
            assert!(!stop.words.contains("s3cret"), "{}", stop.words);
        }
    }
}

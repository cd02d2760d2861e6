//! A PostgreSQL server of the tests' own, in a temporary folder.
//!
//! It does not outlive the process that began it, however that ends: a guard, a
//! small shell script in a process group of its own, waits until the pipe that it
//! reads from is closed, which the system does, then stops the server and deletes
//! the folder.

use std::collections::hash_map::RandomState;
use std::fs::{self, OpenOptions};
use std::hash::BuildHasher as _;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use super::programs::Programs;
use super::{Database, Server, aside};

/// Waits until nobody holds the other end of its input; `$1` is `pg_ctl`, `$2` the
/// folder. More than once, since the server may be starting.
const GUARD: &str = r#"
cat >/dev/null
for turn in 1 2 3 4 5; do
    "$1" stop -D "$2/data" -m immediate -s
    rm -rf "$2" && [ ! -e "$2" ] && exit
    sleep 0.2
done
"#;

/// What a cluster is set to, beside what a test asks for. What a commit promises
/// is left as it is: figures and durability are a user's.
const SETTINGS: [(&str, &str); 2] = [
    // Many servers, each with a pool, in tests that run side by side.
    ("max_connections", "300"),
    ("listen_addresses", "127.0.0.1"),
];

/// Below the ports that systems give to clients: one that a stopped server has
/// left must not become the local end of somebody's connection.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// A server that may be stopped and started; a cheap handle. It ends with the last.
#[derive(Clone, Debug)]
pub struct Cluster {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    programs: Programs,
    folder: PathBuf,
    port: u16,
    guard: Mutex<Child>,
}

impl Cluster {
    /// A running server.
    pub async fn start_new() -> Self {
        Self::start_with(&[]).await
    }

    /// A running server with these in its `postgresql.conf`, as
    /// `("fsync", "off")`.
    pub async fn start_with(settings: &'static [(&'static str, &'static str)]) -> Self {
        aside(|| Self::begin(settings)).await
    }

    pub(super) fn begin(settings: &[(&str, &str)]) -> Self {
        let programs = Programs::find();
        let folder = tempfile::Builder::new()
            .prefix("mcp-tasks-postgres-")
            .tempdir()
            .expect("a directory for temporary files")
            .keep();
        if let Some(user) = programs.user() {
            chown(&folder, Some(user.user), Some(user.group)).expect("root may give away a folder");
        }
        let guard = programs
            .command("sh")
            .args(["-c", GUARD, "sh"])
            .args([&programs.path("pg_ctl"), &folder])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What ends the tests from a terminal is not for it.
            .process_group(0)
            .spawn()
            .expect("there is a shell");
        let mut inner = Inner {
            programs,
            folder,
            port: 0,
            guard: guard.into(),
        };
        inner.make(settings);
        inner.start_somewhere();
        Self {
            inner: Arc::new(inner),
        }
    }

    /// A database on it, over its loopback port.
    pub async fn database(&self) -> Database {
        Database::on(Server::Ours(self.clone())).await
    }

    /// The port that it listens on at the loopback interface.
    pub fn port(&self) -> u16 {
        self.inner.port
    }

    /// The folder that its Unix socket is in.
    pub fn socket_folder(&self) -> &Path {
        &self.inner.folder
    }

    /// What it has written to its log so far.
    pub fn log(&self) -> String {
        self.inner.log()
    }

    /// The URL of one of its databases.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port())
    }

    /// Stops it in good order: what is under way is rolled back, clients are told.
    pub async fn stop(&self) {
        self.stop_in_mode("fast").await;
    }

    /// Ends all its processes at once, as a crash does; the next start recovers.
    pub async fn kill(&self) {
        self.stop_in_mode("immediate").await;
    }

    /// Starts it again, at the same port; returns when it can be spoken to.
    pub async fn start(&self) {
        let inner = Arc::clone(&self.inner);
        aside(move || {
            let started = inner.start();
            started.unwrap_or_else(|said| panic!("{said}\n{}", inner.log()));
        })
        .await;
    }

    /// Stops it in good order and starts it again.
    pub async fn restart(&self) {
        self.stop().await;
        self.start().await;
    }

    async fn stop_in_mode(&self, mode: &'static str) {
        let inner = Arc::clone(&self.inner);
        aside(move || {
            let stopped = inner.control(&["stop", "-m", mode]);
            stopped.unwrap_or_else(|said| panic!("{said}\n{}", inner.log()));
        })
        .await;
    }
}

impl Inner {
    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn make(&self, settings: &[(&str, &str)]) {
        let made = self.programs.run(
            "initdb",
            [
                "--username=postgres".as_ref(),
                "--auth=trust".as_ref(),
                "--encoding=UTF8".as_ref(),
                "--locale=C".as_ref(),
                // A cluster that a crash of the machine leaves half made is made anew.
                "--no-sync".as_ref(),
                "--no-instructions".as_ref(),
                "--pgdata".as_ref(),
                self.data().as_os_str(),
            ],
        );
        made.unwrap_or_else(|said| panic!("{said}"));
        let folder = self.folder.to_str().expect("the folder's name is UTF-8");
        self.set("unix_socket_directories", folder);
        for (name, value) in SETTINGS.iter().chain(settings) {
            self.set(name, value);
        }
    }

    /// Sets something for the next start; what is set last counts.
    fn set(&self, name: &str, value: &str) {
        let file = self.data().join("postgresql.conf");
        let file = OpenOptions::new().append(true).open(file);
        let set = file.and_then(|mut file| writeln!(file, "{name} = '{value}'"));
        set.expect("the configuration can be written");
    }

    /// Starts it for the first time, at a port that nobody has.
    fn start_somewhere(&mut self) {
        let mut said = String::new();
        for _ in 0..10 {
            self.port = free_port();
            self.set("port", &self.port.to_string());
            match self.start() {
                Ok(()) => return,
                // Another has taken the port meanwhile.
                Err(words) if self.log().contains("Address already in use") => said = words,
                Err(words) => panic!("{words}\n{}", self.log()),
            }
        }
        panic!("{said}\n{}", self.log());
    }

    fn start(&self) -> Result<(), String> {
        let log = self.log_file();
        let log = log.to_str().expect("the folder's name is UTF-8");
        self.control(&["start", "-l", log])
    }

    fn control(&self, words: &[&str]) -> Result<(), String> {
        let data = self.data();
        let data = data.to_str().expect("the folder's name is UTF-8");
        let arguments = [&["-D", data, "-w", "-s"], words].concat();
        self.programs.run("pg_ctl", arguments)
    }

    fn log_file(&self) -> PathBuf {
        self.folder.join("log")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap_or_default()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // A test that failed has poisoned nothing here.
        let guard = self.guard.get_mut();
        let guard = guard.unwrap_or_else(std::sync::PoisonError::into_inner);
        drop(guard.stdin.take());
        if let Err(error) = guard.wait() {
            eprintln!("the guard of {}: {error}", self.folder.display());
        }
    }
}

fn free_port() -> u16 {
    let span = u64::from(PORTS.end - PORTS.start);
    loop {
        // A hasher is seeded at random.
        let offset = RandomState::new().hash_one(std::process::id()) % span;
        let port = PORTS.start + u16::try_from(offset).expect("less than the span");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

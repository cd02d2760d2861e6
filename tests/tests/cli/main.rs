//! The program `mcp-tasks`, run as people and scripts run it: against the fixture
//! server over stdio and HTTP, in pipes, and in a real terminal.

mod answers;
mod calls;
mod inspect;
mod leaving;
mod pty;
mod secrets;
mod terminal;
mod tools;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const FIXTURES: &str = env!("CARGO_BIN_EXE_fixtures");

/// The program; Cargo puts all programs of the workspace into one folder.
fn program() -> PathBuf {
    let program =
        Path::new(FIXTURES).with_file_name(format!("mcp-tasks{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.exists(),
        "the program is not built: run `cargo test --workspace`, or before \
         `cargo build -p mcp-tasks --features cli`"
    );
    program
}

/// A place of its own: a book, and files for servers.
struct Home {
    folder: TempDir,
}

/// How a run went.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Home {
    fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command, in this place.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments);
        self.settle(&mut command);
        command
    }

    fn settle(&self, command: &mut Command) {
        command
            .current_dir(self.folder.path())
            .env("MCP_TASKS_BOOK", self.path("book"))
            .env_remove("NO_COLOR");
    }

    /// Runs it without a terminal.
    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(
            self.command(arguments)
                .stdin(Stdio::null())
                .output()
                .unwrap(),
        )
    }

    /// Runs it with the fixture server as a child process, whose tasks are in
    /// the file `tasks.db`.
    fn run_with_server(&self, arguments: &[&str]) -> Ran {
        let mut arguments = arguments.to_vec();
        arguments.extend(SERVER);
        self.run(&arguments)
    }
}

/// The fixture server, with its tasks in a file.
const SERVER: [&str; 5] = ["--", FIXTURES, "--stdio", "--store", "sqlite:tasks.db"];

impl Ran {
    fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("what it says is UTF-8");
        Self {
            code: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    #[track_caller]
    fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        self
    }

    /// All of these are in what people are told, in this order.
    #[track_caller]
    fn tells(self, expected: &[&str]) -> Self {
        let told = words(&self.err);
        let mut rest = told.as_str();
        for text in expected {
            let Some(at) = rest.find(text) else {
                panic!("no {text:?} (any more) in:\n{}", self.err);
            };
            rest = &rest[at + text.len()..];
        }
        self
    }

    /// The objects on the standard output.
    #[track_caller]
    fn json(&self) -> Vec<Value> {
        let read =
            |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.out.lines().map(read).collect()
    }

    /// The event of this name.
    #[track_caller]
    fn event(&self, name: &str) -> Value {
        let mut events = self.json().into_iter();
        let found = events.find(|event| event["event"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {}\n{}", self.out, self.err))
    }
}

/// Text without the places where lines were broken.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A fixture server over HTTP, ended when it is dropped.
struct Http {
    child: std::process::Child,
    url: String,
}

impl Http {
    fn start(flags: &[&str]) -> Self {
        use std::io::BufRead as _;

        let mut child = Command::new(FIXTURES)
            .args(["--http", "127.0.0.1:0"])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = std::io::BufReader::new(child.stderr.take().unwrap()).lines();
        let url = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("listening on ").map(str::to_owned))
            .expect("it says where it listens");
        // It never waits for somebody to read on.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A signal, by its name for `kill`.
fn signal(process: u32, signal: rustix::process::Signal) {
    let id = rustix::process::Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    rustix::process::kill_process(id, signal).unwrap();
}

/// Whether a text stands anywhere in the files of a folder.
fn is_in_files(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|file| {
        let path = file.unwrap().path();
        if path.is_dir() {
            return is_in_files(&path, text);
        }
        let bytes = std::fs::read(&path).unwrap();
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    })
}

fn text(path: &impl AsRef<OsStr>) -> &str {
    path.as_ref().to_str().unwrap()
}

//! The examples, run as a stranger runs them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

/// How a run of an example went.
pub struct Run {
    /// The code that it exited with.
    pub code: Option<i32>,
    /// What it wrote to stdout.
    pub out: String,
    /// What it wrote to stderr.
    pub err: String,
}

impl Run {
    /// Runs an example with these arguments while somebody types this.
    pub fn of(example: &str, arguments: &[&str], typed: &str) -> Self {
        let mut child = start(example, arguments);
        let mut keyboard = child.stdin.take().expect("stdin is piped");
        // A program that has ended by now reads nothing: its output tells.
        let _ = keyboard.write_all(typed.as_bytes());
        drop(keyboard);
        let output = child.wait_with_output().expect("a child can be waited for");
        let text = |bytes| String::from_utf8(bytes).expect("what it says is UTF-8");
        Self {
            code: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// These stand in the output, in this order.
    #[track_caller]
    pub fn shows(&self, expected: &[&str]) {
        let mut rest = self.out.as_str();
        for text in expected {
            let Some(at) = rest.find(text) else {
                panic!("no {text:?} (any more) in:\n{}\n{}", self.out, self.err);
            };
            rest = &rest[at + text.len()..];
        }
    }

    /// Everything is plain text in 80 columns.
    #[track_caller]
    pub fn reads_well(&self) {
        for line in self.out.lines().chain(self.err.lines()) {
            assert!(line.chars().count() <= 80, "too long: {line}");
            assert!(!line.contains('\x1b'), "not plain: {line}");
        }
    }

    /// What it wrote to stderr, without the places where lines were broken.
    pub fn complaint(&self) -> String {
        self.err.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Starts an example, in the root of the repository, with all three streams
/// piped.
pub fn start(example: &str, arguments: &[&str]) -> Child {
    Command::new(program(example))
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it was just built")
}

/// Where the program is, built if need be.
///
/// It belongs to another package, for whose programs Cargo does not give tests
/// a path, so the Cargo that runs the test is asked to build it and say where.
pub(crate) fn program(example: &str) -> PathBuf {
    static PROGRAMS: Mutex<Vec<(String, PathBuf)>> = Mutex::new(Vec::new());
    let mut programs = PROGRAMS.lock().expect("a build that fails ends the test");
    let known = programs.iter().find(|(name, _)| name == example);
    if let Some((_, program)) = known {
        return program.clone();
    }
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "mcp-tasks-examples"])
        .args(["--bin", example, "--message-format", "json"])
        .args(features(example))
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .expect("Cargo runs, since it runs this test");
    assert!(built.status.success(), "the program does not build");
    let messages = String::from_utf8(built.stdout).expect("Cargo's messages are JSON");
    let program = messages.lines().filter_map(executable).next_back();
    let program = program.expect("Cargo names the program that it built");
    programs.push((example.to_owned(), program.clone()));
    program
}

/// What it takes to have an example built.
fn features(example: &str) -> &'static [&'static str] {
    match example {
        "replicas" => &["--features", "postgres"],
        _ => &[],
    }
}

/// The program that one of Cargo's messages names, if any.
fn executable(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    message["executable"].as_str().map(PathBuf::from)
}

fn root() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("this package is in the workspace")
}

//! The examples, run as a stranger runs them.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

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
    /// Runs an example, which is at `program`, with these arguments while somebody
    /// types this.
    pub fn of(program: &str, arguments: &[&str], typed: &str) -> Self {
        let mut child = start(program, arguments);
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
pub fn start(program: &str, arguments: &[&str]) -> Child {
    Command::new(program)
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it was just built")
}

fn root() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("this package is in the workspace")
}

//! The fixture server refuses what it cannot honour: a test must not pass
//! because a flag was passed over.

use std::process::{Command, Stdio};

/// What the server says when it refuses to start.
fn refusal(flags: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_fixtures"))
        .args(flags)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!output.status.success(), "{flags:?} is accepted");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_this_version_lacks_is_refused_with_what_there_is() {
    for store in [
        "postgres",
        "postgres:tasks",
        "mysql://localhost",
        "sqlite",
        "sqlite:",
        "disk",
        "",
    ] {
        let words = refusal(&["--stdio", "--store", store]);
        for there_is in ["`memory`", "`sqlite:FILE`", "`postgres://"] {
            assert!(words.contains(there_is), "{words}");
        }
    }
}

#[test]
fn mistakes_are_named() {
    for (flags, word) in [
        (&[][..], "--stdio"),
        (&["--stdio", "--http", "127.0.0.1:0"], "--http"),
        (&["--http", "somewhere"], "somewhere"),
        (&["--stdio", "--limit", "size=1"], "live_per_caller"),
        (&["--stdio", "--limit", "live"], "NAME=N"),
        (&["--stdio", "--limit", "live=many"], "many"),
        (&["--stdio", "--token", "alice=secret"], "--stdio"),
        (
            &["--http", "127.0.0.1:0", "--token", "alice"],
            "NAME=SECRET",
        ),
        (&["--stdio", "--retention", "-1"], "-1"),
        (&["--stdio", "--park-after", "soon"], "soon"),
        (&["--stdio", "--lease", "0"], "lease"),
    ] {
        let words = refusal(flags);
        assert!(words.contains(word), "{flags:?}: {words}");
    }
}

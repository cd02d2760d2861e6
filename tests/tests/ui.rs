//! What must compile, and what must not and how it explains itself.
//!
//! What must compile is compiled right here, as modules of this test, so that
//! clippy reads the expanded code too. What must not is compiled by trybuild,
//! one file per mistake, and compared with the `.stderr` beside it. See
//! `ui/README.md`.

// As if the crate had been renamed in the manifest.
extern crate mcp_tasks as tasks;

#[path = "../ui/pass/mod.rs"]
pub mod pass;

use std::env;
use std::io::Write as _;
use std::process::Command;

/// The compiler whose words the `.stderr` files are: `1.95` of `1.95.0`.
const WRITTEN_FOR: &str = "1.95";

/// The package that the cases are compiled in.
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/ui");

/// Where trybuild finds the package that it works for.
const PACKAGE: &str = "CARGO_MANIFEST_DIR";

#[test]
fn what_must_not_compile_explains_itself() {
    let version = compiler_version();
    if version != WRITTEN_FOR {
        let words = format!(
            "tests/ui/fail holds the messages of Rust {WRITTEN_FOR}, and this is {version}: \
             run it with `cargo +{WRITTEN_FOR} test -p mcp-tasks-tests --test ui`, or renew the \
             messages as tests/ui/README.md says"
        );
        assert!(env::var_os("CI").is_none(), "{words}");
        // Past the test harness, which shows nothing of a test that passes.
        writeln!(std::io::stderr(), "skipped: {words}").ok();
        return;
    }
    // trybuild builds all dependencies of the package whose test it is run by,
    // and this package has many.
    let this = env::current_exe().expect("a running test has a path");
    let status = Command::new(this)
        .args(["--exact", "compile_cases", "--ignored", "--nocapture"])
        // `cargo test .. -- trybuild=awaits` compiles only those.
        .args(env::args().filter(|argument| argument.starts_with("trybuild=")))
        .env(PACKAGE, CASES)
        .current_dir(CASES)
        .status()
        .expect("a running test can be started again");
    assert!(status.success(), "see above for the cases that differ");
}

#[test]
#[ignore = "a part of `what_must_not_compile_explains_itself`, which starts it"]
fn compile_cases() {
    if env::var_os(PACKAGE).is_some_and(|package| package == *CASES) {
        trybuild::TestCases::new().compile_fail("fail/*/*.rs");
    }
}

/// The compiler that trybuild will use, without its patch version.
fn compiler_version() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(&rustc)
        .arg("--version")
        .output()
        .unwrap_or_else(|error| panic!("cannot run {}: {error}", rustc.display()));
    let words = String::from_utf8_lossy(&output.stdout);
    let version = words.split(' ').nth(1).unwrap_or_default();
    version
        .rsplit_once('.')
        .map_or(version, |(minor, _)| minor)
        .to_owned()
}

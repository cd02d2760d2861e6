//! The example `crash`, as a stranger runs it.

#![cfg(unix)]

use std::path::Path;

use mcp_tasks_tests::example::Run;

fn run(arguments: &[&str], typed: &str) -> Run {
    Run::of(env!("CARGO_BIN_EXE_crash"), arguments, typed)
}

/// How many lines have this in them.
fn lines_of(run: &Run, text: &str) -> usize {
    run.out.lines().filter(|line| line.contains(text)).count()
}

/// The processes of the server, one after the other.
fn processes(run: &Run) -> Vec<String> {
    let starts = run.out.lines().filter_map(|line| {
        let is_start = line.contains("The server runs") || line.contains("started the server");
        let (_, process) = line.rsplit_once("process ")?;
        is_start.then(|| process.trim_end_matches('.').to_owned())
    });
    starts.collect()
}

fn fresh_directory(name: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    path.into_os_string().into_string().unwrap()
}

#[test]
fn a_task_outlives_two_kills_without_any_input() {
    let run = run(&[], "");
    run.shows(&[
        "let signature: String = ask_user(bill).await?;",
        "is task ",
        "under the key `signature`",
        "Pay Grace 120 euros?",
        "kill -9 ",
        "SIGKILL",
        "The client has started the server again",
        "under the key `signature`",
        "question `signature` answered",
        "kill -9 ",
        "SIGKILL",
        "The client has started the server again",
        "Completed: Grace got 120 euros, signed Ada",
        "What was promised",
    ]);
    assert_eq!(lines_of(&run, "kept  "), 4, "{}", run.out);
    assert_eq!(lines_of(&run, "BROKEN"), 0, "{}", run.out);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(run.err, "");
    let mut processes = processes(&run);
    assert_eq!(processes.len(), 3, "{}", run.out);
    processes.sort();
    processes.dedup();
    assert_eq!(processes.len(), 3, "{}", run.out);
    // Paths are as long as they are.
    let is_path = |line: &&str| line.contains(".db") || line.contains(".txt");
    let mut words = run.out.lines().filter(|line| !is_path(line));
    assert!(words.all(|line| line.chars().count() <= 80), "{}", run.out);
}

#[test]
fn a_person_may_sign_or_say_no() {
    let signed = run(&["--ask"], "Grace Hopper\n");
    signed.shows(&["Completed: Grace got 120 euros, signed Grace Hopper"]);
    assert_eq!(signed.code, Some(0), "{}\n{}", signed.out, signed.err);

    let declined = run(&["--ask"], "/decline\n");
    declined.shows(&["question `signature` declined", "Completed: ", "declined"]);
    assert_eq!(declined.code, Some(0), "{}\n{}", declined.out, declined.err);
    assert_eq!(lines_of(&declined, "paid "), 0, "{}", declined.out);
}

#[test]
fn the_files_can_be_kept_and_are_not_used_again() {
    let directory = fresh_directory("crash-example");
    let first = run(&["--dir", &directory, "--wire"], "");
    assert_eq!(first.code, Some(0), "{}\n{}", first.out, first.err);
    first.shows(&["--> ", "tasks/get", "<-- ", "inputRequests"]);
    let ledger = std::fs::read_to_string(Path::new(&directory).join("ledger.txt")).unwrap();
    assert_eq!(ledger.lines().count(), 2, "{ledger}");
    assert!(Path::new(&directory).join("tasks.db").exists());

    let second = run(&["--dir", &directory], "");
    assert_eq!(second.code, Some(2), "{}", second.out);
    let words = second.complaint();
    assert!(words.contains("is there already"), "{words}");
}

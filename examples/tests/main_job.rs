//! The main job, as a stranger runs it: the program `deploy` with its server as
//! a child process, driven by a file of answers or by what is typed.

use std::path::Path;
use std::process::Command;

use mcp_tasks_tests::example::{self, Run};

/// Runs the program with these arguments while somebody types this.
fn run(arguments: &[&str], typed: &str) -> Run {
    Run::of(env!("CARGO_BIN_EXE_deploy"), arguments, typed)
}

/// A file of answers with this text.
fn answers(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.into_os_string().into_string().unwrap()
}

#[test]
fn a_file_of_answers_drives_the_call_to_its_result() {
    let run = run(&["--answers", "examples/answers/deploy.json"], "");
    run.shows(&[
        "Connected to deployer",
        "The call is task ",
        "  input required\n",
        "  question `approval` answered\n",
        "  working: rolling out to 25%\n",
        "  completed\n",
        "The result",
        r#""service": "billing""#,
        r#""env": "production""#,
        r#""release": 42"#,
        r#""percent": 25"#,
        r#""notify": "oncall@example.com""#,
    ]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    run.reads_well();
}

#[test]
fn a_person_is_asked_and_a_slip_costs_one_more_try() {
    let typed = "yes\n500\n60\n2\nnobody\n\n";
    let run = run(&["--service", "search", "--env", "staging"], typed);
    run.shows(&[
        "Deploy search?",
        "approve: Ship this plan?",
        "  > yes\n",
        "[10]",
        "  > 500\n",
        "must be between 1 and 100",
        "  > 60\n",
        "1  Tonight",
        "  > 2\n",
        "or Enter for none",
        "  > nobody\n",
        "must be a mail address",
        "rolling out to 60%",
        "completed",
        r#""service": "search""#,
        r#""env": "staging""#,
        r#""percent": 60"#,
        r#""rest": "next_monday""#,
    ]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    run.reads_well();
}

#[test]
fn a_no_of_any_kind_is_a_result_that_says_so() {
    let declined = answers("declined.json", r#"{"approval": "decline"}"#);
    let run_declined = run(&["--answers", &declined], "");
    let typed_declined = run(&[], "yes\n/decline\n");
    for run in [run_declined, typed_declined] {
        run.shows(&[
            "question `approval` declined",
            "did not do its work",
            "declined",
        ]);
        assert_eq!(run.code, Some(1));
        run.reads_well();
    }
    let closed = run(&[], "yes\n");
    closed.shows(&["(end of input)", "closed without an answer", "dismissed"]);
    assert_eq!(closed.code, Some(1));

    let not_approved = run(&[], "no\n\n1\n\n");
    not_approved.shows(&["completed", "did not do its work", "not approved"]);
    assert_eq!(not_approved.code, Some(1));
}

#[test]
fn the_wire_shows_the_whole_life_of_a_task() {
    let arguments = ["--wire", "--answers", "examples/answers/deploy.json"];
    let run = run(&arguments, "");
    run.shows(&[
        "--> {",
        r#""method": "server/discover""#,
        "<-- {",
        "io.modelcontextprotocol/tasks",
        "--> {",
        r#""method": "tools/call""#,
        r#""arguments": {"env":"production","service":"billing"}"#,
        "<-- {",
        r#""resultType": "task""#,
        r#""method": "subscriptions/listen""#,
        r#""taskIds":"#,
        r#""status": "input_required""#,
        r#""inputRequests""#,
        r#""approval""#,
        r#""approve""#,
        r#""percent""#,
        r#""window""#,
        r#""notify""#,
        r#""method": "tasks/update""#,
        r#""inputResponses""#,
        r#""action": "accept""#,
        r#""status": "completed""#,
        r#""structuredContent""#,
    ]);
    assert_eq!(run.code, Some(0), "{}", run.err);
}

#[test]
fn what_goes_wrong_is_said_in_words() {
    let says = |arguments: &[&str], expected: &str| {
        let run = run(arguments, "");
        let words = run.complaint();
        assert!(words.contains(expected), "no {expected:?} in {words}");
        assert_eq!(run.code, Some(2), "{}", run.out);
        run.reads_well();
    };
    says(&["--answers", "no-such-file"], "cannot be read");
    let malformed = answers("malformed.json", r#"{"approval": 1}"#);
    says(&["--answers", &malformed], "is no file of answers");
    let other = answers("other.json", r#"{"other": {}}"#);
    says(
        &["--answers", &other],
        "has no answer to the question `approval` (it answers `other`)",
    );
    let unfit = answers(
        "unfit.json",
        r#"{"approval": {"approve": true, "percent": 500, "window": "tonight"}}"#,
    );
    says(
        &["--answers", &unfit],
        "does not take the answer to `approval`: nothing was recorded, please answer again: \
         `approval`: `percent` must be between 1 and 100",
    );
    says(&["--env", "mars"], "the server refused `tools/call`");
}

#[test]
fn an_unknown_service_is_a_result_of_the_tool() {
    let run = run(&["--service", "mail"], "");
    run.shows(&["did not do its work", "there is no service `mail`"]);
    assert_eq!(run.code, Some(1));
}

/// Only Linux says without further ado which process is whose child.
#[cfg(target_os = "linux")]
#[test]
fn a_server_that_dies_at_a_question_is_started_again_and_its_task_is_missed_in_words() {
    use std::io::{BufRead as _, BufReader, Read as _};

    let mut child = example::start(env!("CARGO_BIN_EXE_deploy"), &[]);
    let keyboard = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("input required")));

    let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
    let servers = threads.map(|thread| {
        let children = thread.unwrap().path().join("children");
        std::fs::read_to_string(children).unwrap()
    });
    let server = servers.collect::<String>();
    let killed = Command::new("kill").args(["-9", server.trim()]).status();
    assert!(killed.unwrap().success(), "one server: {server}");

    // The keyboard is left alone: nobody need press Enter for the program to end.
    lines.for_each(drop);
    let mut words = String::new();
    let mut errors = child.stderr.take().unwrap();
    errors.read_to_string(&mut words).unwrap();
    // Each server says at its start where it keeps its tasks.
    assert_eq!(words.matches("kept in memory").count(), 2, "{words}");
    assert!(words.contains("lost sight of task"), "{words}");
    assert_eq!(child.wait().unwrap().code(), Some(2));
    drop(keyboard);
}

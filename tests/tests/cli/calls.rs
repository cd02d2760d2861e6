//! Calls from scripts: arguments, results, exit codes, JSON.

use serde_json::json;

use crate::{Home, Http};

const HOSTILE: &str = env!("CARGO_BIN_EXE_hostile_server");

#[test]
fn a_result_is_on_stdout_and_everything_else_on_stderr() {
    let home = Home::new();
    let ran = home.run_with_server(&["call", "slow", "ms=10"]).exits(0);
    assert_eq!(ran.out, "done\n");
    ran.tells(&["working", "completed in"]);

    let quiet = home
        .run_with_server(&["call", "slow", "ms=10", "-q"])
        .exits(0);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("done\n", ""));
}

#[test]
fn what_a_server_has_said_that_ends_under_a_call_is_told_once() {
    let home = Home::new();
    let server = ["--", HOSTILE, "falters", "starts"];
    let ran = home.run(&[&["resume", "t", "--timeout", "3s"][..], &server].concat());
    let ran = ran.tells(&[
        "The server is gone. It has said: out of paper",
        "trying again",
    ]);
    assert_eq!(ran.err.matches("out of paper").count(), 1, "{}", ran.err);
}

#[test]
fn content_that_is_no_text_is_named_and_not_dumped() {
    let home = Home::new();
    let ran = home
        .run_with_server(&["call", "shows", "depth=2", "tags=x", "tags=y"])
        .exits(0);
    for expected in [
        r#"anonymous with mcp-tasks: ["x", "y"]"#,
        "[image: image/png, 2 bytes]",
        "[sound: audio/wav, 1 byte]",
        "[link: A <file:///a.csv>, text/csv, 17 bytes, the figures]",
        "[resource: <note://1>, text/plain, 6 bytes]\na note\n",
        "[resource: <blob://1>, 3 bytes]",
    ] {
        assert!(ran.out.contains(expected), "{expected} in {}", ran.out);
    }
    assert_eq!(ran.out.matches("anonymous").count(), 2);
}

#[test]
fn structured_content_is_laid_out_in_the_servers_order_and_once() {
    let home = Home::new();
    let ran = home.run_with_server(&["call", "stats"]).exits(0);
    assert!(
        ran.out.starts_with("{\n  \"live\": 0,\n  \"resident\": "),
        "{}",
        ran.out
    );
    assert_eq!(ran.out.matches("live").count(), 1);
}

#[test]
fn every_way_to_end_has_its_code() {
    let home = Home::new();
    home.run_with_server(&["call", "soft"])
        .exits(1)
        .tells(&["the tool failed"]);
    let hard = home.run_with_server(&["call", "hard"]).exits(3);
    hard.tells(&["failed: hard failure (code 1234)", r#""k": 1"#]);
    home.run_with_server(&["call", "slow", "ms=60000", "--timeout", "300ms"])
        .exits(8)
        .tells(&["not done within"]);
    home.run(&["call", "slow", "ms=1", "--http", "http://127.0.0.1:1/mcp"])
        .exits(7)
        .tells(&["cannot connect"]);
    let ran = home
        .run(&["call", "slow", "--json", "--http", "http://127.0.0.1:1/mcp"])
        .exits(7);
    let error = ran.event("error");
    assert_eq!(error["exit"], 7);
    let words = error["message"].as_str().unwrap();
    assert!(words.starts_with("cannot connect"), "{words}");
    // It is started once more for clients of its own time; its words are the same.
    let server = [
        "call",
        "slow",
        "--",
        "sh",
        "-c",
        "echo no licence >&2; exit 3",
    ];
    let ran = home.run(&server).exits(7).tells(&["It has said:"]);
    assert_eq!(ran.err.matches("no licence\n").count(), 1, "{}", ran.err);
    home.run(&["call", "slow", "--", "/nowhere/at/all"])
        .exits(7)
        .tells(&["/nowhere/at/all"]);
    home.run(&["call", "slow"]).exits(2).tells(&["--http URL"]);
    home.run(&["call"]).exits(2);
    home.run(&["resume", "never-was"])
        .exits(2)
        .tells(&["mcp-tasks list"]);
}

#[test]
fn a_slip_in_the_arguments_is_told_before_anything_is_called() {
    let home = Home::new();
    for (arguments, expected) in [
        (
            &["call", "slow"][..],
            "`slow` needs `ms` The arguments of `slow`: ms whole number",
        ),
        (&["call", "slow", "ms=soon"], "`ms` must be a whole number"),
        (
            &["call", "slow", "ms=1", "mood=good"],
            "`slow` has no argument `mood`",
        ),
        (&["call", "slow", "1"], "key=value"),
        (&["call", "fast"], "no tool `fast`; it has ask1"),
    ] {
        home.run_with_server(arguments).exits(2).tells(&[expected]);
    }
    let ran = home.run_with_server(&["call", "stats"]).exits(0);
    assert!(ran.out.contains(r#""stored": 0"#), "{}", ran.out);
}

#[test]
fn programs_get_one_object_per_line() {
    let server = Http::start(&[]);
    let home = Home::new();
    let ran = home
        .run(&[
            "call",
            "ask1",
            "--answer",
            "answer.answer=42",
            "--json",
            "--http",
            &server.url,
        ])
        .exits(0);
    let events = ran.json();
    let named = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert!(named("state") >= 2);
    let question = ran.event("question");
    assert_eq!(question["key"], "answer");
    assert_eq!(question["message"], "What is your answer?");
    assert_eq!(question["form"]["properties"]["answer"]["type"], "string");
    assert_eq!(
        ran.event("answered"),
        json!({"event": "answered", "key": "answer", "how": "answered"})
    );
    let last = events.last().unwrap();
    assert_eq!(last["event"], "result");
    assert_eq!(last["exit"], 0);
    assert_eq!(last["task"], question["task"]);
    assert_eq!(last["result"]["content"][0]["text"], "got: 42");

    let failed = home
        .run(&["call", "hard", "--json", "--http", &server.url])
        .exits(3);
    let failed = failed.event("failed");
    assert_eq!(failed["exit"], 3);
    assert_eq!(
        failed["error"],
        json!({"code": 1234, "message": "hard failure", "data": {"k": 1}})
    );
}

#[test]
fn what_steers_a_terminal_is_not_passed_on_to_one() {
    // In a pipe the text is the tool's, byte for byte.
    let home = Home::new();
    let evil = "a\u{1b}[2Jb";
    let argument = format!("answer.answer={evil}");
    let ran = home
        .run_with_server(&["call", "ask1", "--answer", &argument])
        .exits(0);
    assert_eq!(ran.out, format!("got: {evil}\n"));
    let pty = crate::pty::Pty::start(&home, 80, &["call", "ask1", "--answer", &argument]);
    pty.waits_for("[2Jb");
    assert_eq!(pty.exit(), 0);
    assert!(pty.raw().contains("got: a\u{fffd}[2Jb"), "{:?}", pty.raw());
}

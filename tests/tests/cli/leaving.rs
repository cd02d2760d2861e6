//! Leaving a task and coming back, without a terminal.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::{Home, Http, SERVER, signal};

/// Starts a call, waits until it is a task, and gives its id and the child.
fn started(
    home: &Home,
    arguments: &[&str],
) -> (
    std::process::Child,
    BufReader<std::process::ChildStdout>,
    String,
) {
    let mut command = home.command(arguments);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let id = std::iter::from_fn(|| {
        let mut line = String::new();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "it ended early");
        let event: Value = serde_json::from_str(&line).unwrap();
        Some(event["task"].as_str().map(str::to_owned))
    });
    let id = id.flatten().next().unwrap();
    (child, out, id)
}

fn rest(out: BufReader<std::process::ChildStdout>) -> Vec<Value> {
    out.lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect()
}

#[test]
fn an_interrupt_without_a_terminal_detaches_and_says_how_to_come_back() {
    for way in [Signal::INT, Signal::TERM, Signal::HUP] {
        let home = Home::new();
        let mut arguments = vec!["call", "timer", "ms=1500", "--json"];
        arguments.extend(SERVER);
        let (mut child, out, id) = started(&home, &arguments);
        signal(child.id(), way);
        assert_eq!(child.wait().unwrap().code(), Some(5));
        let detached = rest(out).pop().unwrap();
        assert_eq!(detached["event"], "detached");
        assert_eq!(detached["task"], id.as_str());
        assert_eq!(
            detached["resume"],
            serde_json::json!(["mcp-tasks", "resume", id])
        );

        let listed = home.run(&["list", "--json"]).exits(0).json();
        assert_eq!(listed[0]["task"], id.as_str());
        assert_eq!(listed[0]["tool"], "timer");
        let resumed = home.run(&["resume", &id[..8]]).exits(0);
        assert_eq!(resumed.out, "rang\n");
    }
}

#[test]
fn a_call_that_was_killed_is_resumed_with_its_answers() {
    let home = Home::new();
    let server = Http::start(&[
        "--store",
        &format!("sqlite:{}", home.path("h.db").display()),
    ]);
    let arguments = [
        "call",
        "ask2",
        "--wait",
        "--json",
        "--answer",
        "first.answer=1",
        "--http",
        &server.url,
    ];
    let (mut child, mut out, id) = started(&home, &arguments);
    loop {
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        if line.contains(r#""key":"second""#) {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = home
        .run(&["resume", &id, "--answer", "second.answer=2"])
        .exits(0);
    assert_eq!(resumed.out, "1,2\n");
    resumed.tells(&["question `second` answered"]);
}

#[test]
fn a_task_is_cancelled_by_its_id() {
    let server = Http::start(&[]);
    let home = Home::new();
    let (mut child, out, id) = started(
        &home,
        &["call", "ask1", "--wait", "--json", "--http", &server.url],
    );
    let cancelled = home.run(&["cancel", &id]).exits(0);
    assert_eq!(cancelled.out, "✓ cancelled\n");
    assert_eq!(child.wait().unwrap().code(), Some(6));
    assert_eq!(rest(out).pop().unwrap()["event"], "cancelled");
    // It is not in the book any more.
    home.run(&["cancel", &id]).exits(2);
    home.run(&["cancel", "never-was", "--http", &server.url])
        .exits(3);
}

#[test]
fn a_task_that_its_server_has_forgotten_is_struck_out() {
    let home = Home::new();
    let call = [
        "call",
        "ask1",
        "--no-input",
        "--json",
        "--",
        crate::FIXTURES,
        "--stdio",
    ];
    let ran = home.run(&call).exits(4);
    let id = ran.event("unanswered")["task"].as_str().unwrap().to_owned();
    // Its server has kept it in memory.
    home.run(&["cancel", &id]).exits(3).tells(&["struck out"]);
    assert!(home.run(&["list", "--json"]).exits(0).out.is_empty());
}

#[test]
fn a_task_of_which_the_book_knows_nothing_needs_its_server() {
    let server = Http::start(&[]);
    let home = Home::new();
    let ran = home
        .run(&["call", "ask1", "--json", "--http", &server.url])
        .exits(4);
    let id = ran.event("unanswered")["task"].as_str().unwrap().to_owned();
    let elsewhere = Home::new();
    elsewhere.run(&["resume", &id]).exits(2);
    let ran = elsewhere
        .run(&["resume", &id, "--http", &server.url])
        .exits(4)
        .tells(&["mcp-tasks resume", "--http"]);
    assert!(ran.err.contains(&server.url), "{}", ran.err);
    let ran = elsewhere.run(&["resume", &id, "--answer", "answer=1", "--http", &server.url]);
    assert_eq!(ran.exits(0).out, "got: 1\n");
    home.run(&["list", "--forget", &id]).exits(0);
    assert_eq!(home.run(&["list"]).exits(0).out, "No open tasks.\n");
}

#[test]
fn a_task_goes_on_at_another_address_than_it_was_begun_at() {
    let server = Http::start(&[]);
    let home = Home::new();
    let ran = home
        .run(&["call", "ask1", "--json", "--http", &server.url])
        .exits(4);
    let id = ran.event("unanswered")["task"].as_str().unwrap().to_owned();
    let other = server.url.replace("127.0.0.1", "localhost");
    assert_ne!(other, server.url);
    let ran = home.run(&["resume", &id, "--http", &other]).exits(4);
    let told: Vec<_> = ran
        .err
        .lines()
        .filter(|line| line.contains("mcp-tasks answer ") || line.contains("mcp-tasks resume "))
        .collect();
    assert_eq!(told.len(), 2, "{}", ran.err);
    assert!(told.iter().all(|line| line.contains(&other)), "{}", ran.err);
}

//! Servers that are processes and do not behave as such.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_tasks::client::{Answer, Answers, Question, QuestionKind, TaskClient};
use mcp_tasks::protocol::{InputKind, Root};
use mcp_tasks_tests::PATIENCE;
use tokio::time::timeout;

use super::{HOSTILE_SERVER, outcome, text};

fn hostile(vice: &str) -> Command {
    let mut command = Command::new(HOSTILE_SERVER);
    command.arg(vice);
    command
}

fn starts(file: &Path) -> usize {
    std::fs::read_to_string(file).map_or(0, |starts| starts.lines().count())
}

#[tokio::test]
async fn a_server_that_hangs_when_it_is_asked_what_it_is_may_be_an_older_one() {
    let client = TaskClient::connect_stdio(hostile("hangs")).await.unwrap();
    let server = client.server().await.unwrap();
    assert_eq!(server.protocol_version, "2025-06-18");
    let result = outcome!(client.call("any", ())).unwrap();
    assert_eq!(text(&result), "all the same");
}

#[tokio::test]
async fn a_server_that_takes_long_to_start_is_not_taken_for_an_older_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = hostile("late");
    command.arg(folder.path().join("started"));
    let client = TaskClient::connect_stdio(command).await.unwrap();
    let server = client.server().await.unwrap();
    assert_eq!(server.protocol_version, "2026-07-28");
    let result = outcome!(client.call("any", ())).unwrap();
    assert_eq!(text(&result), "all the same");
}

/// Knows the folders, and nothing else.
struct Roots;

impl Answers for Roots {
    async fn answer(&self, question: Question) -> Option<Answer> {
        matches!(question.kind, QuestionKind::Roots)
            .then(|| Answer::roots(&[Root::new("file:///here")]).unwrap())
    }

    fn kinds(&self) -> Vec<InputKind> {
        vec![InputKind::Roots]
    }
}

#[tokio::test]
async fn a_server_that_asks_for_the_roots_while_no_call_is_open_is_answered() {
    let builder = TaskClient::builder().answers(Roots);
    let client = builder.connect_stdio(hostile("curious")).await.unwrap();
    let told = async {
        loop {
            let told = client.call("any", ()).await.unwrap();
            if text(&told) != "null" {
                return text(&told).to_owned();
            }
        }
    };
    let told = timeout(PATIENCE, told).await.expect("it hears nothing");
    assert_eq!(told, r#"{"roots":[{"uri":"file:///here"}]}"#);
}

#[tokio::test]
async fn a_server_that_says_nothing_at_all_is_given_up() {
    let builder = TaskClient::builder().patience(Duration::from_secs(1));
    let error = timeout(PATIENCE, builder.connect_stdio(hostile("mute")));
    let error = error.await.expect("it hangs").unwrap_err();
    assert!(error.to_string().contains("within 1s"), "{error}");
}

#[tokio::test]
async fn lines_that_are_no_messages_are_passed_over() {
    let client = TaskClient::connect_stdio(hostile("junk")).await.unwrap();
    let result = outcome!(client.call("any", ())).unwrap();
    assert_eq!(text(&result), "all the same");
}

#[tokio::test]
async fn a_flood_on_stderr_neither_stops_the_server_nor_fills_the_memory() {
    let longest = Arc::new(Mutex::new((0, 0)));
    let seen = Arc::clone(&longest);
    let builder = TaskClient::builder().log(move |line| {
        let (longest, all) = *seen.lock().unwrap();
        *seen.lock().unwrap() = (line.len().max(longest), line.len() + all);
    });
    let client = builder.connect_stdio(hostile("floods")).await.unwrap();
    let result = outcome!(client.call("any", ())).unwrap();
    assert_eq!(text(&result), "all the same");
    let (longest, all) = *longest.lock().unwrap();
    assert!(all >= 2 * 1024 * 1024, "{all} bytes");
    assert!(longest <= 64 * 1024, "a line of {longest} bytes");
}

#[tokio::test]
async fn a_line_without_an_end_ends_the_call() {
    let client = TaskClient::connect_stdio(hostile("endless")).await.unwrap();
    let error = outcome!(client.call("any", ())).unwrap_err().to_string();
    assert!(error.contains("may or may not have run"), "{error}");
}

#[tokio::test]
async fn a_server_that_ends_at_once_is_said_to() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("starts");
    let mut command = hostile("dies");
    command.arg(&file);
    let error = TaskClient::connect_stdio(command).await.unwrap_err();
    assert!(error.to_string().contains("ended before"), "{error}");
    assert!(starts(&file) <= 2);
}

#[tokio::test]
async fn a_server_that_ends_each_time_is_not_started_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("starts");
    let mut command = hostile("falters");
    command.arg(&file);
    let builder = TaskClient::builder().patience(PATIENCE);
    let client = builder.connect_stdio(command).await.unwrap();
    // Tasks of one server that is gone: each of them looks for it.
    let calls: Vec<_> = (0..20).map(|_| client.resume("t")).collect();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let starts = starts(&file);
    assert!((3..=16).contains(&starts), "{starts} starts in 5 s");
    assert!(calls[0].state().trouble.is_some());
}

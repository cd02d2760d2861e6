//! Servers that are killed at any moment: c63 at random times, c65 before a
//! timer is recorded, c70 at every commit.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mcp_tasks_tests::{Client, Gone, Launch, StoreFile, Transport, keys};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::steps::lines;
use crate::{FIXTURES, over_every_transport};

over_every_transport! {
    c63_no_recorded_step_runs_again,
    c65_a_timer_counts_although_it_was_not_recorded_yet,
    c70_two_questions_at_once,
    c70_steps_and_questions_in_branches,
    c70_an_answer_before_its_timeout,
    c70_an_answer_that_comes_as_the_time_is_over,
    c70_a_signal_that_is_sent_before_it_is_awaited,
}

/// A task as its client sees it, which knows what was acknowledged.
#[derive(Clone)]
struct Play {
    tool: &'static str,
    arguments: Value,
    /// How long the client thinks about a question.
    thinks: Duration,
    /// Whether it sends the signal `go` as soon as there is a task.
    signals: bool,
    id: Option<String>,
}

impl Play {
    fn new(tool: &'static str, arguments: Value) -> Self {
        Self {
            tool,
            arguments,
            thinks: Duration::ZERO,
            signals: false,
            id: None,
        }
    }

    /// Goes on to the end, and gives the text of the result.
    async fn go_on(&mut self, client: &Client) -> Result<String, Gone> {
        let call = json!({"name": self.tool, "arguments": self.arguments});
        let id = if let Some(id) = &self.id {
            id.clone()
        } else {
            let reply = client.attempt("tools/call", call).await?;
            let id = reply.result()["taskId"].as_str().unwrap().to_owned();
            self.id.insert(id).clone()
        };
        if self.signals {
            let signal = json!({"task_id": id, "name": "go", "value": "word"});
            let call = json!({"name": "send_signal", "arguments": signal});
            let reply = client.attempt("tools/call", call).await?;
            assert_eq!(reply.tool_text(), "sent");
            self.signals = false;
        }
        loop {
            let reply = client.attempt("tasks/get", json!({"taskId": id})).await?;
            let task = reply.result();
            assert!(!reply.text.contains("held"), "{task}");
            match task["status"].as_str() {
                Some("completed") => return Ok(text(task)),
                Some("working" | "input_required") => {}
                _ => panic!("it ended otherwise: {task}"),
            }
            for key in keys(task) {
                sleep(self.thinks).await;
                let answer = json!({"action": "accept", "content": {"answer": key}});
                let answers = json!({"taskId": id, "inputResponses": {key: answer}});
                client.attempt("tasks/update", answers).await?.result();
            }
            sleep(Duration::from_millis(5)).await;
        }
    }
}

fn text(task: &Value) -> String {
    let text = task["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {task}")).to_owned()
}

/// A part of `whole`, by chance.
fn part_of(whole: Duration) -> Duration {
    let chance = RandomState::new().build_hasher().finish();
    whole * u32::from(u16::try_from(chance >> 48).expect("16 bits are left")) / u32::from(u16::MAX)
}

/// A call of `steps`, and what was known of it when its server was killed.
struct Run {
    file: PathBuf,
    play: Play,
}

/// The steps whose results a journal holds: `before`, `before#2`, ..., `after`.
fn recorded(journal: &[Value], half: u32) -> Vec<u32> {
    let keys = journal
        .iter()
        .filter_map(|event| event["step_done"]["key"].as_str());
    keys.map(|key| {
        let (name, pass) = key.split_once('#').unwrap_or((key, "1"));
        let pass: u32 = pass.parse().unwrap();
        if name == "before" { pass } else { half + pass }
    })
    .collect()
}

async fn c63_no_recorded_step_runs_again(transport: Transport) {
    const HALF: u32 = 50;
    const KILLS: u32 = 5;
    // Ten at a time, so that there are a hundred of them over both transports.
    const TASKS: usize = 10;
    for turn in 0..KILLS {
        let store = StoreFile::new();
        let folder = TempDir::new().unwrap();
        let launch = Launch::new(FIXTURES, transport).on(&store);
        let mut server = launch.start().await;
        let plays: Vec<_> = (0..TASKS)
            .map(|number| {
                let file = folder.path().join(format!("{number}.txt"));
                let mut play = Play::new("steps", json!({"file": file, "n": HALF}));
                let client = server.client();
                tokio::spawn(async move {
                    sleep(part_of(Duration::from_millis(300))).await;
                    // The server is gone before it has come to the end, or not.
                    drop(play.go_on(&client).await);
                    Run { file, play }
                })
            })
            .collect();
        // Each turn in a part of its own of the time that it takes.
        let part = Duration::from_secs(3) / KILLS;
        let lived = part * turn + part_of(part);
        sleep(lived).await;
        server.kill().await;

        let mut runs = Vec::new();
        for play in plays {
            let run = play.await.unwrap();
            let journal = run.play.id.as_deref().map(|id| store.journal(id));
            let recorded = match journal.as_deref() {
                // It has ended.
                Some([]) => (1..=2 * HALF).collect(),
                Some(journal) => recorded(journal, HALF),
                None => Vec::new(),
            };
            let written = lines(&run.file);
            runs.push((run, recorded, written));
        }
        let server = launch.start().await;
        for (mut run, recorded, written) in runs {
            if run.play.id.is_none() {
                // Nobody knows whether the task exists.
                continue;
            }
            let result = run.play.go_on(&server.client()).await;
            assert_eq!(result.unwrap(), "done");
            let lines = lines(&run.file);
            assert_eq!(lines.len(), 2 * HALF as usize);
            for number in 1..=2 * HALF {
                let before = written.get(&number).copied().unwrap_or_default();
                let is_recorded = recorded.contains(&number);
                assert!(before == 1 || !is_recorded);
                let wanted = if is_recorded { 1 } else { before + 1 };
                assert_eq!(
                    lines[&number], wanted,
                    "step {number}, killed after {lived:?}, recorded: {is_recorded}"
                );
            }
        }
    }
}

async fn c65_a_timer_counts_although_it_was_not_recorded_yet(transport: Transport) {
    let store = StoreFile::new();
    let launch = Launch::new(FIXTURES, transport).on(&store);
    // The first commit is the task's creation.
    let mortal = launch
        .clone()
        .with("MCP_TASKS_FAIL_AT", &2)
        .with("MCP_TASKS_FAIL", &"before");
    let mut server = mortal.spawn();
    let client = server.client().await.unwrap();
    let call = json!({"name": "timer", "arguments": {"ms": 2000}});
    // The reply may not get out in time.
    drop(client.attempt("tools/call", call).await);
    server.ended().await;
    let ids = store.ids();
    sleep(Duration::from_secs(2)).await;
    let server = launch.start().await;
    let started = Instant::now();
    assert_eq!(server.client().until_text(&ids[0]).await, "rang");
    let took = started.elapsed();
    assert!(took < Duration::from_secs(1), "{took:?}");
}

/// Kills the server at each commit of a task's life, right before it and right
/// after it, and lets the next server go on.
async fn at_every_commit(transport: Transport, play: Play, results: &[&str]) {
    for commit in 1.. {
        for when in ["before", "after"] {
            let mut play = play.clone();
            let store = StoreFile::new();
            let launch = Launch::new(FIXTURES, transport).on(&store);
            let mortal = launch
                .clone()
                .with("MCP_TASKS_FAIL_AT", &commit)
                .with("MCP_TASKS_FAIL", &when);
            let mut server = mortal.spawn();
            let client = server.client().await.unwrap();
            if let Ok(result) = play.go_on(&client).await {
                assert!(results.contains(&result.as_str()), "{result}");
                assert!(commit > 3, "its life has more commits");
                return;
            }
            server.ended().await;
            let again = launch.over(transport.other()).start().await;
            let result = play.go_on(&again.client()).await.unwrap();
            assert!(
                results.contains(&result.as_str()),
                "killed {when} commit {commit}: {result}"
            );
        }
    }
}

async fn c70_two_questions_at_once(transport: Transport) {
    let play = Play::new("askpar", json!({}));
    at_every_commit(transport, play, &["left/answer,right/answer"]).await;
}

async fn c70_steps_and_questions_in_branches(transport: Transport) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("steps.txt");
    let play = Play::new("joined", json!({ "file": file }));
    at_every_commit(transport, play, &["left/answer,right/answer"]).await;
    assert!(Path::new(&file).exists());
}

async fn c70_an_answer_before_its_timeout(transport: Transport) {
    let play = Play::new("race", json!({"ms": 60_000}));
    at_every_commit(transport, play, &["got: answer"]).await;
}

async fn c70_an_answer_that_comes_as_the_time_is_over(transport: Transport) {
    for thinks in [60, 90, 100, 110] {
        let mut play = Play::new("race", json!({"ms": 100}));
        play.thinks = Duration::from_millis(thinks);
        at_every_commit(transport, play, &["got: answer", "timed out"]).await;
    }
}

async fn c70_a_signal_that_is_sent_before_it_is_awaited(transport: Transport) {
    let mut play = Play::new("late_signal", json!({}));
    play.signals = true;
    at_every_commit(transport, play, &["answer,word"]).await;
}

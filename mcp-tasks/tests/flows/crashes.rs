//! Flows in a server that stops wherever it may.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_tasks::prelude::*;
use mcp_tasks::testing::TestTask;

use super::{answer, end, recorded};

/// Counts who was really there.
#[derive(Clone, Default)]
struct Outside(Arc<AtomicUsize>);

impl Outside {
    #[expect(clippy::unused_async, reason = "stands for a call over the network")]
    async fn visit(&self, name: &str) -> Result<String, std::io::Error> {
        let count = self.0.fetch_add(1, Ordering::SeqCst);
        Ok(format!("{name} {count}"))
    }
}

#[mcp_task_flow]
async fn part(outside: &Outside, name: &str) -> Result<String, ToolError> {
    let before = step(outside.visit(name)).await?;
    let go: bool = ask_user(format!("{before}: go on?")).await?;
    sleep(Duration::from_secs(60)).await;
    let after = step(outside.visit(name)).await?;
    Ok(format!("{before} {go} {after}"))
}

#[mcp_task(ttl = "30d")]
async fn whole(State(outside): State<Outside>) -> Result<String, ToolError> {
    let first = part(&outside, "first").await?;
    let (left, right) = try_join!(
        left: part(&outside, "left"),
        right: part(&outside, "right"),
    )?;
    let mut rounds = Vec::new();
    for _ in 0..2 {
        rounds.push(part(&outside, "round").await?);
    }
    ask_user::<()>("End?").key("end").await?;
    Ok(format!("{first}, {left}, {right}, {}", rounds.join(", ")))
}

const QUESTIONS: [&str; 5] = [
    "first/go",
    "right/part/go",
    "left/part/go",
    "part/go",
    "part#2/go",
];

/// Drives the task, with a crash before or after each question as the bits say.
async fn drive(crashes: u32) -> (Vec<String>, String, usize) {
    let outside = Outside::default();
    let mut task = TestTask::start(whole(State(outside.clone()))).await;
    for (index, key) in QUESTIONS.into_iter().enumerate() {
        task.asked(key).await;
        if crashes & (1 << index) != 0 {
            task.crash().await;
        }
        answer(&task, key, true).await;
        if crashes & (1 << (index + QUESTIONS.len())) != 0 {
            task.crash().await;
        }
    }
    let keys = recorded(&task).await;
    (keys, end(&task).await, outside.0.load(Ordering::SeqCst))
}

#[tokio::test(start_paused = true)]
async fn a_crash_changes_nothing_about_a_flow() {
    let (mut keys, result, visits) = drive(0).await;
    assert_eq!(visits, 10, "{result}");
    keys.sort();
    for crashes in [0b1, 0b10_0110, 0b11_1110_0000, 0b11_1111, 0b11_1111_1111] {
        let (mut recorded, again, visits) = drive(crashes).await;
        recorded.sort();
        assert_eq!(
            (recorded, again, visits),
            (keys.clone(), result.clone(), 10)
        );
    }
}

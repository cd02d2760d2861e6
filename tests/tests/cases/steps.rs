//! What the tool `steps` has written: a line for each step that ran.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use mcp_tasks_tests::PATIENCE;
use tokio::time::sleep;

/// How often each line stands in a file.
pub(crate) fn lines(file: &Path) -> HashMap<u32, u32> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut counts = HashMap::new();
    for line in text.lines() {
        *counts.entry(line.parse().unwrap()).or_default() += 1;
    }
    counts
}

/// Waits until the file has so many different lines; gives the last of them.
pub(crate) async fn until_lines(file: &Path, count: usize) -> u32 {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let lines = lines(file);
        if lines.len() >= count {
            return lines.into_keys().max().unwrap();
        }
        assert!(Instant::now() < deadline, "{} lines", lines.len());
        sleep(Duration::from_millis(2)).await;
    }
}

/// Checks that all steps ran, and only the one that was under way ran twice.
pub(crate) fn ran_once_but(file: &Path, total: u32, under_way: u32) {
    let lines = lines(file);
    for number in 1..=total {
        let times = lines.get(&number).copied().unwrap_or_default();
        let most = if number == under_way { 2 } else { 1 };
        assert!(
            (1..=most).contains(&times),
            "step {number} ran {times} times"
        );
    }
    assert_eq!(lines.len(), total as usize);
}

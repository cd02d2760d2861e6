//! So many functions run at once over all processes: c93 with more than one.

use std::path::Path;
use std::time::{Duration, Instant};

use mcp_tasks_tests::{Client, Declares, Fixture, PATIENCE, Transport};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::sleep;

use crate::processes::two;
use crate::security::alice_and_bob;
use crate::{Store, on_every_shared_store};

on_every_shared_store! {
    c93_so_many_functions_of_a_tool_run_at_once_in_all_processes,
    c93_a_killed_process_frees_its_seats,
    c93_a_paused_process_frees_its_seats,
    c93_what_waits_for_a_seat_is_cancelled_at_once,
}

/// Makes each of these a test of three processes over HTTP, which knows callers, on
/// every store that they can share.
macro_rules! of_callers {
    ($($case:ident),+ $(,)?) => {$(
        mod $case {
            use crate::Store;

            #[tokio::test]
            async fn sqlite() {
                super::$case(Store::Sqlite).await;
            }

            #[tokio::test]
            #[ignore = "needs PostgreSQL"]
            async fn postgres() {
                super::$case(Store::Postgres).await;
            }
        }
    )+};
}

of_callers! {
    c93_so_many_functions_of_a_caller_run_at_once_in_all_processes,
    c93_limits_hold_when_a_process_with_seats_is_killed,
    c93_a_burst_of_one_caller_keeps_no_other_from_running_in_any_process,
}

/// What was written of the work of a tool: `+` where some began, `-` where it
/// was done.
fn written(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// How many were at work at once.
fn most_at_once(file: &Path) -> i32 {
    let mut now = 0;
    let all = written(file);
    let all = all.chars().map(|sign| {
        now += if sign == '+' { 1 } else { -1 };
        now
    });
    all.max().unwrap_or_default()
}

/// Waits until so many have begun.
async fn until_begun(file: &Path, count: usize) {
    let deadline = Instant::now() + PATIENCE;
    while written(file).matches('+').count() < count {
        assert!(Instant::now() < deadline, "only {}", written(file));
        sleep(Duration::from_millis(5)).await;
    }
}

async fn start(client: &Client, file: &Path, ms: u64) -> String {
    client
        .task("limited", json!({ "file": file, "ms": ms }))
        .await
}

async fn c93_so_many_functions_of_a_tool_run_at_once_in_all_processes(
    store: Store,
    transport: Transport,
) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("work.txt");
    let (a, b) = two(store, transport, &[]).await;
    let mut ids = Vec::new();
    for _ in 0..25 {
        for server in [&a, &b] {
            ids.push(start(&server.client(), &file, 20).await);
        }
    }
    for id in &ids {
        assert_eq!(b.client().until_text(id).await, "done");
    }
    assert_eq!(written(&file).len(), 100);
    assert_eq!(most_at_once(&file), 2);
}

async fn c93_a_killed_process_frees_its_seats(store: Store, transport: Transport) {
    let folder = TempDir::new().unwrap();
    let [long, short] = ["long.txt", "short.txt"].map(|name| folder.path().join(name));
    let (mut a, b) = two(store, transport, &["--lease", "1500"]).await;
    let client = b.client();
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(start(&a.client(), &long, 60_000).await);
    }
    until_begun(&long, 2).await;
    let waiting = start(&client, &short, 10).await;
    sleep(Duration::from_millis(500)).await;
    assert_eq!(client.get(&waiting).await["status"], "working");
    assert_eq!(written(&short), "");
    a.kill().await;
    let killed = Instant::now();
    assert_eq!(client.until_text(&waiting).await, "done");
    assert!(
        killed.elapsed() < Duration::from_secs(5),
        "{:?}",
        killed.elapsed()
    );
    // What it ran is run again, on seats of its own.
    until_begun(&long, 4).await;
    for id in &ids {
        client.cancelled(id).await;
    }
    let last = start(&client, &short, 10).await;
    assert_eq!(client.until_text(&last).await, "done");
}

async fn c93_a_paused_process_frees_its_seats(store: Store, transport: Transport) {
    let folder = TempDir::new().unwrap();
    let [long, short] = ["long.txt", "short.txt"].map(|name| folder.path().join(name));
    let (a, b) = two(store, transport, &["--lease", "1500"]).await;
    let client = b.client();
    let arguments = json!({ "file": long, "ms": 60_000 });
    // One is a task, and one a call that somebody waits for.
    let call = {
        let caller = a.client().declaring(Declares::NoTasks);
        let arguments = arguments.clone();
        tokio::spawn(async move { caller.call("limited", arguments).await })
    };
    let id = a.client().task("limited", arguments).await;
    until_begun(&long, 2).await;
    let waiting = start(&client, &short, 10).await;
    crate::processes::pause_between_writes(&a).await;
    assert_eq!(client.until_text(&waiting).await, "done");
    until_begun(&long, 3).await;
    // It wakes up and has nothing to say about either.
    a.unpause();
    let reply = call.await.unwrap();
    reply.refused(-32603, &["try again"]);
    assert_eq!(client.get(&id).await["status"], "working");
    client.cancelled(&id).await;
    let again = start(&a.client(), &short, 10).await;
    assert_eq!(client.until_text(&again).await, "done");
}

async fn c93_what_waits_for_a_seat_is_cancelled_at_once(store: Store, transport: Transport) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("work.txt");
    let (a, b) = two(store, transport, &[]).await;
    for server in [&a, &b] {
        start(&server.client(), &file, 60_000).await;
    }
    until_begun(&file, 2).await;
    let waiting = start(&a.client(), &file, 10).await;
    let asked = Instant::now();
    b.client().cancelled(&waiting).await;
    for server in [&a, &b] {
        assert_eq!(server.client().get(&waiting).await["status"], "cancelled");
    }
    assert!(asked.elapsed() < Duration::from_secs(1));
    a.client()
        .until_stats("rid of it", |stats| stats["resident"] == 1)
        .await;
}

/// Three servers over one store, the first of which may be killed, and a client of
/// each for each of two callers.
async fn three(store: Store, flags: &[&str]) -> ([Fixture; 3], [[Client; 3]; 2]) {
    let (a, alice, bob) = alice_and_bob(store, flags).await;
    let b = a.launch().clone().start().await;
    let c = a.launch().clone().start().await;
    let of = |client: Client, secret| {
        let [b, c] = [&b, &c].map(|server| server.client().with_token(secret));
        [client, b, c]
    };
    let clients = [of(alice, "a-secret"), of(bob, "b-secret")];
    ([a, b, c], clients)
}

async fn c93_so_many_functions_of_a_caller_run_at_once_in_all_processes(store: Store) {
    let folder = TempDir::new().unwrap();
    let (_servers, callers) = three(store, &["--limit", "running_per_caller=3"]).await;
    let files = ["alice.txt", "bob.txt"].map(|name| folder.path().join(name));
    let both = folder.path().join("both.txt");
    let mut ids = Vec::new();
    for round in 0..18 {
        for (clients, file) in callers.iter().zip(&files) {
            let client = &clients[round % 3];
            let arguments = json!({ "file": file, "ms": 150, "also": both });
            ids.push((client, client.task("unlimited", arguments).await));
        }
    }
    for (client, id) in ids {
        assert_eq!(client.until_text(&id).await, "done");
    }
    for file in &files {
        assert_eq!(written(file).len(), 36);
        assert_eq!(most_at_once(file), 3);
    }
    assert!(most_at_once(&both) > 3, "each caller has seats of its own");
}

async fn c93_limits_hold_when_a_process_with_seats_is_killed(store: Store) {
    for (tool, flags) in [
        ("limited", &[][..]),
        ("unlimited", &["--limit", "running_per_caller=2"]),
    ] {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("work.txt");
        let flags = [&["--lease", "1500"], flags].concat();
        let ([mut a, _b, _c], [clients, _]) = three(store, &flags).await;
        let arguments = |ms: u64| json!({ "file": file, "ms": ms });
        let mut ids = Vec::new();
        for _ in 0..2 {
            ids.push(clients[0].task(tool, arguments(3000)).await);
        }
        until_begun(&file, 2).await;
        for round in 0..20 {
            let client = &clients[1 + round % 2];
            ids.push(client.task(tool, arguments(20)).await);
        }
        a.kill().await;
        assert_eq!(written(&file), "++", "the seats were taken");
        for id in &ids {
            assert_eq!(clients[1].until_text(id).await, "done");
        }
        // Nothing ran beside what was killed, and of the rest two at most, beside
        // which those two marks stand for ever.
        let written = written(&file);
        assert_eq!(written.matches('+').count(), 24, "{written}");
        assert_eq!(written.matches('-').count(), 22, "{written}");
        assert_eq!(most_at_once(&file), 2 + 2, "{tool}: {written}");
    }
}

async fn c93_a_burst_of_one_caller_keeps_no_other_from_running_in_any_process(store: Store) {
    const BURST: usize = 240;
    let folder = TempDir::new().unwrap();
    let [many, few] = ["many.txt", "few.txt"].map(|name| folder.path().join(name));
    let (_servers, [alice, bob]) = three(store, &[]).await;
    let mut burst = Vec::new();
    for number in 0..BURST {
        let client = &alice[number % 3];
        burst.push((client, start(client, &many, 50).await));
    }
    let mut ids = Vec::new();
    for client in &bob {
        ids.push((client, start(client, &few, 50).await));
    }
    for (client, id) in &ids {
        assert_eq!(client.until_text(id).await, "done");
    }
    let done = written(&many).matches('-').count();
    assert!(done < BURST - 20, "{done} of {BURST} were done before");
    assert!(most_at_once(&many) <= 2);
    for (client, id) in burst {
        client.cancelled(&id).await;
    }
}

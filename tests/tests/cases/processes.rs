//! Several servers over one file or one database: c80 to c84.

use std::time::{Duration, Instant};

use mcp_tasks_tests::{Client, Fixture, Transport, keys};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use crate::steps::{lines, ran_once_but, until_lines};
use crate::{Store, on_every_shared_store};

on_every_shared_store! {
    c80_any_process_serves_any_request,
    c80_a_question_is_answered_wherever_and_the_task_ends_everywhere,
    c80_what_another_process_does_is_noticed_soon,
    c80_a_signal_reaches_a_task_of_another_process,
    c80_processes_that_start_and_end_do_not_disturb_each_other,
    c80_processes_may_start_at_once_on_a_new_file,
    c81_a_process_that_wakes_past_its_lease_writes_nothing,
    c81_a_process_that_wakes_past_a_short_lease_writes_nothing,
    c81_a_waiting_task_whose_process_sleeps_goes_on_elsewhere,
    c82_what_a_killed_process_ran_is_taken_over,
    c82_what_a_killed_process_ran_is_taken_over_within_a_short_lease,
    c82_what_a_killed_process_waited_for_reaches_the_task,
    c83_a_client_hears_of_a_task_that_another_process_finishes,
    c83_a_client_hears_of_a_task_that_another_process_takes_over,
    c84_cancel_reaches_a_task_of_another_process,
    c84_a_task_of_another_process_cleans_up,
}

/// Two servers over one store. The second speaks the other transport.
pub(crate) async fn two(store: Store, transport: Transport, flags: &[&str]) -> (Fixture, Fixture) {
    let a = store.start(transport, flags).await;
    let b = a.launch().clone().over(transport.other()).start().await;
    (a, b)
}

async fn c80_any_process_serves_any_request(store: Store, transport: Transport) {
    let (a, b) = two(store, transport, &[]).await;
    let clients = [a.client(), b.client()];
    for (here, there) in [(0, 1), (1, 0)] {
        let (here, there) = (&clients[here], &clients[there]);
        let id = here.task("ask1", json!({})).await;
        let key = there.until_asked(&id, None).await;
        assert_eq!(here.get(&id).await, there.get(&id).await);
        let wrong = json!({ &key: { "action": "accept", "content": { "answer": 7 } } });
        there.update(&id, wrong).await.refused(-32602, &[&key]);
        there.answer(&id, &key, "there").await;
        assert!(keys(&here.get(&id).await).is_empty());
        assert_eq!(here.until_text(&id).await, "got: there");
        assert_eq!(there.get(&id).await, here.get(&id).await);
    }
}

async fn c80_a_question_is_answered_wherever_and_the_task_ends_everywhere(
    store: Store,
    transport: Transport,
) {
    let (a, b) = two(store, transport, &[]).await;
    let drives: Vec<_> = (0..40)
        .map(|number| {
            let clients = [a.client(), b.client()];
            tokio::spawn(async move {
                let client = |turn: usize| &clients[turn % 2];
                let id = client(number).task("ask2", json!({})).await;
                let first = client(number + 1).until_asked(&id, None).await;
                // Both at once: one of them counts.
                tokio::join!(
                    client(0).answer(&id, &first, "same"),
                    client(1).answer(&id, &first, "same"),
                );
                let second = client(number / 2).until_asked(&id, Some(&first)).await;
                client(number / 4).answer(&id, &second, &id).await;
                for client in &clients {
                    assert_eq!(client.until_text(&id).await, format!("same,{id}"));
                }
            })
        })
        .collect();
    for drive in drives {
        drive.await.unwrap();
    }
    for client in [a.client(), b.client()] {
        let ended = |stats: &serde_json::Value| stats["live"] == 0 && stats["resident"] == 0;
        client.until_stats("rid of all", ended).await;
    }
}

async fn c80_what_another_process_does_is_noticed_soon(store: Store, transport: Transport) {
    let (a, b) = two(store, transport, &[]).await;
    let (a, b) = (a.client(), b.client());
    let id = a.task("ask_loop", json!({"n": 10})).await;
    let mut last = b.until_asked(&id, None).await;
    let started = Instant::now();
    for _ in 1..10 {
        b.answer(&id, &last, "yes").await;
        last = b.until_asked(&id, Some(&last)).await;
    }
    // 200 ms each, and something for a busy machine.
    assert!(
        started.elapsed() < Duration::from_secs(4),
        "{:?}",
        started.elapsed()
    );
}

async fn c80_a_signal_reaches_a_task_of_another_process(store: Store, transport: Transport) {
    let (a, b) = two(store, transport, &[]).await;
    let id = a.client().task("wait_signal", json!({})).await;
    for value in ["word", "late"] {
        let signal = json!({"task_id": id, "name": "go", "value": value});
        let sent = b.client().call("send_signal", signal).await;
        assert_eq!(sent.tool_text(), "sent");
        assert_eq!(a.client().until_text(&id).await, "signalled: word");
    }
}

async fn c80_processes_that_start_and_end_do_not_disturb_each_other(
    store: Store,
    transport: Transport,
) {
    // What a process has no time any more to tell others, they find out when its
    // lease is over.
    let a = store.durable(transport, &[]).await;
    let client = a.client();
    let id = client.task("ask_loop", json!({"n": 5})).await;
    let mut last = client.until_asked(&id, None).await;
    for round in 0..4 {
        let mut other = a.launch().start().await;
        assert_eq!(keys(&other.client().get(&id).await), [last.as_str()]);
        other.client().answer(&id, &last, &round.to_string()).await;
        other.kill().await;
        last = client.until_asked(&id, Some(&last)).await;
    }
    client.answer(&id, &last, "4").await;
    assert_eq!(client.until_text(&id).await, "0,1,2,3,4");
}

async fn c80_processes_may_start_at_once_on_a_new_file(store: Store, transport: Transport) {
    for _ in 0..3 {
        let launch = store.launch(transport, &[]).await;
        let starts: Vec<_> = (0..5)
            .map(|_| {
                let launch = launch.clone();
                tokio::spawn(async move {
                    let server = launch.start().await;
                    let id = server.client().task("required", json!({})).await;
                    (server, id)
                })
            })
            .collect();
        let mut servers = Vec::new();
        for start in starts {
            servers.push(start.await.unwrap());
        }
        for (_, id) in &servers {
            for (server, _) in &servers {
                assert_eq!(server.client().until_text(id).await, "ok");
            }
        }
    }
}

/// Pauses a process, but not while it writes to a file: SQLite lets one write at a
/// time, and the others would wait for it for as long as it sleeps.
pub(crate) async fn pause_between_writes(server: &Fixture) {
    let Some(file) = server.launch().file() else {
        server.pause().await;
        return;
    };
    let connection = Connection::open(file.path()).unwrap();
    connection.busy_timeout(Duration::from_millis(200)).unwrap();
    loop {
        server.pause().await;
        if connection
            .execute_batch("BEGIN IMMEDIATE; ROLLBACK")
            .is_ok()
        {
            return;
        }
        server.unpause();
    }
}

async fn c81_a_process_that_wakes_past_its_lease_writes_nothing(
    store: Store,
    transport: Transport,
) {
    wakes_past_its_lease(store, transport, &[]).await;
}

async fn c81_a_process_that_wakes_past_a_short_lease_writes_nothing(
    store: Store,
    transport: Transport,
) {
    wakes_past_its_lease(store, transport, &["--lease", "1000"]).await;
}

async fn wakes_past_its_lease(store: Store, transport: Transport, flags: &[&str]) {
    const STEPS: u32 = 25;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("steps.txt");
    let (a, b) = two(store, transport, flags).await;
    let client = b.client();
    let arguments = json!({ "file": file, "n": STEPS });
    let id = a.client().task("steps", arguments).await;
    until_lines(&file, 5).await;
    pause_between_writes(&a).await;
    // Either the last line's step, whose result may not be recorded, or the one
    // after it, which may have begun.
    let last = until_lines(&file, 5).await;
    let key = client.until_asked(&id, None).await;
    client.answer(&id, &key, "on").await;
    assert_eq!(client.until_text(&id).await, "done");
    let (ended, written) = (client.get(&id).await, lines(&file));
    let under_way = if written[&last] > 1 { last } else { last + 1 };
    ran_once_but(&file, 2 * STEPS, under_way);

    a.unpause();
    let woken = a.client();
    assert_eq!(woken.get(&id).await, ended);
    gone(&woken).await;
    assert_eq!(client.get(&id).await, ended);
    ran_once_but(&file, 2 * STEPS, under_way);
    // It works on, under a new lease.
    let id = woken.task("ask1", json!({})).await;
    let key = woken.until_asked(&id, None).await;
    client.answer(&id, &key, "yes").await;
    assert_eq!(woken.until_text(&id).await, "got: yes");
}

/// Waits until no function is in memory.
pub(crate) async fn gone(client: &Client) {
    client
        .until_stats("rid of all functions", |stats| stats["resident"] == 0)
        .await;
}

async fn c81_a_waiting_task_whose_process_sleeps_goes_on_elsewhere(
    store: Store,
    transport: Transport,
) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("side.txt");
    let (a, b) = two(store, transport, &["--lease", "1000"]).await;
    let client = b.client();
    let id = a.client().task("side", json!({ "file": file })).await;
    let key = client.until_asked(&id, None).await;
    pause_between_writes(&a).await;
    client.answer(&id, &key, "go").await;
    assert_eq!(client.until_text(&id).await, "ab");
    let ended = client.get(&id).await;
    a.unpause();
    assert_eq!(a.client().get(&id).await, ended);
    gone(&a.client()).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "ab");
    assert_eq!(client.get(&id).await, ended);
}

/// How long it takes until another process goes on with the steps of one that
/// is killed.
async fn takeover(store: Store, transport: Transport, flags: &[&str]) -> Duration {
    const STEPS: u32 = 15;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("steps.txt");
    let (mut a, b) = two(store, transport, flags).await;
    let client = b.client();
    // That it has heard of the file, and has nothing to do.
    assert_eq!(client.stats().await["live"], 0);
    let arguments = json!({ "file": file, "n": STEPS });
    let id = a.client().task("steps", arguments).await;
    until_lines(&file, 5).await;
    a.kill().await;
    let killed = Instant::now();
    let last = until_lines(&file, 5).await;
    until_lines(&file, last as usize + 1).await;
    let taken_over = killed.elapsed();
    let key = client.until_asked(&id, None).await;
    client.answer(&id, &key, "on").await;
    assert_eq!(client.until_text(&id).await, "done");
    let under_way = if lines(&file)[&last] > 1 {
        last
    } else {
        last + 1
    };
    ran_once_but(&file, 2 * STEPS, under_way);
    taken_over
}

/// How long a takeover may take that must come within a lease. Of a process on one
/// file others see that it is dead; of one on a database that its lease is over,
/// and then there is still something to do.
fn within(store: Store, lease: Duration) -> Duration {
    match store {
        Store::Postgres => lease + Duration::from_millis(700),
        Store::Memory | Store::Sqlite => lease,
    }
}

async fn c82_what_a_killed_process_ran_is_taken_over(store: Store, transport: Transport) {
    let took = takeover(store, transport, &[]).await;
    println!("taken over in {took:?}");
    assert!(took < within(store, Duration::from_secs(10)), "{took:?}");
}

async fn c82_what_a_killed_process_ran_is_taken_over_within_a_short_lease(
    store: Store,
    transport: Transport,
) {
    let took = takeover(store, transport, &["--lease", "1500"]).await;
    println!("taken over in {took:?}");
    let lease = Duration::from_millis(1500);
    assert!(took < within(store, lease), "{took:?}");
}

async fn c82_what_a_killed_process_waited_for_reaches_the_task(store: Store, transport: Transport) {
    let (mut a, b) = two(store, transport, &["--lease", "1500"]).await;
    let (client, other) = (a.client(), b.client());
    let asked = client.task("ask1", json!({})).await;
    let key = other.until_asked(&asked, None).await;
    let called = Instant::now();
    let timer = client.task("timer", json!({"ms": 1000})).await;
    let signalled = client.task("wait_signal", json!({})).await;
    a.kill().await;
    other.answer(&asked, &key, "yes").await;
    assert_eq!(other.until_text(&asked).await, "got: yes");
    let signal = json!({"task_id": signalled, "name": "go", "value": "word"});
    let sent = other.call("send_signal", signal).await;
    assert_eq!(sent.tool_text(), "sent");
    assert_eq!(other.until_text(&signalled).await, "signalled: word");
    assert_eq!(other.until_text(&timer).await, "rang");
    assert!(called.elapsed() >= Duration::from_secs(1));
    assert!(
        called.elapsed() < Duration::from_secs(3),
        "{:?}",
        called.elapsed()
    );
}

async fn c83_a_client_hears_of_a_task_that_another_process_finishes(
    store: Store,
    transport: Transport,
) {
    let (a, b) = two(store, transport, &[]).await;
    let (client, other) = (a.client(), b.client());
    // One after the other, each in one notification.
    let [first, second] = [300, 900].map(|ms| other.task("slow", json!({ "ms": ms })));
    let (first, second) = (first.await, second.await);
    let asked = client.task("ask1", json!({})).await;
    let key = other.until_asked(&asked, None).await;
    let mut listening = client.listen_to(&[&first, &second]).await;
    for id in [&first, &second] {
        let told = listening.task().await;
        assert_eq!(
            (&told["taskId"], &told["status"]),
            (&json!(id), &json!("completed"))
        );
        assert_eq!(told["result"], other.get(id).await["result"]);
    }
    // A task that runs here, and is changed there.
    let mut listening = client.listen_to(&[&asked]).await;
    assert_eq!(listening.task().await["status"], "input_required");
    let answered = Instant::now();
    other.answer(&asked, &key, "there").await;
    let ended = listening.until("completed").await;
    assert_eq!(ended["result"]["content"][0]["text"], "got: there");
    assert!(
        answered.elapsed() < Duration::from_secs(2),
        "{:?}",
        answered.elapsed()
    );
}

async fn c83_a_client_hears_of_a_task_that_another_process_takes_over(
    store: Store,
    transport: Transport,
) {
    let (mut a, b) = two(store, transport, &["--lease", "1500"]).await;
    let client = b.client();
    let id = a.client().task("slow", json!({ "ms": 1000 })).await;
    let mut listening = client.listen_to(&[&id]).await;
    a.kill().await;
    let ended = listening.until("completed").await;
    assert_eq!(ended["result"]["content"][0]["text"], "done");
}

async fn c84_cancel_reaches_a_task_of_another_process(store: Store, transport: Transport) {
    let (a, b) = two(store, transport, &[]).await;
    let (client, other) = (a.client(), b.client());
    for (tool, arguments) in [
        ("slow", json!({"ms": 60_000})),
        ("slow_once", json!({"ms": 60_000})),
        ("timer", json!({"ms": 60_000})),
        ("ask1", json!({})),
        ("wait_signal", json!({})),
    ] {
        let id = client.task(tool, arguments).await;
        let asked = Instant::now();
        other.cancelled(&id).await;
        assert!(asked.elapsed() < Duration::from_secs(1));
        for client in [&client, &other] {
            assert_eq!(client.get(&id).await["status"], "cancelled", "{tool}");
        }
        // The function is dropped where it runs.
        gone(&client).await;
        assert!(
            asked.elapsed() < Duration::from_secs(2),
            "{:?}",
            asked.elapsed()
        );
    }
}

async fn c84_a_task_of_another_process_cleans_up(store: Store, transport: Transport) {
    let (a, b) = two(store, transport, &[]).await;
    let (client, other) = (a.client(), b.client());
    let id = client.task("grace", json!({"ms": 300})).await;
    other.until_asked(&id, None).await;
    other.cancelled(&id).await;
    for client in [&client, &other] {
        assert_eq!(client.until_text(&id).await, "cleaned up");
    }
    let id = client.task("grace", json!({"ms": 60_000})).await;
    other.until_asked(&id, None).await;
    let asked = Instant::now();
    other.cancelled(&id).await;
    for client in [&client, &other] {
        client.until(&id, "cancelled").await;
        assert!(asked.elapsed() >= Duration::from_millis(1900));
    }
    gone(&client).await;
    assert!(
        asked.elapsed() < Duration::from_secs(4),
        "{:?}",
        asked.elapsed()
    );
}

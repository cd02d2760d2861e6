//! Seats of servers that are busy, that die, and that do not know what they have.

use std::time::Duration;

use mcp_tasks::runtime::RuntimeBuilder;
use serde_json::json;

use crate::store::Unreliable;
use crate::tools::{Gauge, deploy, greet, long, work};
use crate::world::{Client, SECOND, World};

#[tokio::test(start_paused = true)]
async fn a_burst_on_one_server_does_not_keep_a_caller_of_another_from_running() {
    let (world, gauge) = (World::new(), Gauge::default());
    let [one, two] =
        [1, 2].map(|_| world.server(|server| server.task(deploy).state(gauge.clone())));
    let (ada, eve) = (Client::of(&one, "ada"), Client::of(&two, "eve"));
    for _ in 0..200 {
        ada.task("deploy", json!({"ms": 10_000})).await;
    }
    tokio::time::sleep(SECOND).await;
    for _ in 0..3 {
        let id = eve.task("deploy", json!({"ms": 10_000})).await;
        let took = eve.until_done(&id).await;
        assert!(took < 45 * SECOND, "{took:?}");
    }
    assert_eq!(gauge.most(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_seat_does_not_keep_others_from_being_taken_over() {
    let (world, gauge) = (World::new(), Gauge::default());
    let tools = |server: RuntimeBuilder| server.task(deploy).task(work).state(gauge.clone());
    let first = world.server(tools);
    let (ada, eve) = (Client::of(&first, "ada"), Client::of(&first, "eve"));
    for _ in 0..500 {
        ada.task("deploy", json!({"ms": 600_000})).await;
    }
    let id = eve.task("work", json!({"ms": 1000})).await;
    first.crash().await.unwrap();
    drop((first, ada, eve));
    let second = world.server(tools);
    let eve = Client::of(&second, "eve");
    let took = eve.until_done(&id).await;
    assert!(took < 15 * SECOND, "{took:?}");
    // The store keeps most of them until they are wanted.
    let resident = second.tasks().stats().await.unwrap().resident;
    assert!(resident < 200, "{resident}");
    tokio::time::sleep(20 * 600 * SECOND).await;
    let stats = second.tasks().stats().await.unwrap();
    assert!((450..=465).contains(&stats.store.live), "{stats:?}");
    assert!(stats.resident < 200, "{stats:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_frees_its_seats() {
    let (world, gauge) = (World::new(), Gauge::default());
    let tools = |server: RuntimeBuilder| server.task(deploy).state(gauge.clone());
    let (first, second) = (world.server(tools), world.server(tools));
    let ada = Client::of(&first, "ada");
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(ada.task("deploy", json!({"ms": 3_600_000})).await);
    }
    tokio::time::sleep(SECOND).await;
    let eve = Client::of(&second, "eve");
    let id = eve.task("deploy", json!({"ms": 1000})).await;
    tokio::time::sleep(SECOND).await;
    for id in &ids {
        ada.runtime.get(id, &ada.caller).await.unwrap();
    }
    assert!(!eve.get(&id).await.is_terminal());
    first.crash().await.unwrap();
    let took = eve.until_done(&id).await;
    assert!(took < 15 * SECOND, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_seat_is_anothers_by_now_is_stopped() {
    let (world, gauge) = (World::new(), Gauge::default());
    let server = world.server(|server| server.task(long).state(gauge.clone()));
    let client = Client::of(&server, "ada");
    let call = tokio::spawn(async move { client.try_call("long", json!({}), false).await });
    tokio::time::sleep(600 * SECOND).await;
    assert_eq!(gauge.now(), 1);
    server.crash().await.unwrap();
    let error = call.await.unwrap().unwrap_err();
    assert!(error.message.contains("try again"), "{}", error.message);
    assert_eq!(gauge.now(), 0);
}

#[tokio::test(start_paused = true)]
async fn no_seat_is_lost_whoever_goes_away_and_whatever_the_store_says() {
    let (world, gauge) = (World::new(), Gauge::default());
    let unreliable = Unreliable::new(world.holder());
    let server = world.server_on(unreliable, |server| {
        server.task(deploy).task(greet).state(gauge.clone())
    });
    let client = Client::of(&server, "ada");
    for number in 0..100 {
        // Some go before they have asked, some while they do, some after.
        let patience = Duration::from_millis(number * 7 % 150);
        let call = client.call("greet", json!({}), false);
        tokio::time::timeout(patience, call).await.ok();
        let id = client.task("deploy", json!({"ms": number % 5 * 20})).await;
        if number % 2 == 0 {
            tokio::time::sleep(patience).await;
            client.runtime.cancel(&id, &client.caller).await.unwrap();
        }
    }
    while server.tasks().stats().await.unwrap().store.live > 0 {
        tokio::time::sleep(SECOND).await;
    }
    tokio::time::sleep(10 * SECOND).await;
    assert!(gauge.most() <= 3, "{}", gauge.most());
    // All seats are free.
    let other = Client::of(
        &world.server(|server| server.task(deploy).task(greet).state(gauge.clone())),
        "eve",
    );
    let mut ids = Vec::new();
    for tool in ["deploy", "deploy", "greet"] {
        ids.push(other.task(tool, json!({"ms": 5000})).await);
    }
    for id in &ids {
        let took = other.until_done(id).await;
        assert!(took < 6 * SECOND, "{took:?}");
    }
}

//! Crashes after every commit of a scenario.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mcp_tasks::prelude::*;
use mcp_tasks::testing::{TestTask, crash_everywhere};
use serde_json::json;

/// What has been done to the outside world, in order.
#[derive(Clone, Default)]
struct World(Arc<Mutex<Vec<String>>>);

impl World {
    /// Takes a second, and is done at its end.
    async fn change(&self, what: &str) -> Result<usize, std::io::Error> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let mut done = self.0.lock().unwrap();
        done.push(what.to_owned());
        Ok(done.len())
    }

    fn done(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

#[mcp_task(ttl = "7d")]
async fn release(service: String, State(world): State<World>) -> Result<String, ToolError> {
    set_status("planning");
    let plan = step(world.change("plan")).await?;
    let approval: bool = ask_user(format!("Release {service} by plan {plan}?"))
        .timeout(Duration::from_secs(3600))
        .await?;
    set_status("building");
    let rolled_out = step(world.change("roll out")).await?;
    sleep(Duration::from_secs(3600)).await;
    let build: u32 = signal("build").await?;
    let (notes, checked) = join!(
        notes: ask_user::<String>("Release notes?"),
        checks: step(world.change("check")),
    );
    Ok(format!(
        "{service} {approval} {rolled_out} build {build} {} {}",
        notes?, checked?
    ))
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_steps_sleeps_and_is_signalled_survives_a_crash_after_every_commit() {
    let plays = AtomicUsize::new(0);
    let (text, steps, statuses, done) = crash_everywhere(async |crash| {
        plays.fetch_add(1, Ordering::Relaxed);
        let world = World::default();
        let call = release("billing".to_owned(), State(world.clone()));
        let task = TestTask::start(call).crash_after(crash).await;
        task.answer("approval", json!({"answer": true})).await;
        task.signal("build", 41).await;
        task.answer("notes/string", json!({"answer": "faster"}))
            .await;
        let text = task.result().await.text();
        (text, task.steps(), task.statuses(), world.done())
    })
    .await;
    assert_eq!(text, "billing true 2 build 41 faster 3");
    assert_eq!(steps, ["plan", "rolled_out", "checks/change"]);
    assert_eq!(statuses, ["planning", "building"]);
    assert_eq!(done, ["plan", "roll out", "check"], "each step once");
    // Created, a status, three steps, two questions and answers, a timer set and
    // fired, the signal, the end: after none of these was a crash left out.
    assert!(plays.into_inner() > 12);
}

#[mcp_task]
async fn pay(State(world): State<World>) -> Result<String, ToolError> {
    step(world.change("charge")).await?;
    let address: String = ask_user("Where shall the receipt go?").await?;
    Ok(address)
}

#[tokio::test(start_paused = true)]
async fn a_server_can_crash_after_one_commit() {
    for commits in 1..6 {
        let world = World::default();
        let call = pay(State(world.clone()));
        let task = TestTask::start(call).crash_after(commits).await;
        task.answer("address", json!({"answer": "here"})).await;
        assert_eq!(task.result().await.text(), "here");
        assert_eq!(world.done(), ["charge"]);
    }
}

#[mcp_task]
async fn rename(State(names): State<World>) -> Result<String, ToolError> {
    let old: String = ask_user("Which?").await?;
    let (new, taken) = join!(
        async { ask_user::<String>("What to?").key("new").await },
        names: step(async { Ok::<_, std::io::Error>(names.done().len()) }),
    );
    Ok(format!("{old} {} {}", new?, taken?))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_may_crash_on_several_threads() {
    let text = crash_everywhere(async |crash| {
        let task = TestTask::start(rename(State(World::default()))).crash_after(crash);
        let task = task.await;
        task.answer("old", json!({"answer": "a"})).await;
        task.answer("0/new", json!({"answer": "b"})).await;
        task.result().await.text()
    });
    assert_eq!(text.await, "a b 0");
}

#[tokio::test(start_paused = true)]
async fn a_test_that_sets_its_server_up_can_crash_it_too() {
    let mut task = TestTask::start(pay(State(World::default())))
        .on(|server| server.max_recoveries(1))
        .crash_after(3)
        .await;
    task.asked("address").await;
    task.crash().await;
    task.answer("address", json!({"answer": "here"})).await;
    assert_eq!(task.result().await.text(), "here");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_cancelled_or_expires_does_so_whatever_crashes() {
    crash_everywhere(async |crash| {
        let task = TestTask::start(pay(State(World::default()))).crash_after(crash);
        let task = task.await;
        task.asked("address").await;
        task.cancel().await;
        task.result().await.task().status()
    })
    .await;
    crash_everywhere(async |crash| {
        let task = TestTask::start(pay(State(World::default()))).crash_after(crash);
        let task = task.await;
        task.asked("address").await;
        tokio::time::sleep(Duration::from_secs(24 * 3600 + 60)).await;
        task.result().await.task().status()
    })
    .await;
}

/// Differs from one run of a function to the next, as a clock does.
#[derive(Clone, Default)]
struct Chance(Arc<AtomicU32>);

impl Chance {
    fn next(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

#[mcp_task]
async fn guess(State(chance): State<Chance>) -> Result<String, ToolError> {
    let number: u32 = ask_user(format!("Is it {}?", chance.next())).await?;
    Ok(number.to_string())
}

#[mcp_task]
async fn count(State(chance): State<Chance>) -> Result<String, ToolError> {
    let number = chance.next();
    ask_user::<()>("Now?").key("now").await?;
    Ok(number.to_string())
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "held: version 1 of the code recorded")]
async fn a_function_that_asks_something_else_the_second_time_is_found() {
    crash_everywhere(async |crash| {
        let task = TestTask::start(guess(State(Chance::default()))).crash_after(crash);
        let task = task.await;
        task.answer("number", json!({"answer": 7})).await;
        task.result().await.text()
    })
    .await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "a crash after commit 2 (asked `now`) changes the outcome")]
async fn a_function_that_goes_by_what_is_not_recorded_is_found() {
    crash_everywhere(async |crash| {
        let task = TestTask::start(count(State(Chance::default()))).crash_after(crash);
        let task = task.await;
        task.answer("now", json!({})).await;
        task.result().await.text()
    })
    .await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "a crash after commit 4 (step done `block`) changes the outcome")]
async fn an_effect_outside_of_a_step_is_found() {
    #[mcp_task]
    async fn send(State(sent): State<Chance>) -> Result<(), ToolError> {
        ask_user::<()>("Send it?").key("first").await?;
        ask_user::<()>("And the copy?").key("second").await?;
        sent.next();
        Ok(())
    }
    #[mcp_task]
    async fn send_early(State(sent): State<Chance>) -> Result<(), ToolError> {
        ask_user::<()>("Send it?").key("first").await?;
        sent.next();
        step(async { Ok::<_, std::io::Error>(()) }).await?;
        Ok(())
    }
    let sent = crash_everywhere(async |crash| {
        let sent = Chance::default();
        let task = TestTask::start(send(State(sent.clone()))).crash_after(crash);
        let task = task.await;
        task.answer("first", json!({})).await;
        task.answer("second", json!({})).await;
        task.result().await;
        sent.next()
    });
    assert_eq!(sent.await, 1, "nothing comes after the effect but the end");
    crash_everywhere(async |crash| {
        let sent = Chance::default();
        let task = TestTask::start(send_early(State(sent.clone()))).crash_after(crash);
        let task = task.await;
        task.answer("first", json!({})).await;
        task.result().await;
        sent.next()
    })
    .await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "the scenario has started no task that crashes")]
async fn a_scenario_that_never_crashes_says_so() {
    crash_everywhere(async |_| {
        let task = TestTask::start(pay(State(World::default()))).await;
        task.answer("address", json!({"answer": "here"})).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "ends in another way each time, also without a crash")]
async fn a_scenario_that_is_not_played_afresh_is_found() {
    let world = World::default();
    crash_everywhere(async |crash| {
        let task = TestTask::start(pay(State(world.clone()))).crash_after(crash);
        let task = task.await;
        task.answer("address", json!({"answer": "here"})).await;
        task.result().await;
        world.done()
    })
    .await;
}

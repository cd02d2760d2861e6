//! A journal that is cut off somewhere, and a server that takes it up.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcp_tasks::MemoryStore;
use mcp_tasks::runtime::Runtime;
use mcp_tasks::store::{Activity, Commit, Delivery, LiveLimits, Server, TaskStore as _, ToCommit};
use mcp_tasks::task::{Access, Answer, Entry, Event, Seq, Snapshot, TaskId};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};

use super::engine::{Code, program};
use super::journal::Journal;
use super::observed::Observed;
use super::oracle::Draws;
use super::program::Block;
use super::trace::Mark;
use super::world::SERVER;

/// What a server does with a journal, before anything new happens.
pub(crate) struct Arrival {
    pub(crate) marks: Vec<Mark>,
    /// The keys of the questions that are shown.
    pub(crate) shown: Vec<String>,
    /// Why it was held, if it was.
    pub(crate) held: Option<String>,
    /// Rules that were broken on the spot.
    pub(crate) broken: Vec<String>,
    /// Steps that were begun.
    pub(crate) effects: Vec<String>,
    /// What was recorded since.
    pub(crate) recorded: Vec<Event>,
    pub(crate) draws: Draws,
}

/// Runs a program through a journal and no further: steps do not end and time
/// stands still.
pub(crate) async fn arrive(
    block: &Arc<Block>,
    journal: &[Entry],
    draws: Draws,
    grace: bool,
) -> Arrival {
    let store = MemoryStore::new();
    let id = fill(&store, journal).await;
    let begun = Duration::from_millis(journal[0].at.as_millis());
    let observed = Arc::<Observed>::default();
    let known = Arc::new(Journal::prefix(journal, draws));
    let builder = Runtime::builder(SERVER, "1")
        .build_id("2")
        // Before everything that the journal may have set a timer for.
        .tokio_clock(SystemTime::UNIX_EPOCH + begun, Instant::now())
        .store(store.share())
        .state(Code {
            program: block.clone(),
            journal: known.clone(),
            observed: observed.clone(),
            frozen: true,
            life: 0,
        });
    let builder = if grace {
        builder.task(program::<true>)
    } else {
        builder.task(program::<false>)
    };
    let runtime = builder.build().expect("the server is put together");
    runtime.start();
    for _ in 0..3 {
        sleep(Duration::from_millis(1)).await;
    }
    let task = store.get(&id, Access::Server).await;
    let task = task.expect("memory does not fail").expect("it is kept");
    let recorded = store.read(&id, journal.len() as Seq).await;
    let recorded = recorded.expect("memory does not fail").into_iter();
    runtime.crash().await.expect("memory does not fail");
    let observed = observed.lock();
    Arrival {
        marks: observed
            .runs
            .last()
            .map(|run| run.trace.marks().clone())
            .unwrap_or_default(),
        shown: shown(&task),
        held: task.held.as_ref().map(|held| held.reason.to_string()),
        broken: observed.broken.clone(),
        effects: observed.effects.clone(),
        recorded: recorded.map(|entry| entry.event).collect(),
        draws: known.draws(),
    }
}

/// The keys of the questions that a client is shown, sorted.
pub(crate) fn shown(task: &Snapshot) -> Vec<String> {
    let json = task.to_detailed_json(&Value::Null);
    let json: Value = serde_json::from_str(&json).expect("it is JSON");
    let requests = json["inputRequests"].as_object();
    let mut keys: Vec<String> = requests.into_iter().flat_map(Map::keys).cloned().collect();
    keys.sort_unstable();
    keys
}

/// Puts a journal into a store, as a server that has died since would have.
async fn fill(store: &MemoryStore, journal: &[Entry]) -> TaskId {
    let store = store.share();
    let server = Server {
        name: SERVER.into(),
        scope: "".into(),
        build: "1".into(),
        lease_ms: 10_000,
        retention: mcp_tasks::task::Retention::default(),
    };
    let Some(Entry {
        at,
        event: Event::Created(created),
        ..
    }) = journal.first()
    else {
        panic!("a journal begins with a task's creation");
    };
    store
        .enlist(&server, *at)
        .await
        .expect("memory does not fail");
    let limits = LiveLimits {
        per_caller: 1,
        total: 1,
    };
    let claim = store.create((**created).clone(), limits, *at).await;
    let claim = claim.expect("memory does not fail");
    let id = created.id.clone();
    let mut last: Seq = 1;
    for Entry { at, event, .. } in &journal[1..] {
        match event {
            // These come of themselves.
            Event::RecoveryStarted { .. } => continue,
            Event::Answered { key, response } => {
                let response = to_raw_value(response).expect("JSON");
                let answers = [Answer {
                    key: key.clone(),
                    response: &response,
                }];
                let delivered = store.deliver(&id, Access::Server, &answers, *at).await;
                let delivered = delivered.expect("memory does not fail");
                assert!(matches!(delivered, Some(Delivery::Recorded(change)) if change.changed));
            }
            Event::Signalled { name, value } => {
                let signal = store.signal(&id, name, value, *at).await;
                signal.expect("memory does not fail");
            }
            Event::CancelRequested => {
                let cancel = store.cancel(&id, Access::Server, *at).await;
                cancel.expect("memory does not fail");
            }
            event => {
                let commit = ToCommit {
                    id: &id,
                    fencing: claim.fencing,
                    last,
                    events: std::slice::from_ref(event),
                    then: Activity::Running,
                };
                let done = store.commit(&commit, *at).await;
                let done = done.expect("memory does not fail");
                assert!(matches!(done, Commit::Done(_)), "{done:?}");
            }
        }
        last += 1;
    }
    store.leave().await.expect("memory does not fail");
    id
}

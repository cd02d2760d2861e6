//! Tasks to put into a file.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use mcp_tasks::protocol::{Capabilities, InputRequest};
use mcp_tasks::store::{
    Activity, Claim, Commit, Delivery, LiveLimits, Server, TaskStore, ToCommit, Wanted,
};
use mcp_tasks::task::{
    Access, Answer, Created, Event, InputKey, Outcome, Retention, Seed, Seq, TaskId, Timestamp,
};
use mcp_tasks::{Caller, SqliteStore};
use serde_json::value::RawValue;

pub(crate) const NO_LIMITS: LiveLimits = LiveLimits {
    per_caller: usize::MAX,
    total: usize::MAX,
};

pub(crate) fn now() -> Timestamp {
    SystemTime::now().into()
}

pub(crate) fn raw(text: &str) -> Arc<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap().into()
}

pub(crate) fn server(lease_ms: u64) -> Server {
    Server {
        name: "files".into(),
        scope: "".into(),
        build: "1".into(),
        lease_ms,
        retention: Retention::default(),
    }
}

pub(crate) async fn enlisted(file: &Path) -> SqliteStore {
    let store = SqliteStore::open(file).unwrap();
    store.enlist(&server(60_000), now()).await.unwrap();
    store
}

pub(crate) fn created(id: &str) -> Created {
    Created {
        id: TaskId::from_text(id),
        tool: "deploy".into(),
        version: 1,
        arguments: raw(r#"{"service":"billing"}"#),
        caller: Caller::anonymous(),
        capabilities: Capabilities::default(),
        ttl_ms: Some(86_400_000),
        poll_interval_ms: 1000,
        cancel_grace_ms: None,
        seed: Seed([1, 2]),
        client: None,
        meta: None,
        trace: None,
    }
}

pub(crate) fn tools() -> [(Arc<str>, u32); 1] {
    [("deploy".into(), 1)]
}

/// The question `approval`, which takes a `name`.
pub(crate) fn asked() -> Event {
    let params = r#"{"mode":"form","message":"?","requestedSchema":{"type":"object",
        "properties":{"name":{"type":"string"}},"required":["name"]}}"#;
    Event::Asked {
        key: InputKey::new("approval"),
        request: InputRequest::new("elicitation/create", raw(params)),
    }
}

pub(crate) fn finished() -> Event {
    Event::Finished(Outcome::Completed {
        result: raw(r#"{"content":[]}"#),
    })
}

pub(crate) async fn create(store: &dyn TaskStore, id: &str) -> Claim {
    store.create(created(id), NO_LIMITS, now()).await.unwrap()
}

pub(crate) async fn commit(
    store: &dyn TaskStore,
    claim: &Claim,
    last: Seq,
    event: Event,
    then: Activity,
) -> Commit {
    let commit = ToCommit {
        id: &claim.snapshot.id,
        fencing: claim.fencing,
        last,
        events: &[event],
        then,
    };
    store.commit(&commit, now()).await.unwrap()
}

/// A task that waits for its question to be answered.
pub(crate) async fn asking(store: &dyn TaskStore, id: &str, then: Activity) -> Claim {
    let claim = create(store, id).await;
    let asked = commit(store, &claim, 1, asked(), then).await;
    assert!(matches!(asked, Commit::Done(_)), "{asked:?}");
    claim
}

/// Answers the question; says whether that changed anything.
pub(crate) async fn answer(store: &dyn TaskStore, id: &TaskId) -> bool {
    let response = raw(r#"{"action":"accept","content":{"name":"Ada"}}"#);
    let answer = Answer {
        key: InputKey::new("approval"),
        response: &response,
    };
    let delivered = store.deliver(id, Access::Server, &[answer], now()).await;
    match delivered.unwrap() {
        Some(Delivery::Recorded(change)) => change.changed,
        other => panic!("the answer fits, but: {other:?}"),
    }
}

pub(crate) async fn claim_all(store: &dyn TaskStore) -> Vec<Claim> {
    let wanted = Wanted {
        only: None,
        tools: &tools(),
        limit: 100,
    };
    store.claim(&wanted, now()).await.unwrap().claims
}

//! What the behaviours are told with.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::{Place, Places};
use crate::protocol::{Capabilities, InputRequest};
use crate::store::{
    Activity, Change, Claim, Commit, Delivery, LiveLimits, Server, StoreError, TaskStore, ToCommit,
    Wanted, Work,
};
use crate::task::{
    Access, Answer, Caller, Created, Entry, Event, InputKey, Outcome, Retention, Seed, Seq,
    Snapshot, TaskId, Timestamp,
};

/// Milliseconds for which a lease holds.
pub(super) const LEASE: u64 = 1000;

pub(super) const NO_LIMITS: LiveLimits = LiveLimits {
    per_caller: usize::MAX,
    total: usize::MAX,
};

/// A fresh place, with a clock.
pub(super) struct Room {
    place: Box<dyn Place>,
    clock: Arc<Clock>,
}

/// The time, which stands still unless it is told to pass.
struct Clock {
    now: AtomicU64,
    real: bool,
}

impl Clock {
    fn now(&self) -> Timestamp {
        if self.real {
            return SystemTime::now().into();
        }
        Timestamp::from_millis(self.now.load(Ordering::Relaxed))
    }
}

impl Room {
    pub(super) async fn fresh(places: &dyn Places) -> Self {
        let place = places.fresh().await.expect("there is room for tests");
        let clock = Clock {
            now: AtomicU64::new(1_764_443_045_678),
            real: places.has_a_clock(),
        };
        Self {
            place,
            clock: Arc::new(clock),
        }
    }

    /// Another process of the same server.
    pub(super) async fn holder(&self) -> Holder {
        self.holder_for(server()).await
    }

    pub(super) async fn holder_for(&self, server: Server) -> Holder {
        let store = self.place.holder().await.expect("a store can be opened");
        let holder = Holder {
            store,
            clock: self.clock.clone(),
        };
        holder.enlist(&server).await;
        holder
    }

    /// Lets time pass.
    pub(super) async fn pass(&self, millis: u64) {
        if self.clock.real {
            tokio::time::sleep(Duration::from_millis(millis)).await;
        } else {
            self.clock.now.fetch_add(millis, Ordering::Relaxed);
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// A process that has the store open.
pub(super) struct Holder {
    pub(super) store: Box<dyn TaskStore>,
    clock: Arc<Clock>,
}

impl Holder {
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) async fn enlist(&self, server: &Server) {
        let enlisted = self.store.enlist(server, self.now()).await;
        enlisted.expect("a server can enlist");
    }

    pub(super) async fn renew(&self) -> bool {
        let renewed = self.store.renew(self.now()).await;
        renewed.expect("the store is there")
    }

    /// Loses all that it holds, as a process does that dies and comes back.
    pub(super) async fn die(&self) {
        self.enlist(&server()).await;
    }

    pub(super) async fn leave(&self) {
        self.store.leave().await.expect("the store is there");
    }

    pub(super) async fn create(&self, created: Created) -> Claim {
        let claim = self.store.create(created, NO_LIMITS, self.now()).await;
        claim.expect("a task can be created")
    }

    /// A task whose function asks `question` and waits.
    pub(super) async fn asking(&self, id: &str) -> Claim {
        let claim = self.create(created(id)).await;
        self.goes_on(&claim, 1, vec![asked("question")], Activity::Waiting)
            .await;
        Claim { last: 2, ..claim }
    }

    /// A task whose function asks `question` and is parked.
    pub(super) async fn parked(&self, id: &str) -> TaskId {
        let claim = self.asking(id).await;
        self.goes_on(&claim, 2, vec![], Activity::Parked).await;
        claim.snapshot.id.clone()
    }

    pub(super) async fn try_commit(
        &self,
        claim: &Claim,
        last: Seq,
        events: Vec<Event>,
        then: Activity,
    ) -> Result<Commit, StoreError> {
        let commit = ToCommit {
            id: &claim.snapshot.id,
            fencing: claim.fencing,
            last,
            events: &events,
            then,
        };
        self.store.commit(&commit, self.now()).await
    }

    pub(super) async fn commit(
        &self,
        claim: &Claim,
        last: Seq,
        events: Vec<Event>,
        then: Activity,
    ) -> Commit {
        let commit = self.try_commit(claim, last, events, then).await;
        commit.expect("the events are legal")
    }

    /// A commit that nothing stands in the way of.
    pub(super) async fn goes_on(
        &self,
        claim: &Claim,
        last: Seq,
        events: Vec<Event>,
        then: Activity,
    ) -> Arc<Snapshot> {
        match self.commit(claim, last, events, then).await {
            Commit::Done(snapshot) => snapshot,
            other => panic!("nothing stands in the way, but: {other:?}"),
        }
    }

    pub(super) async fn finish(&self, claim: &Claim, last: Seq) -> Arc<Snapshot> {
        self.goes_on(claim, last, vec![finished()], Activity::Waiting)
            .await
    }

    pub(super) async fn deliver(
        &self,
        id: &TaskId,
        access: Access<'_>,
        answers: &[(&str, Value)],
    ) -> Option<Delivery> {
        let answers: Vec<_> = answers
            .iter()
            .map(|(key, answer)| (InputKey::new(*key), raw(answer)))
            .collect();
        let answers: Vec<Answer<'_>> = answers
            .iter()
            .map(|(key, response)| Answer {
                key: key.clone(),
                response,
            })
            .collect();
        let delivered = self.store.deliver(id, access, &answers, self.now()).await;
        delivered.expect("the store is there")
    }

    /// Answers `question`.
    pub(super) async fn answer(&self, id: &TaskId, name: &str) -> Change {
        self.answer_to(id, "question", name).await
    }

    pub(super) async fn answer_to(&self, id: &TaskId, key: &str, name: &str) -> Change {
        let answers = [(key, accept(name))];
        match self.deliver(id, Access::Server, &answers).await {
            Some(Delivery::Recorded(change)) => change,
            other => panic!("the answer fits, but: {other:?}"),
        }
    }

    pub(super) async fn cancel(&self, id: &TaskId) -> Change {
        let change = self.store.cancel(id, Access::Server, self.now()).await;
        change
            .expect("the store is there")
            .expect("the task is there")
    }

    pub(super) async fn signal(&self, id: &TaskId, name: &str, value: Value) -> Option<Change> {
        let change = self.store.signal(id, name, &raw(&value), self.now()).await;
        change.expect("the store is there")
    }

    pub(super) async fn claim(&self, wanted: Wanted<'_>) -> Work {
        let work = self.store.claim(&wanted, self.now()).await;
        work.expect("the store is there")
    }

    /// Claims whatever there is of the tool `tool`.
    pub(super) async fn claim_all(&self) -> Vec<Claim> {
        self.claim(anything()).await.claims
    }

    /// Claims all there is, which is one task.
    pub(super) async fn claim_the_one(&self) -> Claim {
        let mut claims = self.claim_all().await;
        assert_eq!(claims.len(), 1, "one task is there to be claimed");
        claims.remove(0)
    }

    pub(super) async fn get(&self, id: &TaskId) -> Option<Arc<Snapshot>> {
        let task = self.store.get(id, Access::Server).await;
        task.expect("the store is there")
    }

    /// A task that is there.
    pub(super) async fn task(&self, id: &TaskId) -> Arc<Snapshot> {
        self.get(id).await.expect("the task is there")
    }

    pub(super) async fn journal(&self, id: &TaskId, last: Seq) -> Vec<Entry> {
        let journal = self.store.read(id, last).await;
        journal.expect("the journal can be read")
    }

    /// The kinds of the entries of a journal, as they are written.
    pub(super) async fn kinds(&self, id: &TaskId) -> Vec<String> {
        self.journal(id, 0).await.iter().map(kind).collect()
    }
}

/// A server named `parity`.
pub(super) fn server() -> Server {
    Server {
        name: "parity".into(),
        scope: "".into(),
        build: "1".into(),
        lease_ms: LEASE,
        retention: Retention::Millis(500),
    }
}

/// The tools of the server.
pub(super) fn tools() -> &'static [(Arc<str>, u32)] {
    static TOOLS: std::sync::LazyLock<[(Arc<str>, u32); 1]> =
        std::sync::LazyLock::new(|| [("tool".into(), 1)]);
    &*TOOLS
}

pub(super) fn anything() -> Wanted<'static> {
    Wanted {
        only: None,
        tools: tools(),
        limit: 1000,
    }
}

pub(super) fn created(id: &str) -> Created {
    Created {
        id: TaskId::from_text(id),
        tool: "tool".into(),
        version: 1,
        arguments: raw(&json!({"service": "billing"})),
        caller: Caller::anonymous(),
        capabilities: Capabilities::default(),
        ttl_ms: None,
        poll_interval_ms: 1000,
        cancel_grace_ms: None,
        seed: Seed([1, 2]),
        client: None,
        meta: None,
        trace: None,
    }
}

/// A form with one text of up to ten letters.
pub(super) fn asked(key: &str) -> Event {
    let params = json!({
        "mode": "form",
        "message": "What is your name?",
        "requestedSchema": {
            "type": "object",
            "properties": {"name": {"type": "string", "maxLength": 10}},
            "required": ["name"],
        },
    });
    Event::Asked {
        key: InputKey::new(key),
        request: InputRequest::new("elicitation/create", raw(&params)),
    }
}

pub(super) fn accept(name: &str) -> Value {
    json!({"action": "accept", "content": {"name": name}})
}

pub(super) fn step_done(key: &str) -> Event {
    Event::StepDone {
        key: InputKey::new(key),
        function: "function".into(),
        outcome: raw(&json!({"ok": 1})),
    }
}

pub(super) fn said(message: &str) -> Event {
    Event::Status {
        message: Some(message.into()),
        progress: None,
    }
}

pub(super) fn timer(key: &str, at: Timestamp) -> Event {
    Event::TimerSet {
        key: InputKey::new(key),
        at,
    }
}

pub(super) fn withdrawn(key: &str) -> Event {
    Event::Withdrawn {
        key: InputKey::new(key),
    }
}

pub(super) fn finished() -> Event {
    Event::Finished(Outcome::Completed {
        result: raw(&json!({"content": []})),
    })
}

pub(super) fn raw(value: &Value) -> Arc<RawValue> {
    to_raw_value(value).expect("it is JSON").into()
}

pub(super) fn kind(entry: &Entry) -> String {
    match serde_json::to_value(&entry.event).expect("an event is JSON") {
        Value::String(kind) => kind,
        Value::Object(event) => event.keys().next().cloned().unwrap_or_default(),
        other => other.to_string(),
    }
}

/// The keys of the questions that are open.
pub(super) fn open_questions(task: &Snapshot) -> Vec<&str> {
    let questions = task.input_requests.iter();
    questions.map(|(key, _)| key.as_str()).collect()
}

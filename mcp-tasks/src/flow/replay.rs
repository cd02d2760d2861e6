//! Whether the code of today fits the journal of yesterday.
//!
//! While a function is run again, everything that it asks for is compared with
//! what the journal says was asked for before. What is found here is decided
//! before anything new is started, recorded or shown.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::request::{Kind, Wanted};
use crate::protocol::{InputKind, InputRequest};
use crate::task::{Entry, Event, InputKey, Timestamp};

/// A function on its way through its record.
pub(super) struct Replay {
    record: Record,
    /// What the function has asked for in this run.
    wanted: HashMap<InputKey, Wanted>,
}

/// What a journal says of what its function asked for.
#[derive(Debug, Default)]
pub(crate) struct Record {
    keys: BTreeMap<InputKey, Recorded>,
    patched: HashSet<Arc<str>>,
    version: u32,
}

/// What was asked for under one key.
#[derive(Debug)]
pub(super) struct Recorded {
    kind: RecordedKind,
    /// Whether nothing more is to come for it: its outcome is recorded.
    settled: bool,
    withdrawn: bool,
}

#[derive(Debug)]
enum RecordedKind {
    Ask(InputRequest),
    Step {
        function: Arc<str>,
        step: RecordedStep,
    },
    Timer(Timestamp),
    Unrecorded,
}

/// How far a step without a result had come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecordedStep {
    /// Whether an attempt was about to run, and nothing says how it ended.
    pub(super) intended: bool,
    /// How many attempts failed, and when the next is due.
    pub(super) failed: u32,
    pub(super) retry_at: Option<Timestamp>,
}

/// The code does not fit the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contradiction {
    /// For the client: names keys and versions.
    pub(crate) reason: String,
    /// For the log: names places in the code too, and what to do.
    pub(crate) explanation: String,
}

impl Record {
    /// Reads a journal.
    pub(crate) fn read(journal: &[Entry]) -> Self {
        let mut record = Self::default();
        for entry in journal {
            record.add(&entry.event);
        }
        record
    }

    fn add(&mut self, event: &Event) {
        match event {
            Event::Created(created) => self.version = created.version,
            Event::Asked { key, request } => {
                self.begin(key, RecordedKind::Ask(request.clone()));
            }
            Event::TimerSet { key, at } => self.begin(key, RecordedKind::Timer(*at)),
            Event::StepIntended { key, function } => {
                let step = self.step(key, function);
                step.intended = true;
                step.retry_at = None;
            }
            Event::StepAttempt {
                key,
                function,
                n,
                retry_at,
            } => {
                let step = self.step(key, function);
                step.intended = false;
                step.failed = *n;
                step.retry_at = Some(*retry_at);
            }
            Event::StepDone { key, function, .. } => {
                self.step(key, function);
                self.settle(key);
            }
            Event::Ran { key } => {
                self.begin(key, RecordedKind::Unrecorded);
                self.settle(key);
            }
            Event::Answered { key, .. } | Event::TimerFired { key } => self.settle(key),
            Event::Withdrawn { key } => {
                if let Some(recorded) = self.keys.get_mut(key) {
                    recorded.withdrawn = true;
                }
            }
            Event::Patched { id } => {
                self.patched.insert(id.clone());
            }
            Event::Signalled { .. }
            | Event::Status { .. }
            | Event::TtlChanged { .. }
            | Event::CancelRequested
            | Event::RecoveryStarted { .. }
            | Event::Held(_)
            | Event::Resumed
            | Event::Finished(_) => {}
        }
    }

    fn begin(&mut self, key: &InputKey, kind: RecordedKind) {
        let recorded = Recorded {
            kind,
            settled: false,
            withdrawn: false,
        };
        self.keys.insert(key.clone(), recorded);
    }

    fn step(&mut self, key: &InputKey, function: &Arc<str>) -> &mut RecordedStep {
        let begun = |recorded: &Recorded| matches!(recorded.kind, RecordedKind::Step { .. });
        if !self.keys.get(key).is_some_and(begun) {
            let kind = RecordedKind::Step {
                function: function.clone(),
                step: RecordedStep::default(),
            };
            self.begin(key, kind);
        }
        match self.keys.get_mut(key).map(|recorded| &mut recorded.kind) {
            Some(RecordedKind::Step { step, .. }) => step,
            _ => unreachable!("it has just been made a step"),
        }
    }

    fn settle(&mut self, key: &InputKey) {
        if let Some(recorded) = self.keys.get_mut(key) {
            recorded.settled = true;
        }
    }
}

impl Replay {
    pub(super) fn new(record: Record) -> Self {
        Self {
            record,
            wanted: HashMap::new(),
        }
    }

    /// Notes what the function asks for.
    pub(super) fn want(&mut self, key: &InputKey, wanted: Wanted) {
        self.wanted.insert(key.clone(), wanted);
    }

    pub(super) fn is_patched(&self, id: &str) -> bool {
        self.record.patched.contains(id)
    }

    pub(super) fn take_patched(&mut self) -> HashSet<Arc<str>> {
        std::mem::take(&mut self.record.patched)
    }

    /// Whether everything that was ever asked for has been asked for again.
    pub(super) fn has_caught_up(&self) -> bool {
        let mut keys = self.record.keys.keys();
        keys.all(|key| self.wanted.contains_key(key))
    }

    /// Whether the record has an outcome for a step.
    pub(super) fn has_result(&self, key: &InputKey) -> bool {
        self.record.keys.get(key).is_some_and(|recorded| {
            recorded.settled && matches!(recorded.kind, RecordedKind::Step { .. })
        })
    }

    /// Whether something is recorded as asked for.
    pub(super) fn is_recorded(&self, key: &InputKey) -> bool {
        self.record.keys.contains_key(key)
    }

    /// Whether something is recorded as asked for and still waits.
    pub(super) fn is_outstanding(&self, key: &InputKey) -> bool {
        let recorded = self.record.keys.get(key);
        recorded.is_some_and(|recorded| !recorded.settled && !recorded.withdrawn)
    }

    /// When a recorded timer that still waits is due.
    pub(super) fn timer(&self, key: &InputKey) -> Option<Timestamp> {
        match self.record.keys.get(key)?.kind {
            RecordedKind::Timer(at) => Some(at),
            _ => None,
        }
    }

    /// How far a step without a result had come.
    pub(super) fn step(&self, key: &InputKey) -> Option<RecordedStep> {
        match self.record.keys.get(key)?.kind {
            RecordedKind::Step { step, .. } => Some(step),
            _ => None,
        }
    }

    /// Whether the outcome under a key, which is due now, is for what the
    /// function waits for.
    pub(super) fn check_due(&self, key: &InputKey, dropped: bool) -> Result<(), Contradiction> {
        let Some(recorded) = self.record.keys.get(key) else {
            return Ok(());
        };
        match self.wanted.get(key) {
            None => Err(self.not_requested(key, recorded)),
            Some(wanted) if recorded.kind.fits(&wanted.kind, dropped) => Ok(()),
            Some(wanted) => Err(self.differs(key, recorded, wanted)),
        }
    }

    /// Whether all that is recorded has been asked for again, when the record
    /// is used up or the function has returned.
    pub(super) fn check_end(
        &self,
        returned: bool,
        is_open: impl Fn(&InputKey) -> bool,
    ) -> Result<(), Contradiction> {
        for (key, recorded) in &self.record.keys {
            let Some(wanted) = self.wanted.get(key) else {
                if recorded.withdrawn {
                    continue;
                }
                return Err(self.not_requested(key, recorded));
            };
            self.check_one(key, recorded, wanted, is_open(key) && !returned)?;
        }
        Ok(())
    }

    fn check_one(
        &self,
        key: &InputKey,
        recorded: &Recorded,
        wanted: &Wanted,
        open: bool,
    ) -> Result<(), Contradiction> {
        if !recorded.kind.fits(&wanted.kind, !open) {
            return Err(self.differs(key, recorded, wanted));
        }
        if recorded.withdrawn && open {
            return Err(self.still_awaited(key, recorded, wanted));
        }
        Ok(())
    }

    /// What is left when the record is used up: what the function dropped
    /// before, and has not asked for in this run so far.
    pub(super) fn into_dropped(mut self: Box<Self>) -> Option<Box<Self>> {
        let wanted = std::mem::take(&mut self.wanted);
        self.record.keys.retain(|key, _| !wanted.contains_key(key));
        (!self.record.keys.is_empty()).then_some(self)
    }

    /// Whether what is left fits something that is asked for late, as it would
    /// in a replay of all that has happened by then.
    pub(super) fn check_late(&self, key: &InputKey, open: bool) -> Result<(), Contradiction> {
        match (self.record.keys.get(key), self.wanted.get(key)) {
            (Some(recorded), Some(wanted)) => self.check_one(key, recorded, wanted, open),
            _ => Ok(()),
        }
    }

    fn not_requested(&self, key: &InputKey, recorded: &Recorded) -> Contradiction {
        let mut new: Vec<_> = self
            .wanted
            .iter()
            .filter(|(key, _)| !self.record.keys.contains_key(*key))
            .collect();
        new.sort_by_key(|(key, _)| *key);
        let (mut now, mut places) = (String::new(), String::new());
        for (key, wanted) in new.iter().take(3) {
            let separator = if now.is_empty() { "" } else { ", " };
            let _ = write!(now, "{separator}{} `{key}`", wanted.kind.describe());
            let _ = write!(
                places,
                "{separator}{} `{key}` at {}",
                wanted.kind.describe(),
                wanted.place
            );
        }
        if new.is_empty() {
            now.push_str("nothing of that name");
            places.clone_from(&now);
        }
        let was = recorded.kind.describe();
        self.contradiction(
            &format!("{was} `{key}`"),
            &now,
            &places,
            "the call was renamed, removed, or is no longer reached",
        )
    }

    fn differs(&self, key: &InputKey, recorded: &Recorded, wanted: &Wanted) -> Contradiction {
        let (was, is) = recorded.kind.describe_beside(&wanted.kind);
        self.contradiction(
            &format!("{was} `{key}`"),
            &format!("{is} `{key}`"),
            &format!("{is} `{key}` at {}", wanted.place),
            "another call took over the key, or the question or the function that it calls was changed",
        )
    }

    fn still_awaited(&self, key: &InputKey, recorded: &Recorded, wanted: &Wanted) -> Contradiction {
        let kind = recorded.kind.describe();
        self.contradiction(
            &format!("that {kind} `{key}` was dropped"),
            &format!("a wait for {kind} `{key}`"),
            &format!("a wait for {kind} `{key}` at {}", wanted.place),
            "a race or a timeout now ends in another way",
        )
    }

    fn contradiction(&self, was: &str, is: &str, places: &str, why: &str) -> Contradiction {
        let version = self.record.version;
        Contradiction {
            reason: format!(
                "held: version {version} of the code recorded {was}, the code that runs now has {is}; \
                 the task goes on when a server runs code that fits, and can be cancelled"
            ),
            explanation: format!(
                "the journal, written by version {version}, records {was}; the code now has {places}. \
                 Usually {why}. Run the code that wrote the journal again, or keep the old path for \
                 tasks under way (`patched`, or a new `version` beside the old); the task can also be \
                 cancelled"
            ),
        }
    }
}

impl RecordedKind {
    /// Whether the same is wanted; of something dropped only the kind counts.
    fn fits(&self, wanted: &Kind, dropped: bool) -> bool {
        match (self, wanted) {
            (
                Self::Ask(recorded),
                Kind::Ask {
                    request,
                    any_wording,
                },
            ) => dropped || recorded == request || (*any_wording && same_form(recorded, request)),
            (
                Self::Step {
                    function: recorded, ..
                },
                Kind::Step { function, .. },
            ) => dropped || **recorded == **function,
            (Self::Timer(_), Kind::Timer) | (Self::Unrecorded, Kind::Unrecorded) => true,
            _ => false,
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Ask(_) => "the question".to_owned(),
            Self::Step { function, .. } => format!("the step of `{function}`"),
            Self::Timer(_) => "the timer".to_owned(),
            Self::Unrecorded => "the unrecorded future".to_owned(),
        }
    }

    /// Both sides, in words that differ.
    fn describe_beside(&self, wanted: &Kind) -> (String, String) {
        match (self, wanted) {
            (Self::Ask(recorded), Kind::Ask { request, .. }) => {
                let is = if same_form(recorded, request) {
                    "a question in other words under"
                } else if recorded.kind() != request.kind() {
                    "a question of another kind under"
                } else if request.kind() == InputKind::Url {
                    "a question with another URL under"
                } else {
                    "a question with another form under"
                };
                ("the question".to_owned(), is.to_owned())
            }
            _ => (self.describe(), wanted.describe()),
        }
    }
}

impl Kind {
    fn describe(&self) -> String {
        match self {
            Self::Ask { .. } => "the question".to_owned(),
            Self::Step { function, .. } => format!("the step of `{function}`"),
            Self::Timer => "the timer".to_owned(),
            Self::Unrecorded => "the unrecorded future".to_owned(),
        }
    }
}

/// Whether two questions ask for the same, whatever their words: by the same
/// form, or at the same URL.
fn same_form(one: &InputRequest, other: &InputRequest) -> bool {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(rename = "requestedSchema", borrow, default)]
        schema: Option<&'a RawValue>,
        #[serde(borrow, default)]
        url: Option<&'a RawValue>,
    }
    let asked = |request: &InputRequest| {
        let params: Option<Params<'_>> = serde_json::from_str(request.params.get()).ok();
        params
            .map(|params| [params.schema, params.url].map(|it| it.map(|raw| raw.get().to_owned())))
    };
    one.method == other.method && asked(one) == asked(other)
}

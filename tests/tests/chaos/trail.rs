//! What was written to the store, as the database itself has noted it: each line
//! is of the same transaction as what it tells of, so that there is a line for all
//! that counts, and none for what was rolled back.

mod rules;

use std::collections::{BTreeMap, HashMap};

use mcp_tasks_tests::trial::{Journal, of_kind};
use serde_json::Value;

/// Something that was written.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    number: i64,
    at_ms: u64,
    /// Who wrote it, where the database tells.
    writer: Option<String>,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// An entry of a journal, and the claim that there was then.
    Entry {
        task: String,
        seq: u64,
        fencing: i64,
        event: Value,
    },
    /// A task's row.
    Row {
        task: String,
        seq: u64,
        fencing: i64,
        holder: i64,
        outcome: Option<Value>,
        before: Option<Before>,
    },
    /// A task is gone.
    Deleted { task: String },
    /// A new holder.
    Holder { holder: i64, process: u32 },
    /// A holder is gone.
    Gone {
        holder: i64,
        lease_left: Option<i64>,
    },
}

/// What a row was.
#[derive(Clone, Copy, Debug)]
struct Before {
    fencing: i64,
    holder: i64,
    /// What was left of the lease of its holder, in milliseconds.
    lease_left: Option<i64>,
    /// Whether it was taken from its holder, by another.
    is_taken: bool,
}

/// A line as it stands in a table.
pub(crate) struct RawLine {
    pub(crate) number: i64,
    pub(crate) at_ms: i64,
    pub(crate) kind: String,
    pub(crate) id: Option<String>,
    pub(crate) seq: Option<i64>,
    pub(crate) fencing: Option<i64>,
    pub(crate) holder: Option<i64>,
    pub(crate) ended: Option<bool>,
    pub(crate) body: Option<String>,
    pub(crate) fencing_before: Option<i64>,
    pub(crate) holder_before: Option<i64>,
    pub(crate) lease_left: Option<i64>,
    pub(crate) process: Option<u32>,
    pub(crate) writer: Option<String>,
}

impl From<RawLine> for Line {
    fn from(raw: RawLine) -> Self {
        let task = raw.id.unwrap_or_default();
        let seq = raw.seq.unwrap_or_default().unsigned_abs();
        let fencing = raw.fencing.unwrap_or_default();
        let holder = raw.holder.unwrap_or_default();
        let body = raw.body.as_deref().map(serde_json::from_str);
        let body = body.map(|body| body.expect("what is stored is JSON"));
        let what = match raw.kind.as_str() {
            "entry" => What::Entry {
                task,
                seq,
                fencing,
                event: body.unwrap_or_default(),
            },
            "row" => What::Row {
                task,
                seq,
                fencing,
                holder,
                outcome: raw
                    .ended
                    .unwrap_or_default()
                    .then(|| body.unwrap_or_default()),
                before: raw.fencing_before.map(|fencing| Before {
                    fencing,
                    holder: raw.holder_before.unwrap_or_default(),
                    lease_left: raw.lease_left,
                    is_taken: false,
                }),
            },
            "deleted" => What::Deleted { task },
            "gone" => What::Gone {
                holder,
                lease_left: raw.lease_left,
            },
            _ => What::Holder {
                holder,
                process: raw.process.unwrap_or_default(),
            },
        };
        Self {
            number: raw.number,
            at_ms: raw.at_ms.unsigned_abs(),
            writer: raw.writer,
            what,
        }
    }
}

/// All that was written, by task.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    tasks: BTreeMap<String, Story>,
    holders: Holders,
    /// Holders that others have removed before their time.
    buried_alive: Vec<String>,
}

type Holders = HashMap<i64, Holder>;

/// Who a holder is.
#[derive(Debug)]
struct Holder {
    process: u32,
    writer: Option<String>,
}

/// All that was written of a task.
#[derive(Debug, Default)]
pub(crate) struct Story {
    lines: Vec<Line>,
    /// Every entry that there ever was, but for what came with the end.
    pub(crate) journal: Journal,
    /// When each entry was written.
    written: BTreeMap<u64, u64>,
    /// In order.
    claims: Vec<Claim>,
    pub(crate) end: Option<End>,
}

/// A right to run a task.
#[derive(Clone, Debug)]
struct Claim {
    fencing: i64,
    process: u32,
    from_ms: u64,
    writer: Option<String>,
}

/// How a task ended.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) at_ms: u64,
    pub(crate) outcome: Value,
}

impl Trail {
    pub(crate) fn new(lines: Vec<Line>) -> Self {
        let mut trail = Self::default();
        for line in lines {
            match &line.what {
                What::Holder { holder, process } => {
                    let who = Holder {
                        process: *process,
                        writer: line.writer.clone(),
                    };
                    trail.holders.insert(*holder, who);
                }
                What::Gone { holder, lease_left } => trail.bury(*holder, *lease_left, &line),
                What::Entry { task, .. } | What::Row { task, .. } | What::Deleted { task } => {
                    let story = trail.tasks.entry(task.clone()).or_default();
                    story.take(line, &trail.holders);
                }
            }
        }
        trail
    }

    fn bury(&mut self, holder: i64, lease_left: Option<i64>, line: &Line) {
        let writer = self.holders.get(&holder).map(|who| &who.writer);
        if writer != Some(&line.writer) && lease_left.is_some_and(|left| left > 0) {
            self.buried_alive.push(format!(
                "{:?} removed the holder {holder} of {writer:?}, which had {lease_left:?} ms left",
                line.writer
            ));
        }
    }

    /// A holder that was removed by another while its lease held.
    pub(crate) fn buried_alive(&self) -> Option<&String> {
        self.buried_alive.first()
    }

    pub(crate) fn task(&self, id: &str) -> Option<&Story> {
        self.tasks.get(id)
    }

    /// Every task that there ever was.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = (&String, &Story)> {
        self.tasks.iter()
    }

    pub(crate) fn claims(&self) -> usize {
        self.tasks.values().map(|story| story.claims.len()).sum()
    }

    pub(crate) fn entries(&self) -> usize {
        self.tasks.values().map(|story| story.journal.len()).sum()
    }
}

impl Story {
    fn take(&mut self, mut line: Line, holders: &Holders) {
        match &mut line.what {
            What::Entry { seq, event, .. } => {
                self.journal.insert(*seq, event.clone());
                self.written.insert(*seq, line.at_ms);
            }
            What::Row {
                fencing,
                holder,
                outcome,
                before,
                ..
            } => {
                if let Some(before) = before {
                    let owner = holders.get(&before.holder);
                    let is_other = match owner.map(|owner| &owner.writer) {
                        // Whoever has it may give it up, and let another have it.
                        Some(Some(owner)) => line.writer.as_ref() != Some(owner),
                        // Nobody tells who wrote: but this is another's claim.
                        _ => before.fencing != *fencing,
                    };
                    before.is_taken = is_other
                        && before.holder != 0
                        && before.holder != *holder
                        && outcome.is_none();
                }
                if self
                    .claims
                    .last()
                    .is_none_or(|last| last.fencing < *fencing)
                {
                    self.claims.push(Claim {
                        fencing: *fencing,
                        process: holders.get(holder).map_or(0, |who| who.process),
                        from_ms: line.at_ms,
                        writer: line.writer.clone(),
                    });
                }
                if let (None, Some(outcome)) = (&self.end, outcome) {
                    self.end = Some(End {
                        at_ms: line.at_ms,
                        outcome: outcome.clone(),
                    });
                }
            }
            What::Deleted { .. } | What::Holder { .. } | What::Gone { .. } => {}
        }
        self.lines.push(line);
    }

    /// What the call was told apart by.
    pub(crate) fn label(&self) -> Option<&str> {
        let (_, created) = of_kind(&self.journal, "created").next()?;
        created["arguments"]["label"].as_str()
    }

    /// Whether it was ever claimed again.
    pub(crate) fn is_passed_on(&self) -> bool {
        self.claims.len() > 1
    }

    /// When it was begun and when it ended, as far as it has.
    pub(crate) fn life(&self) -> (u64, u64) {
        let first = self.lines.first().map_or(0, |line| line.at_ms);
        let last = self.lines.last().map_or(u64::MAX, |line| line.at_ms);
        (first, last)
    }

    /// When the results of steps were recorded, by their keys.
    pub(crate) fn done(&self) -> impl Iterator<Item = (&str, u64)> {
        of_kind(&self.journal, "step_done").map(|(seq, done)| {
            let key = done["key"].as_str().unwrap_or_default();
            (key, self.written[&seq])
        })
    }

    /// Whether a process had the right to run the task at some moment of this
    /// time.
    pub(crate) fn was_run_by(&self, process: u32, from_ms: u64, until_ms: u64) -> bool {
        let ends = self.claims.iter().skip(1).map(|claim| claim.from_ms);
        let mut claims = self.claims.iter().zip(ends.chain([u64::MAX]));
        claims.any(|(claim, end)| {
            claim.process == process && claim.from_ms <= until_ms && from_ms <= end
        })
    }

    /// For a person to read.
    pub(crate) fn dump(&self, name: impl Fn(u32) -> String) -> String {
        let mut claims = self.claims.iter().peekable();
        let lines = self.lines.iter().map(|line| {
            let Line { number, at_ms, .. } = line;
            let writer = line.writer.as_deref().unwrap_or_default();
            let text = match &line.what {
                What::Entry {
                    seq,
                    fencing,
                    event,
                    ..
                } => format!("{seq:>3} under {fencing}: {event}"),
                What::Row {
                    seq,
                    fencing,
                    holder,
                    outcome,
                    before,
                    ..
                } => {
                    let new = claims.next_if(|claim| claim.fencing == *fencing);
                    let new = new.map(|claim| format!(", claimed by {}", name(claim.process)));
                    let left = before.filter(|before| before.is_taken).map(|before| {
                        format!(", from {} with {:?} ms", before.holder, before.lease_left)
                    });
                    let end = outcome.as_ref().map(|outcome| format!(", ended {outcome}"));
                    format!(
                        "row: last {seq}, fencing {fencing}, holder {holder}{}{}{}",
                        new.unwrap_or_default(),
                        left.unwrap_or_default(),
                        end.unwrap_or_default()
                    )
                }
                What::Deleted { .. } => "deleted".to_owned(),
                What::Holder { .. } | What::Gone { .. } => String::new(),
            };
            format!("  {number:>6} {at_ms} {writer} {text}\n")
        });
        lines.collect()
    }
}

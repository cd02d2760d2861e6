//! The figures, and the bounds that they are held to.

use std::fmt;

use crate::file::{Bare, MANY};
use crate::resume::Resumed;
use crate::throughput::{Pair, Work};

/// The share of the raw figure that many callers reach at least.
const LEAST_OF_RAW: f64 = 0.6;

/// A server answers its first request within this many seconds of its start.
const LONGEST_START: f64 = 1.0;

/// What a process may hold in memory beside so many waiting tasks.
const MOST_BYTES: f64 = 100e6;

/// The share of a core that a process may take in which one task waits.
const MOST_IDLE: f64 = 0.002;

/// Everything that was measured.
pub(crate) struct Report {
    pub(crate) bare: Bare,
    /// Bytes of a commit.
    pub(crate) commit: usize,
    pub(crate) pairs: Vec<Pair>,
    /// How many tasks waited.
    pub(crate) waiting: usize,
    pub(crate) memory: Memory,
    pub(crate) start: Start,
    pub(crate) idle: f64,
    pub(crate) resumed: Resumed,
}

/// What tasks take of a process's memory.
pub(crate) struct Memory {
    /// Bytes for each task that waits in memory.
    pub(crate) resident: f64,
    /// Bytes for each that is parked.
    pub(crate) parked: f64,
    /// All that a process holds after parking them.
    pub(crate) after_parking: f64,
}

/// How a process started that others were killed before.
pub(crate) struct Start {
    /// Seconds until it had read a task, and until it had taken a call and
    /// asked its question.
    pub(crate) get: f64,
    pub(crate) call: f64,
    pub(crate) bytes: f64,
}

struct Bound {
    words: String,
    holds: bool,
}

impl Report {
    fn bounds(&self) -> Vec<Bound> {
        let mut bounds = Vec::new();
        for pair in self.pairs.iter().filter(|pair| pair.callers > 1) {
            bounds.push(Bound {
                words: format!(
                    "{} callers reach {LEAST_OF_RAW} of the raw commits ({}): {:.2}",
                    pair.callers,
                    name(pair.work),
                    pair.ratio
                ),
                holds: pair.ratio >= LEAST_OF_RAW,
            });
        }
        let start = self.start.call;
        bounds.push(Bound {
            words: format!("a start takes less than {LONGEST_START} s: {start:.3} s"),
            holds: start < LONGEST_START,
        });
        for (when, bytes) in [
            ("after parking", self.memory.after_parking),
            ("after a start", self.start.bytes),
        ] {
            bounds.push(Bound {
                words: format!(
                    "a process holds less than {:.0} MB {when}: {:.1} MB",
                    MOST_BYTES / 1e6,
                    bytes / 1e6
                ),
                holds: bytes < MOST_BYTES,
            });
        }
        bounds.push(Bound {
            words: format!(
                "an idle process takes less than {:.1}% of a core: {:.3}%",
                MOST_IDLE * 100.0,
                self.idle * 100.0
            ),
            holds: self.idle < MOST_IDLE,
        });
        bounds
    }

    /// Whether all bounds hold. A figure that is missing holds none.
    pub(crate) fn holds(&self) -> bool {
        self.bounds().iter().all(|bound| bound.holds)
    }

    fn rates(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<35} {:>8} {:>9} {:>9} {:>9} {:>9}",
            "per second", "", "commits", "raw", "raw loop", "ours/raw"
        )?;
        for pair in &self.pairs {
            let callers = if pair.callers == 1 {
                "1 caller".to_owned()
            } else {
                format!("{} callers", pair.callers)
            };
            #[expect(clippy::cast_precision_loss, reason = "two or four")]
            let pieces = pair.ours / pair.commits as f64;
            let label = format!("{}, {callers}", name(pair.work));
            writeln!(
                f,
                "{label:<35} {pieces:>8.0} {:>9.0} {:>9.0} {:>9.0} {:>9.2}",
                pair.ours, pair.raw, pair.looped, pair.ratio
            )?;
        }
        let Bare { one, many, page } = self.bare;
        writeln!(
            f,
            "\nfdatasync per second after: a commit's {} bytes {one:.0}, \
             those of {MANY} {many:.0}, a page written over {page:.0}\n",
            self.commit
        )
    }
}

fn name(work: Work) -> &'static str {
    match work {
        Work::Create => "call, ask",
        Work::RoundTrip => "call, ask, answer, finish",
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rates(f)?;
        let Self {
            memory,
            start,
            resumed,
            waiting,
            ..
        } = self;
        writeln!(
            f,
            "memory of a waiting task: {:.0} bytes, parked {:.0}; \
             of a process after parking {waiting}: {:.1} MB",
            memory.resident,
            memory.parked,
            memory.after_parking / 1e6
        )?;
        writeln!(
            f,
            "start beside {waiting} waiting tasks, after a kill: first get after {:.1} ms, \
             first question after {:.1} ms, {:.1} MB",
            start.get * 1e3,
            start.call * 1e3,
            start.bytes / 1e6
        )?;
        writeln!(
            f,
            "answer of a parked task to its result, 64 callers: median {:.2} ms, \
             99% within {:.2} ms, {:.0} per second",
            resumed.median * 1e3,
            resumed.slowest * 1e3,
            resumed.per_second
        )?;
        writeln!(
            f,
            "one more recorded step in the journal: {:.2} µs",
            resumed.per_entry * 1e6
        )?;
        writeln!(
            f,
            "idle, one task waiting: {:.3}% of a core\n",
            self.idle * 100.0
        )?;
        for bound in self.bounds() {
            let verdict = if bound.holds { "holds " } else { "BROKEN" };
            writeln!(f, "{verdict} {}", bound.words)?;
        }
        Ok(())
    }
}

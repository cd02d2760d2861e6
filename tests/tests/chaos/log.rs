//! What was done to replicas and the database, and when: beside it stands what
//! came of that.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard};

use mcp_tasks_tests::trial::now_ms;

use crate::plan::Counts;

/// All that has happened; shared by those who make it happen.
#[derive(Debug, Default)]
pub(crate) struct Log(Mutex<Happened>);

#[derive(Debug, Default)]
struct Happened {
    lines: Vec<(u64, String)>,
    /// The replicas by the numbers of their processes, and the other way about.
    names: HashMap<u32, String>,
    processes: HashMap<String, u32>,
    pauses: Vec<Pause>,
    faults: Counts,
    /// Errors that clients were told, and how often, and when the last was.
    told: HashMap<String, u64>,
    told_ms: u64,
}

/// A process that stood still.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause {
    pub(crate) process: u32,
    pub(crate) until_ms: u64,
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, Happened> {
        self.0.lock().expect("nobody panics with the lock")
    }

    pub(crate) fn add(&self, what: String) {
        self.lock().lines.push((now_ms(), what));
    }

    /// A replica has a process of this number now.
    pub(crate) fn started(&self, name: &str, process: u32) {
        {
            let mut happened = self.lock();
            happened.names.insert(process, name.to_owned());
            happened.processes.insert(name.to_owned(), process);
        }
        self.add(format!("{name} is process {process}"));
    }

    /// Counts what was done.
    pub(crate) fn count(&self, fault: impl FnOnce(&mut Counts) -> &mut u64) {
        *fault(&mut self.lock().faults) += 1;
    }

    pub(crate) fn faults(&self) -> Counts {
        self.lock().faults
    }

    pub(crate) fn paused(&self, pause: Pause) {
        self.lock().pauses.push(pause);
    }

    /// A client was told an error.
    pub(crate) fn told(&self, error: String) {
        let mut happened = self.lock();
        *happened.told.entry(error).or_default() += 1;
        happened.told_ms = now_ms();
    }

    /// When a client was last told an error.
    pub(crate) fn last_told(&self) -> u64 {
        self.lock().told_ms
    }

    /// Errors that clients were told, and how often.
    pub(crate) fn errors(&self) -> Vec<(String, u64)> {
        let told = &self.lock().told;
        let mut told: Vec<_> = told.iter().map(|(error, n)| (error.clone(), *n)).collect();
        told.sort();
        told
    }

    /// How many things have happened.
    pub(crate) fn len(&self) -> usize {
        self.lock().lines.len()
    }

    /// The replica that a process was.
    pub(crate) fn name(&self, process: u32) -> String {
        let name = self.lock().names.get(&process).cloned();
        name.unwrap_or_else(|| format!("process {process}"))
    }

    /// The process that a replica was; 0 if there is none of this name.
    pub(crate) fn process(&self, name: &str) -> u32 {
        self.lock().processes.get(name).copied().unwrap_or_default()
    }

    pub(crate) fn pauses(&self) -> Vec<Pause> {
        self.lock().pauses.clone()
    }

    /// What happened in this time, for a person to read.
    pub(crate) fn dump(&self, from_ms: u64, until_ms: u64) -> String {
        let mut text = String::new();
        for (at, what) in &self.lock().lines {
            if (from_ms..=until_ms).contains(at) {
                writeln!(text, "  {at} {what}").expect("a text takes it");
            }
        }
        text
    }
}

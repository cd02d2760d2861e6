//! How much of everything a server takes.

/// Limits that keep one client, or one mistake, from taking a server down.
///
/// At a limit the client gets a clear error, and nothing is lost.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a call's arguments; 1 MiB by default.
    pub arguments: usize,
    /// Bytes of one answer; 256 KiB by default.
    pub answer: usize,
    /// Bytes of a call's result; 8 MiB by default.
    pub result: usize,
    /// Bytes of a task's journal; 16 MiB by default.
    pub journal: usize,
    /// Bytes of the sealed state of a call that asks its client in rounds; 64 KiB
    /// by default.
    pub state: usize,
    /// Live tasks of one authenticated caller; 1,000 by default.
    pub live_per_caller: usize,
    /// Live tasks on the server; 1,000,000 by default.
    pub live: usize,
    /// Subscriptions of one authenticated caller at once; 100 by default.
    pub subscriptions_per_caller: usize,
    /// Subscriptions on the server at once; 10,000 by default.
    pub subscriptions: usize,
    /// Tasks that one subscription names; 1,000 by default.
    pub subscribed_tasks: usize,
    /// Functions that run at once, rather than wait; 64 per core by default.
    pub running: usize,
    /// Tasks in memory; 10,000 by default. Beside as many, one that waits is
    /// parked at once. Plays no part without a durable store.
    pub resident: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            arguments: 1 << 20,
            answer: 256 << 10,
            result: 8 << 20,
            journal: 16 << 20,
            state: 64 << 10,
            live_per_caller: 1000,
            live: 1_000_000,
            subscriptions_per_caller: 100,
            subscriptions: 10_000,
            subscribed_tasks: 1000,
            running: 64 * cores,
            resident: 10_000,
        }
    }
}

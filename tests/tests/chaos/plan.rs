//! What a run does, and how much of it.

use std::time::Duration;

use mcp_tasks_tests::trial::setting;

/// What a run does.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// What chance starts from.
    pub(crate) seed: u64,
    /// How many replicas there are.
    pub(crate) replicas: usize,
    /// How many tasks are under way at once.
    pub(crate) tasks: usize,
    /// How long a replica may be without a sign of life.
    pub(crate) lease: Duration,
    /// Over what time the faults are spread.
    pub(crate) time: Duration,
    /// What is done to replicas and the database.
    pub(crate) faults: Counts,
}

/// Faults by their kinds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Replicas that are killed.
    pub(crate) kills: u64,
    /// Replicas that are stopped for longer than a lease.
    pub(crate) pauses: u64,
    /// Replicas that are stopped for a shorter time.
    pub(crate) naps: u64,
    /// Replicas that are told to end, and do in good order.
    pub(crate) leaves: u64,
    /// Restarts of the database.
    pub(crate) restarts: u64,
    /// Connections that the database ends.
    pub(crate) cuts: u64,
}

impl Counts {
    pub(crate) fn sum(&self) -> u64 {
        self.kills + self.pauses + self.naps + self.leaves + self.restarts + self.cuts
    }
}

impl Plan {
    /// As the environment says, and otherwise as this.
    pub(crate) fn or_as_asked(self) -> Self {
        let number = |name, otherwise: u64| setting(name).unwrap_or(otherwise);
        let size = |name, otherwise: usize| {
            let set = setting(name).map(|set| usize::try_from(set).expect("it is not so large"));
            set.unwrap_or(otherwise)
        };
        let millis = |time: Duration| u64::try_from(time.as_millis()).expect("it is not so long");
        let Self { faults, .. } = self;
        Self {
            seed: number("CHAOS_SEED", self.seed),
            replicas: size("CHAOS_REPLICAS", self.replicas),
            tasks: size("CHAOS_TASKS", self.tasks),
            lease: Duration::from_millis(number("CHAOS_LEASE_MS", millis(self.lease))),
            time: Duration::from_secs(number("CHAOS_SECONDS", self.time.as_secs())),
            faults: Counts {
                kills: number("CHAOS_KILLS", faults.kills),
                pauses: number("CHAOS_PAUSES", faults.pauses),
                naps: number("CHAOS_NAPS", faults.naps),
                leaves: number("CHAOS_LEAVES", faults.leaves),
                restarts: number("CHAOS_RESTARTS", faults.restarts),
                cuts: number("CHAOS_CUTS", faults.cuts),
            },
        }
    }
}

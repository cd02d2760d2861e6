//! Kills at random times and at random commits, with many tasks under way.

use std::time::Instant;

use mcp_tasks_tests::Transport;
use mcp_tasks_tests::trial::{Chance, Record, Undisturbed};

use crate::cases;
use crate::player::Pace;
use crate::world::{Code, Until, World};

/// How many tasks are under way at once.
const TASKS: usize = 8;

/// Some answer at once, some after the next kill.
const PACE: Pace = Pace { longest_ms: 150 };

/// When they all want to be done.
const LAST_PACE: Pace = Pace { longest_ms: 10 };

/// What was done to one store.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) kills: u32,
    pub(crate) tasks: usize,
    /// Under how many tasks a server died, and under how many several.
    pub(crate) hit: usize,
    pub(crate) hit_again: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.kills += other.kills;
        self.tasks += other.tasks;
        self.hit += other.hit;
        self.hit_again += other.hit_again;
    }
}

/// Kills the servers of one store so many times, at most until a time, and
/// then lets all tasks end.
pub(crate) async fn one_world(
    seed: u64,
    kills: u32,
    until: Option<Instant>,
    models: &[Undisturbed],
) -> Result<Tally, String> {
    let (mut chance, cases) = (Chance::new(seed), cases());
    let mut world = World::new(format!("random kills, CRASH_SEED={seed}"));
    let code_changes = chance.below(u64::from(kills) + 1);
    for kill in 0..kills {
        if until.is_some_and(|until| until <= Instant::now()) {
            break;
        }
        let live = world.records.iter().filter(|record| record.end.is_none());
        for _ in live.count()..TASKS {
            let label = format!("call {}", world.records.len());
            let case = *chance.pick(&cases);
            world.records.push(Record::new(case, label));
        }
        let code = if u64::from(kill) < code_changes {
            Code::Old
        } else {
            Code::New
        };
        let launch = world.launch(*chance.pick(&Transport::ALL), code);
        let after = chance.millis(5, 300);
        let (launch, until) = if chance.one_in(3) {
            let launch = launch
                .with("MCP_TASKS_FAIL_AT", &(1 + chance.below(30)))
                .with("MCP_TASKS_FAIL", chance.pick(&["before", "after"]));
            (launch, Until::KilledOrFailPoint(after))
        } else {
            (launch, Until::Killed(after))
        };
        world.live(&launch, until, &mut chance, PACE).await?;
    }
    let launch = world.launch(*chance.pick(&Transport::ALL), Code::New);
    world
        .live(&launch, Until::AllEnded, &mut chance, LAST_PACE)
        .await?;
    world.judge(models)?;
    Ok(Tally {
        kills: world.deaths,
        tasks: world.records.len(),
        hit: hit(&world, 1),
        hit_again: hit(&world, 2),
    })
}

/// How many tasks outlived so many servers.
fn hit(world: &World, deaths: u32) -> usize {
    let hit = |record: &&Record| record.faults >= deaths;
    world.records.iter().filter(hit).count()
}

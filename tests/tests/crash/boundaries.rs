//! A kill at every durable event: right before and right after each commit of a
//! task's life, and once more while the next server takes the task up.

use mcp_tasks_tests::Transport;
use mcp_tasks_tests::trial::{Case, Chance, Record, Undisturbed};

use crate::player::Pace;
use crate::world::{Code, Until, World};

/// Nobody hesitates: what is of interest is when the server dies.
const PACE: Pace = Pace { longest_ms: 3 };

/// Runs a case without a kill.
pub(crate) async fn undisturbed(case: Case) -> Result<Undisturbed, String> {
    let mut world = World::new(format!("{case}, undisturbed"));
    world.records.push(Record::new(case, "the call".to_owned()));
    let launch = world.launch(Transport::Stdio, Code::New);
    let mut chance = Chance::new(0);
    world
        .live(&launch, Until::AllEnded, &mut chance, PACE)
        .await?;
    Ok(Undisturbed::of(&world.records[0], &world.effects()?))
}

/// Runs a case again and again, with a kill at one commit after the other, and
/// gives the number of kills.
pub(crate) async fn every_boundary(
    case: Case,
    model: &Undisturbed,
    codes: (Code, Code),
    seed: u64,
) -> Result<u32, String> {
    let models = std::slice::from_ref(model);
    let mut chance = Chance::new(seed);
    let mut kills = 0;
    for commit in 1.. {
        for when in ["before", "after"] {
            let name = format!("{case}, killed {when} commit {commit}, CRASH_SEED={seed}");
            let mut world = World::new(name);
            world.records.push(Record::new(case, "the call".to_owned()));
            let transports = Transport::ALL;
            let launch = world
                .launch(*chance.pick(&transports), codes.0)
                .with("MCP_TASKS_FAIL_AT", &commit)
                .with("MCP_TASKS_FAIL", &when);
            if !world
                .live(&launch, Until::FailPoint, &mut chance, PACE)
                .await?
            {
                // The task ended first: that was its last commit.
                return Ok(kills);
            }
            let again = world
                .launch(*chance.pick(&transports), codes.1)
                .with("MCP_TASKS_FAIL_AT", &(1 + chance.below(2)))
                .with("MCP_TASKS_FAIL", chance.pick(&["before", "after"]));
            world
                .live(&again, Until::FailPoint, &mut chance, PACE)
                .await?;
            let launch = world.launch(*chance.pick(&transports), codes.1);
            world
                .live(&launch, Until::AllEnded, &mut chance, PACE)
                .await?;
            world.judge(models)?;
            kills += world.deaths;
        }
    }
    Ok(kills)
}

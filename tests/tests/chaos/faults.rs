//! What is done to the replicas and the database.

use std::sync::Arc;
use std::time::Duration;

use mcp_tasks_tests::trial::Chance;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::fleet::Fleet;
use crate::plan::{Counts, Plan};

/// One thing that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Kill,
    Pause,
    Nap,
    Leave,
    Restart,
    Cut,
}

/// Does all that the plan says; returns when all replicas are up again.
///
/// # Errors
///
/// A replica that ended by itself, or does not start.
pub(crate) async fn inflict(
    plan: &Plan,
    fleet: &Arc<Fleet>,
    mut chance: Chance,
) -> Result<(), String> {
    let mut left = deck(plan.faults, &mut chance);
    let all = plan.faults.sum();
    let began = Instant::now();
    let mut under_way = JoinSet::new();
    while let Some(fault) = left.pop() {
        // Each has its time, and chance moves it about.
        let done = all - left.len() as u64 - 1;
        let share = plan.time.mul_f64(fraction(done, all));
        let slack = plan.time.mul_f64(fraction(1, all));
        sleep_until(began + share + slack.mul_f64(fraction(chance.below(1000), 1000))).await;
        let (fleet, mut chance) = (fleet.clone(), chance.fork());
        let lease = plan.lease;
        under_way.spawn(async move { fleet.suffer(fault, &mut chance, lease).await });
        while let Some(done) = under_way.try_join_next() {
            done.expect("it does not panic")?;
        }
    }
    while let Some(done) = under_way.join_next().await {
        done.expect("it does not panic")?;
    }
    for number in 0..fleet.len() {
        let mut grip = fleet.grip(number).await;
        grip.lives()?;
    }
    Ok(())
}

impl Fleet {
    async fn suffer(
        &self,
        fault: Fault,
        chance: &mut Chance,
        lease: Duration,
    ) -> Result<(), String> {
        match fault {
            Fault::Kill => {
                let mut grip = self.free(chance).await;
                // Some are killed while they stand still.
                if chance.one_in(10) {
                    self.halt(&grip);
                    sleep(chance.millis(1, 200)).await;
                }
                self.kill(&mut grip).await?;
                sleep(chance.millis(0, 300)).await;
                if chance.one_in(6) {
                    self.start_and_kill(&mut grip, chance).await;
                }
                self.start_one(&mut grip, chance).await
            }
            Fault::Pause => {
                let more = fraction(110 + chance.below(90), 100);
                self.stand_still(lease.mul_f64(more), chance).await
            }
            Fault::Nap => {
                let less = fraction(chance.below(100), 100);
                self.stand_still(lease.mul_f64(less), chance).await
            }
            Fault::Leave => {
                let mut grip = self.free(chance).await;
                self.retire(&mut grip).await?;
                self.start_one(&mut grip, chance).await
            }
            Fault::Restart => {
                let at_once = chance.one_in(2);
                self.restart_database(chance.millis(0, 700), at_once).await;
                Ok(())
            }
            Fault::Cut => {
                self.cut(chance).await;
                Ok(())
            }
        }
    }

    async fn stand_still(&self, time: Duration, chance: &mut Chance) -> Result<(), String> {
        let mut grip = self.free(chance).await;
        grip.lives()?;
        self.pause(&grip, time).await;
        grip.lives()
    }
}

/// All faults, shuffled.
fn deck(counts: Counts, chance: &mut Chance) -> Vec<Fault> {
    let kinds = [
        (Fault::Kill, counts.kills),
        (Fault::Pause, counts.pauses),
        (Fault::Nap, counts.naps),
        (Fault::Leave, counts.leaves),
        (Fault::Restart, counts.restarts),
        (Fault::Cut, counts.cuts),
    ];
    let mut deck: Vec<Fault> = kinds
        .into_iter()
        .flat_map(|(fault, count)| (0..count).map(move |_| fault))
        .collect();
    for last in (1..deck.len()).rev() {
        let other = chance.below(last as u64 + 1);
        deck.swap(last, usize::try_from(other).expect("it is below a length"));
    }
    deck
}

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
fn fraction(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

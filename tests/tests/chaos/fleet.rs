//! The replicas, as processes that are killed, stopped and started again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use mcp_tasks_tests::trial::{Chance, now_ms};
use mcp_tasks_tests::{Client, Launch, Mortal, Transport};
use tokio::time::{sleep, timeout};

use crate::grip::{Grip, Hand};
use crate::ground::Ground;
use crate::log::{Log, Pause};
use crate::plan::Plan;

/// How long a replica may take until it can be spoken to.
const START: Duration = Duration::from_secs(20);

/// How long it is before a start that failed while the database was away is
/// tried again, as whoever runs a server would.
pub(crate) const AGAIN: Duration = Duration::from_millis(200);

/// A lease that is not lost on a busy machine.
const UNDISTURBED_MS: u64 = 20_000;

/// All replicas.
pub(crate) struct Fleet {
    replicas: Vec<Replica>,
    pub(crate) ground: Arc<Ground>,
    pub(crate) log: Arc<Log>,
    plan: Plan,
    /// How long a replica that starts now may be without a sign of life.
    lease_ms: AtomicU64,
    /// Whether the database is away, or was a moment ago.
    pub(crate) is_away: AtomicBool,
    /// Whoever has this may do something to the database.
    pub(crate) database: tokio::sync::Mutex<()>,
}

/// A place for one process after another.
struct Replica {
    number: usize,
    /// Whoever has this may do something to the process.
    hand: Arc<tokio::sync::Mutex<Hand>>,
    /// Whoever speaks to it.
    client: Mutex<Option<Client>>,
    /// What its process is called now.
    name: Mutex<String>,
}

impl Fleet {
    pub(crate) fn new(plan: &Plan, ground: Ground) -> Arc<Self> {
        let replica = |number| Replica {
            number,
            hand: Arc::new(tokio::sync::Mutex::new(Hand {
                mortal: None,
                lives: 0,
                name: String::new(),
            })),
            client: Mutex::new(None),
            name: Mutex::default(),
        };
        Arc::new(Self {
            replicas: (0..plan.replicas).map(replica).collect(),
            ground: Arc::new(ground),
            log: Arc::default(),
            plan: plan.clone(),
            lease_ms: AtomicU64::new(UNDISTURBED_MS),
            is_away: AtomicBool::new(false),
            database: tokio::sync::Mutex::default(),
        })
    }

    /// Starts one replica that nothing can happen to, however busy the machine is.
    pub(crate) async fn start_undisturbed(&self, chance: &mut Chance) -> Result<(), String> {
        self.lease_ms.store(UNDISTURBED_MS, Ordering::Release);
        let mut grip = self.grip(0).await;
        self.start_one(&mut grip, chance).await
    }

    /// Starts all replicas.
    pub(crate) async fn start(&self, chance: &mut Chance) -> Result<(), String> {
        let lease = u64::try_from(self.plan.lease.as_millis());
        let lease = lease.expect("it is not so long");
        self.lease_ms.store(lease, Ordering::Release);
        for number in 0..self.replicas.len() {
            let mut grip = self.grip(number).await;
            if let Some(mut undisturbed) = grip.hand.mortal.take() {
                // Killed, it would be there until its lease is over.
                undisturbed.terminate();
                undisturbed.ended().await;
            }
            self.start_one(&mut grip, chance).await?;
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.replicas.len()
    }

    /// Waits until nobody else does anything to a replica.
    pub(crate) async fn grip(&self, number: usize) -> Grip {
        let hand = self.replicas[number].hand.clone().lock_owned().await;
        Grip { number, hand }
    }

    /// Waits for one to which nobody else does anything.
    pub(crate) async fn free(&self, chance: &mut Chance) -> Grip {
        loop {
            let free = self.replicas.iter().filter_map(|replica| {
                let hand = replica.hand.clone().try_lock_owned().ok()?;
                let number = replica.number;
                Some(Grip { number, hand })
            });
            let mut free: Vec<Grip> = free.collect();
            if !free.is_empty() {
                let index = chance.below(free.len() as u64);
                return free.swap_remove(usize::try_from(index).expect("it is below a length"));
            }
            drop(free);
            sleep(Duration::from_millis(5)).await;
        }
    }

    pub(crate) fn client_of(&self, number: usize) -> MutexGuard<'_, Option<Client>> {
        let client = self.replicas[number].client.lock();
        client.expect("nobody panics with the lock")
    }

    /// What the replicas are called now.
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |replica: &Replica| {
            let name = replica.name.lock();
            name.expect("nobody panics with the lock").clone()
        };
        self.replicas.iter().map(name).collect()
    }

    /// Somebody to speak to: a replica that was up when it was last looked at.
    pub(crate) fn client(&self, chance: &mut Chance) -> Option<Client> {
        let number = chance.below(self.replicas.len() as u64);
        self.client_of(usize::try_from(number).expect("it is below a length"))
            .clone()
    }

    /// Everybody to speak to.
    pub(crate) fn clients(&self) -> Vec<Client> {
        let clients = (0..self.len()).filter_map(|number| self.client_of(number).clone());
        clients.collect()
    }

    /// The numbers of all processes.
    pub(crate) async fn processes(&self) -> Vec<u32> {
        let mut processes = Vec::new();
        for number in 0..self.len() {
            let grip = self.grip(number).await;
            processes.extend(grip.process());
        }
        processes.sort_unstable();
        processes
    }

    /// Starts a replica, and waits until it can be spoken to.
    ///
    /// # Errors
    ///
    /// Why it does not start.
    pub(crate) async fn start_one(
        &self,
        grip: &mut Grip,
        chance: &mut Chance,
    ) -> Result<(), String> {
        loop {
            self.spawn(grip, chance);
            let Hand { mortal, name, .. } = &mut *grip.hand;
            let mortal = mortal.as_mut().expect("it was just started");
            let was_away = self.is_away.load(Ordering::Acquire);
            let client = timeout(START, mortal.client()).await;
            let said = match client {
                Ok(Ok(client)) => {
                    *self.client_of(grip.number) = Some(client);
                    return Ok(());
                }
                Ok(Err(gone)) => gone.reason,
                Err(_) => "it hangs".to_owned(),
            };
            let status = mortal.kill().await;
            let words = mortal.said();
            let is_away = was_away || self.is_away.load(Ordering::Acquire);
            if !is_away && !self.ground.may_refuse(&words) {
                return Err(format!("{name} does not start: {said} ({status})\n{words}"));
            }
            self.log
                .add(format!("{name} does not start without its database"));
            sleep(AGAIN).await;
        }
    }

    /// Starts a process and does not wait for it.
    pub(crate) fn spawn(&self, grip: &mut Grip, chance: &mut Chance) {
        let hand = &mut *grip.hand;
        hand.lives += 1;
        hand.name = format!("r{}.{}", grip.number, hand.lives);
        let name = self.replicas[grip.number].name.lock();
        name.expect("nobody panics with the lock")
            .clone_from(&hand.name);
        let lease = self.lease_ms.load(Ordering::Acquire).to_string();
        let effects = self.ground.folder().join("effects");
        let effects = effects
            .to_str()
            .expect("temporary folders have plain names");
        // Some keep all tasks in memory, and some hardly any.
        let park_after = *chance.pick(&["60", "1000", "30000"]);
        let ours = env!("CARGO_BIN_EXE_crash_server");
        let server = std::env::var("CHAOS_SERVER").unwrap_or_else(|_| ours.to_owned());
        let launch = Launch::new(&server, Transport::Http).flags(&[
            "--effects",
            effects,
            "--lease",
            &lease,
            "--park-after",
            park_after,
            "--moment",
            "15",
            "--soon",
            "250",
        ]);
        let mortal = self.ground.store(launch, &hand.name).spawn();
        if let Some(process) = mortal.id() {
            self.log.started(&hand.name, process);
        }
        hand.mortal = Some(mortal);
    }

    /// Kills a replica.
    ///
    /// # Errors
    ///
    /// What it had died of before.
    pub(crate) async fn kill(&self, grip: &mut Grip) -> Result<(), String> {
        grip.lives()?;
        self.log.add(format!("{} is killed", grip.hand.name));
        self.log.count(|counts| &mut counts.kills);
        // A moment longer somebody speaks to it.
        if let Some(mortal) = &mut grip.hand.mortal {
            mortal.kill().await;
        }
        *self.client_of(grip.number) = None;
        let sound = grip.is_sound();
        grip.hand.mortal = None;
        sound
    }

    /// Has a replica end in good order.
    ///
    /// # Errors
    ///
    /// If it does not, or had died before.
    pub(crate) async fn retire(&self, grip: &mut Grip) -> Result<(), String> {
        grip.lives()?;
        let Hand { mortal, name, .. } = &mut *grip.hand;
        let Some(mortal) = mortal else {
            return Ok(());
        };
        let was_away = self.is_away.load(Ordering::Acquire);
        self.log.add(format!("{name} is told to end"));
        self.log.count(|counts| &mut counts.leaves);
        mortal.terminate();
        let status = mortal.ended().await;
        self.log.add(format!("{name} has ended: {status}"));
        *self.client_of(grip.number) = None;
        // It cannot tell a database that is away.
        let is_away = was_away || self.is_away.load(Ordering::Acquire);
        if !status.success() && !is_away {
            return Err(format!("{name} ended with {status}:\n{}", mortal.said()));
        }
        let sound = grip.is_sound();
        grip.hand.mortal = None;
        sound
    }

    /// Kills a replica before it has started, or just then.
    pub(crate) async fn start_and_kill(&self, grip: &mut Grip, chance: &mut Chance) {
        self.spawn(grip, chance);
        sleep(chance.millis(0, 80)).await;
        let Hand { mortal, name, .. } = &mut *grip.hand;
        self.log.add(format!("{name} is killed while it starts"));
        self.log.count(|counts| &mut counts.kills);
        if let Some(mut mortal) = mortal.take() {
            mortal.kill().await;
        }
    }

    /// Stops a replica.
    pub(crate) fn halt(&self, grip: &Grip) {
        let Hand { mortal, name, .. } = &*grip.hand;
        self.log.add(format!("{name} is stopped"));
        if let Some(mortal) = mortal {
            mortal.pause();
        }
    }

    /// Stops a replica for a time.
    pub(crate) async fn pause(&self, grip: &Grip, time: Duration) {
        let (Some(mortal), Some(process)) = (&grip.hand.mortal, grip.process()) else {
            return;
        };
        let name = &grip.hand.name;
        self.log
            .add(format!("{name} is stopped for {} ms", time.as_millis()));
        mortal.pause();
        sleep(time).await;
        let until_ms = now_ms();
        mortal.unpause();
        self.log.add(format!("{name} goes on"));
        self.log.count(|counts| {
            if time > self.plan.lease {
                &mut counts.pauses
            } else {
                &mut counts.naps
            }
        });
        self.log.paused(Pause { process, until_ms });
    }

    /// Whether nothing is wrong with any replica, by what it said.
    ///
    /// # Errors
    ///
    /// What one has said that none should ever say.
    pub(crate) async fn are_sound(&self) -> Result<(), String> {
        for number in 0..self.len() {
            self.grip(number).await.is_sound()?;
        }
        Ok(())
    }

    /// What the replicas that are there have said, its last lines.
    pub(crate) async fn said(&self) -> String {
        let mut texts = Vec::new();
        for number in 0..self.len() {
            let grip = self.grip(number).await;
            let said = grip.hand.mortal.as_ref().map(Mortal::said);
            let said = said.unwrap_or_default();
            let lines: Vec<&str> = said.lines().collect();
            let last = &lines[lines.len().saturating_sub(25)..];
            texts.push(format!("{}:\n{}", grip.hand.name, last.join("\n")));
        }
        texts.join("\n")
    }
}

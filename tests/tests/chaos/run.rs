//! One run: replicas, clients, faults, and then calm, in which everything must
//! come to its end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_tasks_tests::trial::{Case, Chance, Effects, Record, Undisturbed, cases, now_ms};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::faults;
use crate::fleet::Fleet;
use crate::ground::Ground;
use crate::plan::Plan;
use crate::player::Player;
use crate::trail::{Story, Trail};
use crate::verdict::{self, Finding, Tally};

/// How long clients think at most: some answer at once, some after a fault or two.
const THINKS_MS: u64 = 600;

/// How long tasks may take to end once nothing happens any more.
const PATIENCE: Duration = Duration::from_secs(90);

/// How long after the last fault clients may still be told of errors.
const ECHO_MS: u64 = 5000;

/// How long a message to a paused replica may lie about.
const LATE: Duration = Duration::from_secs(1);

/// How many tasks are told of that have the same trouble.
const REPORTED: usize = 5;

type SharedRecord = Arc<Mutex<Record>>;

/// Everything that a run is made of.
pub(crate) struct Run {
    plan: Plan,
    fleet: Arc<Fleet>,
    records: Arc<Mutex<Vec<SharedRecord>>>,
    cases: Vec<Case>,
}

impl Run {
    pub(crate) fn new(plan: Plan, ground: Ground) -> Self {
        Self {
            fleet: Fleet::new(&plan, ground),
            plan,
            records: Arc::default(),
            cases: cases("CHAOS_TOOLS"),
        }
    }

    /// Lets it all happen.
    ///
    /// # Errors
    ///
    /// What went wrong, with all that is known of it.
    pub(crate) async fn happen(&self) -> Result<Tally, String> {
        let happened = self.try_to_happen().await;
        match happened {
            Ok(tally) => Ok(tally),
            Err(finding) => Err(self.report(&finding).await),
        }
    }

    /// What was done, and what clients were told, for a person to read.
    pub(crate) fn log(&self) -> String {
        let log = &self.fleet.log;
        let errors = log.errors();
        format!("{}{errors:#?}", log.dump(0, u64::MAX))
    }

    async fn try_to_happen(&self) -> Result<Tally, Finding> {
        let mut chance = Chance::new(self.plan.seed);
        self.fleet.start_undisturbed(&mut chance).await?;
        let models = self.models(&mut chance).await?;
        self.fleet.start(&mut chance).await?;
        let began = Instant::now();
        let (stop, stopped) = watch::channel(false);
        let mut load = self.load(&mut chance, &stopped);
        let inflicted = faults::inflict(&self.plan, &self.fleet, chance.fork());
        tokio::select! {
            inflicted = inflicted => inflicted?,
            Some(played) = load.join_next() => {
                // Clients go on until they are told to stop.
                played.expect("a client does not panic")?;
            }
        }
        let (stormy, calm_since) = (began.elapsed(), Instant::now());
        stop.send_replace(true);
        self.fleet.log.add("the faults are over".to_owned());
        let over_ms = now_ms() + ECHO_MS;
        self.calm(load).await?;
        self.adopt(&mut chance).await?;
        let calm = calm_since.elapsed();
        self.idle().await?;
        self.agree(&mut chance).await?;
        self.fleet.are_sound().await?;
        if self.fleet.log.last_told() > over_ms {
            return Err("clients were told of errors when the faults were over".into());
        }
        let mut tally = self.judge(&models).await?;
        (tally.stormy, tally.calm) = (stormy, calm);
        tally.faults = self.fleet.log.faults();
        Ok(tally)
    }

    fn new_record(&self, case: Case) -> SharedRecord {
        let mut records = self.records.lock().expect("nobody panics with the lock");
        let label = format!("call {}", records.len());
        let record = Arc::new(Mutex::new(Record::new(case, label)));
        records.push(record.clone());
        record
    }

    fn shared_records(&self) -> Vec<SharedRecord> {
        let records = self.records.lock().expect("nobody panics with the lock");
        records.clone()
    }

    /// Copies of all records.
    fn records(&self) -> Vec<Record> {
        let records = self.shared_records();
        let copy =
            |record: &SharedRecord| record.lock().expect("nobody panics with the lock").clone();
        records.iter().map(copy).collect()
    }

    fn player(&self, record: SharedRecord, chance: Chance) -> Player {
        Player {
            record,
            fleet: self.fleet.clone(),
            chance,
            longest_ms: THINKS_MS,
        }
    }

    /// How every case goes while nothing happens.
    async fn models(&self, chance: &mut Chance) -> Result<Vec<Undisturbed>, Finding> {
        let mut players = JoinSet::new();
        for case in &self.cases {
            let mut player = self.player(self.new_record(*case), chance.fork());
            player.longest_ms = 20;
            players.spawn(async move {
                let outcome = player.play().await;
                let id = || player.record.lock().ok()?.id.clone();
                outcome.map_err(|problem| Finding::of(id(), problem))
            });
        }
        while let Some(played) = players.join_next().await {
            played.expect("a client does not panic")?;
        }
        let effects = self.effects()?;
        let records = self.records();
        let models = records
            .iter()
            .map(|record| Undisturbed::of(record, &effects));
        Ok(models.collect())
    }

    /// Clients that have one task after another.
    fn load(
        &self,
        chance: &mut Chance,
        stopped: &watch::Receiver<bool>,
    ) -> JoinSet<Result<(), Finding>> {
        let mut load = JoinSet::new();
        for _ in 0..self.plan.tasks {
            let (mut chance, stopped) = (chance.fork(), stopped.clone());
            let run = Self {
                plan: self.plan.clone(),
                fleet: self.fleet.clone(),
                records: self.records.clone(),
                cases: self.cases.clone(),
            };
            load.spawn(async move {
                while !*stopped.borrow() {
                    let record = run.new_record(*chance.pick(&run.cases));
                    let mut player = run.player(record.clone(), chance.fork());
                    let outcome = player.play().await;
                    let id = || record.lock().ok()?.id.clone();
                    outcome.map_err(|problem| Finding::of(id(), problem))?;
                }
                Ok(())
            });
        }
        load
    }

    /// Waits until all clients have seen their tasks end.
    async fn calm(&self, mut load: JoinSet<Result<(), Finding>>) -> Result<(), Finding> {
        let all = async {
            while let Some(played) = load.join_next().await {
                played.expect("a client does not panic")?;
            }
            Ok(())
        };
        if let Ok(played) = timeout(PATIENCE, all).await {
            return played;
        }
        let records = self.records();
        let stuck = records
            .iter()
            .filter(|record| record.id.is_some() && record.end.is_none());
        let stuck: Vec<_> = stuck.filter_map(|record| record.id.clone()).collect();
        let problem = format!(
            "{} tasks have not ended in {} s of calm",
            stuck.len(),
            PATIENCE.as_secs()
        );
        Err(Finding::of(stuck, problem))
    }

    /// Plays for the tasks of calls that their clients have given up.
    async fn adopt(&self, chance: &mut Chance) -> Result<(), Finding> {
        sleep(LATE).await;
        let mut orphans = JoinSet::new();
        let records = self.shared_records();
        for record in records {
            let label = {
                let record = record.lock().expect("nobody panics with the lock");
                record.is_in_doubt().then(|| record.label.clone())
            };
            let Some(label) = label else { continue };
            let Some(id) = self.fleet.ground.called(&label).await? else {
                continue;
            };
            self.fleet
                .log
                .add(format!("{label} is a task after all: {id}"));
            let its = &mut record.lock().expect("nobody panics with the lock").id;
            *its = Some(id.clone());
            let mut player = self.player(record.clone(), chance.fork());
            orphans.spawn(async move {
                let outcome = player.play().await;
                outcome.map_err(|problem| Finding::of(Some(id), problem))
            });
        }
        self.calm(orphans).await
    }

    /// Waits until no replica has anything to do.
    async fn idle(&self) -> Result<(), Finding> {
        let until = Instant::now() + PATIENCE;
        let clients = self.fleet.clients();
        if clients.len() != self.fleet.len() {
            return Err(format!("only {} replicas are up", clients.len()).into());
        }
        for client in clients {
            loop {
                let params = json!({"name": "count", "arguments": {}});
                let counted = client.attempt("tools/call", params).await;
                let counted = counted.map_err(|gone| gone.reason)?;
                let text = counted.message["result"]["content"][0]["text"].clone();
                if text == "0 live, 0 resident" {
                    break;
                }
                if until <= Instant::now() {
                    return Err(format!("a replica does not come to rest: {text}").into());
                }
                sleep(Duration::from_millis(50)).await;
            }
        }
        // What the dead have held is given up when their leases are over.
        sleep(self.plan.lease * 2).await;
        let census = self.fleet.ground.census(&self.fleet.log).await?;
        let processes = self.fleet.processes().await;
        let is_empty = census.unfinished == 0 && census.live == 0 && census.of_callers == 0;
        let is_counted = census.stored == census.tasks;
        if is_empty && is_counted && census.entries == 0 && census.holders == processes {
            return Ok(());
        }
        Err(format!("the replicas {processes:?} have come to rest with {census:?}").into())
    }

    /// Every replica shows how a task ended as its client saw it.
    async fn agree(&self, chance: &mut Chance) -> Result<(), Finding> {
        for record in self.records() {
            let (Some(id), Some(end)) = (record.id, record.end) else {
                continue;
            };
            let client = self.fleet.client(chance).ok_or("a replica is gone")?;
            let got = client.attempt("tasks/get", json!({ "taskId": id })).await;
            let got = got.map_err(|gone| gone.reason)?;
            if got.message["result"] != end {
                let problem = format!("its client saw {end}, and now it is {}", got.text);
                return Err(Finding::of(Some(id), problem));
            }
        }
        Ok(())
    }

    fn effects(&self) -> Result<Effects, Finding> {
        Ok(Effects::read(&self.fleet.ground.folder().join("effects"))?)
    }

    async fn trail(&self) -> Result<Trail, String> {
        let lines = self.fleet.ground.trail(&self.fleet.log).await;
        lines.map(Trail::new)
    }

    async fn judge(&self, models: &[Undisturbed]) -> Result<Tally, Finding> {
        let trail = self.trail().await?;
        let (records, effects) = (self.records(), self.effects()?);
        let log = &self.fleet.log;
        verdict::judge(&records, models, &trail, &effects, log)
    }

    /// All there is to know of a failure.
    async fn report(&self, finding: &Finding) -> String {
        let Plan { seed, .. } = self.plan;
        let Finding { tasks, problem } = finding;
        let log = &self.fleet.log;
        let mut parts = vec![
            format!("CHAOS_SEED={seed}: {problem}"),
            format!("{:?}", self.plan),
        ];
        match self.trail().await {
            Ok(trail) => {
                for task in tasks.iter().take(REPORTED) {
                    parts.push(self.report_task(task, &trail).await);
                }
            }
            Err(error) => parts.push(format!("there is no trail: {error}")),
        }
        if tasks.is_empty() {
            parts.push(format!("what happened:\n{}", log.dump(0, u64::MAX)));
        }
        parts.push(format!("what clients were told: {:#?}", log.errors()));
        parts.push(format!("what replicas said:\n{}", self.fleet.said().await));
        parts.join("\n\n")
    }

    async fn report_task(&self, id: &str, trail: &Trail) -> String {
        let log = &self.fleet.log;
        let records = self.records();
        let record = records.iter().find(|it| it.id.as_deref() == Some(id));
        let story = trail.task(id);
        let lines = story.map(|story| story.dump(|process| log.name(process)));
        let effects = Effects::read(&self.fleet.ground.folder().join("effects"));
        let effects = effects.map(|effects| effects.dump(id));
        let row = self.fleet.ground.row(id).await;
        let (from, until) = story.map_or((0, u64::MAX), Story::life);
        let around = 2000;
        let happened = log.dump(from.saturating_sub(around), until.saturating_add(around));
        [
            format!("task {id}; its client: {record:#?}"),
            format!("its trail:\n{}", lines.unwrap_or_default()),
            format!("its row: {}", row.unwrap_or_else(|error| error)),
            format!("its effects:\n{}", effects.unwrap_or_else(|error| error)),
            format!("what happened meanwhile:\n{happened}"),
        ]
        .join("\n\n")
    }
}

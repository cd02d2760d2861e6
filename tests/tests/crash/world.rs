//! A store, what is done to the world beside it, and the servers that live on
//! it one after another, each until it is killed.

use std::future::{Future, poll_fn};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::ExitStatus;
use std::task::Poll;
use std::time::Duration;

use mcp_tasks_tests::trial::{Chance, Effects, Record, Undisturbed, dump};
use mcp_tasks_tests::{Client, Launch, StoreFile, Transport};
use tokio::time::{Instant, sleep_until};

use crate::evidence::{Evidence, Finding};
use crate::player::{Pace, Player, Stop};
use crate::remains;

/// How long tasks may take to end once nobody kills their server.
const PATIENCE: Duration = Duration::from_secs(30);

/// `kill -9`.
const KILLED: i32 = 9;

/// What a fail point does.
const ABORTED: i32 = 6;

/// The world.
pub(crate) struct World {
    /// What is being tried, for whoever reads of a failure.
    name: String,
    file: StoreFile,
    pub(crate) records: Vec<Record>,
    evidence: Evidence,
    /// How many servers have died.
    pub(crate) deaths: u32,
    /// What the last server said.
    said: String,
}

/// Which state of the code a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Old,
    New,
}

/// How long a server lives.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    /// Until it is killed, so long after its start.
    Killed(Duration),
    /// The same, or until a fail point is reached before.
    KilledOrFailPoint(Duration),
    /// Until all tasks have ended, or a fail point is reached.
    FailPoint,
    /// Until all tasks have ended.
    AllEnded,
}

impl World {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            file: StoreFile::new(),
            records: Vec::new(),
            evidence: Evidence::default(),
            deaths: 0,
            said: String::new(),
        }
    }

    fn effects_path(&self) -> PathBuf {
        self.file.folder().join("effects")
    }

    pub(crate) fn effects(&self) -> Result<Effects, String> {
        let effects = Effects::read(&self.effects_path());
        let alone = |effects: Effects| effects.one_at_a_time().map(|()| effects);
        effects
            .and_then(alone)
            .map_err(|problem| self.fails(None, &problem))
    }

    /// How a server is started here.
    pub(crate) fn launch(&self, transport: Transport, code: Code) -> Launch {
        let effects = self.effects_path();
        let code = match code {
            Code::Old => "old",
            Code::New => "new",
        };
        let effects = effects
            .to_str()
            .expect("temporary directories have plain names");
        Launch::new(env!("CARGO_BIN_EXE_crash_server"), transport)
            .flags(&["--effects", effects, "--code", code])
            .on(&self.file)
    }

    /// One life of a server: all clients play against it until it dies. Says
    /// whether it died before all tasks had ended.
    pub(crate) async fn live(
        &mut self,
        launch: &Launch,
        until: Until,
        chance: &mut Chance,
        pace: Pace,
    ) -> Result<bool, String> {
        let started = Instant::now();
        let mut server = launch.spawn();
        let end = match until {
            Until::Killed(after) | Until::KilledOrFailPoint(after) => started + after,
            Until::FailPoint | Until::AllEnded => started + PATIENCE,
        };
        // A server whose input ends would end too: it is kept until the kill.
        let mut kept = None;
        let records = &mut self.records;
        let playing = async {
            let client = &*kept.insert(server.client().await?);
            first_problem(players(records, client, chance, pace)).await
        };
        let played = tokio::select! {
            played = playing => Some(played),
            () = sleep_until(end) => None,
        };
        let all_ended = matches!(played, Some(Ok(())));
        let is_timed = matches!(until, Until::Killed(_) | Until::KilledOrFailPoint(_));
        if is_timed && all_ended {
            sleep_until(end).await;
        }
        // Where the client finds it gone, the fail point has been reached.
        let is_gone = matches!(played, Some(Err(Stop::Gone(_))));
        let status = if is_gone && matches!(until, Until::FailPoint) {
            server.ended().await
        } else {
            server.kill().await
        };
        self.said = server.said();
        self.deaths += 1;
        for record in &mut self.records {
            record.faults += u32::from(record.end.is_none());
        }
        self.inspect()?;
        match self.problem(played, status, until) {
            Some(problem) => Err(self.fails(None, &problem)),
            None => Ok(!all_ended),
        }
    }

    /// What was wrong with a life, by how its clients and itself came off.
    fn problem(
        &self,
        played: Option<Result<(), Stop>>,
        status: ExitStatus,
        until: Until,
    ) -> Option<String> {
        match (played, until) {
            (Some(Err(Stop::Problem(problem))), _) => Some(problem),
            (Some(Err(Stop::Gone(how))), Until::AllEnded) => {
                Some(format!("the server went away by itself ({status}): {how}"))
            }
            (None, Until::AllEnded | Until::FailPoint) => Some(self.stuck()),
            _ if is_expected(status, until) => None,
            _ => Some(format!("the server ended by itself: {status}")),
        }
    }

    fn stuck(&self) -> String {
        let stuck = self.records.iter().find(|record| record.end.is_none());
        let id = stuck
            .and_then(|record| record.id.clone())
            .unwrap_or_default();
        format!(
            "the task {id} has not ended in {} s, though nobody killed its server",
            PATIENCE.as_secs()
        )
    }

    /// Looks at what a dead server has left.
    fn inspect(&mut self) -> Result<(), String> {
        let remains = remains::read(&self.file);
        let effects = self.effects()?;
        self.evidence
            .take(&remains, &effects, &mut self.records)
            .map_err(|Finding { task, problem }| self.fails(task.as_deref(), &problem))
    }

    /// Judges all tasks, which must have ended.
    pub(crate) fn judge(&self, models: &[Undisturbed]) -> Result<(), String> {
        let effects = self.effects()?;
        for record in &self.records {
            let id = record.id.as_deref();
            if record.end.is_none() {
                return Err(self.fails(id, "the task has not ended"));
            }
            let model = models.iter().find(|model| model.is_of(record.case));
            let model = model.expect("every case was run without a kill");
            let journal = self.evidence.journal(id.unwrap_or_default());
            model
                .judge(record, &journal, &effects)
                .map_err(|problem| self.fails(id, &problem))?;
        }
        let stored = remains::read(&self.file);
        let is_known = |id: &String| {
            let mut records = self.records.iter();
            records.any(|record| record.id.as_ref() == Some(id))
        };
        match stored.keys().find(|id| !is_known(id)) {
            Some(id) => Err(self.fails(Some(id), "nobody called for this task")),
            None => Ok(()),
        }
    }

    /// All there is to know of a failure, and where the files are.
    fn fails(&self, task: Option<&str>, problem: &str) -> String {
        let Self { name, deaths, .. } = self;
        let effects = Effects::read(&self.effects_path()).unwrap_or_default();
        let stored = remains::read(&self.file);
        let concerns = |record: &&Record| match (task, &record.id) {
            (Some(task), Some(id)) => task == id,
            (Some(_), None) => false,
            (None, _) => record.end.is_none(),
        };
        let mut parts = vec![format!("{name}, after {deaths} kills: {problem}")];
        for record in self.records.iter().filter(concerns) {
            let id = record.id.as_deref().unwrap_or_default();
            let now = stored.get(id).map(|stored| dump(&stored.journal));
            let seen = dump(&self.evidence.journal(id));
            parts.push(format!("task {id}: {}", record.case));
            parts.push(format!("its client: {record:#?}"));
            parts.push(format!("effects:\n{}", effects.dump(id)));
            parts.push(format!("its journal:\n{}", now.unwrap_or_default()));
            parts.push(format!("all that was ever seen of it:\n{seen}"));
        }
        parts.push(format!("the last server said:\n{}", self.said));
        parts.push(match self.keep_files() {
            Ok(folder) => format!("the files are in {}", folder.display()),
            Err(error) => format!("the files could not be kept: {error}"),
        });
        parts.join("\n\n")
    }

    /// Copies the files to where they stay.
    fn keep_files(&self) -> std::io::Result<PathBuf> {
        let name: String = self
            .name
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { '-' })
            .collect();
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("crash-{name}"));
        copy_all(self.file.folder(), &folder)?;
        Ok(folder)
    }
}

fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for file in std::fs::read_dir(from)? {
        let file = file?;
        let to = to.join(file.file_name());
        if file.file_type()?.is_dir() {
            copy_all(&file.path(), &to)?;
        } else {
            std::fs::copy(file.path(), to)?;
        }
    }
    Ok(())
}

/// Whether a server ended as it was meant to.
fn is_expected(status: ExitStatus, until: Until) -> bool {
    match status.signal() {
        Some(KILLED) => true,
        Some(ABORTED) => matches!(until, Until::FailPoint | Until::KilledOrFailPoint(_)),
        _ => false,
    }
}

/// The clients of all tasks that have not ended.
fn players<'a>(
    records: &'a mut [Record],
    client: &'a Client,
    chance: &mut Chance,
    pace: Pace,
) -> Vec<Playing<'a>> {
    let live = records.iter_mut().filter(|record| record.end.is_none());
    live.map(|record| -> Playing<'a> {
        let player = Player {
            record,
            client,
            chance: chance.fork(),
            pace,
        };
        Box::pin(player.play())
    })
    .collect()
}

type Playing<'a> = Pin<Box<dyn Future<Output = Result<(), Stop>> + Send + 'a>>;

/// Lets all players play to their ends; stops at the first real problem.
async fn first_problem(mut players: Vec<Playing<'_>>) -> Result<(), Stop> {
    let mut gone = Ok(());
    poll_fn(|cx| {
        let mut problem = None;
        players.retain_mut(|player| match player.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(Ok(())) => false,
            Poll::Ready(Err(stop @ Stop::Gone(_))) => {
                gone = Err(stop);
                false
            }
            Poll::Ready(Err(stop)) => {
                problem.get_or_insert(stop);
                false
            }
        });
        match problem {
            Some(problem) => Poll::Ready(Err(problem)),
            None if players.is_empty() => Poll::Ready(std::mem::replace(&mut gone, Ok(()))),
            None => Poll::Pending,
        }
    })
    .await
}

//! Measurements that need a process of their own: of memory, of the processor's
//! time, and of a start after a kill.
//!
//! The bench starts itself with the name of one of them. The child prints its
//! figures, one a line, and waits to be killed, as a server is in the worst
//! case.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mcp_tasks::task::TaskId;
use mcp_tasks::{Limits, SqliteStore};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::engine::Engine;
use crate::process::{processor_time, resident_bytes};

/// As the first argument: the bench is such a child.
const MARK: &str = "--child";

/// How many callers create tasks at once.
const CALLERS: usize = 256;

/// When tasks are parked, where that is measured.
const PARK_AFTER: Duration = Duration::from_secs(3);

/// How long an idle process is watched.
const IDLE: Duration = Duration::from_secs(10);

/// What a child does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// Fills a file with waiting tasks that stay in memory.
    Fill,
    /// Fills a file with waiting tasks until all are parked.
    Park,
    /// Opens a file, reads a task and calls.
    Start,
    /// Has a file open and one task waiting in memory.
    Idle,
}

impl Job {
    const ALL: [Self; 4] = [Self::Fill, Self::Park, Self::Start, Self::Idle];

    fn name(self) -> &'static str {
        match self {
            Self::Fill => "fill",
            Self::Park => "park",
            Self::Start => "start",
            Self::Idle => "idle",
        }
    }
}

/// What a child has measured, by name.
pub(crate) struct Figures(HashMap<String, f64>);

impl Figures {
    /// Not a number if it could not be measured.
    pub(crate) fn get(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(f64::NAN)
    }
}

/// Runs a child, reads its figures, and kills it.
pub(crate) fn run(job: Job, file: &Path, argument: &str) -> Figures {
    let program = std::env::current_exe().expect("the program knows where it is");
    let mut child = Command::new(program)
        .args([MARK, job.name()])
        .arg(file)
        .arg(argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program can be started again");
    let figures = read(&mut child);
    child.kill().expect("it waits for that");
    child.wait().expect("it has been killed");
    Figures(figures)
}

fn read(child: &mut Child) -> HashMap<String, f64> {
    let mut figures = HashMap::new();
    let stdout = child.stdout.take().expect("it is piped");
    for line in BufReader::new(stdout).lines() {
        let line = line.expect("figures are text");
        if line == END {
            return figures;
        }
        if let Some((name, figure)) = line.split_once('=')
            && let Ok(figure) = figure.parse()
        {
            figures.insert(name.to_owned(), figure);
        }
    }
    panic!("a measurement has not come to its end")
}

const END: &str = "end";

/// Does what this process was started for, if it is a child.
pub(crate) fn main() -> bool {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mark, name, file, argument, ..] = &arguments[..] else {
        return false;
    };
    if mark != MARK {
        return false;
    }
    let job = Job::ALL.into_iter().find(|job| job.name() == name);
    let job = job.expect("the parent knows the names");
    let file = Path::new(file);
    let tokio = tokio::runtime::Runtime::new().expect("the system has threads");
    let engine = tokio.block_on(async {
        match job {
            Job::Fill => fill(file, count(argument), None).await,
            Job::Park => fill(file, count(argument), Some(PARK_AFTER)).await,
            Job::Start => start(file, &TaskId::from_text(argument)).await,
            Job::Idle => idle(file).await,
        }
    });
    println!("{END}");
    // Until it is killed.
    std::io::stdin().read_to_end(&mut Vec::new()).ok();
    drop(engine);
    true
}

fn count(argument: &str) -> usize {
    argument.parse().expect("the parent gives a number")
}

fn tell(name: &str, figure: f64) {
    println!("{name}={figure}");
}

/// Opens a file as a server does, with nothing but the default limits and
/// perhaps less patience, or so that nothing is parked.
fn open(file: &Path, park_after: Option<Duration>) -> Engine {
    let store = SqliteStore::open(file).expect("the disk takes a file");
    Engine::start(store, |builder| match park_after {
        Some(time) => builder.park_after(time).limits(Limits::default()),
        None => builder,
    })
}

async fn fill(file: &Path, count: usize, park_after: Option<Duration>) -> Engine {
    let engine = open(file, park_after);
    // What is there only once does not count.
    engine.create_and_see().await;
    let before = resident_bytes();
    let begun = Instant::now();
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let engine = engine.clone();
        callers.spawn(async move {
            for _ in (caller..count - 1).step_by(CALLERS) {
                engine.create_and_see().await;
            }
        });
    }
    callers.join_all().await;
    tell("seconds", begun.elapsed().as_secs_f64());
    let (_, resident) = engine.counts().await;
    #[expect(clippy::cast_precision_loss, reason = "a count of tasks is small")]
    tell("resident", resident as f64);
    tell("before", before);
    tell("filled", resident_bytes());
    if park_after.is_some() {
        while engine.counts().await.1 > 0 {
            sleep(Duration::from_millis(50)).await;
        }
        tell("parked", resident_bytes());
    }
    engine
}

async fn start(file: &Path, id: &TaskId) -> Engine {
    let begun = Instant::now();
    let engine = open(file, None);
    engine.get(id).await;
    tell("get", begun.elapsed().as_secs_f64());
    engine.create_and_see().await;
    tell("call", begun.elapsed().as_secs_f64());
    // Whatever it does of its own accord after a start, it has begun by then.
    sleep(Duration::from_secs(2)).await;
    tell("bytes", resident_bytes());
    #[expect(clippy::cast_precision_loss, reason = "a count of tasks is small")]
    tell("resident", engine.counts().await.1 as f64);
    engine
}

async fn idle(file: &Path) -> Engine {
    let engine = open(file, None);
    engine.create_and_see().await;
    sleep(Duration::from_secs(1)).await;
    let begun = Instant::now();
    let before = processor_time();
    sleep(IDLE).await;
    if let Some(time) = before
        .zip(processor_time())
        .map(|(was, is)| is.saturating_sub(was))
    {
        tell("share", time.as_secs_f64() / begun.elapsed().as_secs_f64());
    }
    engine
}

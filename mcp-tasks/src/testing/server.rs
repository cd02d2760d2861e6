//! The server under a task in a unit test, life after life.

use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::CrashPoint;
use super::observed::{Observed, Power, Record};
use crate::MemoryStore;
use crate::runtime::{Runtime, RuntimeBuilder, Tool};

/// What a test adds to the server.
pub(super) type Setup = Box<dyn Fn(RuntimeBuilder) -> RuntimeBuilder + Send + Sync>;

/// What comes back after a crash.
pub(super) struct Machine {
    pub(super) tool: Arc<Tool>,
    pub(super) store: MemoryStore,
    pub(super) record: Record,
    pub(super) clock: (SystemTime, Instant),
    pub(super) setup: Setup,
    pub(super) crash: CrashPoint,
}

/// A server that is started again whenever it has crashed, until this is
/// dropped.
pub(super) struct Server {
    pub(super) machine: Arc<Machine>,
    life: watch::Receiver<Life>,
    restarts: AbortHandle,
}

/// From a start to a crash.
#[derive(Clone)]
struct Life {
    runtime: Runtime,
    power: Power,
}

impl Server {
    pub(super) fn start(machine: Machine) -> Self {
        let machine = Arc::new(machine);
        let (lives, life) = watch::channel(machine.start());
        let restarts = tokio::spawn(restart(machine.clone(), lives)).abort_handle();
        Self {
            machine,
            life,
            restarts,
        }
    }

    /// Cuts the power, and waits until the next server is up.
    pub(super) async fn crash(&self) {
        let mut life = self.life.clone();
        life.borrow_and_update().power.fail();
        // Whoever restarts it lives as long as this.
        life.changed().await.ok();
    }

    /// Does something on the server that runs; once more on the next one if a
    /// crash comes before it is done.
    pub(super) async fn on<T>(&self, act: impl AsyncFn(Runtime) -> T) -> T {
        let mut life = self.life.clone();
        loop {
            let runtime = life.borrow_and_update().runtime.clone();
            tokio::select! {
                biased;
                done = act(runtime) => return done,
                _ = life.changed() => {}
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.restarts.abort();
        self.life.borrow().runtime.stop();
    }
}

impl Machine {
    fn start(&self) -> Life {
        let power = Power::default();
        let builder = Runtime::builder("test", "0")
            .tool(self.tool.clone())
            .store(Observed {
                inner: self.store.share(),
                record: self.record.clone(),
                power: power.clone(),
                crash: self.crash.clone(),
            })
            .tokio_clock(self.clock.0, self.clock.1);
        let runtime = (self.setup)(builder)
            .build()
            .unwrap_or_else(|error| panic!("{error}"));
        power.supplies(runtime.stopper());
        runtime.start();
        Life { runtime, power }
    }
}

async fn restart(machine: Arc<Machine>, lives: watch::Sender<Life>) {
    loop {
        let life = lives.borrow().clone();
        life.power.failed().await;
        let crashed = life.runtime.crash().await;
        crashed.expect("a store in memory does not fail");
        lives.send_replace(machine.start());
    }
}

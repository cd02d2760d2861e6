//! The store that the replicas share, and the trail that is laid in it.

mod postgres;
mod sqlite;

use std::path::Path;

use mcp_tasks_tests::Launch;

pub(crate) use self::postgres::Postgres;
pub(crate) use self::sqlite::Sqlite;
use crate::log::Log;
use crate::trail::Line;

/// A store.
pub(crate) enum Ground {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// What there is in a store in the end.
#[derive(Debug)]
pub(crate) struct Census {
    /// Tasks that have not ended, by their rows.
    pub(crate) unfinished: i64,
    /// Tasks that live, as the store counts them: in all, and by callers.
    pub(crate) live: i64,
    pub(crate) of_callers: i64,
    /// Tasks that exist, as the store counts them, and their rows.
    pub(crate) stored: i64,
    pub(crate) tasks: i64,
    /// Entries of journals: of tasks that have ended none are kept.
    pub(crate) entries: i64,
    /// The processes of holders.
    pub(crate) holders: Vec<u32>,
}

impl Ground {
    /// How a replica of this name is started.
    pub(crate) fn store(&self, launch: Launch, name: &str) -> Launch {
        match self {
            Self::Sqlite(sqlite) => sqlite.store(launch),
            Self::Postgres(postgres) => postgres.store(launch, name),
        }
    }

    /// Whether a replica that says this may end instead of starting: one that is
    /// stopped in the middle of a transaction keeps a file from all others.
    pub(crate) fn may_refuse(&self, said: &str) -> bool {
        matches!(self, Self::Sqlite(_)) && said.contains("has kept the file locked")
    }

    /// Where files of the run are put.
    pub(crate) fn folder(&self) -> &Path {
        match self {
            Self::Sqlite(sqlite) => sqlite.folder(),
            Self::Postgres(postgres) => postgres.folder(),
        }
    }

    /// The task that a call has made, if it has. While the store is away nobody
    /// knows.
    pub(crate) async fn called(&self, label: &str) -> Result<Option<String>, String> {
        match self {
            Self::Sqlite(sqlite) => sqlite.called(label).map_err(told),
            Self::Postgres(postgres) => postgres.called(label).await.map_err(told),
        }
    }

    /// All that was written.
    pub(crate) async fn trail(&self, log: &Log) -> Result<Vec<Line>, String> {
        match self {
            Self::Sqlite(sqlite) => sqlite.trail().map_err(told),
            Self::Postgres(postgres) => postgres.trail(log).await.map_err(told),
        }
    }

    /// A task's row, for a person to read.
    pub(crate) async fn row(&self, id: &str) -> Result<String, String> {
        match self {
            Self::Sqlite(sqlite) => sqlite.row(id).map_err(told),
            Self::Postgres(postgres) => postgres.row(id).await.map_err(told),
        }
    }

    pub(crate) async fn census(&self, log: &Log) -> Result<Census, String> {
        match self {
            Self::Sqlite(sqlite) => sqlite.census().map_err(told),
            Self::Postgres(postgres) => postgres.census(log).await.map_err(told),
        }
    }
}

fn told(error: impl std::error::Error) -> String {
    let source = error.source().map(ToString::to_string).unwrap_or_default();
    format!("{error} {source}")
}

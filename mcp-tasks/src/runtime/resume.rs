//! Takes up a claimed task: reads its journal and runs its function through it.

use std::sync::Arc;
use std::time::Duration;

use super::driver::Driver;
use super::keeper::ResumePermit;
use super::{Mark, RETRY_MS, Runtime, Shared, Tool};
use crate::flow::{Context, Contradiction, Given, Record};
use crate::protocol::ProtocolError;
use crate::store::Claim;
use crate::task::{Created, Entry, Event, Journal, Recoveries, TaskState};

/// Runs a claimed task; holds the permit until its function has caught up.
pub(super) async fn resume(
    shared: Arc<Shared>,
    claim: Claim,
    mark: Mark,
    permit: Option<ResumePermit>,
) {
    let id = claim.snapshot.id.clone();
    let journal = loop {
        match shared.store.read(&id, 0).await {
            Ok(journal) => break journal,
            Err(error) => {
                tracing::warn!(task = %id, %error, "the store failed, trying again");
                tokio::time::sleep(Duration::from_millis(RETRY_MS)).await;
            }
        }
    };
    // It may have ended meanwhile: then its function must do nothing more, even if the
    // store has all of the journal at hand.
    let ends = |entry: &Entry| matches!(entry.event, Event::Finished(_));
    if journal.last().is_some_and(ends) {
        return;
    }
    let Some(Entry {
        event: Event::Created(created),
        at,
        ..
    }) = journal.first()
    else {
        // It is gone.
        return;
    };
    let Some(tool) = shared.tool_of(&created.tool, created.version) else {
        return;
    };
    let context = Arc::new(Context::new(created, *at, true));
    let prepared = prepare(&shared, tool, created, &journal);
    context.replay(Record::read(&journal));
    let (body, refusal) = match prepared {
        Ok(body) => (Some(body), None),
        Err(refusal) => (None, Some(refusal)),
    };
    let mut driver = Driver::new(shared.clone(), context, tool.definition.replay, body);
    driver.take_over(&claim, journal, mark, permit);
    match refusal {
        None => driver.run_to_end().await,
        Some(Refusal::Hold(contradiction, poisonous)) => {
            driver.hold(&contradiction, poisonous).await;
        }
        Some(Refusal::Fail(error)) => driver.fail(error).await,
    }
}

/// Why a task is not run.
enum Refusal {
    Hold(Contradiction, bool),
    Fail(ProtocolError),
}

fn prepare(
    shared: &Shared,
    tool: &Tool,
    created: &Created,
    journal: &[Entry],
) -> Result<crate::flow::Body, Refusal> {
    if !tool.definition.replay {
        return Err(Refusal::Fail(ProtocolError::internal(
            "the server stopped while this task ran, and its tool cannot be resumed \
             (it is marked `replay = false`)",
        )));
    }
    let recoveries =
        TaskState::replay(journal).map_or(Recoveries::default(), |state| state.recoveries());
    if recoveries.alone > shared.max_recoveries {
        let times = recoveries.alone - 1;
        return Err(Refusal::Hold(
            Contradiction {
                reason: format!(
                    "held: the server died {times} times in a row while it resumed this task alone; \
                     another build of the server tries it again, and it can be cancelled"
                ),
                explanation: format!(
                    "the process died {times} times in a row while it resumed only this task. \
                     Usually its code aborts, overflows the stack or takes all memory. Mend that \
                     and start the new build, or cancel the task"
                ),
            },
            true,
        ));
    }
    tool.body(Some(&created.arguments), given(shared, created))
        .map_err(|error| {
            let version = created.version;
            Refusal::Hold(
                Contradiction {
                    reason: format!(
                        "held: the arguments that version {version} of the code recorded do not fit \
                         the code that runs now: {}",
                        error.message
                    ),
                    explanation: format!(
                        "the arguments of this task, which version {version} of the code recorded, \
                         cannot be read any more; its status says which. Usually a parameter was \
                         added, renamed or given another type; give it a default (`Option`), or \
                         register the old code beside the new as another `version`"
                    ),
                },
                false,
            )
        })
}

/// What parameters besides arguments are taken from: the call as it was.
pub(super) fn given<'a>(shared: &'a Shared, created: &'a Created) -> Given<'a> {
    Given {
        states: &shared.states,
        caller: &created.caller,
        client: created.client.as_ref(),
        meta: created.meta.as_deref(),
    }
}

/// Runs today's code through a journal and stops before anything new.
pub(crate) async fn check(runtime: &Runtime, journal: &Journal) -> Result<(), Mismatch> {
    let shared = runtime.shared.clone();
    let entries = journal.entries().to_vec();
    let Some(Entry {
        event: Event::Created(created),
        at,
        ..
    }) = entries.first()
    else {
        return Err(Mismatch(
            "the journal does not begin with a call".to_owned(),
        ));
    };
    let Some(tool) = shared.tool_of(&created.tool, created.version) else {
        return Err(Mismatch(format!(
            "the journal is of version {} of the tool `{}`, which this server does not have",
            created.version, created.tool
        )));
    };
    let body = tool
        .body(Some(&created.arguments), given(&shared, created))
        .map_err(|error| Mismatch(error.message))?;
    let context = Arc::new(Context::new(created, *at, true));
    context.replay(Record::read(&entries));
    let snapshot = TaskState::replay(&entries).map_err(|illegal| Mismatch(illegal.to_string()))?;
    let snapshot = snapshot.snapshot().clone();
    let driver = Driver::new(shared, context, true, Some(body));
    driver
        .check(snapshot, entries)
        .await
        .map_err(|contradiction| Mismatch(contradiction.explanation))
}

/// Why code does not fit a journal: what was recorded and by which version,
/// what the code does now and where, why that usually happens, what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mismatch(String);

//! A task as data: its journal, the state that the journal adds up to, and
//! the rules by which the one changes the other.
//!
//! Nothing here does I/O, reads a clock or draws a random number; times and
//! ids are handed in. Every rule can be tested as a function, and every store
//! applies the same rules inside its own transactions.

mod caller;
mod event;
mod id;
mod judge;
mod key;
mod snapshot;
mod state;
mod time;

pub use caller::{Access, Caller};
pub use event::{Created, Entry, Event, FencingNumber, Outcome, Seq};
pub(crate) use id::ENTROPY;
pub use id::TaskId;
pub use judge::{Action, Answer, KeyError, Problem, Refusal, Response};
pub use key::InputKey;
pub use snapshot::{Due, Progress, Retention, Snapshot};
pub use state::{IllegalTransition, TaskState};
pub use time::Timestamp;
pub(crate) use time::millis;

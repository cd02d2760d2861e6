//! A task as data: its journal, the state that the journal adds up to, and
//! the rules by which the one changes the other.
//!
//! Nothing here does I/O, reads a clock or draws a random number; times and
//! ids are handed in. Every rule can be tested as a function, and every store
//! applies the same rules inside its own transactions.

mod caller;
mod event;
mod id;
mod journal;
mod judge;
mod key;
mod origin;
mod response;
mod sealing;
mod snapshot;
mod state;
mod time;

pub use caller::{Access, Caller};
pub use event::{Created, Entry, Event, FORMAT, FencingNumber, Held, Outcome, Seed, Seq};
pub use id::TaskId;
pub(crate) use id::{ByTask, ENTROPY};
pub use journal::{Journal, NotAJournal};
pub use judge::{Answer, KeyError, Problem, Refusal};
pub use key::InputKey;
pub use origin::{ClientInfo, Meta};
pub use response::{Action, Elicited, Response};
pub use sealing::{KeyId, KeyRing, SealingKey, StateId};
pub use snapshot::{Due, Progress, Retention, Snapshot};
pub use state::{IllegalTransition, Recoveries, TaskState};
pub use time::Timestamp;
pub(crate) use time::millis;

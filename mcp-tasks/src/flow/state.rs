//! What a task function is given besides its arguments.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::task::{Caller, ClientInfo, Meta};

/// A value that the server gives to a task function.
///
/// Registered with `.state(value)`, taken by a parameter
/// `State(fleet): State<Fleet>`. Each call gets a clone: hold what is shared in
/// an `Arc`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State<T>(pub T);

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for State<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// The value whose methods are tasks. Generated code only.
pub struct Owner<T>(pub Arc<T>);

/// The values that a server was given, one per type.
#[derive(Clone, Default)]
pub struct States(Arc<HashMap<TypeId, Box<dyn Any + Send + Sync>>>);

/// No value of a type was registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no `{0}` was registered: call `.state(..)` with one on the server")]
pub struct MissingState(pub &'static str);

/// A value that every call can be given: it is cloned for each, and used on
/// many threads.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the state of a server: calls on many threads get a clone of it each",
    label = "not `Clone + Send + Sync`",
    note = "derive `Clone` for it, or share it as `State<Arc<{Self}>>`; in place of `Rc` and `RefCell` use `Arc` and `Mutex`"
)]
pub trait Shared: Clone + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> Shared for T {}

/// A parameter that is not an argument: the server gives it.
///
/// The attribute knows such parameters by the names of their types: [`State`],
/// [`Caller`], [`ClientInfo`] and [`Meta`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is called like a parameter that the server gives, and is none",
    label = "not given by the server",
    note = "`#[mcp_task]` knows `State`, `Caller`, `ClientInfo` and `Meta` of mcp_tasks by these names: give a type of an argument another one, `use .. as ..` will do"
)]
pub trait Extract: Sized {
    /// What of a call must be recorded with its task for this parameter.
    const NEEDS: Needs = Needs::NOTHING;

    /// Takes the value for one call.
    fn extract(given: &Given<'_>) -> Result<Self, MissingState>;

    /// Whether every call will find its value; asked when the server is built.
    fn check(states: &States) -> Result<(), MissingState> {
        let _ = states;
        Ok(())
    }
}

/// What parameters can be taken from: the server, and the call that began it
/// all, live or as it was recorded.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    pub(crate) states: &'a States,
    pub(crate) caller: &'a Caller,
    pub(crate) client: Option<&'a ClientInfo>,
    pub(crate) meta: Option<&'a RawValue>,
}

/// What of a call is recorded only for a tool that takes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    pub(crate) client: bool,
    pub(crate) meta: bool,
}

impl Needs {
    /// Nothing more than what is recorded anyway.
    pub const NOTHING: Self = Self {
        client: false,
        meta: false,
    };

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            client: self.client || other.client,
            meta: self.meta || other.meta,
        }
    }
}

impl States {
    pub(crate) fn from_map(values: HashMap<TypeId, Box<dyn Any + Send + Sync>>) -> Self {
        Self(Arc::new(values))
    }

    fn get<T: Any>(&self) -> Result<&T, MissingState> {
        self.0
            .get(&TypeId::of::<T>())
            .and_then(|value| value.downcast_ref())
            .ok_or(MissingState(type_name::<T>()))
    }
}

impl<T: Shared> Extract for State<T> {
    fn extract(given: &Given<'_>) -> Result<Self, MissingState> {
        given.states.get::<T>().cloned().map(State)
    }

    fn check(states: &States) -> Result<(), MissingState> {
        states.get::<T>().map(drop)
    }
}

/// The one who called; a task's own caller, also after a restart.
#[diagnostic::do_not_recommend]
impl Extract for Caller {
    fn extract(given: &Given<'_>) -> Result<Self, MissingState> {
        Ok(given.caller.clone())
    }
}

#[diagnostic::do_not_recommend]
impl Extract for ClientInfo {
    const NEEDS: Needs = Needs {
        client: true,
        ..Needs::NOTHING
    };

    fn extract(given: &Given<'_>) -> Result<Self, MissingState> {
        Ok(given.client.cloned().unwrap_or_default())
    }
}

#[diagnostic::do_not_recommend]
impl Extract for Meta {
    const NEEDS: Needs = Needs {
        meta: true,
        ..Needs::NOTHING
    };

    fn extract(given: &Given<'_>) -> Result<Self, MissingState> {
        // It was an object when the call was read.
        let meta = given.meta.map(|meta| serde_json::from_str(meta.get()));
        Ok(Meta(meta.and_then(Result::ok).unwrap_or_default()))
    }
}

impl<T: Any> Extract for Owner<T> {
    fn extract(given: &Given<'_>) -> Result<Self, MissingState> {
        let owner = given.states.get::<Self>()?;
        Ok(Self(owner.0.clone()))
    }

    fn check(states: &States) -> Result<(), MissingState> {
        states.get::<Self>().map(drop)
    }
}

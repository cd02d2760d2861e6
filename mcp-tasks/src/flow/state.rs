//! What a task function is given besides its arguments.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

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

/// A parameter that is not an argument.
pub trait Extract: Sized {
    /// Takes the value for one call.
    fn extract(states: &States) -> Result<Self, MissingState>;

    /// Whether every call will find its value; asked when the server is built.
    fn check(states: &States) -> Result<(), MissingState>;
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
    fn extract(states: &States) -> Result<Self, MissingState> {
        states.get::<T>().cloned().map(State)
    }

    fn check(states: &States) -> Result<(), MissingState> {
        states.get::<T>().map(drop)
    }
}

impl<T: Any> Extract for Owner<T> {
    fn extract(states: &States) -> Result<Self, MissingState> {
        let owner = states.get::<Self>()?;
        Ok(Self(owner.0.clone()))
    }

    fn check(states: &States) -> Result<(), MissingState> {
        states.get::<Self>().map(drop)
    }
}

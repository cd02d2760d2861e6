//! What surrounds an expression, and what may stand there.

use super::Rewriter;

/// Whether a task may suspend at the place in question, or why not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Suspend {
    /// In the task's own body, or in a branch.
    Here,
    Closure,
    AsyncBlock,
    Spawned,
    Step,
    Unrecorded,
}

/// What surrounds the expression in question.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) suspend: Suspend,
    /// Runs again on every replay, with nothing recorded about it.
    pub(super) replayed: bool,
    /// Is an argument of something called `spawn`.
    pub(super) spawned: bool,
    /// Is inside a loop of the body.
    pub(super) looped: bool,
    /// Stands directly in the argument of a step or of `unrecorded`, this many
    /// loops deep.
    pub(super) argument: Option<u32>,
}

impl Place {
    /// Whether it is inside a step or `unrecorded`, however deep.
    pub(super) fn is_in_leaf(&self) -> bool {
        matches!(self.suspend, Suspend::Step | Suspend::Unrecorded)
    }
}

impl Rewriter<'_> {
    /// Does `visit` as if at `place`.
    pub(super) fn at<R>(&mut self, place: Place, visit: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.place, place);
        let result = visit(self);
        self.place = outer;
        result
    }

    /// The place inside a closure or an `async` block that is no branch.
    pub(super) fn nested(&self, is_async: bool) -> Place {
        Place {
            suspend: match self.place.suspend {
                Suspend::Here | Suspend::Closure if self.place.spawned => Suspend::Spawned,
                Suspend::Here | Suspend::Closure if is_async => Suspend::AsyncBlock,
                Suspend::Here => Suspend::Closure,
                outer => outer,
            },
            // Only a step and its like accept such a block, once.
            replayed: self.place.replayed && !is_async,
            spawned: false,
            argument: None,
            ..self.place
        }
    }

    /// Inside a loop, whose `break` leaves only the loop.
    pub(super) fn in_loop(&mut self, visit: impl FnOnce(&mut Self)) {
        let place = Place {
            argument: self.place.argument.map(|depth| depth + 1),
            looped: true,
            ..self.place
        };
        self.at(place, visit);
    }

    /// Whether it stands where it is evaluated only if nothing is recorded.
    pub(super) fn is_in_step_argument(&self) -> bool {
        self.place.suspend == Suspend::Step && self.place.argument.is_some()
    }
}

//! About steps and `unrecorded`.

pub(crate) const STEP_QUESTION_MARK: &str = "`?` cannot stand directly in a step's argument, which \
     is evaluated only if nothing is recorded: take it out with a `let` before the step, or write \
     `step(async { .. })`";
pub(crate) const STEP_RETURN: &str = "`return` cannot stand directly in a step's argument, which \
     is evaluated only if nothing is recorded: move it before the step";
pub(crate) const STEP_BREAK: &str = "`break` cannot stand directly in a step's argument, which is \
     evaluated only if nothing is recorded: move it before the step";
pub(crate) const STEP_CONTINUE: &str = "`continue` cannot stand directly in a step's argument, \
     which is evaluated only if nothing is recorded: move it before the step";
pub(crate) const STEP_AWAIT: &str = "a step takes the future itself: remove the `.await` inside, \
     or write `step(async { .. })`";

pub(crate) const UNRECORDED_AWAIT: &str = "`unrecorded` takes the future itself: remove the \
     `.await` inside, or write `unrecorded(async { .. })`";
pub(crate) const STEP_KEY_OUTSIDE: &str = "`step_key()` is the key of the step around it: call it \
     inside a step's argument, as in `step(charge(amount, step_key()))`";

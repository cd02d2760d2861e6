//! One replica in the hand of whoever does something to it.

use mcp_tasks_tests::Mortal;

/// What is done to a replica.
pub(crate) struct Hand {
    pub(crate) mortal: Option<Mortal>,
    /// How many processes there have been.
    pub(crate) lives: u32,
    pub(crate) name: String,
}

/// The right to do something to a replica.
pub(crate) struct Grip {
    pub(crate) number: usize,
    pub(crate) hand: tokio::sync::OwnedMutexGuard<Hand>,
}

/// What no replica should ever say, whatever happens to it.
const UNSOUND: [&str; 3] = ["panicked", "is left alone", "cannot go on"];

impl Grip {
    /// Whether a replica lives that should.
    ///
    /// # Errors
    ///
    /// What it died of.
    pub(crate) fn lives(&mut self) -> Result<(), String> {
        let Hand { mortal, name, .. } = &mut *self.hand;
        let Some(mortal) = mortal else {
            return Ok(());
        };
        match mortal.has_ended() {
            None => Ok(()),
            Some(status) => Err(format!(
                "{name} has ended by itself: {status}\n{}",
                mortal.said()
            )),
        }
    }

    pub(crate) fn is_sound(&self) -> Result<(), String> {
        let Hand { mortal, name, .. } = &*self.hand;
        let said = mortal.as_ref().map(Mortal::said).unwrap_or_default();
        let is_unsound = |line: &&str| UNSOUND.iter().any(|words| line.contains(words));
        match said.lines().find(is_unsound) {
            Some(line) => Err(format!("{name} said: {line}")),
            None => Ok(()),
        }
    }

    pub(crate) fn process(&self) -> Option<u32> {
        self.hand.mortal.as_ref()?.id()
    }
}

//! Where a task must be when nothing happens any more.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::sleep;

use super::oracle::foresee;
use super::prefix::shown;
use super::trace::{Mark, Want, compare, last_status, questions, waiting};
use super::world::World;

impl World {
    /// Waits until nothing happens any more without time going by; false if it
    /// does not come to that.
    pub(crate) async fn rest(&self) -> bool {
        for _ in 0..8 {
            let before = (self.journal.len(), self.journal.calls());
            // The clock only goes on when there is nothing else to do.
            sleep(Duration::from_millis(1)).await;
            if before == (self.journal.len(), self.journal.calls()) {
                return true;
            }
        }
        false
    }

    /// Looks whether the task is where it should be, if everything rests.
    pub(crate) async fn look(&mut self) {
        if !self.rest().await || self.ended() || self.held() {
            return;
        }
        let Some(server) = self
            .servers
            .iter()
            .find(|one| one.life.runs.load(Ordering::Relaxed) && !one.life.is_over())
        else {
            return;
        };
        let marks = {
            let observed = self.observed.lock();
            let run = observed.runs.last().expect("it runs");
            if run.life != server.number {
                return;
            }
            run.trace.marks().clone()
        };
        // What looks at the world again may hold up what is recorded.
        if waiting(&marks)
            .values()
            .any(|want| **want == Want::Unrecorded)
        {
            return;
        }
        let foreseen = foresee(
            &self.program,
            &self.journal.entries(),
            &self.journal.draws(),
        );
        if marks != foreseen.marks {
            let parted = compare(&marks, &foreseen.marks);
            self.broken(format!(
                "at rest it has done {} things, should have done {}: {parted:?}",
                marks.len(),
                foreseen.marks.len()
            ));
        }
        let before = self.journal.len();
        self.check_questions(&marks).await;
        sleep(Duration::from_millis(300)).await;
        if self.rest().await && self.journal.len() <= before + 1 && !self.ended() {
            self.check_status(last_status(&marks)).await;
        }
    }

    async fn check_questions(&self, marks: &[Mark]) {
        let task = self.get().await;
        let shown = shown(&task);
        let waits = questions(marks);
        if shown != waits {
            self.broken(format!("it shows {shown:?} and waits for {waits:?}"));
        }
    }

    /// Whether the status that was set last is shown.
    pub(crate) async fn check_status(&self, said: Option<&str>) {
        let task = self.get().await;
        // Code that says nothing leaves what earlier code has said.
        let kept = said.is_none() && self.has_changed();
        if task.message.as_deref() != said && !kept {
            self.broken(format!("it says {said:?}, and shows {:?}", task.message));
        }
    }
}

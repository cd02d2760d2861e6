//! What is done to the database that replicas share.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_tasks_tests::trial::Chance;
use tokio::time::sleep;

use crate::fleet::{AGAIN, Fleet};
use crate::ground::Ground;

impl Fleet {
    /// Takes the database away for a time, at once or in good order.
    pub(crate) async fn restart_database(&self, time: Duration, at_once: bool) {
        let Ground::Postgres(postgres) = &*self.ground else {
            return;
        };
        let _alone = self.database.lock().await;
        self.is_away.store(true, Ordering::Release);
        let how = if at_once { "crashes" } else { "stops" };
        self.log.add(format!("the database {how}"));
        self.log.count(|counts| &mut counts.restarts);
        if at_once {
            postgres.cluster.kill().await;
        } else {
            postgres.cluster.stop().await;
        }
        sleep(time).await;
        postgres.cluster.start().await;
        self.log.add("the database is back".to_owned());
        // A replica that starts now may have been refused before.
        sleep(AGAIN).await;
        self.is_away.store(false, Ordering::Release);
    }

    /// Ends one connection of a replica to the database, or all.
    pub(crate) async fn cut(&self, chance: &mut Chance) {
        let Ground::Postgres(postgres) = &*self.ground else {
            return;
        };
        let _alone = self.database.lock().await;
        let number = chance.below(self.len() as u64);
        let number = usize::try_from(number).expect("it is below a length");
        if self.client_of(number).is_none() {
            // One that cannot connect does not start.
            return;
        }
        let name = self.names().swap_remove(number);
        let all = chance.one_in(2);
        match postgres.cut(&name, all).await {
            Ok(cut) => self.log.add(format!("{cut} connections of {name} are cut")),
            Err(error) => self.log.add(format!("{name} is not cut: {error}")),
        }
        self.log.count(|counts| &mut counts.cuts);
    }
}

//! Who this server is to its store.
//!
//! What is claimed is claimed under a lease. When that is lost the server begins
//! anew under another: then it must be known of each claim under which of them it
//! was made. A claim that is taken for one of the new lease, and is not, would be
//! run here and elsewhere; one that is taken for one of the old would be run by
//! nobody. So whoever claims keeps the server from beginning anew meanwhile.

use std::sync::Arc;
use std::time::Duration;

use super::lease::{Standing, both_clocks};
use super::{Mark, RETRY_MS, Shared};
use crate::store::{Claim, LiveLimits, StoreError, Wanted, Work};
use crate::task::{Entry, Timestamp};

impl Shared {
    /// Waits until the store knows this server.
    ///
    /// # Errors
    ///
    /// Whatever the store says.
    pub(super) async fn enlisted(self: &Arc<Self>) -> Result<(), StoreError> {
        let enlisted = self.enlisted.get_or_try_init(|| self.enlist());
        enlisted.await.copied()
    }

    async fn enlist(&self) -> Result<(), StoreError> {
        let asked = both_clocks();
        self.store.enlist(&self.server, self.now()).await?;
        self.lease.extend(asked, self.lease_time());
        Ok(())
    }

    pub(super) fn lease_time(&self) -> Duration {
        Duration::from_millis(self.server.lease_ms)
    }

    /// Claims tasks; none while the lease is late, since nobody would run them
    /// before the heartbeat has got through, which looks for tasks itself.
    pub(super) async fn claim_under_lease(
        &self,
        wanted: &Wanted<'_>,
    ) -> Result<(Work, Mark), StoreError> {
        let _same = self.identity.read().await;
        let mark = self.mark();
        if self.lease.standing(mark.epoch) != Standing::Held {
            return Ok((Work::default(), mark));
        }
        let work = self.store.claim(wanted, self.now()).await?;
        Ok((work, mark))
    }

    /// Begins a task, which is a claim as well.
    pub(super) async fn begin_under_lease(
        &self,
        journal: Vec<Entry>,
        limits: LiveLimits,
    ) -> Result<(Claim, Mark), StoreError> {
        let _same = self.identity.read().await;
        let mark = self.mark();
        let claim = self.store.begin(journal, limits, self.now()).await?;
        Ok((claim, mark))
    }

    /// If it is not known what a claim has given, nobody would run it: then all
    /// claims are given up, and made again.
    pub(super) async fn forget_claims_after(self: &Arc<Self>, error: &StoreError) {
        if matches!(error, StoreError::Unsure(_)) {
            self.begin_anew().await;
        }
    }

    /// Begins anew under another lease; all that was claimed is lost.
    pub(super) async fn begin_anew(self: &Arc<Self>) {
        tracing::warn!("the claims on tasks were lost; what ran here is run elsewhere, or again");
        self.lease.lose();
        self.known.poke_all();
        while let Err(error) = self.enlist_anew().await {
            tracing::error!(%error, "could not enlist with the store, trying again");
            tokio::time::sleep(Duration::from_millis(RETRY_MS)).await;
        }
        self.agenda.claim_at(Timestamp::default());
    }

    async fn enlist_anew(&self) -> Result<(), StoreError> {
        let _alone = self.identity.write().await;
        // What was claimed since the lease was lost was claimed under it.
        self.lease.lose();
        self.known.poke_all();
        self.enlist().await
    }
}

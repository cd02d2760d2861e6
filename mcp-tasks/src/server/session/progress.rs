//! Progress of a call in an older session.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;

use crate::runtime::{ProgressSink, ProgressUpdate, Telling};

/// The client that gave this token with its call.
struct Notices {
    peer: Peer<RoleServer>,
    token: ProgressToken,
}

/// Where to tell of the progress of a call with this token.
pub(in crate::server) fn notices(
    peer: Peer<RoleServer>,
    token: ProgressToken,
) -> Arc<dyn ProgressSink> {
    Arc::new(Notices { peer, token })
}

impl ProgressSink for Notices {
    fn tell(&self, update: ProgressUpdate) -> Telling {
        let peer = self.peer.clone();
        let mut params = ProgressNotificationParam::new(self.token.clone(), update.progress);
        #[expect(clippy::cast_precision_loss, reason = "no client counts so far")]
        let total = update.total.map(|total| total as f64);
        params.total = total;
        params.message = update.message.map(|words| words.to_string());
        Box::pin(async move {
            // Whoever has gone needs no telling.
            peer.notify_progress(params).await.ok();
        })
    }
}

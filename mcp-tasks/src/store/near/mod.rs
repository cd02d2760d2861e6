//! What a durable store keeps in memory besides, so as not to ask for it again.

mod handover;
mod recent;
mod snapshots;

pub(super) use handover::Handover;
pub(super) use recent::Recent;
pub(super) use snapshots::{Brief, Snapshots};

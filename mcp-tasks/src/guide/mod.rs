//! Pages that are about no single item.

#[doc = include_str!("replicas.md")]
pub mod replicas {}

#[doc = include_str!("scaling.md")]
pub mod scaling {}

//! Many callers on one server, or on several: what one of them starts keeps no
//! other from running.

#[path = "../replay/world.rs"]
#[allow(dead_code, reason = "shared with the tests of replay")]
mod replay;

mod holders;
mod limits;
mod store;
mod tools;
mod turns;
mod waiting;
mod world;

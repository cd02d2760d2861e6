//! Many callers on one server, or on several: what one of them starts keeps no
//! other from running.

mod limits;
mod store;
mod turns;
mod world;

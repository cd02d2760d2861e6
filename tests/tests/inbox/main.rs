//! The inbox over real HTTP: what people are shown, what their answers do, and
//! who is kept out.

mod answers;
mod guard;
mod live;
mod server;
mod shown;

//! What is special about tasks in a SQLite file: the file itself, and the
//! processes that share it.

mod damage;
mod opening;
mod processes;
mod scale;
mod tasks;

//! The line filter in front of rmcp on stdin and stdout.
//!
//! It reads each line once, answers what is ours, and gives the rest to rmcp.
//! It alone writes to stdout, and it knows every request that has no reply yet:
//! so a second request with the same id is refused, a cancelled one gets no
//! reply, and none is left hanging when a part of the server fails.

mod connection;
mod engine;
mod in_flight;
mod lines;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::timeout;

use self::connection::Connection;
pub(super) use self::engine::Engine;
use super::era::Versions;
use crate::router::Router;

/// How many replies may wait for a client that does not read. A client that
/// writes this many requests before it reads is still served.
const UNWRITTEN: usize = 1024;

/// How many lines are read ahead.
const UNREAD: usize = 4;

/// How long calls that were on the way may still finish when the input ends, so
/// that `echo '{..}' | server` shows a reply.
const LAST_REPLIES: Duration = Duration::from_millis(250);

/// How long the last replies may take to be written.
const LAST_WRITES: Duration = Duration::from_secs(2);

/// What serves a connection.
pub(super) struct StdioServer {
    pub(super) router: Router,
    pub(super) engine: Engine,
    pub(super) versions: Arc<Versions>,
    pub(super) message_limit: usize,
}

/// Serves one client until its input ends.
///
/// # Errors
///
/// Those of reading and writing, except that the client went away: that is how a
/// connection ends.
pub(super) async fn serve<R, W>(server: Arc<StdioServer>, input: R, output: W) -> io::Result<()>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (unwritten, to_write) = mpsc::channel(UNWRITTEN);
    let mut writing = tokio::spawn(lines::write(output, to_write));
    let (unread, mut read) = mpsc::channel(UNREAD);
    let reading = tokio::spawn(lines::read(input, server.message_limit, unread));

    let mut connection = Connection::new(server, unwritten);
    loop {
        tokio::select! {
            line = read.recv() => match line {
                Some(line) => connection.receive(line).await,
                None => break,
            },
            happened = connection.next() => connection.handle(happened).await,
            written = &mut writing => {
                reading.abort();
                return unless_gone(written?);
            }
        }
    }
    // Past this, what has not been answered is dropped.
    let _ = timeout(LAST_REPLIES, connection.settle()).await;
    drop(connection);
    if let Ok(written) = timeout(LAST_WRITES, writing).await {
        unless_gone(written?)?;
    }
    reading.await?
}

fn unless_gone(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
